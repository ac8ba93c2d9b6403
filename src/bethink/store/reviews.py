"""Claims under review: stored with their quotes, and deleted with the first message they quote."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from bethink.model.changes import ChangeKind
from bethink.model.facts import Fact, Maker, Quote
from bethink.model.ids import new_id
from bethink.model.moments import from_micros, from_micros_or_none
from bethink.model.refs import Ref, RefKind
from bethink.model.reviews import ClaimChange, ClaimedFact, Review, ReviewStatus
from bethink.model.text import canonical_json
from bethink.store import changes
from bethink.store.db import NO_LIMIT, Row, Tx

_UNSTORED = ("recorded_at", "replaced_at", "replaced_by", "status", "doubted_by", "version")


def put(
    tx: Tx,
    claim: ClaimedFact,
    *,
    space: str,
    status: ReviewStatus,
    reason: str,
    detail: str,
    effect: str,
    fact_id: str | None = None,
) -> str:
    """Store a claim that was not accepted, and return its id. Its effect key ensures that it is stored once.

    `fact_id` is the former fact, if a person marked it as wrong.
    """
    review = new_id("rev")
    inserted = tx.run(
        "insert_review",
        space=space, id=review, status=status, reason=reason, detail=detail, claim=claim_json(claim),
        session=claim.fact.source, effect=effect, fact=fact_id, now=tx.now,
    )  # fmt: skip
    for quote in claim.quotes if inserted else ():
        tx.run(
            "insert_review_source", space=space, review=review, session=quote.session_id, number=quote.number
        )  # fmt: skip
    if inserted:
        kind = ChangeKind.REVIEW_PENDING if status is ReviewStatus.PENDING else ChangeKind.REVIEW_REFUSED
        changes.record(tx, space=space, kind=kind, ref=f"review:{review}", session_id=claim.fact.source)
    return review


def find(tx: Tx, *, space: str, review_id: str) -> Review | None:
    """Return a claim under review, if there is one."""
    row = tx.first("find_review", space=space, id=review_id)
    return None if row is None else review_of(row)


def proposal_key(session_id: str, number: int) -> str:
    """Return the effect key of an entire message that is proposed for review."""
    return f"proposed:{session_id}:{number}"


def find_by_effect(tx: Tx, *, space: str, effect: str) -> Review | None:
    """Return the claim that was stored under an effect key, if there is one."""
    row = tx.first("find_review_of_effect", space=space, effect=effect)
    return None if row is None else review_of(row)


def list_reviews(
    tx: Tx, *, space: str, statuses: Iterable[ReviewStatus], limit: int, after: Review | None = None
) -> list[Review]:
    """Return claims under review, the newest first, after one."""
    rows = tx.all(
        "list_reviews",
        space=space, statuses=[str(status) for status in statuses], limit=limit,
        before=NO_LIMIT if after is None else after.created_at, after="" if after is None else after.id,
    )  # fmt: skip
    return [review_of(row) for row in rows]


def decide(
    tx: Tx, *, space: str, review_id: str, status: ReviewStatus, actor: str, note: str | None, fact_id: str | None
) -> bool:
    """Record a person's decision. Returns False if the claim was decided before."""
    return tx.run(
        "decide_review", space=space, id=review_id, status=status, by=actor, note=note, fact=fact_id, now=tx.now
    ) == 1  # fmt: skip


def forget_messages(tx: Tx, *, space: str, session_id: str, numbers: Collection[int]) -> None:
    """Remove the claims that quote one of these messages."""
    if tx.run("forget_reviews_of_messages", space=space, session=session_id, numbers=sorted(numbers)):
        tx.deletes = True


def forget_sessions(tx: Tx, *, space: str, sessions: list[str]) -> None:
    """Remove the claims that quote one of these sessions."""
    if tx.run("forget_reviews_of_sessions", space=space, sessions=sessions):
        tx.deletes = True


def counts(tx: Tx, *, space: str) -> dict[ReviewStatus, int]:
    """Count the claims under review by status."""
    return {ReviewStatus(row["status"]): row["count"] for row in tx.all("count_reviews", space=space)}


def claim_json(claim: ClaimedFact) -> str:
    """Return a claim as JSON, as it is stored."""
    fact = {name: value for name, value in asdict(claim.fact).items() if name not in _UNSTORED}
    times = {name: value.isoformat() for name, value in fact.items() if isinstance(value, datetime)}
    quotes = [asdict(quote) for quote in claim.quotes]
    ids = {"known": claim.existing_ids, "later": claim.later_ids, "rests_on": claim.rests_on}
    return canonical_json({"fact": fact | times, "quotes": quotes, "change": claim.change, **ids})


def claim_of(text: str) -> ClaimedFact:
    """Read a claim that was stored as JSON."""
    tree: Mapping[str, Any] = json.loads(text)
    field_names = {field.name for field in fields(Fact)}
    fact = {name: value for name, value in tree["fact"].items() if name in field_names}
    fact["created_by"] = Maker(**fact["created_by"]) if fact.get("created_by") else None
    return ClaimedFact(
        fact=Fact(**fact),
        quotes=tuple(Quote(**quote) for quote in tree["quotes"]),
        change=ClaimChange(tree["change"]),
        existing_ids=tuple(tree["known"]),
        later_ids=tuple(tree.get("later", ())),
        rests_on=tuple(tree.get("rests_on", ())),
    )


def review_of(row: Row) -> Review:
    """Read a review from its row."""
    return Review(
        id=row["id"],
        status=ReviewStatus(row["status"]),
        reason=row["reason"],
        detail=row["detail"],
        claim=claim_of(row["claim"]),
        session_id=row["session_id"],
        created_at=from_micros(row["created_at"]),
        decided_at=from_micros_or_none(row["decided_at"]),
        decided_by=row["decided_by"],
        note=row["note"],
        fact_id=row["fact_id"],
    )


def count_pending(tx: Tx, *, space: str) -> int:
    """Return the number of claims of a space that need review."""
    return counts(tx, space=space).get(ReviewStatus.PENDING, 0)


def pending_sources(tx: Tx, *, space: str, refs: Collection[Ref]) -> set[Ref]:
    """Return those of some messages that a claim under review quotes."""
    ids, numbers = [ref.id for ref in refs], [ref.number for ref in refs]
    rows = tx.all("pending_sources", space=space, ids=ids, numbers=numbers) if refs else []
    return {Ref(RefKind.MESSAGE, row["id"], row["number"]) for row in rows}
