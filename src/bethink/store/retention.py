"""How long spaces keep what, what is due by now, and legal holds."""

from datetime import datetime

from bethink.errors import UnderLegalHold
from bethink.model.moments import from_micros, from_micros_or_none
from bethink.model.retention import LegalHold, RetentionKind, RetentionRule
from bethink.store import facts, jobs
from bethink.store.db import Row, Tx

_ANY = ""
"""The origin that stands for all of them."""


def put(tx: Tx, rule: RetentionRule, *, space: str) -> None:
    """Set a rule, in place of one of the same kind and origin."""
    jobs.ensure_space(tx, space=space)
    tx.run(
        "put_retention",
        space=space, kind=rule.kind, origin=rule.origin or _ANY, older_than=rule.older_than, by=rule.set_by, now=tx.now,
    )  # fmt: skip


def drop(tx: Tx, *, space: str, kind: RetentionKind, origin: str | None) -> bool:
    """Remove a rule. Returns False if there is none."""
    return tx.run("drop_retention", space=space, kind=kind, origin=origin or _ANY) == 1


def rules(tx: Tx, *, space: str) -> list[RetentionRule]:
    """Return the rules of a space: messages first, as what was made of them goes with them."""
    found = [
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
    return sorted(found, key=lambda each: (order.index(each.kind), each.origin or _ANY))


def due(tx: Tx, rule: RetentionRule, *, space: str, after: str, limit: int) -> list[tuple[str, int]]:
    """Return the ids that a rule erases by now, in order after one; of messages the session and the number."""
    rows = tx.all(
        f"due_{rule.kind}",
        space=space, before=rule.before(tx.now), origin=rule.origin or _ANY, after=after, limit=limit,
    )  # fmt: skip
    return [(row["id"], row["number"]) for row in rows]


def expired(tx: Tx, *, space: str, before: datetime, after: str, limit: int) -> list[tuple[str, int]]:
    """Return the ids of facts that expired before a time, in order after one."""
    rows = tx.all("due_expired", space=space, before=before, after=after, limit=limit)
    return [(row["id"], row["number"]) for row in rows]


def rows_open(tx: Tx, *, space: str) -> set[str]:
    """Return the ids of those erasures of a space that are recorded, and whose rows are still there."""
    return {row["erasure_id"] for row in tx.all("list_rows_open", space=space)}


def place(tx: Tx, hold: LegalHold) -> None:
    """Record a legal hold as it stands, also one that was lifted since. Who erases meanwhile is waited for."""
    facts.lock(tx, space=hold.space)
    tx.run(
        "put_legal_hold",
        space=hold.space, id=hold.id, reason=hold.reason, placed_by=hold.placed_by, placed_at=hold.placed_at,
        lifted_by=hold.lifted_by, lifted_at=hold.lifted_at, lifted_because=hold.lifted_because,
    )  # fmt: skip


def find_hold(tx: Tx, *, space: str, hold_id: str) -> LegalHold | None:
    """Return a legal hold by its id."""
    row = tx.one("find_legal_hold", space=space, id=hold_id)
    return None if row is None else _hold(row)


def holds(tx: Tx, *, space: str, limit: int) -> list[LegalHold]:
    """Return the legal holds on a space, the newest first."""
    return [_hold(row) for row in tx.all("list_legal_holds", space=space, limit=limit)]


def standing_holds(tx: Tx, *, limit: int) -> list[LegalHold]:
    """Return the legal holds that stand in any space, the newest first."""
    return [_hold(row) for row in tx.all("list_standing_holds", limit=limit)]


def every_hold(tx: Tx) -> list[LegalHold]:
    """Return every legal hold of every space."""
    return [_hold(row) for row in tx.all("every_legal_hold")]


def standing(tx: Tx, *, space: str) -> LegalHold | None:
    """Return the oldest legal hold that stands on a space, if there is one."""
    row = tx.one("standing_legal_hold", space=space)
    return None if row is None else _hold(row)


def refuse_if_held(tx: Tx, *, space: str) -> None:
    """Lock a space, and raise `UnderLegalHold` if a hold stands on it: none can be placed until this ends."""
    facts.lock(tx, space=space)
    hold = standing(tx, space=space)
    if hold is not None:
        raise UnderLegalHold(
            f"space {space!r} is under a legal hold since {hold.placed_at:%Y-%m-%d}, placed by {hold.placed_by}: "
            f"{hold.reason}"
        )


def _hold(row: Row) -> LegalHold:
    return LegalHold(
        space=row["space_id"],
        id=row["id"],
        reason=row["reason"],
        placed_by=row["placed_by"],
        placed_at=from_micros(row["placed_at"]),
        lifted_by=row["lifted_by"],
        lifted_at=from_micros_or_none(row["lifted_at"]),
        lifted_because=row["lifted_because"],
    )
