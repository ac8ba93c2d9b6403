"""Queries of retention rules and due items."""

from datetime import datetime

from bethink.features.retention.records import RetentionKind, RetentionRule
from bethink.model.moments import from_micros
from bethink.store import jobs
from bethink.store.db import Tx

_ANY = ""
"""Stored value for any origin."""


def put(tx: Tx, rule: RetentionRule, *, space: str) -> None:
    """Set a rule. Replaces one of the same kind and origin."""
    jobs.ensure_space(tx, space=space)
    tx.run(
        "put_retention",
        space=space, kind=rule.kind, origin=rule.origin or _ANY, older_than=rule.older_than, by=rule.set_by, now=tx.now,
    )  # fmt: skip


def drop(tx: Tx, *, space: str, kind: RetentionKind, origin: str | None) -> bool:
    """Remove a rule. Returns False if it does not exist."""
    return tx.run("drop_retention", space=space, kind=kind, origin=origin or _ANY) == 1


def rules(tx: Tx, *, space: str) -> list[RetentionRule]:
    """Return the rules of a space: messages first, because derived data is deleted with them."""
    items = [
        RetentionRule(
            kind=RetentionKind(row["kind"]),
            older_than=row["older_than"],
            origin=row["origin"] or None,
            set_by=row["set_by"],
            set_at=from_micros(row["set_at"]),
        )
        for row in tx.all("list_retention", space=space)
    ]
    order = list(RetentionKind)
    return sorted(items, key=lambda rule: (order.index(rule.kind), rule.origin or _ANY))


def list_due(tx: Tx, rule: RetentionRule, *, space: str, after: str, limit: int) -> list[tuple[str, int]]:
    """Return due ids of a rule, in order after `after`. For messages: session id and number."""
    rows = tx.all(
        f"due_{rule.kind}",
        space=space, before=rule.before(tx.now), origin=rule.origin or _ANY, after=after, limit=limit,
    )  # fmt: skip
    return [(row["id"], row["number"]) for row in rows]


def list_expired(tx: Tx, *, space: str, before: datetime, after: str, limit: int) -> list[tuple[str, int]]:
    """Return ids of facts that expired before a time, in order after `after`."""
    rows = tx.all("due_expired", space=space, before=before, after=after, limit=limit)
    return [(row["id"], row["number"]) for row in rows]
