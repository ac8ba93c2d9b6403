"""Stores a claimed fact: as a new fact, or as another statement of an existing one, with its links to other facts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from bethink.memory.facts.decisions import find_decision
from bethink.model.decisions import Decision
from bethink.model.facts import Evidence, Fact, FactStatus
from bethink.model.moments import EPOCH
from bethink.model.reviews import ClaimChange, ClaimedFact
from bethink.model.rules import is_directive, rank
from bethink.store import facts, statements, views
from bethink.store.db import Tx
from bethink.store.facts import Support
from bethink.store.statements import LINK_OF_CHANGE, LinkKind, Statement, StatementOrigin

_CHANGES = (ClaimChange.REPLACES, ClaimChange.CORRECTS, ClaimChange.ENDS)


class Settlement(StrEnum):
    """The outcome for a claimed fact."""

    ADDED = "added"
    MERGED = "merged"
    KNOWN = "known"
    SUCCEEDED = "succeeded"
    OUTRANKED = "outranked"
    DISPUTED = "disputed"
    """It would change a statement of a more trusted source, or another person's preference. Nothing was stored."""
    DECIDED = "decided"
    """A person has decided about its words: they were added to the fact that has them now, or not stored again."""


class Settled(NamedTuple):
    """The outcome for a claimed fact, and the fact that has its statement now, if any."""

    settlement: Settlement
    fact_id: str | None


def reconcile(
    tx: Tx, claimed: ClaimedFact, *, space: str, effect: str, token: int, position: int = 0
) -> Settlement:  # fmt: skip
    """Store a claimed fact as `settle` does, and return its outcome."""
    return settle(tx, claimed, space=space, effect=effect, token=token, position=position).settlement


def settle(tx: Tx, claimed: ClaimedFact, *, space: str, effect: str, token: int, position: int = 0) -> Settled:
    """Store a fact with its quotes, or add them to the fact that says the same.

    When facts are true follows from what was said, in the order in which it was said: this only adds a statement and
    its links. `position` orders the claims of one message. Of two facts that say the same, the one with the better
    origin stays, but an assistant's repetition proves nothing.
    """
    fact, support = claimed.fact, Support(effect, claimed.fact.text, claimed.quotes)
    decision = find_decision(tx, claimed, space=space)
    if decision is not None:
        return _attach(tx, claimed, decision, support, space=space, position=position)
    targets = _existing(tx, claimed.existing_ids, space=space)
    if _is_disputed(claimed, targets):
        return Settled(Settlement.DISPUTED, None)
    same = _same(tx, claimed, targets, space=space)
    if same is not None and _is_known(fact, same):
        return Settled(Settlement.KNOWN, same.id)
    better = same is not None and rank(fact.origin) > rank(same.origin) and claimed.change is not ClaimChange.SAME
    if same is None or better:
        facts.learn(tx, space=space, fact=fact, token=token, support=support)
        fact_id = fact.id
    else:
        _merge(tx, fact, same, support, space=space)
        fact_id = same.id
    statement = _state(tx, claimed, fact_id, space=space, effect=effect, position=position)
    if better and same is not None:
        statements.link(tx, statement, space=space, target_id=same.id, kind=LinkKind.REPLACES)
    link_claim(tx, claimed, statement, targets, space=space)
    ended = _refresh(tx, fact_id, space=space, is_new=fact_id == fact.id)
    return Settled(_outcome(tx, fact, fact_id, ended, space=space), fact_id)


