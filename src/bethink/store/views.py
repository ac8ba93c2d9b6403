"""Facts as they were in a view of memory, and the stored result for the present."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from bethink.model.changes import ChangeKind
from bethink.model.facts import Fact, FactStatus
from bethink.model.moments import from_micros, from_micros_or_none, to_micros
from bethink.model.refs import Ref, RefKind
from bethink.model.views import NOW, TimeView
from bethink.store import changes
from bethink.store.db import Row, Tx
from bethink.store.statements import Link, LinkKind, Statement, link_of, of_facts, statement_of
from bethink.store.timelines import FactTimes, Timelines

_MAX_STEPS = 6
_NEAR = 20
"""How many statements of a slot are looked at on each side of a new one: its neighbors decide when it is true."""
_FOLLOWED = (LinkKind.RESTS_ON, LinkKind.CORRECTS)


def read_timelines(tx: Tx, *, space: str, fact_ids: Iterable[str], view: TimeView = NOW) -> Timelines:
    """Read what decides when some facts are true: their statements, those about the same slots, and the links."""
    statements: set[Statement] = set()
    links: set[Link] = set()
    expanded: set[str] = set()
    pending = set(fact_ids)
    for _ in range(_MAX_STEPS):
        pending -= expanded
        if not pending:
            break
        expanded |= pending
        own = of_facts(tx, space=space, fact_ids=pending)
        rivals = _in_same_slots(tx, own, space=space)
        statements.update(own, rivals)
        near = pending.union(rival.fact_id for rival in rivals)
        links_to = _links(tx, "links_to", near, space=space)
        links_from = _links(tx, "links_from", near, space=space)
        sources = {link.fact_id for link in links_to if link.fact_id} - near
        links.update(links_to, links_from)
        statements.update(of_facts(tx, space=space, fact_ids=sources))
        links.update(link for link in _links(tx, "links_to", sources, space=space) if link.kind == LinkKind.FORGETS)
        # What took the place of a fact matters to those that rest on it, which are read first.
        successors = sources if len(expanded) > len(pending) else set[str]()
        pending = successors.union(link.target_id for link in links_from if link.kind in _FOLLOWED)
    return Timelines(statements, links, view)


def in_view(tx: Tx, facts: Sequence[Fact], *, space: str, view: TimeView) -> list[Fact]:
    """Return facts as they were in a view, without those that had not been said or that a person asked to forget."""
    if view.is_now or not facts:
        return list(facts)
    timelines = read_timelines(tx, space=space, fact_ids={fact.id for fact in facts}, view=view)
    at = to_micros(view.at(tx.now))
    pairs = ((fact, timelines.of(fact.id, at)) for fact in facts)
    return [_with_times(fact, times, at) for fact, times in pairs if times is not None]


def _with_times(fact: Fact, times: FactTimes, at: int) -> Fact:
    status = times.status(at)
    if fact.expires_at is not None and to_micros(fact.expires_at) <= at and is_lasting(status):
        status = FactStatus.ENDED
    return replace(
        fact,
        created_at=from_micros(times.first_said),
        valid_from=from_micros_or_none(times.valid_from),
        valid_to=from_micros_or_none(times.valid_to),
        status=status,
        replaced_at=None,
        replaced_by=times.cause or None,
        doubted_by=times.doubt.cause if status is FactStatus.DOUBTFUL and times.doubt else None,
    )


def is_lasting(status: FactStatus) -> bool:
    """Return whether a fact with this status is listed as current: it has neither ended nor been replaced."""
    return status in (FactStatus.CURRENT, FactStatus.UPCOMING, FactStatus.DOUBTFUL)


def neighbors(tx: Tx, *, space: str, fact_ids: Collection[str]) -> set[str]:
    """Return the facts whose truth may depend on these, and these themselves."""
    # What a changed fact was to replace is true again if the change drops a plan.
    changed = {*fact_ids, *(link.target_id for link in _links(tx, "links_from", fact_ids, space=space))}
    own = of_facts(tx, space=space, fact_ids=changed)
    affected = {*changed, *_near(own, _in_same_slots(tx, own, space=space))}
    affected.update(link.target_id for link in _links(tx, "links_from", changed, space=space))
    level = affected
    for _ in range(_MAX_STEPS):
        links = _links(tx, "links_to", level, space=space)
        level = {link.fact_id for link in links if link.fact_id and link.kind in _FOLLOWED} - affected
        if not level:
            break
        affected |= level
    return affected


def refresh(
    tx: Tx, *, space: str, fact_ids: Collection[str], new: Collection[str] = (), at: datetime | None = None
) -> set[str]:  # fmt: skip
    """Store anew when these facts are true, and return those that end sooner. The change feed lists what changed.

    Nothing is listed for `new` facts, which are listed as added. `at` is the moment to store it for (default: now).
    """
    if not fact_ids:
        return set()
    moment = at or tx.now
    now = to_micros(moment)
    timelines = read_timelines(tx, space=space, fact_ids=fact_ids)
    ended: set[str] = set()
    for row in tx.all("fact_times", space=space, ids=sorted(fact_ids)):
        times = timelines.of(row["id"], now)
        if times is None:
            if row["retired_at"] is None and _is_forgotten(tx, row["id"], space=space):
                tx.run("hide_fact", space=space, id=row["id"], now=moment)
            continue
        if row["ended_as"] == "hidden":
            tx.run("unhide_fact", space=space, id=row["id"])
        if _store(tx, row, times, space=space):
            if times.valid_to is not None and (row["valid_to"] is None or times.valid_to < row["valid_to"]):
                ended.add(row["id"])
            if row["id"] not in new:
                _record(tx, row, times, space=space, now=now)
    return ended


def _store(tx: Tx, row: Row, times: FactTimes, *, space: str) -> bool:
    doubt = times.doubt
    values = {
        "created_at": times.first_said, "valid_from": times.valid_from, "valid_to": times.valid_to,
        "ended_by": times.cause or None, "ended_as": times.ended_as and str(times.ended_as),
        "doubted_by": doubt and doubt.cause, "doubted_at": doubt and doubt.since,
        "end_recorded_at": times.end_recorded_at,
    }  # fmt: skip
    if all(row[name] == value for name, value in values.items()):
        return False
    tx.run("put_fact_times", space=space, id=row["id"], **values)
    if times.first_said < row["created_at"]:
        tx.run("date_fact_terms", space=space, id=row["id"], at=times.first_said)
    return True


def _record(tx: Tx, row: Row, times: FactTimes, *, space: str, now: int) -> None:
    """Record in the change feed that a fact ended, or is true again."""
    ref = Ref(RefKind.FACT, row["id"], row["version"])
    if row["valid_to"] != times.valid_to and times.valid_to is not None and _lasts(row["valid_to"], now):
        kind = ChangeKind.FACT_REPLACED if times.cause else ChangeKind.FACT_ENDED
        changes.record(tx, space=space, kind=kind, ref=ref)
    elif not _lasts(row["valid_to"], now) and _lasts(times.valid_to, now):
        changes.record(tx, space=space, kind=ChangeKind.FACT_RESTORED, ref=ref)


def _lasts(end: int | None, now: int) -> bool:
    return end is None or end > now


def _is_forgotten(tx: Tx, fact_id: str, *, space: str) -> bool:
    return any(link.kind == LinkKind.FORGETS for link in _links(tx, "links_to", [fact_id], space=space))


def _links(tx: Tx, query: str, fact_ids: Collection[str], *, space: str) -> list[Link]:
    return [link_of(row) for row in tx.all(query, space=space, ids=sorted(fact_ids))] if fact_ids else []


def _in_same_slots(tx: Tx, statements: Iterable[Statement], *, space: str) -> list[Statement]:
    topics = {statement.topic for statement in statements if statement.topic is not None}
    if not topics:
        return []
    rows = tx.all(
        "statements_in_slots",
        space=space, subjects=sorted({subject for subject, _ in topics}), slots=sorted({slot for _, slot in topics}),
    )  # fmt: skip
    candidates = [statement_of(row) for row in rows]
    fact_ids = {statement.fact_id for statement in candidates if statement.topic in topics}
    return [statement for statement in candidates if statement.fact_id in fact_ids]


def _near(own: Iterable[Statement], rivals: Iterable[Statement]) -> set[str]:
    """Return the facts whose statements are next to those of a fact, among the statements about the same slot."""
    lines = sorted(rivals, key=lambda rival: rival.key)
    topics: dict[str, set[tuple[str, str]]] = {}
    for rival in lines:
        if rival.topic is not None:
            topics.setdefault(rival.fact_id, set()).add(rival.topic)
    by_topic: dict[tuple[str, str], list[Statement]] = {}
    for rival in lines:
        for topic in topics[rival.fact_id]:
            by_topic.setdefault(topic, []).append(rival)
    near: set[str] = set()
    for statement in own:
        for topic in topics.get(statement.fact_id, ()):
            line = by_topic[topic]
            position = bisect_left(line, statement.key, key=lambda rival: rival.key)
            near.update(rival.fact_id for rival in line[max(0, position - _NEAR) : position + _NEAR])
    return near
