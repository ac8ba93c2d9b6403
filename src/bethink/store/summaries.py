"""How spaces stand: read from rows that are kept, never counted beyond a limit."""

from bethink.model.moments import from_micros_or_none
from bethink.model.pages import cursor_of, read_cursor
from bethink.model.summaries import SpacePage, SpaceSummary
from bethink.store.db import Row, Tx

_BEYOND = "\U0010ffff" * 200
"""After a prefix: the last name that can begin with it."""


def page(tx: Tx, *, prefix: str, after: str, limit: int) -> SpacePage:
    """Return a page of the spaces whose names begin with a prefix, by name."""
    (last,) = read_cursor(after, str) or ("",)
    rows = tx.all("page_spaces", prefix=prefix, beyond=prefix + _BEYOND, after=last, limit=limit + 1)
    items = tuple(_summary(row, row["name"]) for row in rows[:limit])
    return SpacePage(items=items, next=cursor_of(items[-1].name) if len(rows) > limit else None)


def summary(tx: Tx, *, space: str) -> SpaceSummary:
    """Return how a space stands."""
    row = tx.one("summarise_space", space=space)
    return SpaceSummary(name=space) if row is None else _summary(row, space)


def _summary(row: Row, name: str) -> SpaceSummary:
    return SpaceSummary(
        name=name, queued_at=from_micros_or_none(row["queued_at"]), failed=row["failed"], held=row["held"]
    )
