"""Reconciles a new fact with the known ones: it is merged, replaces one, or is added."""

from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from bethink.model.moments import EPOCH
from bethink.model.records import Fact, SourceMessage
from bethink.model.rules import overlap, rank, since
from bethink.store import facts
from bethink.store.db import Tx


class Settlement(StrEnum):
    """What happened to a new fact."""

    ADDED = "added"
    MERGED = "merged"
    KNOWN = "known"
    SUCCEEDED = "succeeded"
    OUTRANKED = "outranked"


def reconcile(tx: Tx, fact: Fact, *, space: str, effect: str, token: int, sources: list[SourceMessage]) -> Settlement:
    """Store a fact, or add its sources to the fact that says the same. Nothing is overwritten, only retired.

    Of two facts that say the same, the one with the better origin stays, but an assistant's repetition proves nothing.
    Of two that contradict each other, the better origin stays, too; of equal origins, the later holds from its time on.
    """
    same = _same(tx, fact, space=space)
    if same is not None and (rank(fact.origin) < rank(same.origin) or fact.origin == "assistant"):
        return Settlement.KNOWN
    if same is not None and rank(fact.origin) == rank(same.origin):
        facts.add_sources(tx, space=space, fact_id=same.id, sources=sources)
        return Settlement.MERGED
    rivals = [same] if same is not None else _rivals(tx, fact, space=space)
    later = {rival.id: until for rival in rivals if (until := _until(tx, fact, rival, space=space)) is not None}
    if later:
        fact = replace(fact, valid_to=min(later.values()))
    facts.learn(tx, space=space, fact=fact, effect=effect, token=token, sources=sources)
    better = next((rival for rival in rivals if rank(rival.origin) > rank(fact.origin)), None)
    if better is not None:
        facts.retire(tx, space=space, fact_id=fact.id, by=better.id)
        return Settlement.OUTRANKED
    beaten = [rival for rival in rivals if rival.id not in later]
    for rival in beaten:
        facts.retire(tx, space=space, fact_id=rival.id, by=fact.id)
    return Settlement.SUCCEEDED if beaten else Settlement.ADDED


def _same(tx: Tx, fact: Fact, *, space: str) -> Fact | None:
    alike = [other for other in facts.saying(tx, space=space, content=fact.content) if overlap(fact, other)]
    return max(alike, key=lambda other: rank(other.origin), default=None)


def _rivals(tx: Tx, fact: Fact, *, space: str) -> list[Fact]:
    if fact.subject is None or fact.slot is None:
        return []
    return [
        other for other in facts.in_slot(tx, space=space, subject=fact.subject, slot=fact.slot) if overlap(fact, other)
    ]


def _until(tx: Tx, fact: Fact, rival: Fact, *, space: str) -> datetime | None:
    """Return when a rival of equal origin ended a fact, because it came later or was repeated after it."""
    if rank(rival.origin) != rank(fact.origin):
        return None
    if since(rival) > since(fact):
        return since(rival)
    again = facts.last_said(tx, space=space, fact_id=rival.id)
    return again if again is not None and again > (fact.created_at or EPOCH) else None
