"""The command that exports a space: messages as JSON Lines, documents as files, or everything as an archive."""

import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from bethink.cli.command import CommandContext, Result, UsageError, command
from bethink.cli.lists import all_sessions
from bethink.cli.narrowing import NARROWING, narrowing
from bethink.cli.terminal import OutputLine, to_json
from bethink.errors import Conflict, NotFound, Unavailable
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.api.space import Space
    from bethink.model.records import Record, SessionEntry

app = typer.Typer()


@command(app, more=NARROWING)
async def export(
    ctx: CommandContext,
    *,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Export messages as JSON Lines (default).")] = False,
    md: Annotated[str | None, typer.Option(metavar="DIR", help="Export documents as files into a folder.")] = None,
    archive: Annotated[
        str | None, typer.Option(metavar="FILE", help="Export everything into one file, with every version.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write the lines to a file; - is stdout.")
    ] = "-",
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> Result:
    """Export the messages or the documents of a space, or everything in it.

    'bethink import jsonl' reads the messages back, 'bethink import archive' everything.
    """
    only = narrowing(ctx.more)
    if archive is not None:
        if md is not None or jsonl or output != "-" or only:
            hint = "An archive holds everything. Run export twice."
            raise UsageError("--archive cannot be combined with what narrows an export.", hint=hint)
        return await _export_archive(ctx, archive, force=force)
    if md is not None:
        if jsonl or output != "-" or only:
            hint = "Run export twice."
            raise UsageError("--md cannot be combined with --jsonl, --output or what narrows messages.", hint=hint)
        await _must_hold_anything(ctx.space)
        return await _export_files(ctx, Path(md))
    if not force:
        _must_be_new(output)
    await _must_hold_anything(ctx.space)
    if ctx.options.json and output == "-":
        return Result(data={"messages": [line async for line in _lines(ctx.space, only)]})
    count = 0
    with _sink(output) as sink:
        async for line in _lines(ctx.space, only):
            sink.write(f"{to_json(line, sink)}\n")
            count += 1
    if output == "-":
        ctx.note(plural(count, "message"))
        return Result()
    await note_written(ctx, Path(output))
    lines = [OutputLine(f"{plural(count, 'message')} in {output}")]
    return Result(data={"messages": count, "file": output}, lines=lines)


async def _export_archive(ctx: CommandContext, name: str, *, force: bool) -> Result:
    if not force:
        _must_be_new(name)
    manifest = await ctx.space.export_archive(name)
    await note_written(ctx, Path(name))
    rows = {table: count for table, count in manifest.rows.items() if count}
    data = {"file": name, "space": manifest.space, "rows": rows}
    return Result(data=data, lines=[OutputLine(f"{plural(sum(rows.values()), 'row')} of {manifest.space} in {name}")])


async def note_written(ctx: CommandContext, path: Path, *, of: str | None = None) -> None:
    """Write down where the texts are now: an erasure cannot remove them, but its receipt names the place."""
    from bethink.model.erasures import EXPORT  # noqa: PLC0415 - only here
    from bethink.store import erasures  # noqa: PLC0415

    with suppress(Unavailable):  # a server does not know the files of this machine
        database, space = ctx.memory.local().database, of or ctx.space_name
        named = {"space": space, "host": socket.gethostname(), "path": _absolute(path), "kind": EXPORT}
        await database.transact(lambda tx: erasures.note_written(tx, **named), space=space)


def _absolute(path: Path) -> str:
    return str(path.absolute())


def _must_be_new(output: str) -> None:
    if output != "-" and Path(output).is_file():  # a device or a pipe may be written to
        raise Conflict(f"{output} already exists.", hint="Pass --force to overwrite it, or choose another file.")


async def _must_hold_anything(space: "Space") -> None:
    """Raise `NotFound` for an empty space before a file is written: its name may be misspelt."""
    if not await is_empty(space) or await space.documents.children():
        return
    raise NotFound(f"space {space.name!r} is empty.", hint="Run 'bethink spaces' to list the spaces.")


async def is_empty(space: "Space") -> bool:
    """Return whether a space has neither sessions nor facts."""
    return not (await space.sessions(limit=1) or await space.facts.count())


def _sink(output: str) -> AbstractContextManager[TextIO]:
    return nullcontext(sys.stdout) if output == "-" else open(output, "w", encoding="utf-8", opener=private)


def private(path: str, flags: int) -> int:
    """Open a file that only its owner can read: conversations are private."""
    return os.open(path, flags, 0o600)


async def _export_files(ctx: CommandContext, folder: Path) -> Result:
    files = await ctx.space.documents.files()
    _write(folder, files)
    await note_written(ctx, folder)
    names = sorted(files)
    return Result(data={"folder": str(folder), "files": names}, lines=[OutputLine(name) for name in names])


def _write(folder: Path, files: dict[str, str]) -> None:
    root = folder.resolve()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in files.items():
        path = (root / name).resolve()
        if not path.is_relative_to(root):  # a name comes from what a model wrote
            raise Conflict(f"{name!r} is outside of {folder}.", hint="Rename the document, then export again.")
        path.parent.mkdir(parents=True, exist_ok=True)
        with _sink(str(path)) as file:
            file.write(text)


async def _lines(space: "Space", only: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    within = {name: only[name] for name in ("conversation", "agent") if name in only}
    for entry in reversed(await all_sessions(space, **within)):
        session = await space.get_session(entry.session.id)
        after = 0
        while records := await session.read(after=after, **only):
            for record in records:
                yield _line(entry, record)
            after = records[-1].number


def _line(entry: "SessionEntry", record: "Record") -> dict[str, Any]:
    message = record.message
    line = {
        "conversation": entry.conversation,
        "agent": entry.agent,
        "session": entry.session.id,
        "said_at": message.said_at or record.recorded_at,
        "role": message.role,
        "content": message.content,
        "origin": message.origin,
    }
    rest = {
        "name": message.name,
        "tool_calls": message.tool_calls,
        "tool_call_id": message.tool_call_id,
        "is_error": message.is_error,
        "metadata": message.metadata,
        "tags": message.tags,
        "idempotency_key": message.idempotency_key,
        "trace_parent": message.trace_parent,
    }
    present = {name: value for name, value in rest.items() if value}
    return line | present | ({} if entry.session.learns else {"learns": False})
