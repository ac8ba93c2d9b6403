"""Reconciles a claimed fact with the existing ones: it is merged, replaces or ends some, or is added."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from bethink.model.facts import Evidence, Fact
from bethink.model.moments import EPOCH
from bethink.model.reviews import ClaimChange, ClaimedFact
from bethink.model.rules import is_directive, overlap, rank, valid_since
from bethink.store import facts
from bethink.store.db import Tx
from bethink.store.facts import Support


class Settlement(StrEnum):
    """The outcome for a claimed fact."""

    ADDED = "added"
    MERGED = "merged"
    KNOWN = "known"
    SUCCEEDED = "succeeded"
    OUTRANKED = "outranked"
    DISPUTED = "disputed"
    """It would change a statement of a more trusted source, or another person's preference. Nothing was stored."""


class _Decision(NamedTuple):
    """The effect of a claimed fact on the existing ones, before anything is stored."""

    settlement: Settlement
    same: Fact | None = None
    rivals: Sequence[Fact] = ()
    later: Mapping[str, datetime] = MappingProxyType[str, datetime]({})
    """When rivals of equal origin ended the fact, because they came later."""


class Settled(NamedTuple):
    """The outcome for a claimed fact, and the fact that has its statement now, if any."""

    settlement: Settlement
    fact_id: str | None


def reconcile(tx: Tx, claimed: ClaimedFact, *, space: str, effect: str, token: int) -> Settlement:
    """Store a claimed fact as `settle` does, and return its outcome."""
    return settle(tx, claimed, space=space, effect=effect, token=token).settlement


def settle(tx: Tx, claimed: ClaimedFact, *, space: str, effect: str, token: int) -> Settled:
    """Store a fact with its quotes, or add them to the fact that says the same. Facts are replaced, never overwritten.

    Of two facts that say the same, the one with the better origin stays, but an assistant's repetition proves nothing.
    Of two that contradict each other, the better origin also stays; of equal origins, the later is valid from its time.
    """
    fact, support = claimed.fact, Support(effect, claimed.fact.text, claimed.quotes)
    decision = _decide(tx, claimed, space=space)
    same = decision.same
    if decision.settlement is Settlement.DISPUTED:
        return Settled(Settlement.DISPUTED, None)
    if same is not None and decision.settlement is Settlement.KNOWN:
        return Settled(Settlement.KNOWN, same.id)
    if same is not None and decision.settlement is Settlement.MERGED:
        facts.add_support(tx, space=space, fact_id=same.id, support=support)
        if fact.evidence is Evidence.STATED:
            facts.mark_stated(tx, space=space, fact_id=same.id)
        if fact.expires_at is not None:
            facts.renew(tx, space=space, fact_id=same.id, expires_at=fact.expires_at)
        return Settled(Settlement.MERGED, same.id)
    return _learn(tx, fact, decision, space=space, token=token, support=support)


def predict_settlement(tx: Tx, claimed: ClaimedFact, *, space: str) -> Settlement:
    """Return the outcome that a claimed fact would have, and store nothing."""
    return _decide(tx, claimed, space=space).settlement


def _decide(tx: Tx, claimed: ClaimedFact, *, space: str) -> _Decision:
    fact = claimed.fact
    targets = [
        existing
        for fact_id in claimed.existing_ids
        if (existing := facts.find(tx, space=space, fact_id=fact_id)) is not None
    ]
    changes = claimed.change in (ClaimChange.REPLACES, ClaimChange.ENDS) and bool(targets)
    if changes and not all(_may_change(fact, existing) for existing in targets):
        return _Decision(Settlement.DISPUTED)
    again = claimed.change is ClaimChange.SAME
    same = targets[0] if again and targets else None if changes else _same(tx, fact, space=space)
    if same is not None and (rank(fact.origin) < rank(same.origin) or fact.origin == "assistant"):
        return _Decision(Settlement.KNOWN, same)
    if same is not None and (rank(fact.origin) == rank(same.origin) or again):
        return _Decision(Settlement.MERGED, same)
    rivals = targets if changes else [same] if same is not None else _rivals(tx, fact, space=space)
    later = {} if changes else {
        rival.id: until for rival in rivals if (until := _until(tx, fact, rival, space=space)) is not None
    }  # fmt: skip
    settlement = Settlement.SUCCEEDED if any(rival.id not in later for rival in rivals) else Settlement.ADDED
    if _better(fact, rivals) is not None:
        settlement = Settlement.OUTRANKED
    return _Decision(settlement, rivals=rivals, later=later)


def _learn(tx: Tx, fact: Fact, decision: _Decision, *, space: str, token: int, support: Support) -> Settled:
    if decision.later:
        fact = replace(fact, valid_to=min(decision.later.values()))
    facts.learn(tx, space=space, fact=fact, token=token, support=support)
    better = _better(fact, decision.rivals)
    if better is not None:
        facts.retire(tx, space=space, fact_id=fact.id, successor_id=better.id)
    else:
        for rival in decision.rivals:
            if rival.id not in decision.later:
                _end_rival(tx, rival, fact, space=space)
    return Settled(decision.settlement, fact.id)


def _better(fact: Fact, rivals: Sequence[Fact]) -> Fact | None:
    return next((rival for rival in rivals if rank(rival.origin) > rank(fact.origin)), None)


def _end_rival(tx: Tx, rival: Fact, fact: Fact, *, space: str) -> None:
    """End a fact when another begins: at once, or on the day from which the other is valid."""
    start = fact.event_from if fact.valid_from is None else fact.valid_from
    if start is not None and start > tx.now:
        facts.end(tx, space=space, fact=rival, at=start, successor_id=fact.id)
    else:
        facts.retire(tx, space=space, fact_id=rival.id, successor_id=fact.id)


def _may_change(fact: Fact, existing: Fact) -> bool:
    """Return whether a fact may change an existing one: its source is as trusted, and a preference is the speaker's.

    A fact that a person states directly may change anything.
    """
    if fact.evidence is Evidence.STATED:
        return True
    if rank(fact.origin) < rank(existing.origin):
        return False
    same_person = (
        existing.speaker is None or fact.speaker is None or existing.speaker.casefold() == fact.speaker.casefold()
    )
    return same_person or not is_directive(existing.kind)


def _same(tx: Tx, fact: Fact, *, space: str) -> Fact | None:
    alike = [other for other in facts.with_same_text(tx, space=space, content=fact.text) if overlap(fact, other)]
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
    if valid_since(rival) > valid_since(fact):
        return valid_since(rival)
    again = facts.last_said(tx, space=space, fact_id=rival.id)
    return again if again is not None and again > (fact.created_at or EPOCH) else None
