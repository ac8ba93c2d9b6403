"""Transcripts: a part of a session, with the data derived from each message."""

from collections import defaultdict

from bethink.model.records import Record, SessionInfo
from bethink.model.refs import Ref, RefKind
from bethink.model.reviews import ReviewStatus
from bethink.model.transcripts import LineClaim, LineFact, Transcript, TranscriptRow
from bethink.store import messages
from bethink.store.db import NO_LIMIT, Tx

_MAX_ITEMS = 1_000
"""Maximum number of facts, documents and claims read for one part of a session."""


def around(tx: Tx, session: SessionInfo, *, number: int | None, limit: int) -> Transcript:
    """Return up to `limit` messages around a number, or the last ones."""
    key = {"space": session.space, "session": session.id}
    later: list[Record] = []
    before = NO_LIMIT
    if number is not None:
        # One extra message on each side shows whether there are more.
        later = messages.after(
            tx, space=session.space, session_id=session.id, number=number - 1, limit=limit + 1, retracted=True
        )
        before = number
    rows = tx.all("messages_before", before=before, limit=limit + 1, **key)
    earlier = [messages.record_of(row) for row in rows]
    half = min(len(earlier), max(limit - len(later), limit // 2))
    after = limit - half
    records = [*reversed(earlier[:half]), *later[:after]]
    if not records:
        return Transcript(session=session)
    return Transcript(
        session=session,
        lines=_lines(tx, records, space=session.space),
        earlier=len(earlier) > half,
        later=len(later) > after,
    )


def _lines(tx: Tx, records: list[Record], *, space: str) -> tuple[TranscriptRow, ...]:
    bounds = {"space": space, "session": records[0].session_id, "first": records[0].number, "last": records[-1].number}
    facts: defaultdict[int, list[LineFact]] = defaultdict(list)
    for row in tx.all("facts_of_lines", limit=_MAX_ITEMS, now=tx.now, **bounds):
        ref = Ref(RefKind.FACT, row["id"], row["version"])
        facts[row["line"]].append(LineFact(ref=ref, text=row["content"], retired=bool(row["is_past"])))
    documents: defaultdict[int, dict[Ref, None]] = defaultdict(dict)
    for row in tx.all("documents_of_lines", limit=_MAX_ITEMS, **bounds):
        documents[row["line"]][Ref(RefKind.DOCUMENT, row["id"], row["version"])] = None
    claims: defaultdict[int, list[LineClaim]] = defaultdict(list)
    for row in tx.all("claims_of_lines", limit=_MAX_ITEMS, **bounds):
        claim = LineClaim(review_id=row["id"], status=ReviewStatus(row["status"]), reason=row["reason"])
        claims[row["line"]].append(claim)
    times = {row["line"]: row["count"] for row in tx.all("showings_of_lines", **bounds)}
    return tuple(
        TranscriptRow(
            record=record,
            facts=tuple(facts[record.number]),
            documents=tuple(documents[record.number]),
            claims=tuple(claims[record.number]),
            shown_count=times.get(record.number, 0),
        )
        for record in records
    )
