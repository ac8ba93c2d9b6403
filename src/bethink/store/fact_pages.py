"""Pages of current and replaced facts, each with its successor."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.facts import Fact, FactStatus
from bethink.model.pages import FactEntry, Order, cursor_of, read_cursor
from bethink.model.paging import Page
from bethink.model.refs import Ref, RefKind
from bethink.model.views import TimeView
from bethink.store.db import Row, Tx
from bethink.store.facts import facts_of
from bethink.store.views import in_view, is_lasting


@frozen
class FactQuery:
    """Filter and order of a page of facts."""

    state: FactStatus | None
    subject: str | None
    slot: str | None
    kind: str | None
    origin: str | None
    order: Order


def page(tx: Tx, query: FactQuery, *, space: str, view: TimeView, after: str, limit: int) -> Page[FactEntry]:
    """Return a page of facts and versions of facts, in a view."""
    if query.state is FactStatus.EARLIER:  # only messages have this status
        return Page(items=(), next="")
    key = read_cursor(after, int, str, int) or (None, None, None)
    entries: list[tuple[Row, Fact]] = []
    while len(entries) <= limit:
        rows = _rows(tx, query, key, space=space, view=view, limit=limit + 1)
        entries += _matching(tx, rows, query.state, space=space, view=view)
        if len(rows) <= limit:
            break
        key = _key(rows[-1])
    shown = entries[:limit]
    texts = _texts(tx, [fact for _, fact in shown], space=space, view=view)
    following = cursor_of(*_key(shown[-1][0])) if len(entries) > limit else ""
    return Page(items=tuple(_entry(fact, texts) for _, fact in shown), next=following)


def _rows(
    tx: Tx, query: FactQuery, key: tuple[object, ...], *, space: str, view: TimeView, limit: int
) -> list[Row]:  # fmt: skip
    oldest = query.order is Order.OLDEST
    return tx.all(
        "page_facts_recorded",
        space=space, said=view.said_until, known=view.known_until, subject=query.subject, slot=query.slot,
        kind=query.kind, origin=query.origin, oldest=oldest or None, id=key[1], version=key[2], limit=limit,
        **{"later" if oldest else "older": key[0]},
        **(_state_parameters(query.state, tx.now) if view.is_now else {}),
    )  # fmt: skip


def _key(row: Row) -> tuple[int, str, int]:
    return row["recorded_at"], row["id"], row["version"]


def _state_parameters(state: FactStatus | None, now: datetime) -> dict[str, object]:
    """Return the parameters that narrow a page of the present, so that no row is read in vain."""
    return dict.fromkeys(_CONDITIONS.get(state, ()), now) if state is not None else {}


_CONDITIONS = {
    FactStatus.CURRENT: ("lasting",),
    FactStatus.UPCOMING: ("lasting", "upcoming"),
    FactStatus.DOUBTFUL: ("lasting", "doubted"),
    FactStatus.ENDED: ("ended",),
    FactStatus.CORRECTED: ("corrected",),
    FactStatus.REPLACED: ("replaced",),
    FactStatus.PENDING: ("pending",),
}


def _matching(
    tx: Tx, rows: Sequence[Row], state: FactStatus | None, *, space: str, view: TimeView
) -> list[tuple[Row, Fact]]:  # fmt: skip
    """Return the facts with a status. `current` includes those that are upcoming or in doubt."""
    listed = _in_view(tx, rows, space=space, view=view)
    pairs = [(row, listed[row["id"], row["version"]]) for row in rows if (row["id"], row["version"]) in listed]
    if state is None:
        return pairs
    states = {state} if state is not FactStatus.CURRENT else {status for status in FactStatus if is_lasting(status)}
    return [(row, fact) for row, fact in pairs if fact.status in states]


def _in_view(tx: Tx, rows: Sequence[Row], *, space: str, view: TimeView) -> dict[tuple[str, int], Fact]:
    """Return versions as they were in a view. An older version of a fact stays replaced."""
    versions = dict(zip(map(_version, rows), facts_of(tx, rows), strict=True))
    if not view.is_now:
        newest = [versions[_version(row)] for row in rows if not row["is_older"]]
        older = {_version(row) for row in rows if row["is_older"]}
        listed = {(fact.id, fact.version): fact for fact in in_view(tx, newest, space=space, view=view)}
        return listed | {version: fact for version, fact in versions.items() if version in older}
    return versions


def _version(row: Row) -> tuple[str, int]:
    return row["id"], row["version"]


def _texts(tx: Tx, facts: Sequence[Fact], *, space: str, view: TimeView) -> dict[tuple[str, int], Row]:
    """Return the successors of facts: the next version, or the newest of the fact that took its place, as number 0."""
    keys = sorted({key for fact in facts if (key := _successor(fact)) is not None})
    rows = tx.all(
        "fact_successors",
        space=space, until=view.known_until, ids=[name for name, _ in keys], numbers=[number for _, number in keys],
    ) if keys else []  # fmt: skip
    return {(row["id"], row["number"]): row for row in rows}


def _successor(fact: Fact) -> tuple[str, int] | None:
    name = fact.doubted_by if fact.status is FactStatus.DOUBTFUL else fact.replaced_by
    if not name or (is_lasting(fact.status) and fact.status is not FactStatus.DOUBTFUL):
        return None
    return name, fact.version + 1 if name == fact.id and fact.replaced_at is not None else 0


def _entry(fact: Fact, texts: Mapping[tuple[str, int], Row]) -> FactEntry:
    key = _successor(fact)
    successor = None if key is None else texts.get(key)
    if successor is None:
        return FactEntry(fact=fact, status=fact.status)
    ref = Ref(RefKind.FACT, successor["id"], successor["version"])
    return FactEntry(fact=fact, status=fact.status, replaced_by=ref, replaced_by_text=successor["content"])
