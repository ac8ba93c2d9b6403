"""Pages of facts: current and retired ones, each with what took its place."""

from collections.abc import Sequence
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.moments import to_micros
from bethink.model.pages import FactEntry, FactPage, FactState, Order, cursor_of, read_cursor
from bethink.model.recall import Ref, RefKind
from bethink.store.db import Row, Tx, until
from bethink.store.facts import fact_of


@frozen
class Wanted:
    """Which versions of facts a page lists."""

    state: FactState | None
    subject: str | None
    slot: str | None
    kind: str | None
    origin: str | None
    order: Order


def page(tx: Tx, wanted: Wanted, *, space: str, as_of: datetime | None, after: str, limit: int) -> FactPage:
    """Return a page of facts and versions of facts, as of a time."""
    oldest = wanted.order is Order.OLDEST
    key = read_cursor(after, int, str, int) or (None, None, None)
    values: dict[str, object] = {
        "subject": wanted.subject, "slot": wanted.slot, "kind": wanted.kind, "origin": wanted.origin,
        "later" if oldest else "older": key[0], "id": key[1], "version": key[2], "oldest": oldest or None,
    }  # fmt: skip
    retired = wanted.state is FactState.RETIRED
    if retired:
        values["until"] = until(as_of)
    else:
        values |= _standing(wanted.state, as_of=as_of, now=tx.now)
    name = "page_facts_retired" if retired else "page_facts_recorded"
    rows = tx.all(name, space=space, limit=limit + 1, **values)
    shown = rows[:limit]
    successors = _successors(tx, shown, space=space, as_of=as_of)
    now = to_micros(tx.now if as_of is None else as_of)
    items = tuple(
        _entry(row, successor, bound=until(as_of), now=now) for row, successor in zip(shown, successors, strict=True)
    )
    following = None
    if len(rows) > limit:
        last = shown[-1]
        following = cursor_of(last["retired_at" if retired else "recorded_at"], last["id"], last["version"])
    return FactPage(items=items, next=following)


def _standing(state: FactState | None, *, as_of: datetime | None, now: datetime) -> dict[str, object]:
    then = now if as_of is None else as_of
    values: dict[str, object] = {"at": as_of}
    if state is None:
        return values
    values["current" if as_of is None else "current_then"] = then
    values["lasting" if state is FactState.HOLDS else "ended"] = then
    return values


def _successors(tx: Tx, rows: Sequence[Row], *, space: str, as_of: datetime | None) -> list[Row | None]:
    """Return what took the place of each row: its next version, or the newest version of the fact that retired it."""
    bound = until(as_of)
    asked = [_following(row, bound) for row in rows]
    named = sorted({each for each in asked if each is not None})
    found = tx.all(
        "fact_successors",
        space=space, until=bound, ids=[name for name, _ in named], numbers=[number for _, number in named],
    ) if named else []  # fmt: skip
    by_key = {(row["id"], row["number"]): row for row in found}
    return [None if each is None else by_key.get(each) for each in asked]


def _following(row: Row, bound: int) -> tuple[str, int] | None:
    if row["retired_at"] is None or row["retired_at"] > bound or not row["retired_by"]:
        return None
    return row["retired_by"], row["version"] + 1 if row["retired_by"] == row["id"] else 0


def _entry(row: Row, successor: Row | None, *, bound: int, now: int) -> FactEntry:
    if row["retired_at"] is not None and row["retired_at"] <= bound:
        state = FactState.RETIRED
    else:
        state = FactState.ENDED if row["valid_to"] is not None and row["valid_to"] <= now else FactState.HOLDS
    if successor is None:
        return FactEntry(fact=fact_of(row), state=state)
    ref = Ref(RefKind.FACT, successor["id"], successor["version"])
    return FactEntry(fact=fact_of(row), state=state, successor=ref, successor_text=successor["content"])
