"""Commands for memory tests: add, list, remove, run, export and import."""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from bethink.cli.command import CommandContext, ExitCode, Failure, Result, UsageError, command
from bethink.cli.narrowing import repeatable
from bethink.cli.recall import parse_kinds
from bethink.cli.terminal import OutputLine, one_line, to_json, waiting, when
from bethink.errors import Invalid, NotFound
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.features.memory_tests.handle import MemoryTests
    from bethink.features.memory_tests.records import MemoryTest, MemoryTestResult

_WIDTH = 100
_PAGE = 1_000
_MOST = 1_000
"""How many tests one request runs."""
_LINE = "Write one JSON object per line, with question and must or must_not."
_LIST_HINT = "Run 'bethink test list' to see the tests and their ids."


class _RunsByDefault(TyperGroup):
    """A group with a command that may be left out: `bethink test --json` runs the tests."""

    default = "run"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


_ABOUT = "Run memory tests: questions with what must and must not come back. 'bethink test' alone runs all of them."

app = typer.Typer()
tests = typer.Typer(cls=_RunsByDefault, help=_ABOUT)
app.add_typer(tests, name="test")

File = Annotated[str | None, typer.Option(metavar="FILE", help="Run the tests of a JSON Lines file; - reads stdin.")]


@command(tests)
async def run(
    ctx: CommandContext,
    ids: Annotated[list[str] | None, typer.Argument(help="Run only these.", metavar="[ID]...")] = None,
    *,
    file: File = None,
) -> Result:
    """Run the memory tests of a space, or of a file, without a model. It fails if one of them does.

    'bethink test' alone does the same.
    """
    if file is not None and ids:
        raise UsageError("give either ids or --file.", hint="Leave one of them out.")
    if file is None:
        done = await _run_stored(ctx, ids)
    else:
        given = [test for _, test in _read(file)]
        parts = [given[at : at + _MOST] for at in range(0, len(given), _MOST)]
        done = [each for part in parts for each in await ctx.space.tests.run(tests=part)]
    if not done and not ctx.options.json:
        ctx.note(f"note: space {ctx.space_name!r} has no memory tests; 'bethink test add' makes one")
    failed = sum(not each.passed for each in done)
    lines = [line for each in done for line in result_lines(each)]
    data = {"passed": len(done) - failed, "failed": failed, "results": done}
    if not failed:
        return Result(data=data, lines=lines)
    message = f"{failed} of {plural(len(done), 'memory test')} failed."
    hint = "Look at what came back with 'bethink show REF', and put it right with 'bethink correct'."
    return Result(
        data=data, lines=lines, code=ExitCode.FAILURE, failure=Failure(code="failed", message=message, hint=hint)
    )


async def _run_stored(ctx: CommandContext, ids: Sequence[str] | None) -> "list[MemoryTestResult]":
    try:
        return await ctx.space.tests.run(only=ids or None)
    except NotFound as error:
        error.hint = _LIST_HINT
        raise


def result_lines(result: "MemoryTestResult") -> Iterator[OutputLine]:
    """Write how a test went: one line, with what came back instead if it failed."""
    test = result.test
    asked = one_line(test.question, _WIDTH) + (f" (as of {when(test.as_of)})" if test.as_of else "")
    if result.passed:
        yield OutputLine(f"passed  {asked}", "green")
        return
    wrong = [f"{_quoted(each)} did not come back" for each in result.absent]
    wrong += [f"{_quoted(each)} came back" for each in result.unwanted]
    items = [
        f"{one_line(item.text, _WIDTH)} ({item.ref}{', superseded' if item.superseded_by else ''})"
        for item in result.items
    ]
    yield OutputLine(f"failed  {asked}: {'; '.join(wrong)}; recalled: {' | '.join(items) or 'nothing'}", "red")


def _quoted(text: str) -> str:
    return f"“{one_line(text, _WIDTH)}”"


def _option(metavar: str, text: str) -> tuple[Any, object]:
    return Annotated[str | None, typer.Option(metavar=metavar, help=text)], None


_TEST = {
    "kind": repeatable("KIND", "Ask only message, fact, session_memory or document."),
    "tag": repeatable("TAG", "Ask only what has this tag, and each other that is given."),
    "note": _option("TEXT", "Why the test is there."),
    "about": _option("REF", "The fact or document it was made from: it goes when that is forgotten."),
    "id": _option("ID", "A name for it. A test with this name is replaced."),
}


@command(tests, effect="creates", more=_TEST)
async def add(
    ctx: CommandContext,
    question: Annotated[str, typer.Argument(help="The question, in plain words.")],
    *,
    must: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="A text or ref that must come back. Repeatable.")
    ] = None,
    must_not: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="A text or ref that must not come back. Repeatable.")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="DATE", help="Ask what was known at this time.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="How many items to look at.", min=1, max=1_000)] = 5,
) -> Result:
    """Keep a memory test: a question with what must and must not come back."""
    kept = await ctx.space.tests.add(
        question,
        must=must or (),
        must_not=must_not or (),
        as_of=as_of,
        limit=limit,
        kinds=parse_kinds(ctx.more["kind"]),
        tags=ctx.more["tag"] or (),
        note=ctx.more["note"] or "",
        about=ctx.more["about"],
        test_id=ctx.more["id"],
    )
    return Result(data=kept, lines=[OutputLine(kept.id)])


