"""Relearnings: proposals with their texts, which are deleted when they are applied or something is forgotten."""

import json
from collections.abc import Sequence
from dataclasses import asdict, field
from datetime import datetime
from typing import Any

from bethink.base.frozen import frozen
from bethink.errors import NotFoundError
from bethink.model.decisions import Decision, DecisionKind, SettledClaim
from bethink.model.facts import Fact
from bethink.model.jobs import Usage
from bethink.model.moments import from_micros, from_micros_or_none
from bethink.model.relearning import ChangedFact, Relearning, RelearningCounts, RelearningStatus
from bethink.model.reviews import ClaimedFact
from bethink.model.text import canonical_json
from bethink.store import facts, statements
from bethink.store.db import Row, Tx
from bethink.store.reviews import claim_json, claim_of

Times = tuple[str, int, int | None, int | None]
"""A message, by session and number, and the period that its words name."""


@frozen
class LearnedFact:
    """A fact that was learned and that no person decided about, with the messages whose words prove it."""

    fact: Fact
    words: frozenset[tuple[str, int]]
    times: frozenset[Times] = frozenset()


@frozen
class RelearnedClaim:
    """A statement of a relearned fact, as the id of `claim.fact` names it, and its position in the model's answer.

    `is_settled` marks a statement of a fact that a person decided about: only its links are applied.
    """

    claim: ClaimedFact
    position: int
    is_settled: bool = False


@frozen
class UndoLog:
    """What undoing an applied relearning restores. It has no texts."""

    retired: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    added: list[str] = field(default_factory=list[str])
    restated: list[tuple[str, str, int | None]] = field(default_factory=list[tuple[str, str, int | None]])
    """A fact, its new support, and when the fact expired before."""
    linked: list[tuple[str, str, str, str]] = field(default_factory=list[tuple[str, str, str, str]])
    unlinked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def learned_facts(tx: Tx, *, space: str) -> list[LearnedFact]:
    """Return the facts of a space that were learned and that no person has decided about since."""
    words: dict[str, set[tuple[str, int]]] = {}
    for row in tx.all("list_quotes", space=space):
        words.setdefault(row["fact_id"], set()).add((row["session_id"], row["number"]))
    learned = facts.facts_of(tx, tx.all("list_learned_facts", space=space))
    times: dict[str, set[Times]] = {}
    for entry in statements.of_facts(tx, space=space, fact_ids=[fact.id for fact in learned]):
        if entry.dropped_at is None:
            message = (entry.key[1], entry.key[2], entry.begins_at, entry.ends_at)
            times.setdefault(entry.fact_id, set()).add(message)
    return [
        LearnedFact(
            fact=fact, words=frozenset(words.get(fact.id, ())), times=frozenset(times.get(fact.id, ()))
        )
        for fact in learned
    ]  # fmt: skip


def put(tx: Tx, relearning: Relearning, claims: Sequence[RelearnedClaim], *, space: str) -> None:
    """Store a proposal, and the statements that applying it stores, in the order they were made."""
    proposal = {
        "new": [claim_json(item) for item in relearning.new],
        "gone": [[fact.id, fact.version] for fact in relearning.removed],
        "changed": [[[item.before.id, item.before.version], claim_json(item.after)] for item in relearning.changed],
        "settled": [[claim_json(item.claim), _decision_json(item.decision)] for item in relearning.settled],
        "claims": [[claim_json(item.claim), item.position, item.is_settled] for item in claims],
    }
    tx.run(
        "insert_relearning",
        space=space, id=relearning.id, status=relearning.status, model=relearning.model,
        counts=_counts_json(relearning), proposal=canonical_json(proposal), now=relearning.created_at,
    )  # fmt: skip


def find(tx: Tx, *, space: str, relearning_id: str) -> Relearning:
    """Return a relearning. Raises `NotFoundError`; a proposal is deleted when something is forgotten."""
    return _relearning_of(tx, _row(tx, relearning_id, space=space), space=space)


