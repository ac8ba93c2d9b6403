"""Deletes facts whose messages were deleted. What they had replaced is true again."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from bethink.model.facts import Fact
from bethink.model.ids import new_id
from bethink.model.reviews import ClaimedFact
from bethink.store import facts, learning_rules, messages, sessions, statements, views
from bethink.store.db import Tx
from bethink.store.facts import Support


def delete_unsupported(tx: Tx, *, space: str, extra_ids: Iterable[str] = ()) -> list[str]:
    """Delete these facts and the learned facts without any remaining message, and return all their ids.

    What they had replaced is true again, unless another statement replaced it, too.
    """
    unsupported = (row["id"] for row in tx.all("list_unsupported_facts", space=space))
    deleted_ids = list(dict.fromkeys([*unsupported, *extra_ids]))
    affected = views.neighbors(tx, space=space, fact_ids=deleted_ids) if deleted_ids else set[str]()
    for fact_id in deleted_ids:
        restated = _other_statements(tx, fact_id, space=space)
        for effect, claimed in restated:
            affected.add(_restate(tx, claimed, fact_id, space=space, effect=effect))
        facts.delete(tx, space=space, fact_id=fact_id)
    views.refresh(tx, space=space, fact_ids=affected.difference(deleted_ids))
    return deleted_ids


def _restate(tx: Tx, claimed: ClaimedFact, fact_id: str, *, space: str, effect: str) -> str:
    """Store another statement of a deleted fact as a fact of its own, and return its id. It keeps its links."""
    support = Support(effect, claimed.fact.text, claimed.quotes)
    same = [
        other
        for other in facts.with_same_text(tx, space=space, content=claimed.fact.text)
        if other.id != fact_id
    ]  # fmt: skip
    heir = same[0].id if same else claimed.fact.id
    if same:
        facts.add_support(tx, space=space, fact_id=heir, support=support)
    else:
        facts.learn(tx, space=space, fact=claimed.fact, token=0, support=support)
        tx.run("move_links_to", space=space, id=fact_id, heir=heir)
    statements.move(tx, space=space, fact_id=fact_id, support=effect, heir=heir)
    return heir


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
