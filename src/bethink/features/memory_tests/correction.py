"""Adds a memory test for a correction, or suggests the command that does."""

import shlex
import sys
from dataclasses import replace

from bethink.cli.command import CommandContext, Result
from bethink.cli.correct import CorrectedText
from bethink.cli.terminal import OutputLine, is_terminal
from bethink.features.memory_tests.command import result_lines
from bethink.features.memory_tests.suggest import Suggestion, suggest_test
from bethink.model.refs import Ref, RefKind


async def after_correction(ctx: CommandContext, correction: CorrectedText, result: Result) -> Result:
    """Add a memory test to a correction if asked to; otherwise note on a terminal how to add one."""
    test = suggest_test(correction.before, correction.after, correction.question)
    if correction.keep_test:
        return await _add_test(ctx, result, test, correction.ref)
    if test is not None and is_terminal(sys.stderr):
        ctx.note(f"Add a memory test: {_command(ctx, test, correction.ref)}")
    return result


async def _add_test(ctx: CommandContext, result: Result, test: Suggestion | None, ref: Ref) -> Result:
    if test is None:
        ctx.note("note: no memory test was added, because the texts do not differ in words that recall returns")
        return replace(result, data={**result.data, "test": None})
    tests = ctx.space.admin.tests
    added = await tests.add(test.question, must=test.must, must_not=test.must_not, kinds=_kinds(ref), about=ref)
    [outcome] = await tests.run(only=[added.id])
    lines = [*result.lines, OutputLine(f"memory test {added.id}:"), *result_lines(outcome)]
    return replace(result, data={**result.data, "test": outcome}, lines=lines)


def _kinds(ref: Ref) -> tuple[RefKind, ...]:
    # A message with a replaced fact is marked as replaced. A corrected document does not mark its messages.
    return (RefKind.DOCUMENT,) if ref.kind is RefKind.DOCUMENT else tuple(RefKind)


def _command(ctx: CommandContext, test: Suggestion, ref: Ref) -> str:
    words = ["bethink", "test", "add", test.question]
    words += [word for text in test.must for word in ("--expect", text)]
    words += [word for text in test.must_not for word in ("--forbid", text)]
    words += ["--kind", "document"] if ref.kind == "document" else []
    words += ["--about", str(ref)]
    for name in ("space", "config", "database"):
        value = getattr(ctx.options, name)
        words += [] if value is None else [f"--{name}", value]
    return shlex.join(words)
