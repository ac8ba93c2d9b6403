"""Status of spaces: read from stored rows, never counted beyond a limit."""

from bethink.model.moments import from_micros_or_none
from bethink.model.pages import cursor_of, read_cursor
from bethink.model.paging import Page
from bethink.model.summaries import SpaceInfo
from bethink.store.db import Row, Tx

_BEYOND = "\U0010ffff" * 200
"""Suffix of the last name that can begin with a prefix."""


def page(tx: Tx, *, prefix: str, after: str, limit: int) -> Page[SpaceInfo]:
    """Return a page of the spaces whose names begin with a prefix, by name."""
    (last,) = read_cursor(after, str) or ("",)
    rows = tx.all("page_spaces", prefix=prefix, beyond=prefix + _BEYOND, after=last, limit=limit + 1)
    items = tuple(_summary(row, row["name"]) for row in rows[:limit])
    return Page(items=items, next=cursor_of(items[-1].name) if len(rows) > limit else "")


def summary(tx: Tx, *, space: str) -> SpaceInfo:
    """Return the status of a space."""
    row = tx.first("summarize_space", space=space)
    return SpaceInfo(name=space) if row is None else _summary(row, space)


def _summary(row: Row, name: str) -> SpaceInfo:
    return SpaceInfo(
        name=name, queued_at=from_micros_or_none(row["queued_at"]), failed=row["failed"], pending=row["held"]
    )