def predict_settlement(tx: Tx, claimed: ClaimedFact, *, space: str) -> Settlement:
    """Return the outcome that a claimed fact would have, and store nothing."""
    fact = claimed.fact
    if find_decision(tx, claimed, space=space) is not None:
        return Settlement.DECIDED
    targets = _existing(tx, claimed.existing_ids, space=space)
    if _is_disputed(claimed, targets):
        return Settlement.DISPUTED
    same = _same(tx, claimed, targets, space=space)
    if same is not None and _is_known(fact, same):
        return Settlement.KNOWN
    if same is not None and (rank(fact.origin) == rank(same.origin) or claimed.change is ClaimChange.SAME):
        return Settlement.MERGED
    in_slot = [] if fact.subject is None or fact.slot is None else facts.in_slot(
        tx, space=space, subject=fact.subject, slot=fact.slot
    )  # fmt: skip
    rivals = [rival for rival in in_slot if views.is_lasting(rival.status)]
    if any(rank(rival.origin) > rank(fact.origin) for rival in rivals):
        return Settlement.OUTRANKED
    changed = [*rivals, *targets] if claimed.change in _CHANGES else rivals
    is_later = any((fact.created_at or EPOCH) > (rival.created_at or EPOCH) for rival in changed)
    return Settlement.SUCCEEDED if is_later else Settlement.ADDED


def _attach(
    tx: Tx, claimed: ClaimedFact, decision: Decision, support: Support, *, space: str, position: int
) -> Settled:  # fmt: skip
    """Add the words of a claim to the fact that a person gave them to, with the links of the claim to other facts."""
    fact_id = decision.fact_id
    if fact_id is None:
        return Settled(Settlement.DECIDED, None)
    words = {(quote.session_id, quote.number) for quote in claimed.quotes if not quote.context}
    own = statements.of_facts(tx, space=space, fact_ids=[fact_id])
    facts.add_support(tx, space=space, fact_id=fact_id, support=support)
    # When the words are true was settled, too: a message that counts already does not count twice.
    statement = next((entry for entry in own if entry.key[1:3] in words and entry.dropped_at is None), None)
    if statement is None:
        versions = facts.versions(tx, space=space, fact_id=fact_id)
        topic = replace(claimed.fact, subject=versions[-1].subject, slot=versions[-1].slot)
        attached = replace(claimed, fact=topic)
        statement = _state(tx, attached, fact_id, space=space, effect=support.effect, position=position)
    targets = [target for target in _existing(tx, claimed.existing_ids, space=space) if target.id != fact_id]
    if not _is_disputed(claimed, targets):
        link_claim(tx, claimed, statement, targets, space=space)
    _refresh(tx, fact_id, space=space, is_new=False)
    return Settled(Settlement.DECIDED, fact_id)


def _existing(tx: Tx, fact_ids: Iterable[str], *, space: str) -> list[Fact]:
    existing = (facts.find(tx, space=space, fact_id=fact_id) for fact_id in fact_ids)
    return [fact for fact in existing if fact is not None]


def _is_disputed(claimed: ClaimedFact, targets: Sequence[Fact]) -> bool:
    changes = claimed.change in _CHANGES and bool(targets)
    return changes and not all(_may_change(claimed.fact, target) for target in targets)


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


def _same(tx: Tx, claimed: ClaimedFact, targets: Sequence[Fact], *, space: str) -> Fact | None:
    """Return the fact that says the same, also if it has ended: said again, it is true again."""
    fact = claimed.fact
    if claimed.change is ClaimChange.SAME and targets:
        return targets[0]
    excluded = {target.id for target in targets}
    same = [
        other
        for other in facts.with_same_text(tx, space=space, content=fact.text)
        if other.id not in excluded and _is_about_same_time(tx, fact, other, space=space)
    ]
    return max(same, key=lambda other: rank(other.origin), default=None)


def _is_about_same_time(tx: Tx, fact: Fact, other: Fact, *, space: str) -> bool:
    """Return whether the days that two facts name do not contradict each other."""
    if fact.event_from is not None and other.event_from is not None and fact.event_from != other.event_from:
        return False
    stated = statements.of_facts(tx, space=space, fact_ids=[other.id])
    begins, ends = (None if at is None else statements.micros(at) for at in (fact.valid_from, fact.valid_to))
    return not stated or any(entry.fits(begins, ends) for entry in stated)