def claims_of(tx: Tx, *, space: str, relearning_id: str) -> list[RelearnedClaim]:
    """Return the statements of a proposal, in the order they were made."""
    row = _row(tx, relearning_id, space=space)
    proposal: dict[str, Any] = json.loads(row["proposal"]) if row["proposal"] else {}
    return [
        RelearnedClaim(claim=claim_of(text), position=position, is_settled=is_settled)
        for text, position, is_settled in proposal.get("claims", ())
    ]


def mark_applied(tx: Tx, relearning: Relearning, counts: RelearningCounts, log: UndoLog, *, space: str) -> None:
    """Record that a proposal was applied: what changed, and what undoing it restores."""
    tx.run(
        "settle_relearning",
        space=space, id=relearning.id, status=RelearningStatus.APPLIED, counts=_counts_json(relearning, counts),
        undo=canonical_json(asdict(log)), now=tx.now,
    )  # fmt: skip


def mark_undone(tx: Tx, relearning: Relearning, *, space: str) -> None:
    """Record that an applied relearning was undone."""
    tx.run(
        "settle_relearning",
        space=space, id=relearning.id, status=RelearningStatus.UNDONE,
        counts=_counts_json(relearning, relearning.applied), undo=None, now=tx.now,
    )  # fmt: skip


def undo_log(tx: Tx, *, space: str, relearning_id: str) -> UndoLog:
    """Return what undoing an applied relearning restores."""
    row = _row(tx, relearning_id, space=space)
    log: dict[str, Any] = json.loads(row["undo"]) if row["undo"] else {}
    return UndoLog(**log)


def drop_proposals(tx: Tx, *, space: str) -> None:
    """Remove every proposal of a space, because something in it is forgotten."""
    tx.run("drop_proposals", space=space)


def _row(tx: Tx, relearning_id: str, *, space: str) -> Row:
    row = tx.first("find_relearning", space=space, id=relearning_id)
    if row is None:
        raise NotFoundError(
            f"Relearning {relearning_id!r} does not exist in space {space!r}.",
            hint="Deleting data from a space deletes its proposals. Run relearn again.",
        )
    return row


def _counts_json(relearning: Relearning, applied: RelearningCounts | None = None) -> str:
    counts = {
        "sessions": relearning.sessions, "same": relearning.same, "held": relearning.pending,
        "refused": relearning.rejected, "usage": asdict(relearning.usage),
    }  # fmt: skip
    return canonical_json(counts if applied is None else {**counts, "applied": asdict(applied)})


def _relearning_of(tx: Tx, row: Row, *, space: str) -> Relearning:
    counts: dict[str, Any] = json.loads(row["counts"])
    proposal: dict[str, Any] = json.loads(row["proposal"]) if row["proposal"] else {}
    changed, removed = proposal.get("changed", ()), proposal.get("gone", ())

    def versions(refs: Sequence[Sequence[Any]]) -> dict[str, Fact]:
        loaded = {fact_id: facts.versions(tx, space=space, fact_id=fact_id) for fact_id, _ in refs}
        return {fact_id: fact for fact_id, number in refs for fact in loaded[fact_id] if fact.version == number}

    before = versions([ref for ref, _ in changed])
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
        new=tuple(map(claim_of, proposal.get("new", ()))),
        removed=tuple(versions(removed).values()),
        changed=tuple(
            ChangedFact(before=before[ref[0]], after=claim_of(text)) for ref, text in changed if ref[0] in before
        ),
        settled=tuple(
            SettledClaim(claim=claim_of(text), decision=_decision_of(fields))
            for text, fields in proposal.get("settled", ())
        ),
        applied_at=from_micros_or_none(row["applied_at"]),
        applied=RelearningCounts(**counts["applied"]) if "applied" in counts else None,
    )


def _decision_json(decision: Decision) -> dict[str, Any]:
    return {**asdict(decision), "decided_at": decision.decided_at.isoformat()}


def _decision_of(fields: dict[str, Any]) -> Decision:
    return Decision(
        kind=DecisionKind(fields["kind"]),
        actor=fields["actor"],
        decided_at=datetime.fromisoformat(fields["decided_at"]),
        fact_id=fields["fact_id"],
        text=fields["text"],
    )
