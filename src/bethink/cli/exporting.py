"""The command that gives memory out again: messages as lines, documents as files."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from bethink.cli.frame import Answer, Door, Usage, command
from bethink.cli.terminal import Line, many, to_json
from bethink.errors import Conflict, NotFound

if TYPE_CHECKING:
    from bethink.memory import Memory
    from bethink.model.records import Record, SessionEntry

app = typer.Typer()

_PAGE = 500


@command(app)
async def export(
    door: Door,
    *,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Messages, one a line, as import takes them (default).")
    ] = False,
    md: Annotated[str | None, typer.Option(metavar="DIR", help="Documents as files, into a folder.")] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where lines go; - is stdout.")] = "-",
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> Answer:
    """Give out the messages or the documents of a space. Messages come oldest session first, as import takes them."""
    if md is not None:
        if jsonl or output != "-":
            raise Usage("--md writes files of its own.", hint="Give --md alone, and --jsonl in another run.")
        await _must_hold(door)
        return await _files(door, Path(md))
    if not force:
        _must_be_new(output)
    await _must_hold(door)
    if door.common.json and output == "-":
        records = [line async for line in _lines(door.memory, door.space)]
        return Answer(data={"messages": records})
    count = 0
    with _sink(output) as sink:
        async for line in _lines(door.memory, door.space):
            sink.write(f"{to_json(line, sink)}\n")
            count += 1
    if output == "-":
        door.note(many(count, "message"))
        return Answer()
    return Answer(data={"messages": count, "file": output}, lines=[Line(f"{many(count, 'message')} in {output}")])


def _must_be_new(output: str) -> None:
    """Raise `Conflict` for a file that is there; a device or a pipe is written to."""
    if output != "-" and Path(output).is_file():
        raise Conflict(f"{output} is there already.", hint="Give --force to write over it, or name another file.")


async def _must_hold(door: Door) -> None:
    """Raise `NotFound` for a space that holds nothing, before a file is made of it: its name may be misspelt."""
    memory, space = door.memory, door.space
    if await memory.sessions(space=space, limit=1) or await memory.facts(space=space).length():
        return
    if not await memory.documents(space=space).children():
        raise NotFound(f"space {space!r} holds nothing.", hint="Run 'bethink spaces' for those that do.")


def _sink(output: str) -> AbstractContextManager[TextIO]:
    return nullcontext(sys.stdout) if output == "-" else open(output, "w", encoding="utf-8", opener=_private)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)  # what people say to their agents is nobody else's to read


async def _files(door: Door, folder: Path) -> Answer:
    files = await door.memory.documents(space=door.space).files()
    _write(folder, files)
    names = sorted(files)
    return Answer(data={"folder": str(folder), "files": names}, lines=[Line(name) for name in names])


def _write(folder: Path, files: dict[str, str]) -> None:
    root = folder.resolve()
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in files.items():
        path = (root / name).resolve()
        if not path.is_relative_to(root):  # a name is made from what a model wrote
            raise Conflict(f"{name!r} would be written outside of {folder}.")
        path.parent.mkdir(parents=True, exist_ok=True)
        with _sink(str(path)) as file:
            file.write(text)


async def _lines(memory: "Memory", space: str) -> AsyncIterator[dict[str, Any]]:
    for entry in reversed(await every_session(memory, space)):
        after = 0
        while records := await memory.read(entry.session, after=after, limit=_PAGE):
            for record in records:
                yield _line(entry, record)
            after = records[-1].number


async def every_session(memory: "Memory", space: str) -> "list[SessionEntry]":
    """Return every session of a space, the newest first."""
    found: list[SessionEntry] = []
    while page := await memory.sessions(space=space, limit=_PAGE, before=found[-1].session.id if found else ""):
        found += page
    return found


def _line(entry: "SessionEntry", record: "Record") -> dict[str, Any]:
    from bethink.cli.plain import plain  # noqa: PLC0415

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
        "idempotency_key": message.idempotency_key,
        "trace_parent": message.trace_parent,
    }
    told = {name: value for name, value in rest.items() if value}
    return plain(line | told | ({} if entry.session.learns else {"learns": False}))
