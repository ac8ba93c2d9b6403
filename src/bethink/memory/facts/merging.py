"""Settles facts that two databases learned independently: decided words stay decided, and the same words are one fact.

Everything here follows from the rows alone, so that both databases come to the same result.
"""

from collections.abc import Collection
from datetime import datetime

from bethink.memory.facts.decisions import find_decision
from bethink.model.decisions import Decision
from bethink.model.facts import Fact
from bethink.model.moments import EPOCH
from bethink.model.reviews import ClaimedFact
from bethink.model.rules import rank
from bethink.store import decisions, facts, statements, views
from bethink.store.db import Tx


def settle_merged(tx: Tx, fact_ids: Collection[str], *, space: str, at: datetime) -> None:
    """Settle merged facts, and store when they are true at a moment."""
    facts.lock(tx, space=space)
    affected = views.neighbors(tx, space=space, fact_ids=fact_ids) if fact_ids else set[str]()
    for fact_id in sorted(fact_ids):
        _settle(tx, fact_id, space=space)
    affected |= views.neighbors(tx, space=space, fact_ids=fact_ids) if fact_ids else set[str]()
    views.refresh(tx, space=space, fact_ids=affected, at=at)


def _settle(tx: Tx, fact_id: str, *, space: str) -> None:
    fact = facts.find(tx, space=space, fact_id=fact_id)
    supports = facts.supports(tx, space=space, fact_id=fact_id)
    if fact is None or not supports or decisions.of_facts(tx, [fact_id], space=space):
        return
    for support in supports:
        decision = find_decision(tx, ClaimedFact(fact=fact, quotes=support.quotes), space=space)
        if decision is not None:
            _obey(tx, fact, decision, space=space)
            return
    twins = [
        twin
        for twin in facts.with_same_text(tx, space=space, content=fact.text)
        if twin.id != fact_id and rank(twin.origin) == rank(fact.origin) and _is_mergeable(tx, fact, twin, space=space)
    ]
    if twins:
        first, *others = sorted([fact, *twins], key=lambda item: (item.recorded_at or EPOCH, item.id))
        for other in others:
            absorb(tx, other, first, space=space)


def _is_mergeable(tx: Tx, fact: Fact, twin: Fact, *, space: str) -> bool:
    """Return whether two facts with the same text are one: both were learned, and they name no different days."""
    if not facts.supports(tx, space=space, fact_id=twin.id) or (fact.event_from, fact.event_to) != (
        twin.event_from, twin.event_to,
    ):  # fmt: skip
        return False
    ours, theirs = (statements.of_facts(tx, space=space, fact_ids=[item.id]) for item in (fact, twin))
    return all(any(entry.fits(own.begins_at, own.ends_at) for entry in theirs) for own in ours)


def _obey(tx: Tx, fact: Fact, decision: Decision, *, space: str) -> None:
    """Give the words of a fact to the one that a person decided about, or hide what a person rejected."""
    heir = None if decision.fact_id is None else facts.versions(tx, space=space, fact_id=decision.fact_id)
    if heir:
        absorb(tx, fact, heir[-1], space=space)
        return
    tx.run("drop_statements_at", space=space, fact=fact.id, at=max(decision.decided_at, fact.recorded_at or EPOCH))
    tx.run("refuse_merged_fact", space=space, id=fact.id, at=decision.decided_at)


def absorb(tx: Tx, fact: Fact, heir: Fact, *, space: str) -> None:
    """Give the statements of a fact, with their quotes and links, to the fact that has its words.

    A message that counts already for the heir does not count twice.
    """
    ids = {"space": space, "id": fact.id, "heir": heir.id}
    existing = {entry.key[1:3]: entry for entry in statements.of_facts(tx, space=space, fact_ids=[heir.id])}
    tx.run("copy_quotes", **ids)
    tx.run("copy_sources", **ids)
    for entry in statements.of_facts(tx, space=space, fact_ids=[fact.id]):
        same = existing.get(entry.key[1:3]) if entry.key[1] else None
        if same is None:
            tx.run("copy_statement", **ids, support=entry.support, subject=heir.subject, slot=heir.slot)
        support = entry.support if same is None else same.support
        tx.run("copy_links_from", **ids, support=entry.support, heir_support=support)
    tx.run("copy_links_to", **ids)
    tx.run("delete_fact_quotes", space=space, id=fact.id)
    tx.run("delete_fact_sources", space=space, id=fact.id)
    statements.delete(tx, space=space, fact_id=fact.id)
    tx.run("retire_merged_fact", space=space, id=fact.id, heir=heir.id)
