"""Reads what a shadow database learned: the statements of its facts, with what they do to other facts."""

from collections.abc import Sequence
from dataclasses import replace

from bethink.model.facts import Fact, FactStatus
from bethink.model.moments import from_micros, from_micros_or_none
from bethink.model.reviews import ClaimChange, ClaimedFact
from bethink.store import facts, relearnings, statements
from bethink.store.db import Tx
from bethink.store.facts import Support
from bethink.store.relearnings import RelearnedClaim
from bethink.store.statements import Link, LinkKind, Statement

_CHANGE_OF_LINK = {
    LinkKind.CORRECTS: ClaimChange.CORRECTS,
    LinkKind.REPLACES: ClaimChange.REPLACES,
    LinkKind.ENDS: ClaimChange.ENDS,
}


def read_statements(tx: Tx, *, space: str) -> list[RelearnedClaim]:
    """Return every statement of the learned facts as a claim, in the order they were made.

    A claim has the times that its words name, not those that follow from other statements.
    """
    learned = {item.fact.id: item.fact for item in relearnings.learned_facts(tx, space=space)}
    links = statements.links_from(tx, space=space, fact_ids=learned)
    result: list[RelearnedClaim] = []
    for statement in statements.of_facts(tx, space=space, fact_ids=learned):
        supports = facts.supports(tx, space=space, fact_id=statement.fact_id)
        support = next((entry for entry in supports if entry.effect == statement.support), None)
        if support is not None and statement.dropped_at is None:
            own = [link for link in links if (link.fact_id, link.support) == (statement.fact_id, statement.support)]
            claim = _claim(learned[statement.fact_id], statement, support, own)
            result.append(RelearnedClaim(claim=claim, position=statement.key[3]))
    return result


def _claim(fact: Fact, statement: Statement, support: Support, links: Sequence[Link]) -> ClaimedFact:
    targets = {
        kind: tuple(link.target_id for link in links if link.kind == kind)
        for kind in (*_CHANGE_OF_LINK, LinkKind.RESTS_ON)
    }  # fmt: skip
    kind = next((kind for kind in _CHANGE_OF_LINK if targets[kind]), None)
    stated = replace(
        fact,
        source=support.quotes[0].session_id,
        created_at=from_micros(statement.said_at),
        valid_from=from_micros_or_none(statement.begins_at),
        valid_to=from_micros_or_none(statement.ends_at),
        subject=statement.subject,
        slot=statement.slot,
        status=FactStatus.CURRENT,
        doubted_by=None,
        replaced_by=None,
    )
    return ClaimedFact(
        fact=stated,
        quotes=support.quotes,
        change=ClaimChange(statement.change) if kind is None else _CHANGE_OF_LINK[kind],
        existing_ids=() if kind is None else targets[kind],
        rests_on=targets[LinkKind.RESTS_ON],
    )