def _is_known(fact: Fact, same: Fact) -> bool:
    return rank(fact.origin) < rank(same.origin) or fact.origin == "assistant"


def _merge(tx: Tx, fact: Fact, same: Fact, support: Support, *, space: str) -> None:
    facts.add_support(tx, space=space, fact_id=same.id, support=support)
    if fact.evidence is Evidence.STATED:
        facts.mark_stated(tx, space=space, fact_id=same.id)
    if fact.expires_at is not None:
        facts.renew(tx, space=space, fact_id=same.id, expires_at=fact.expires_at)


def _state(
    tx: Tx, claimed: ClaimedFact, fact_id: str, *, space: str, effect: str, position: int
) -> Statement:  # fmt: skip
    """Store the statement of a claim, and return it."""
    fact = claimed.fact
    quote = max(
        (quote for quote in claimed.quotes if not quote.context), key=lambda quote: quote.number, default=None
    )  # fmt: skip
    said_at = fact.created_at or tx.now
    origin = StatementOrigin(said_at, quote.session_id, quote.number, position) if quote else StatementOrigin(said_at)
    stated = Fact(
        id=fact_id, text=fact.text, origin=fact.origin, subject=fact.subject, slot=fact.slot,
        valid_from=fact.valid_from, valid_to=fact.valid_to,
    )  # fmt: skip
    statements.add(tx, stated, origin, space=space, support=effect, change=claimed.change)
    own = statements.of_facts(tx, space=space, fact_ids=[fact_id])
    return next(statement for statement in own if statement.support == effect)


def link_claim(
    tx: Tx, claimed: ClaimedFact, statement: Statement, targets: Sequence[Fact], *, space: str
) -> None:  # fmt: skip
    """Link a statement to the facts that it changes, to those that change it, and to those that it rests on."""
    if claimed.change in _CHANGES:
        for target in targets:
            statements.link(tx, statement, space=space, target_id=target.id, kind=LINK_OF_CHANGE[claimed.change])
            # Stated again later, it ended this one in turn.
            own = statements.of_facts(tx, space=space, fact_ids=[target.id])
            again = next((entry for entry in own if entry.key > statement.key), None)
            if again is not None and again.change != ClaimChange.SAME:
                statements.link(tx, again, space=space, target_id=statement.fact_id, kind=LinkKind.REPLACES)
    for base in claimed.rests_on:
        statements.link(tx, statement, space=space, target_id=base, kind=LinkKind.RESTS_ON)
    later = statements.of_facts(tx, space=space, fact_ids=claimed.later_ids) if claimed.later_ids else []
    for fact_id in claimed.later_ids:
        # The first statement after this one is the one that changed it.
        successor = next((entry for entry in later if entry.fact_id == fact_id and entry.key > statement.key), None)
        if successor is not None:
            kind = LINK_OF_CHANGE.get(ClaimChange(successor.change), LinkKind.REPLACES)
            statements.link(tx, successor, space=space, target_id=statement.fact_id, kind=kind)


def _refresh(tx: Tx, fact_id: str, *, space: str, is_new: bool) -> set[str]:
    affected = views.neighbors(tx, space=space, fact_ids=[fact_id])
    ended = views.refresh(tx, space=space, fact_ids=affected, new=[fact_id] if is_new else ())
    return ended - {fact_id}


def _outcome(tx: Tx, fact: Fact, fact_id: str, ended: set[str], *, space: str) -> Settlement:
    if fact_id != fact.id:
        return Settlement.MERGED
    stored = facts.find(tx, space=space, fact_id=fact_id)
    is_replaced = stored is not None and stored.status is FactStatus.REPLACED and stored.replaced_by is not None
    successor = None if not is_replaced or stored is None else facts.find(
        tx, space=space, fact_id=stored.replaced_by or ""
    )  # fmt: skip
    if successor is not None and rank(successor.origin) > rank(fact.origin):
        return Settlement.OUTRANKED
    return Settlement.SUCCEEDED if ended else Settlement.ADDED
