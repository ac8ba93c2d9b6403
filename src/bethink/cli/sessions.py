"""Lists of sessions, newest first."""

from typing import TYPE_CHECKING, Any

from bethink.cli.command import CommandContext
from bethink.cli.paging import MOST, list_page
from bethink.cli.results import Result
from bethink.cli.terminal import when

if TYPE_CHECKING:
    from bethink.api.space import Space
    from bethink.model.records import SessionEntry

_HEAD = ("SESSION", "STARTED", "STATE", "MESSAGES", "LEARNING", "AGENT", "CONVERSATION")


async def session_page(ctx: CommandContext, *, limit: int, after: str, filters: dict[str, Any]) -> Result:
    """Return a page of the sessions of a space that match the filters."""
    page = await ctx.space.sessions.list(limit=limit, after=after, **filters)
    return list_page(ctx, page, _row, _HEAD)


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
