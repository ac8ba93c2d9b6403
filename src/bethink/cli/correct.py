"""The command that corrects a memory: correct."""

import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.add import note_redaction, read_text
from bethink.cli.command import CommandContext, DryRun, Result, UsageError, Yes, command
from bethink.cli.refs import LIST_HINT, resolve_ref
from bethink.cli.terminal import OutputLine, is_terminal
from bethink.errors import Invalid, NotFound, Stale
from bethink.features.memory_tests.suggest import Suggestion, suggestion

if TYPE_CHECKING:
    from bethink.api.space import Space
    from bethink.model.recall import Ref, RefKind

app = typer.Typer()


@command(app, effect="changes")
async def correct(
    ctx: CommandContext,
    ref: Annotated[str, typer.Argument(help="A ref of a fact or a document, as recall prints it, or a path.")],
    text: Annotated[
        str, typer.Argument(help="The complete new text. Without one, or with -, read it from stdin.")
    ] = "-",
    *,
    test: Annotated[
        bool, typer.Option("--test", help="Keep a memory test: the new text must come back, the old one must not.")
    ] = False,
    question: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The question of the test.  [default: the words that both texts share]"),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="DATE", help="From when on the fact is no longer recalled.")
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Write a new version of a fact or a document. Earlier versions are kept; see 'bethink show'."""
    old = await resolve_ref(ctx.space, ref)
    before, version = await _current(ctx.space, old)
    if version != old.number:
        hint = f"Look at it with 'bethink show {old.kind}:{old.id}:{version}', then correct that version."
        raise Stale(f"{old.kind} {old.id} is now at version {version}.", current=version, hint=hint)
    given = read_text(text, what="the new text").rstrip("\n")
    if not given.strip():
        hint = "Pass a text, or write one to stdin. To remove a memory, use 'bethink forget'."
        raise UsageError("the new text is empty.", hint=hint)
    if dry_run:
        data = {"ref": old, "before": before, "after": given, "dry_run": True}
        return Result(data=data, lines=_changes(before, given) or [OutputLine("nothing would change")])
    ctx.confirm(f"Correct {old}?", yes=yes)
    done = await ctx.space.correct(old, given, expires_at=expires)
    note_redaction(ctx, given, done.text)
    line = f"{done.ref} replaces {old}" if done.ref != old else f"{old} is unchanged: it already says this"
    data = {"ref": done.ref, "previous": old, "text": done.text}
    result = Result(data=data, lines=[OutputLine(line)])
    suggested = suggestion(before, done.text, question)
    if test:
        return await _keep_test(ctx, result, suggested, done.ref)
    if suggested is not None and is_terminal(sys.stderr):
        ctx.note(f"Keep it right: {_command(ctx, suggested, done.ref)}")
    return result


async def _keep_test(ctx: CommandContext, result: Result, suggested: Suggestion | None, ref: "Ref") -> Result:
    """Keep the test of a correction, and say how it goes."""
    from bethink.features.memory_tests.command import result_lines  # noqa: PLC0415

    if suggested is None:
        ctx.note("note: no memory test was added, because the texts differ in nothing that could come back")
        return replace(result, data={**result.data, "test": None})
    tests = ctx.space.tests
    kept = await tests.add(
        suggested.question, must=suggested.must, must_not=suggested.must_not, kinds=_asked_kinds(ref), about=ref
    )
    [done] = await tests.run(only=[kept.id])
    lines = [*result.lines, OutputLine(f"memory test {kept.id}:"), *result_lines(done)]
    return replace(result, data={**result.data, "test": done}, lines=lines)


def _asked_kinds(ref: "Ref") -> "tuple[RefKind, ...]":
    """Return the kinds of memory that a correction reaches.

    What a fact replaces is marked as superseded, wherever it was said. A document leaves its messages as they are.
    """
    from bethink.model.recall import RefKind  # noqa: PLC0415

    return (RefKind.DOCUMENT,) if ref.kind is RefKind.DOCUMENT else tuple(RefKind)


def _command(ctx: CommandContext, suggested: Suggestion, ref: "Ref") -> str:
    words = ["bethink", "test", "add", suggested.question]
    words += [word for text in suggested.must for word in ("--must", text)]
    words += [word for text in suggested.must_not for word in ("--must-not", text)]
    words += ["--kind", "document"] if ref.kind == "document" else []
    words += ["--about", ref]
    for name in ("space", "config", "database"):
        given = getattr(ctx.options, name)
        words += [] if given is None else [f"--{name}", given]
    return shlex.join(words)


async def _current(space: "Space", ref: "Ref") -> tuple[str, int]:
    """Return the current text and version of what a ref names.

    Raises `NotFound`, and `Invalid` for what never changes.
    """
    try:
        if ref.kind == "fact":
            fact = await space.facts.get(ref.id)
            return fact.content, fact.version
        if ref.kind == "document":
            document = await space.documents.get(ref.id)
            return document.body, document.version
    except NotFound as error:
        error.hint = LIST_HINT
        raise
    hint = "Correct a fact or a document instead, 'bethink add' a new text, or 'bethink forget' this one."
    raise Invalid(f"a {ref.kind.replace('_', ' ')} cannot be corrected.", hint=hint)


def _changes(before: str, after: str) -> list[OutputLine]:
    from difflib import ndiff  # noqa: PLC0415

    styles = {"+": "green", "-": "red"}
    lines = [line for line in ndiff(before.splitlines(), after.splitlines()) if line[:1] in styles]
    return [OutputLine(line, styles[line[:1]]) for line in lines]
