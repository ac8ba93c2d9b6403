"""Facts stored below the service, with their statements, and what one statement does to another fact."""

from bethink.model.facts import Fact
from bethink.model.reviews import ClaimChange
from bethink.store import facts, statements, views
from bethink.store.db import Tx
from bethink.store.facts import Support
from bethink.store.statements import LinkKind, StatementOrigin


def learn_fact(tx: Tx, fact: Fact, support: Support, *, space: str) -> None:
    """Store a fact with its quotes as its statement, without looking for facts that say the same."""
    facts.learn(tx, space=space, fact=fact, token=1, support=support)
    quote = support.quotes[-1] if support.quotes else None
    said_at = fact.created_at or tx.now
    origin = StatementOrigin(said_at, quote.session_id, quote.number) if quote else StatementOrigin(said_at)
    statements.add(tx, fact, origin, space=space, support=support.effect, change=ClaimChange.NEW)
    views.refresh(tx, space=space, fact_ids=views.neighbors(tx, space=space, fact_ids=[fact.id]), new=[fact.id])


def change_fact(tx: Tx, fact_id: str, *, by: str, space: str, kind: LinkKind = LinkKind.REPLACES) -> None:
    """Let the newest statement of a fact replace, correct or end another fact."""
    statement = statements.of_facts(tx, space=space, fact_ids=[by])[-1]
    statements.link(tx, statement, space=space, target_id=fact_id, kind=kind)
    views.refresh(tx, space=space, fact_ids=views.neighbors(tx, space=space, fact_ids=[by]))
