"""Lists of sessions, newest first, and of the messages of one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bethink.cli.command import CommandContext
from bethink.cli.paging import MOST, list_page
from bethink.cli.results import Result, UsageError
from bethink.cli.terminal import OutputLine, one_line, when
from bethink.errors import NotFoundError

if TYPE_CHECKING:
    from bethink.api.space import Space
    from bethink.model.records import Record, SessionEntry

SESSION = "ses_"
"""The start of the ids of sessions."""
_HEAD = ("SESSION", "STARTED", "STATE", "MESSAGES", "LEARNING", "AGENT", "CONVERSATION")


async def session_page(ctx: CommandContext, *, limit: int, after: str, filters: dict[str, Any]) -> Result:
    """Return a page of the sessions of a space that match the filters."""
    page = await ctx.space.sessions.list(limit=limit, after=after, **filters)
    return list_page(ctx, page, _row, _HEAD)


async def message_page(ctx: CommandContext, session_id: str, *, limit: int, after: str) -> Result:
    """Return a page of the messages of a session, in order."""
    if after and not (after.isascii() and after.isdecimal()):
        raise UsageError(f"Unknown cursor {after[:80]!r}.", hint="Pass the number of a message.")
    try:
        session = await ctx.space.sessions.get(session_id)
    except NotFoundError as error:
        hint = "Run 'bethink show' to list the sessions."
        raise NotFoundError(f"No session {session_id!r} in space {ctx.space_name!r}.", hint=hint) from error
    page = await session.messages(after=int(after) if after else None, limit=limit)
    if page.next:
        ctx.note(f"note: there may be more; continue with --after {page.next}")
    return Result(data=page, lines=[line for record in page for line in _message_lines(record)])


def _message_lines(record: "Record") -> Iterator[OutputLine]:
    message = record.message
    name = f" ({message.name})" if message.name else ""
    retracted = ", retracted" if record.retracted_at is not None else ""
    yield OutputLine(
        one_line(f"{when(message.said_at or record.recorded_at)}  {message.role}{name}{retracted}"), "bold"
    )
    for text in message.content.splitlines():
        yield OutputLine(f"      {text}")
    yield OutputLine(f"      message:{record.session_id}:{record.number}", "dim")


def _row(entry: "SessionEntry") -> list[str]:
    return [
        entry.session.id,
        when(entry.session.created_at if entry.started_at is None else entry.started_at),
        entry.session.end_reason or "open",
        str(entry.session.last_number),
        "pending" if entry.session.invalidated_at is not None else "",
        entry.agent,
        entry.conversation,
    ]


async def all_sessions(space: "Space", **filters: Any) -> "list[SessionEntry]":
    """Return every session of a space that matches the filters, newest first."""
    first = await space.sessions.list(limit=MOST, **filters)
    return [entry async for entry in first.iterate()]
