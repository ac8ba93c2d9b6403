"""Relearnings: proposals with their texts, which go when they are applied or something is forgotten."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bethink.base.frozen import frozen
from bethink.errors import NotFound, Stale
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
class LearntFact:
    """A fact that was learnt and not changed since, with the messages whose words prove it."""

    fact: Fact
    words: frozenset[tuple[str, int]]


def learnt(tx: Tx, *, space: str) -> list[LearntFact]:
    """Return the current facts of a space that were learnt and not changed by hand since."""
    words: dict[str, set[tuple[str, int]]] = {}
    for row in tx.all("list_quotes", space=space):
        words.setdefault(row["fact_id"], set()).add((row["session_id"], row["number"]))
    found = map(facts.fact_of, tx.all("list_learnt_facts", space=space))
    return [LearntFact(fact=fact, words=frozenset(words.get(fact.id, ()))) for fact in found]


def put(tx: Tx, relearning: Relearning, *, space: str) -> None:
    """Keep a proposal."""
    proposal = {
        "new": [claim_json(each) for each in relearning.new],
        "gone": [[fact.id, fact.version] for fact in relearning.gone],
        "changed": [[[each.before.id, each.before.version], claim_json(each.after)] for each in relearning.changed],
    }
    counts = {
        "sessions": relearning.sessions, "same": relearning.same, "held": relearning.held,
        "refused": relearning.refused, "usage": asdict(relearning.usage),
    }  # fmt: skip
    tx.run(
        "insert_relearning",
        space=space, id=relearning.id, status=relearning.status, model=relearning.model,
        counts=canonical_json(counts), proposal=canonical_json(proposal), now=relearning.created_at,
    )  # fmt: skip


def find(tx: Tx, *, space: str, relearning_id: str) -> Relearning:
    """Return a relearning. Raises `NotFound`; a proposal goes when something is forgotten."""
    row = tx.one("find_relearning", space=space, id=relearning_id)
    if row is None:
        raise NotFound(
            f"no relearning {relearning_id!r} in space {space!r}.",
            hint="A proposal is dropped when something is forgotten. Relearn again.",
        )
    return _relearning_of(tx, row, space=space)


def apply(tx: Tx, *, space: str, relearning_id: str) -> Relearning:
    """Apply a proposal as one change. Raises `Stale` if a fact that it would change was changed since."""
    facts.lock(tx, space=space)
    relearning = find(tx, space=space, relearning_id=relearning_id)
    if relearning.status is not RelearningStatus.PROPOSED:
        return relearning
    retired: list[tuple[str, int]] = []
    added: list[str] = []
    replaced = [(each.before, each.after) for each in relearning.changed]
    for place, (before, claim) in enumerate([*replaced, *((None, each) for each in relearning.new)]):
        support = Support(f"{relearning.id}:{place}", claim.fact.content, claim.quotes)
        facts.learn(tx, space=space, fact=claim.fact, token=0, support=support)
        added.append(claim.fact.id)
        if before is not None:
            _retire(tx, before, space=space, by=claim.fact.id)
            retired.append((before.id, before.version))
    for fact in relearning.gone:
        _retire(tx, fact, space=space, by=relearning.id)
        retired.append((fact.id, fact.version))
    undo = canonical_json({"retired": retired, "added": added})
    tx.run(
        "settle_relearning", space=space, id=relearning.id, status=RelearningStatus.APPLIED, undo=undo, now=tx.now
    )  # fmt: skip
    return find(tx, space=space, relearning_id=relearning_id)


def undo(tx: Tx, *, space: str, relearning_id: str) -> Relearning:
    """Restore the facts as they were before.

    Raises `Stale` if a fact that it brought was changed since, and `UnderLegalHold` if none may be removed.
    """
    holds.refuse_if_held(tx, space=space)
    row = tx.one("find_relearning", space=space, id=relearning_id)
    relearning = find(tx, space=space, relearning_id=relearning_id)
    if row is None or relearning.status is not RelearningStatus.APPLIED:
        return relearning
    restore: dict[str, Any] = json.loads(row["undo"])
    for fact_id in restore["added"]:
        versions = facts.versions(tx, space=space, fact_id=fact_id)
        if len(versions) > 1 or any(version.retired_at is not None for version in versions):
            raise Stale(f"fact {fact_id} was changed since.", current=versions[-1].version)
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


def _retire(tx: Tx, fact: Fact, *, space: str, by: str) -> None:
    current = facts.find(tx, space=space, fact_id=fact.id)
    if current is None or current.version != fact.version:
        now = None if current is None else current.version
        raise Stale(f"fact {fact.id} was changed since.", current=now)
    facts.retire(tx, space=space, fact_id=fact.id, by=by)


def _relearning_of(tx: Tx, row: Row, *, space: str) -> Relearning:
    counts: dict[str, Any] = json.loads(row["counts"])
    proposal: dict[str, Any] = (
        json.loads(row["proposal"]) if row["proposal"] else {"new": [], "gone": [], "changed": []}
    )

    def versions(refs: Sequence[Sequence[Any]]) -> dict[str, Fact]:
        found = {each: facts.versions(tx, space=space, fact_id=each) for each, _ in refs}
        return {each: fact for each, number in refs for fact in found[each] if fact.version == number}

    before = versions([ref for ref, _ in proposal["changed"]])
    return Relearning(
        id=row["id"],
        status=RelearningStatus(row["status"]),
        created_at=from_micros(row["created_at"]),
        model=row["model"],
        sessions=counts["sessions"],
        same=counts["same"],
        held=counts["held"],
        refused=counts["refused"],
        usage=Usage(**counts["usage"]),
        new=tuple(map(claim_of, proposal["new"])),
        gone=tuple(versions(proposal["gone"]).values()),
        changed=tuple(
            ChangedFact(before=before[ref[0]], after=_claim(text))
            for ref, text in proposal["changed"]
            if ref[0] in before
        ),
        applied_at=from_micros_or_none(row["applied_at"]),
    )


def _claim(text: str) -> ClaimedFact:
    return claim_of(text)
