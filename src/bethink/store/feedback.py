"""Feedback from people on facts."""

from bethink.model.ids import new_id
from bethink.model.moments import from_micros
from bethink.model.recall import FactVerdict, Feedback
from bethink.model.refs import Ref, RefKind
from bethink.store.db import Row, Tx


def put(
    tx: Tx, *, space: str, ref: Ref, verdict: FactVerdict, actor: str, note: str | None, review_id: str | None
) -> Feedback:  # fmt: skip
    """Store feedback on a version of a fact."""
    feedback = Feedback(
        id=new_id("fbk"), ref=ref, verdict=verdict, actor=actor, rated_at=tx.now, note=note, review_id=review_id
    )  # fmt: skip
    tx.run(
        "insert_feedback",
        space=space, id=feedback.id, fact=ref.id, version=ref.number, verdict=verdict, note=note, by=actor, now=tx.now,
        review=review_id,
    )  # fmt: skip
    return feedback


def on_fact(tx: Tx, *, space: str, fact_id: str, limit: int = 100) -> list[Feedback]:
    """Return the feedback on all versions of a fact, the newest first."""
    return [_feedback_of(row) for row in tx.all("feedback_on_fact", space=space, fact=fact_id, limit=limit)]


def _feedback_of(row: Row) -> Feedback:
    return Feedback(
        id=row["id"],
        ref=Ref(RefKind.FACT, row["fact_id"], row["version"]),
        verdict=FactVerdict(row["verdict"]),
        actor=row["given_by"],
        rated_at=from_micros(row["given_at"]),
        note=row["note"],
        review_id=row["review_id"],
    )
