"""Pages of current and replaced facts, each with its successor."""

from collections.abc import Sequence
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.facts import FactStatus
from bethink.model.moments import to_micros
from bethink.model.pages import FactEntry, Order, cursor_of, read_cursor
from bethink.model.paging import Page
from bethink.model.refs import Ref, RefKind
from bethink.store.db import Row, Tx, until
from bethink.store.facts import fact_of


@frozen
class FactQuery:
    """Filter and order of a page of facts."""

    state: FactStatus | None
    subject: str | None
    slot: str | None
    kind: str | None
    origin: str | None
    order: Order


def page(tx: Tx, query: FactQuery, *, space: str, as_of: datetime | None, after: str, limit: int) -> Page[FactEntry]:
    """Return a page of facts and versions of facts, as of a time."""
    oldest = query.order is Order.OLDEST
    key = read_cursor(after, int, str, int) or (None, None, None)
    values: dict[str, object] = {
        "subject": query.subject, "slot": query.slot, "kind": query.kind, "origin": query.origin,
        "later" if oldest else "older": key[0], "id": key[1], "version": key[2], "oldest": oldest or None,
    }  # fmt: skip
    retired = query.state is FactStatus.REPLACED
    if retired:
        values["until"] = until(as_of)
    else:
        values |= _state_parameters(query.state, as_of=as_of, now=tx.now)
    name = "page_facts_retired" if retired else "page_facts_recorded"
    rows = tx.all(name, space=space, limit=limit + 1, **values)
    page_rows = rows[:limit]
    successors = _successors(tx, page_rows, space=space, as_of=as_of)
    now = to_micros(tx.now if as_of is None else as_of)
    items = tuple(
        _entry(row, successor, bound=until(as_of), now=now)
        for row, successor in zip(page_rows, successors, strict=True)
    )
    following = ""
    if len(rows) > limit:
        last = page_rows[-1]
        following = cursor_of(last["retired_at" if retired else "recorded_at"], last["id"], last["version"])
    return Page(items=items, next=following)


def _state_parameters(state: FactStatus | None, *, as_of: datetime | None, now: datetime) -> dict[str, object]:
    then = now if as_of is None else as_of
    values: dict[str, object] = {"at": as_of}
    if state is None:
        return values
    values["current" if as_of is None else "current_then"] = then
    values["lasting" if state is FactStatus.CURRENT else "ended"] = then
    return values


def _successors(tx: Tx, rows: Sequence[Row], *, space: str, as_of: datetime | None) -> list[Row | None]:
    """Return the successor of each row: its next version, or the newest version of the fact that replaced it."""
    bound = until(as_of)
    keys = [_following(row, bound) for row in rows]
    unique_keys = sorted({key for key in keys if key is not None})
    matches = tx.all(
        "fact_successors",
        space=space, until=bound, ids=[name for name, _ in unique_keys], numbers=[number for _, number in unique_keys],
    ) if unique_keys else []  # fmt: skip
    by_key = {(row["id"], row["number"]): row for row in matches}
    return [None if key is None else by_key.get(key) for key in keys]


def _following(row: Row, bound: int) -> tuple[str, int] | None:
    if row["retired_at"] is None or row["retired_at"] > bound or not row["retired_by"]:
        return None
    return row["retired_by"], row["version"] + 1 if row["retired_by"] == row["id"] else 0


def _entry(row: Row, successor: Row | None, *, bound: int, now: int) -> FactEntry:
    if row["retired_at"] is not None and row["retired_at"] <= bound:
        state = FactStatus.REPLACED
    else:
        ends = [end for end in (row["valid_to"], row["expires_at"]) if end is not None]
        state = FactStatus.ENDED if ends and min(ends) <= now else FactStatus.CURRENT
    if successor is None:
        return FactEntry(fact=fact_of(row), status=state)
    ref = Ref(RefKind.FACT, successor["id"], successor["version"])
    return FactEntry(fact=fact_of(row), status=state, replaced_by=ref, replaced_by_text=successor["content"])
