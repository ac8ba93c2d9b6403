"""Deletes facts whose messages were deleted, and restores the facts that these had replaced."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from bethink.memory.facts.reconcile import reconcile
from bethink.model.changes import ChangeKind
from bethink.model.facts import Fact
from bethink.model.ids import new_id
from bethink.model.moments import EPOCH
from bethink.model.refs import Ref, RefKind
from bethink.model.reviews import ClaimedFact
from bethink.model.rules import overlap, rank, valid_since
from bethink.store import changes, facts, learning_rules, messages, sessions
from bethink.store.db import Tx
from bethink.store.facts import Support


def delete_unsupported(tx: Tx, *, space: str, extra_ids: Iterable[str] = ()) -> list[str]:
    """Delete these facts and the learned facts without any remaining message, and return all their ids.

    Facts that a deleted fact had replaced go to its successor. Without one, the best fact of each slot is restored.
    """
    unsupported = (row["id"] for row in tx.all("list_unsupported_facts", space=space))
    deleted_ids = list(dict.fromkeys([*unsupported, *extra_ids]))
    rows = {fact_id: tx.first("successor_of_fact", space=space, id=fact_id) for fact_id in deleted_ids}
    successors = {fact_id: None if row is None else row["retired_by"] for fact_id, row in rows.items()}
    restated = [claimed for fact_id in deleted_ids for claimed in _other_statements(tx, fact_id, space=space)]
    freed: list[Fact] = []
    for fact_id in deleted_ids:
        tx.run("unend_facts", space=space, by=fact_id)
        successor = _find_successor(fact_id, successors)
        for row in tx.all("facts_retired_by", space=space, id=fact_id):
            if successor is not None:
                tx.run("inherit_retired", space=space, id=row["id"], version=row["version"], heir=successor)
            elif row["id"] not in successors:
                freed.append(facts.fact_of(row))
    for fact_id in deleted_ids:
        facts.delete(tx, space=space, fact_id=fact_id)
    for fact in sorted(freed, key=_rank_key, reverse=True):
        _restore(tx, fact, space=space)
    for effect, claimed in restated:
        reconcile(tx, claimed, space=space, effect=effect, token=0)
    return deleted_ids


def _other_statements(tx: Tx, fact_id: str, *, space: str) -> list[tuple[str, ClaimedFact]]:
    """Return the other statements of a fact, each as a fact of its own in the words learned at that time."""
    learned = facts.learned_version(tx, space=space, fact_id=fact_id)
    if learned is None:
        return []
    return [
        (support.effect, ClaimedFact(fact=_restated_fact(tx, learned, support, space=space), quotes=support.quotes))
        for support in facts.supports(tx, space=space, fact_id=fact_id)
    ]


def _restated_fact(tx: Tx, learned: Fact, support: Support, *, space: str) -> Fact:
    """Return a fact as it was stated another time: with that wording, session and date."""
    records = [
        record
        for quote in support.quotes
        if not quote.context
        for record in messages.after(
            tx, space=space, session_id=quote.session_id, number=quote.number - 1, limit=1
        )
    ]  # fmt: skip
    said_at = max((record.message.said_at or record.recorded_at for record in records), default=learned.created_at)
    source = support.quotes[0].session_id
    # Names, scope and dates of the first statement may come from the deleted message only.
    return replace(
        learned,
        id=new_id("fct"),
        text=support.statement,
        source=source,
        created_at=said_at,
        entities=(),
        scope=None,
        event_from=None,
        event_to=None,
        expires_at=_expiry(tx, learned, source, said_at, space=space),
        pinned_at=None,
    )


def _expiry(tx: Tx, learned: Fact, session_id: str, said_at: datetime | None, *, space: str) -> datetime | None:
    """Return the expiry of a fact that was stated another time, by the rules for that session."""
    session = sessions.find(tx, space=space, session_id=session_id)
    if learned.expires_at is None or said_at is None or session is None:
        return None
    days = learning_rules.of_agent(tx, space=space, agent_id=session.agent_id).expires_after.get(learned.kind)
    return None if days is None else said_at + timedelta(days=days)


def _find_successor(fact_id: str, successors: Mapping[str, str | None]) -> str | None:
    visited = {fact_id}
    successor = successors[fact_id]
    while successor is not None and successor in successors and successor not in visited:
        visited.add(successor)
        successor = successors[successor]
    return None if successor in visited else successor


def _rank_key(fact: Fact) -> tuple[int, datetime, datetime, int]:
    # The same order as in reconcile: the better origin, then the later one.
    return rank(fact.origin), valid_since(fact), fact.recorded_at or EPOCH, fact.version


def _restore(tx: Tx, fact: Fact, *, space: str) -> None:
    """Restore a fact that nothing replaces anymore, unless it was rewritten or another fact has replaced it."""
    successor = None if facts.versions(tx, space=space, fact_id=fact.id)[-1].version == fact.version else fact.id
    if successor is None:
        rivals = facts.with_same_text(tx, space=space, content=fact.text)
        if fact.subject is not None and fact.slot is not None:
            rivals += facts.in_slot(tx, space=space, subject=fact.subject, slot=fact.slot)
        successor = next((rival.id for rival in rivals if overlap(fact, rival)), None)
    if successor is None:
        tx.run("hold_again", space=space, id=fact.id, version=fact.version)
        ref = Ref(RefKind.FACT, fact.id, fact.version)
        changes.record(tx, space=space, kind=ChangeKind.FACT_RESTORED, ref=ref)
    else:
        tx.run("inherit_retired", space=space, id=fact.id, version=fact.version, heir=successor)
