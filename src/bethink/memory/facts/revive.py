"""Removes facts whose messages are gone, and revives the facts that those had retired."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from bethink.memory.facts.reconcile import reconcile
from bethink.model.changes import ChangeKind
from bethink.model.facts import Fact
from bethink.model.ids import new_id
from bethink.model.moments import EPOCH
from bethink.model.recall import Ref, RefKind
from bethink.model.reviews import ClaimedFact
from bethink.model.rules import overlap, rank, since
from bethink.store import changes, facts, learning_rules, messages, sessions
from bethink.store.db import Tx
from bethink.store.facts import Support


def forget_unsupported(tx: Tx, *, space: str, unsaid: Iterable[str] = ()) -> list[str]:
    """Remove the named facts and the learnt facts without any message left, and return the ids of all.

    What such a fact had retired is now retired by its successor; without one, the best fact of each slot is revived.
    """
    unsupported = (row["id"] for row in tx.all("list_unsupported_facts", space=space))
    gone = list(dict.fromkeys([*unsupported, *unsaid]))
    rows = {each: tx.one("successor_of_fact", space=space, id=each) for each in gone}
    successors = {each: None if row is None else row["retired_by"] for each, row in rows.items()}
    again = [claimed for each in gone for claimed in _said_again(tx, each, space=space)]
    freed: list[Fact] = []
    for fact_id in gone:
        tx.run("unend_facts", space=space, by=fact_id)
        heir = _heir(fact_id, successors)
        for row in tx.all("facts_retired_by", space=space, id=fact_id):
            if heir is not None:
                tx.run("inherit_retired", space=space, id=row["id"], version=row["version"], heir=heir)
            elif row["id"] not in successors:
                freed.append(facts.fact_of(row))
    for fact_id in gone:
        facts.delete(tx, space=space, fact_id=fact_id)
    for fact in sorted(freed, key=_standing, reverse=True):
        _hold_again(tx, fact, space=space)
    for effect, claimed in again:
        reconcile(tx, claimed, space=space, effect=effect, token=0)
    return gone


def _said_again(tx: Tx, fact_id: str, *, space: str) -> list[tuple[str, ClaimedFact]]:
    """Return each other time that a fact was said, as a fact of its own in the words made of that time."""
    learnt = facts.learnt_version(tx, space=space, fact_id=fact_id)
    if learnt is None:
        return []
    return [
        (support.effect, ClaimedFact(fact=_told_by(tx, learnt, support, space=space), quotes=support.quotes))
        for support in facts.supports(tx, space=space, fact_id=fact_id)
    ]


def _told_by(tx: Tx, learnt: Fact, support: Support, *, space: str) -> Fact:
    """Return a fact as it was said another time: with its words, its session and its date."""
    records = [
        record
        for quote in support.quotes
        if not quote.context
        for record in messages.after(
            tx, space=space, session_id=quote.session_id, number=quote.number - 1, limit=1
        )
    ]  # fmt: skip
    said = max((record.message.said_at or record.recorded_at for record in records), default=learnt.created_at)
    source = support.quotes[0].session_id
    # Names, scope and dates of the first time may stand in the forgotten message alone.
    return replace(
        learnt,
        id=new_id("fct"),
        content=support.statement,
        source=source,
        created_at=said,
        entities=(),
        scope=None,
        happened_from=None,
        happened_to=None,
        expires_at=_expires(tx, learnt, source, said, space=space),
        pinned_at=None,
    )


def _expires(tx: Tx, learnt: Fact, session_id: str, said: datetime | None, *, space: str) -> datetime | None:
    """Return when a fact expires that was said another time, by the rules for that session."""
    session = sessions.find(tx, space=space, session_id=session_id)
    if learnt.expires_at is None or said is None or session is None:
        return None
    days = learning_rules.of_agent(tx, space=space, agent_id=session.agent_id).expires_after.get(learnt.kind)
    return None if days is None else said + timedelta(days=days)


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
        ref = Ref(RefKind.FACT, fact.id, fact.version)
        changes.record(tx, space=space, kind=ChangeKind.FACT_RESTORED, ref=ref)
    else:
        tx.run("inherit_retired", space=space, id=fact.id, version=fact.version, heir=heir)
