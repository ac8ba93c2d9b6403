"""Relearnings: proposals with their texts, which are deleted when they are applied or something is forgotten."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bethink.base.frozen import frozen
from bethink.errors import NotFoundError, VersionConflictError
from bethink.model.facts import Fact
from bethink.model.jobs import Usage
from bethink.model.moments import from_micros, from_micros_or_none
from bethink.model.relearning import ChangedFact, Relearning, RelearningStatus
from bethink.model.reviews import ClaimedFact
from bethink.model.text import canonical_json
from bethink.store import facts, holds
from bethink.store.db import Row, Tx
from bethink.store.facts import Support
from bethink.store.reviews import claim_json, claim_of


@frozen
class LearnedFact:
    """A fact that was learned and not changed since, with the messages whose words prove it."""

    fact: Fact
    words: frozenset[tuple[str, int]]


def learned_facts(tx: Tx, *, space: str) -> list[LearnedFact]:
    """Return the current facts of a space that were learned and not changed by hand since."""
    words: dict[str, set[tuple[str, int]]] = {}
    for row in tx.all("list_quotes", space=space):
        words.setdefault(row["fact_id"], set()).add((row["session_id"], row["number"]))
    current = map(facts.fact_of, tx.all("list_learned_facts", space=space))
    return [LearnedFact(fact=fact, words=frozenset(words.get(fact.id, ()))) for fact in current]


def put(tx: Tx, relearning: Relearning, *, space: str) -> None:
    """Store a proposal."""
    proposal = {
        "new": [claim_json(item) for item in relearning.new],
        "gone": [[fact.id, fact.version] for fact in relearning.removed],
        "changed": [[[item.before.id, item.before.version], claim_json(item.after)] for item in relearning.changed],
    }
    counts = {
        "sessions": relearning.sessions, "same": relearning.same, "held": relearning.pending,
        "refused": relearning.rejected, "usage": asdict(relearning.usage),
    }  # fmt: skip
    tx.run(
        "insert_relearning",
        space=space, id=relearning.id, status=relearning.status, model=relearning.model,
        counts=canonical_json(counts), proposal=canonical_json(proposal), now=relearning.created_at,
    )  # fmt: skip


def find(tx: Tx, *, space: str, relearning_id: str) -> Relearning:
    """Return a relearning. Raises `NotFoundError`; a proposal is deleted when something is forgotten."""
    row = tx.first("find_relearning", space=space, id=relearning_id)
    if row is None:
        raise NotFoundError(
            f"Relearning {relearning_id!r} does not exist in space {space!r}.",
            hint="Deleting data from a space deletes its proposals. Run relearn again.",
        )
    return _relearning_of(tx, row, space=space)


def apply(tx: Tx, *, space: str, relearning_id: str) -> Relearning:
    """Apply a proposal as one change.

    Raises `VersionConflictError` if a fact that it would change was changed since.
    """
    facts.lock(tx, space=space)
    relearning = find(tx, space=space, relearning_id=relearning_id)
    if relearning.status is not RelearningStatus.PROPOSED:
        return relearning
    retired: list[tuple[str, int]] = []
    added: list[str] = []
    replaced = [(item.before, item.after) for item in relearning.changed]
    for position, (before, claim) in enumerate([*replaced, *((None, item) for item in relearning.new)]):
        support = Support(f"{relearning.id}:{position}", claim.fact.text, claim.quotes)
        facts.learn(tx, space=space, fact=claim.fact, token=0, support=support)
        added.append(claim.fact.id)
        if before is not None:
            _retire(tx, before, space=space, successor_id=claim.fact.id)
            retired.append((before.id, before.version))
    for fact in relearning.removed:
        _retire(tx, fact, space=space, successor_id=relearning.id)
        retired.append((fact.id, fact.version))
    undo = canonical_json({"retired": retired, "added": added})
    tx.run(
        "settle_relearning", space=space, id=relearning.id, status=RelearningStatus.APPLIED, undo=undo, now=tx.now
    )  # fmt: skip
    return find(tx, space=space, relearning_id=relearning_id)


def undo(tx: Tx, *, space: str, relearning_id: str) -> Relearning:
    """Restore the facts as they were before.

    Raises `VersionConflictError` if a fact that it added was changed since, and `LegalHoldError` if none may be
    removed.
    """
    holds.check_not_on_hold(tx, space=space)
    row = tx.first("find_relearning", space=space, id=relearning_id)
    relearning = find(tx, space=space, relearning_id=relearning_id)
    if row is None or relearning.status is not RelearningStatus.APPLIED:
        return relearning
    restore: dict[str, Any] = json.loads(row["undo"])
    for fact_id in restore["added"]:
        versions = facts.versions(tx, space=space, fact_id=fact_id)
        if len(versions) > 1 or any(version.replaced_at is not None for version in versions):
            raise VersionConflictError(
                f"Fact {fact_id} has changed since the relearning.", current=versions[-1].version
            )
        facts.delete(tx, space=space, fact_id=fact_id)
    for fact_id, version in restore["retired"]:
        tx.run("hold_again", space=space, id=fact_id, version=version)
    tx.run(
        "settle_relearning", space=space, id=relearning_id, status=RelearningStatus.UNDONE, undo=None, now=tx.now
    )  # fmt: skip
    return find(tx, space=space, relearning_id=relearning_id)


def drop_proposals(tx: Tx, *, space: str) -> None:
    """Remove every proposal of a space, because something in it is forgotten."""
    tx.run("drop_proposals", space=space)


def _retire(tx: Tx, fact: Fact, *, space: str, successor_id: str) -> None:
    current = facts.find(tx, space=space, fact_id=fact.id)
    if current is None or current.version != fact.version:
        now = None if current is None else current.version
        raise VersionConflictError(f"Fact {fact.id} has changed since the proposal.", current=now)
    facts.retire(tx, space=space, fact_id=fact.id, successor_id=successor_id)


def _relearning_of(tx: Tx, row: Row, *, space: str) -> Relearning:
    counts: dict[str, Any] = json.loads(row["counts"])
    proposal: dict[str, Any] = (
        json.loads(row["proposal"]) if row["proposal"] else {"new": [], "gone": [], "changed": []}
    )

    def versions(refs: Sequence[Sequence[Any]]) -> dict[str, Fact]:
        loaded = {fact_id: facts.versions(tx, space=space, fact_id=fact_id) for fact_id, _ in refs}
        return {fact_id: fact for fact_id, number in refs for fact in loaded[fact_id] if fact.version == number}

    before = versions([ref for ref, _ in proposal["changed"]])
    return Relearning(
        id=row["id"],
        status=RelearningStatus(row["status"]),
        created_at=from_micros(row["created_at"]),
        model=row["model"],
        sessions=counts["sessions"],
        same=counts["same"],
        pending=counts["held"],
        rejected=counts["refused"],
        usage=Usage(**counts["usage"]),
        new=tuple(map(claim_of, proposal["new"])),
        removed=tuple(versions(proposal["gone"]).values()),
        changed=tuple(
            ChangedFact(before=before[ref[0]], after=_claim(text))
            for ref, text in proposal["changed"]
            if ref[0] in before
        ),
        applied_at=from_micros_or_none(row["applied_at"]),
    )


def _claim(text: str) -> ClaimedFact:
    return claim_of(text)
