"""Commands for memory tests: test run, add, list, remove, export and import."""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import CommandContext, command
from bethink.cli.narrowing import repeatable
from bethink.cli.paging import MOST, After, Limit, list_page
from bethink.cli.recall import parse_kinds
from bethink.cli.results import ExitCode, Failure, Result, UsageError
from bethink.cli.terminal import OutputLine, one_line, to_json, waiting, when
from bethink.cli.viewing import VIEW, view
from bethink.errors import InvalidRequestError, NotFoundError
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.features.memory_tests.handle import MemoryTests
    from bethink.features.memory_tests.records import MemoryTest, MemoryTestResult

_WIDTH = 100
_MOST = 1_000
"""Maximum number of tests in one request."""
_LINE = "Write one JSON object per line, with question and must or must_not."
_LIST_HINT = "Run 'bethink test list' to list the tests and their ids."


app = typer.Typer()

File = Annotated[str | None, typer.Option(metavar="FILE", help="JSON Lines file with tests; - for stdin.")]


@command(app, "test run")
async def run(
    ctx: CommandContext,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of tests.  [default: all]", metavar="[ID]...")] = None,
    *,
    file: File = None,
) -> Result:
    """Run memory tests. 'bethink test' alone does the same.

    The tests are those of a space, or of a file. They need no model. The exit code is 1 if one of them fails.
    """
    if file is not None and ids:
        raise UsageError("Ids and --file cannot be combined.", hint="Leave one of them out.")
    if file is None:
        results = await _run_stored(ctx, ids)
    else:
        tests = [test for _, test in _read_tests(file)]
        parts = [tests[start : start + _MOST] for start in range(0, len(tests), _MOST)]
        results = [result for part in parts for result in await ctx.space.admin.tests.run(tests=part)]
    if not results and not ctx.options.json:
        ctx.note(f"note: space {ctx.space_name!r} has no memory tests; add one with 'bethink test add'")
    failed = sum(not result.passed for result in results)
    lines = [line for result in results for line in result_lines(result)]
    data = {"passed": len(results) - failed, "failed": failed, "results": results}
    if not failed:
        return Result(data=data, lines=lines)
    message = f"{failed} of {plural(len(results), 'memory test')} failed."
    hint = "Inspect a result with 'bethink show REF', and correct it with 'bethink fact correct REF'."
    return Result(
        data=data, lines=lines, code=ExitCode.FAILURE, failure=Failure(code="failed", message=message, hint=hint)
    )


async def _run_stored(ctx: CommandContext, ids: Sequence[str] | None) -> "list[MemoryTestResult]":
    try:
        return await ctx.space.admin.tests.run(only=ids or None)
    except NotFoundError as error:
        error.hint = _LIST_HINT
        raise


def result_lines(result: "MemoryTestResult") -> Iterator[OutputLine]:
    """Format the result of a test: one line, with the matches if it failed."""
    test = result.test
    question = one_line(test.question, _WIDTH) + _view_note(test)
    if result.passed:
        yield OutputLine(f"passed  {question}", "green")
        return
    problems = [f"{_quote(text)} is missing" for text in result.absent]
    problems += [f"{_quote(text)} is forbidden" for text in result.unwanted]
    items = [
        f"{one_line(item.text, _WIDTH)} ({item.ref}{', replaced' if item.superseded_by else ''})"
        for item in result.items
    ]
    yield OutputLine(f"failed  {question}: {'; '.join(problems)}; recalled: {' | '.join(items) or 'nothing'}", "red")


def _view_note(test: "MemoryTest") -> str:
    """Return the times at which a test reads memory, in parentheses; empty for now."""
    times = (("as of", test.as_of), ("known at", test.known_at))
    words = ", ".join(f"{label} {when(at)}" for label, at in times if at is not None)
    return f" ({words})" if words else ""


def _quote(text: str) -> str:
    return f"“{one_line(text, _WIDTH)}”"


def _option(metavar: str, text: str) -> tuple[Any, object]:
    return Annotated[str | None, typer.Option(metavar=metavar, help=text)], None


_TEST = {
    "kind": repeatable("KIND", "Kind: message, fact, session_summary or document."),
    "tag": repeatable("TAG", "Filter by tag. Repeat to require several."),
    "note": _option("TEXT", "Note about the test."),
    "about": _option("REF", "Fact or document of the test. Deleting it deletes the test."),
    "id": _option("ID", "Id. A test with the same id is replaced."),
}


@command(app, "test add", effect="creates", more={**_TEST, **VIEW})
async def add(
    ctx: CommandContext,
    question: Annotated[str, typer.Argument(help="Question, in plain words.")],
    *,
    expect: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Text or ref that must be found. Repeatable.")
    ] = None,
    forbid: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Text or ref that must not be found. Repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="Number of results to check.", min=1, max=1_000)] = 5,
) -> Result:
    """Add a memory test. A test is a question with expected and forbidden results."""
    test = await ctx.space.admin.tests.add(
        question,
        must=expect or (),
        must_not=forbid or (),
        **view(ctx.more),
        limit=limit,
        kinds=parse_kinds(ctx.more["kind"]),
        tags=ctx.more["tag"] or (),
        note=ctx.more["note"] or "",
        about=ctx.more["about"],
        test_id=ctx.more["id"],
    )
    return Result(data=test, lines=[OutputLine(test.id)])


