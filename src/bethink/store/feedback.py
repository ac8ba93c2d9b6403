"""What people said about facts."""

from bethink.model.ids import new_id
from bethink.model.moments import from_micros
from bethink.model.recall import FactVerdict, Feedback, Ref, RefKind
from bethink.store.db import Row, Tx


def put(
    tx: Tx, *, space: str, ref: Ref, verdict: FactVerdict, by: str, note: str | None, review_id: str | None
) -> Feedback:  # fmt: skip
    """Keep what somebody said about a version of a fact."""
    found = Feedback(
        id=new_id("fbk"), ref=ref, verdict=verdict, by=by, at=tx.now, note=note, review_id=review_id
    )  # fmt: skip
    tx.run(
        "insert_feedback",
        space=space, id=found.id, fact=ref.id, version=ref.number, verdict=verdict, note=note, by=by, now=tx.now,
        review=review_id,
    )  # fmt: skip
    return found


def on_fact(tx: Tx, *, space: str, fact_id: str, limit: int = 100) -> list[Feedback]:
    """Return what was said about a fact in all its versions, the newest first."""
    return [_feedback_of(row) for row in tx.all("feedback_on_fact", space=space, fact=fact_id, limit=limit)]


def _feedback_of(row: Row) -> Feedback:
    return Feedback(
        id=row["id"],
        ref=Ref(RefKind.FACT, row["fact_id"], row["version"]),
        verdict=FactVerdict(row["verdict"]),
        by=row["given_by"],
        at=from_micros(row["given_at"]),
        note=row["note"],
        review_id=row["review_id"],
    )
