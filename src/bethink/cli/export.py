"""The command that exports a space: messages as JSON Lines, documents as files, or everything as an archive."""

import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from bethink.cli.command import CommandContext, command
from bethink.cli.empty_space import is_empty
from bethink.cli.narrowing import NARROWING, narrowing
from bethink.cli.results import Result, UsageError
from bethink.cli.sessions import all_sessions
from bethink.cli.terminal import OutputLine, to_json
from bethink.errors import ConflictError, DatabaseUnavailableError, NotFoundError
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.api.space import Space
    from bethink.model.records import Record, SessionEntry

app = typer.Typer()

_FORMATS = ("jsonl", "markdown", "archive")


@command(app, "data export", more=NARROWING)
async def export(
    ctx: CommandContext,
    *,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="jsonl (messages), markdown (documents) or archive (all).")
    ] = "jsonl",
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PATH", help="File, or folder for markdown; - for stdout.")
    ] = "-",
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> Result:
    """Export a space.

    'bethink data import jsonl' reads messages back, 'bethink data import archive' everything.
    """
    if form not in _FORMATS:
        raise UsageError(f"Unknown format {form!r}.", hint=f"Use one of {', '.join(_FORMATS)}.")
    filters = narrowing(ctx.more)
    if form != "jsonl" and filters:
        raise UsageError(f"--format {form} takes no filters.", hint="Leave out the filters, or use --format jsonl.")
    if form != "jsonl" and output == "-":
        target = "a folder" if form == "markdown" else "a file"
        raise UsageError(f"--format {form} needs {target}.", hint="Pass -o PATH.")
    if form == "archive":
        return await _export_archive(ctx, output, force=force)
    if form == "markdown":
        await _check_not_empty(ctx.space)
        return await _export_documents(ctx, Path(output))
    return await _export_messages(ctx, output, filters, force=force)


async def _export_messages(ctx: CommandContext, output: str, filters: dict[str, Any], *, force: bool) -> Result:
    if not force:
        _check_new(output)
    await _check_not_empty(ctx.space)
    if ctx.options.json and output == "-":
        return Result(data={"messages": [line async for line in _lines(ctx.space, filters)]})
    count = 0
    with _sink(output) as sink:
        async for line in _lines(ctx.space, filters):
            sink.write(f"{to_json(line, sink)}\n")
            count += 1
    if output == "-":
        ctx.note(plural(count, "message"))
        return Result()
    await note_export(ctx, Path(output))
    lines = [OutputLine(f"{plural(count, 'message')} in {output}")]
    return Result(data={"messages": count, "file": output}, lines=lines)


async def _export_archive(ctx: CommandContext, name: str, *, force: bool) -> Result:
    if not force:
        _check_new(name)
    manifest = await ctx.space.admin.export_archive(name)
    await note_export(ctx, Path(name))
    rows = {table: count for table, count in manifest.rows.items() if count}
    data = {"file": name, "space": manifest.space, "rows": rows}
    return Result(data=data, lines=[OutputLine(f"{plural(sum(rows.values()), 'row')} of {manifest.space} in {name}")])


async def note_export(ctx: CommandContext, path: Path, *, space: str | None = None) -> None:
    """Record the location of exported texts: an erasure cannot remove them, but its receipt names the file."""
    from bethink.model.erasures import EXPORT  # noqa: PLC0415 - only here
    from bethink.store import erasures  # noqa: PLC0415

    with suppress(DatabaseUnavailableError):  # a server does not know the files of this machine
        database, name = ctx.memory.backend.local().database, space or ctx.space_name
        entry = {"space": name, "host": socket.gethostname(), "path": _absolute(path), "kind": EXPORT}
        await database.transact(lambda tx: erasures.note_written(tx, **entry), space=name)


def _absolute(path: Path) -> str:
    return str(path.absolute())


def _check_new(output: str) -> None:
    if output != "-" and Path(output).is_file():  # a device or a pipe may be written to
        raise ConflictError(f"{output} already exists.", hint="Pass --force to overwrite it, or choose another file.")


async def _check_not_empty(space: "Space") -> None:
    """Raise `NotFoundError` for an empty space before a file is written: its name may be misspelled."""
    if not await is_empty(space):
        return
    raise NotFoundError(f"Space {space.name!r} is empty.", hint="Run 'bethink admin spaces' to list the spaces.")


def _sink(output: str) -> AbstractContextManager[TextIO]:
    return nullcontext(sys.stdout) if output == "-" else open(output, "w", encoding="utf-8", opener=private)


def private(path: str, flags: int) -> int:
    """Open a file that only its owner can read: conversations are private."""
    return os.open(path, flags, 0o600)


async def _export_documents(ctx: CommandContext, folder: Path) -> Result:
    files = await ctx.space.documents.read_all()
    _write(folder, files)
    await note_export(ctx, folder)
    names = sorted(files)
    return Result(data={"folder": str(folder), "files": names}, lines=[OutputLine(name) for name in names])


def _write(folder: Path, files: dict[str, str]) -> None:
    root = folder.resolve()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in files.items():
        path = (root / name).resolve()
        if not path.is_relative_to(root):  # a model wrote the name
            raise ConflictError(f"{name!r} is outside of {folder}.", hint="Rename the document, then export again.")
        path.parent.mkdir(parents=True, exist_ok=True)
        with _sink(str(path)) as file:
            file.write(text)


async def _lines(space: "Space", filters: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    within = {name: filters[name] for name in ("conversation", "agent") if name in filters}
    for entry in reversed(await all_sessions(space, **within)):
        session = await space.sessions.get(entry.session.id)
        after = 0
        while records := await session.messages(after=after, **filters):
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
    optional = {
        "name": message.name,
        "tool_calls": message.tool_calls,
        "tool_call_id": message.tool_call_id,
        "is_error": message.is_error,
        "metadata": message.metadata,
        "tags": message.tags,
        "idempotency_key": message.idempotency_key,
        "trace_parent": message.trace_parent,
    }
    present = {name: value for name, value in optional.items() if value}
    return line | present | ({} if entry.session.is_learned_from else {"learns": False})