@command(app, "test list")
async def list_tests(ctx: CommandContext, *, limit: Limit = 100, after: After = "") -> Result:
    """List memory tests."""
    page = await ctx.space.admin.tests.list(limit=limit, after=after)
    return list_page(ctx, page, _row, ("ID", "AS OF", "KNOWN AT", "QUESTION", "EXPECTED", "FORBIDDEN"))


def _row(test: "MemoryTest") -> list[str]:
    return [
        test.id,
        when(test.as_of),
        when(test.known_at),
        one_line(test.question, _WIDTH),
        ", ".join(map(_quote, test.must)),
        ", ".join(map(_quote, test.must_not)),
    ]


@command(app, "test remove", effect="changes")
async def remove(
    ctx: CommandContext,
    id: Annotated[str, typer.Argument(help="Id, as 'bethink test list' prints it.")],  # noqa: A002
) -> Result:
    """Remove a memory test."""
    try:
        await ctx.space.admin.tests.remove(id)
    except NotFoundError as error:
        error.hint = _LIST_HINT
        raise
    return Result(data={"removed": id}, lines=[OutputLine(f"Removed {id}.")])


@command(app, "test export")
async def export(ctx: CommandContext) -> Result:
    """Print memory tests as JSON Lines. 'bethink test --file' and 'bethink test import' read them."""
    lines = [_line(test) for test in await all_tests(ctx.space.admin.tests)]
    if ctx.options.json:
        return Result(data={"tests": lines})
    for line in lines:
        sys.stdout.write(f"{to_json(line)}\n")
    ctx.note(plural(len(lines), "memory test"))
    return Result()


@command(app, "test import", effect="creates")
async def import_tests(
    ctx: CommandContext, file: Annotated[str, typer.Argument(help="JSON Lines file; - for stdin.")]
) -> Result:
    """Import memory tests from a JSON Lines file. Importing a file again adds no duplicates."""
    lines = _read_tests(file)  # all of it first: a file with a mistake in it stores nothing
    for raw, test in lines:
        # Without an id, the same line is the same test.
        test_id = test.id or f"test_{hashlib.sha256(raw).hexdigest()[:26]}"
        values = {name: getattr(test, name) for name in _FIELDS if name not in ("id", "question")}
        await ctx.space.admin.tests.add(test.question, test_id=test_id, **values)
    data = {"imported": len(lines)}
    return Result(data=data, lines=[OutputLine(f"Imported {plural(len(lines), 'memory test')}.")])


async def all_tests(handle: "MemoryTests") -> "list[MemoryTest]":
    """List every test of a space."""
    first = await handle.list(limit=MOST)
    return [test async for test in first.iterate()]


_FIELDS = ("id", "question", "as_of", "known_at", "must", "must_not", "limit", "kinds", "tags", "note", "about")
"""The fields of a line in a file, in this order, without the date."""


def _line(test: "MemoryTest") -> dict[str, Any]:
    """Return the line of a test in a file, without default values."""
    defaults = {field.name: field.default for field in fields(test)}
    return {name: getattr(test, name) for name in _FIELDS if getattr(test, name) != defaults[name]}


def _read_tests(file: str) -> "list[tuple[bytes, MemoryTest]]":
    """Parse the tests of a file, each with its line. Raises for the first line that is not a test."""
    if file == "-":
        with waiting():
            content = sys.stdin.buffer.read()
    else:
        content = Path(file).read_bytes()
    lines = [(number, raw.strip()) for number, raw in enumerate(content.split(b"\n"), 1) if raw.strip()]
    if not lines:
        raise UsageError("The file is empty.", hint=_LINE)
    return [(raw, _test(number, raw)) for number, raw in lines]


def _test(number: int, raw: bytes) -> "MemoryTest":
    """Parse a line as a server parses the test in a request: a misspelled field is an error."""
    from bethink.features.memory_tests.operations import RUN_TESTS  # noqa: PLC0415
    from bethink.host.codec import Unreadable, decode_body  # noqa: PLC0415 - it loads pydantic

    try:
        tree = json.loads(raw)
        request = decode_body(RUN_TESTS, {}, json.dumps({"tests": [tree]}).encode())
    except Unreadable as error:
        first = error.errors[0]
        where = first["at"].removeprefix("tests.0").removeprefix(".")
        message = f"{where}: {first['message']}" if where else first["message"]
        raise InvalidRequestError(f"Line {number}: {message.rstrip('.')}.", hint=_LINE) from error
    except InvalidRequestError as error:
        message = str(error.args[0]).removeprefix("tests.0.")
        raise InvalidRequestError(f"Line {number}: {message}", hint=error.hint) from error
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(f"Line {number}: not JSON in UTF-8.", hint=_LINE) from error
    return next(iter(request.tests or ()))
