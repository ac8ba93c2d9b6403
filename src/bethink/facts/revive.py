"""Removes facts whose messages are gone, and revives the facts that those had retired."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from bethink.facts.reconcile import reconcile
from bethink.model.ids import new_id
from bethink.model.moments import EPOCH
from bethink.model.proof import Evidence, are_named, still_said
from bethink.model.records import Fact, SourceMessage
from bethink.model.rules import overlap, rank, since
from bethink.store import facts, messages
from bethink.store.db import Tx


def forget_unsupported(tx: Tx, *, space: str, unsaid: Iterable[str] = ()) -> list[str]:
    """Remove the named facts and the learnt facts without any message left, and return the ids of all.

    What such a fact had retired is now retired by its successor; without one, the best fact of each slot is revived.
    """
    unsaid = list(unsaid)
    again = [each for fact_id in unsaid if (each := _corrected_and_said(tx, fact_id, space=space)) is not None]
    gone = [*(row["id"] for row in tx.all("list_unsupported_facts", space=space)), *unsaid]
    rows = {each: tx.one("successor_of_fact", space=space, id=each) for each in gone}
    successors = {each: None if row is None else row["retired_by"] for each, row in rows.items()}
    freed: list[Fact] = []
    for fact_id in gone:
        heir = _heir(fact_id, successors)
        for row in tx.all("facts_retired_by", space=space, id=fact_id):
            if heir is not None:
                tx.run("inherit_retired", space=space, id=row["id"], version=row["version"], heir=heir)
            elif row["id"] not in successors:
                freed.append(facts.fact_of(row))
    for fact_id in gone:
        tx.run("delete_fact", space=space, id=fact_id)
        tx.run("delete_fact_sources", space=space, id=fact_id)
    for fact in sorted(freed, key=_standing, reverse=True):
        _hold_again(tx, fact, space=space)
    for fact, sources in again:
        reconcile(tx, fact, space=space, effect=f"again:{fact.id}", token=0, sources=sources)
    if gone:
        tx.forgets = True
    return gone


def _corrected_and_said(tx: Tx, fact_id: str, *, space: str) -> tuple[Fact, list[SourceMessage]] | None:
    """Return a fact as someone corrected it, if a message that is left says so: it is learnt from that one alone."""
    current = facts.find(tx, space=space, fact_id=fact_id)
    left = messages.behind_fact(tx, space=space, fact_id=fact_id)
    if current is None or current.version == 1 or not left or not still_said(current, left):
        return None
    evidence = [Evidence(record) for record in left]
    fact = replace(
        current,
        id=new_id("fct"),
        source=left[-1].session_id,
        created_at=max(each.said_at for each in evidence),
        # A correction keeps the names of what it corrects, and those may stand in the forgotten message alone.
        entities=tuple(name for name in current.entities if are_named(name, evidence)),
    )
    return fact, [SourceMessage(record.session_id, record.number) for record in left]


def _heir(fact_id: str, successors: Mapping[str, str | None]) -> str | None:
    passed = {fact_id}
    heir = successors[fact_id]
    while heir is not None and heir in successors and heir not in passed:
        passed.add(heir)
        heir = successors[heir]
    return None if heir in passed else heir


def _standing(fact: Fact) -> tuple[int, datetime, datetime, int]:
    # The same order as in reconciling: the better origin, then the later one.
    return rank(fact.origin), since(fact), fact.recorded_at or EPOCH, fact.version


def _hold_again(tx: Tx, fact: Fact, *, space: str) -> None:
    """Revive a fact that nothing retires any more, unless it was rewritten or another fact has replaced it."""
    heir = None if facts.versions(tx, space=space, fact_id=fact.id)[-1].version == fact.version else fact.id
    if heir is None:
        rivals = facts.saying(tx, space=space, content=fact.content)
        if fact.subject is not None and fact.slot is not None:
            rivals += facts.in_slot(tx, space=space, subject=fact.subject, slot=fact.slot)
        heir = next((rival.id for rival in rivals if overlap(fact, rival)), None)
    if heir is None:
        tx.run("hold_again", space=space, id=fact.id, version=fact.version)
    else:
        tx.run("inherit_retired", space=space, id=fact.id, version=fact.version, heir=heir)