@command(tests, "list")
async def list_tests(ctx: CommandContext) -> Result:
    """List the memory tests of a space, by id."""
    found = await all_tests(ctx.space.tests)
    rows = [
        [
            each.id,
            when(each.as_of),
            one_line(each.question, _WIDTH),
            ", ".join(map(_quoted, each.must)),
            ", ".join(map(_quoted, each.must_not)),
        ]
        for each in found
    ]
    return Result(data=found, lines=ctx.table(rows, head=["ID", "AS OF", "QUESTION", "MUST", "MUST NOT"]))


@command(tests, effect="changes")
async def remove(
    ctx: CommandContext,
    id: Annotated[str, typer.Argument(help="The id, as 'bethink test list' shows it.")],  # noqa: A002
) -> Result:
    """Remove a memory test."""
    try:
        await ctx.space.tests.remove(id)
    except NotFound as error:
        error.hint = _LIST_HINT
        raise
    return Result(data={"removed": id}, lines=[OutputLine(f"removed {id}")])


@command(tests)
async def export(ctx: CommandContext) -> Result:
    """Print the memory tests of a space as JSON Lines, which 'bethink test --file' and 'test import' read."""
    lines = [_line(each) for each in await all_tests(ctx.space.tests)]
    if ctx.options.json:
        return Result(data={"tests": lines})
    for line in lines:
        sys.stdout.write(f"{to_json(line)}\n")
    ctx.note(plural(len(lines), "memory test"))
    return Result()


@command(tests, "import", effect="creates")
async def import_tests(
    ctx: CommandContext, file: Annotated[str, typer.Argument(help="A JSON Lines file; - reads stdin.")]
) -> Result:
    """Keep the memory tests of a JSON Lines file. Importing a file twice keeps each test once."""
    read = _read(file)  # all of it first: a file with a mistake in it stores nothing
    for raw, test in read:
        # Without an id, the same line is the same test.
        test_id = test.id or f"test_{hashlib.sha256(raw).hexdigest()[:26]}"
        values = {name: getattr(test, name) for name in _WRITTEN if name not in ("id", "question")}
        await ctx.space.tests.add(test.question, test_id=test_id, **values)
    data = {"imported": len(read)}
    return Result(data=data, lines=[OutputLine(f"{plural(len(read), 'memory test')} imported")])


async def all_tests(kept: "MemoryTests") -> "list[MemoryTest]":
    """List every test of a space."""
    found: list[MemoryTest] = []
    while page := await kept.all(limit=_PAGE, after=found[-1].id if found else ""):
        found += page
    return found


_WRITTEN = ("id", "question", "as_of", "must", "must_not", "limit", "kinds", "tags", "note", "about")
"""What a line of a file has, in this order. When a test was stored is not part of it."""


def _line(test: "MemoryTest") -> dict[str, Any]:
    """Return a test as it stands in a file: without what is at its default."""
    defaults = {each.name: each.default for each in fields(test)}
    return {name: getattr(test, name) for name in _WRITTEN if getattr(test, name) != defaults[name]}


def _read(file: str) -> "list[tuple[bytes, MemoryTest]]":
    """Read the tests of a file, each with its line. Raises `Invalid` for the first line that is not a test."""
    if file == "-":
        with waiting():
            content = sys.stdin.buffer.read()
    else:
        content = Path(file).read_bytes()
    lines = [(number, raw.strip()) for number, raw in enumerate(content.split(b"\n"), 1) if raw.strip()]
    if not lines:
        raise UsageError("the file is empty.", hint=_LINE)
    return [(raw, _test(number, raw)) for number, raw in lines]


def _test(number: int, raw: bytes) -> "MemoryTest":
    """Read a line as a server reads the test in a request: a misspelt field is an error, and not ignored."""
    from bethink.features.memory_tests.operations import RUN_TESTS  # noqa: PLC0415
    from bethink.host.codec import Unreadable, decode_body  # noqa: PLC0415 - it loads pydantic

    try:
        tree = json.loads(raw)
        request = decode_body(RUN_TESTS, {}, json.dumps({"tests": [tree]}).encode())
    except Unreadable as error:
        wrong = error.errors[0]
        where = wrong["at"].removeprefix("tests.0").removeprefix(".")
        message = f"{where}: {wrong['message']}" if where else wrong["message"]
        raise Invalid(f"line {number}: {message.rstrip('.')}.", hint=_LINE) from error
    except Invalid as error:
        message = str(error.args[0]).removeprefix("tests.0.")
        raise Invalid(f"line {number}: {message}", hint=error.hint) from error
    except (ValueError, RecursionError) as error:
        raise Invalid(f"line {number}: not JSON in UTF-8.", hint=_LINE) from error
    return next(iter(request.tests or ()))
