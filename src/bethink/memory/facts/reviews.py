"""Carries out the verbs of the review inbox: a person decides what becomes of a claim that was not believed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Self, TypeVar

from bethink.errors import Conflict, Invalid, NotFound
from bethink.extend import Redactor
from bethink.memory.facts.reconcile import settle
from bethink.memory.registry import Host, handles
from bethink.model.facts import Evidence, Fact, Quote
from bethink.model.framing import text_cleaner
from bethink.model.ids import new_id
from bethink.model.kinds import FactKind
from bethink.model.operations.base import Empty
from bethink.model.operations.reviews import (
    APPROVE_REVIEW,
    APPROVE_REVIEWS,
    COUNT_REVIEWS,
    GET_REVIEW,
    LIST_REVIEWS,
    PROPOSE_REVIEW,
    REJECT_REVIEW,
    REJECT_REVIEWS,
    ApproveReviewRequest,
    DecideReviewsRequest,
    ListReviewsRequest,
    ProposeRequest,
    RejectReviewRequest,
    ReviewRequest,
)
from bethink.model.recall import Ref
from bethink.model.records import Origin, Record
from bethink.model.reviews import LONGEST_STATEMENT, REPORTED_WRONG, ClaimedFact, Review, ReviewStatus
from bethink.store import facts, messages, reviews, sessions
from bethink.store.db import Database, Tx

T = TypeVar("T")
_PERSON = Origin("user")
_PROPOSED = "proposed"


class ReviewService:
    """The claims under review of every space in one database."""

    def __init__(self, database: Database, *, redactor: Redactor) -> None:
        self._database = database
        self._cut = text_cleaner(redactor.redact)

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database, redactor=host.redactor)

    @handles(LIST_REVIEWS)
    async def all(self, space: str, request: ListReviewsRequest) -> list[Review]:
        """List claims with a status, the newest first."""

        def body(tx: Tx) -> list[Review]:
            after = _found(tx, space, request.after) if request.after else None
            return reviews.listed(tx, space=space, statuses=[request.status], limit=request.limit, after=after)

        return await self._read(space, body)

    @handles(COUNT_REVIEWS)
    async def count(self, space: str, request: Empty) -> dict[str, int]:
        """Count claims by status."""
        del request
        counted = await self._read(space, lambda tx: reviews.counts(tx, space=space))
        return {str(status): counted.get(status, 0) for status in ReviewStatus}

    @handles(GET_REVIEW)
    async def get(self, space: str, request: ReviewRequest) -> Review:
        """Return a claim under review."""
        return await self._read(space, lambda tx: _found(tx, space, request.review_id))

    @handles(PROPOSE_REVIEW)
    async def propose(self, space: str, request: ProposeRequest) -> Review:
        """Hold what a message says until a person decides."""
        statement = None if request.statement is None else self._statement(request.statement)
        effect = reviews.proposal_key(request.ref.id, request.ref.number)

        def body(tx: Tx) -> Review:
            kept = reviews.find_by_effect(tx, space=space, effect=effect)
            if kept is not None:
                return kept
            # Until the claim is there, the message cannot be taken back: what rests on it would stay.
            sessions.find(tx, space=space, session_id=request.ref.id, lock=True)
            claim = _proposal(_message(tx, space, request.ref), statement, request.kind)
            review = reviews.put(
                tx, claim, space=space, status=ReviewStatus.HELD, reason=_PROPOSED,
                detail=f"proposed; {claim.fact.origin} says so", effect=effect,
            )  # fmt: skip
            return _found(tx, space, review)

        return await self._database.transact(body, space=space, repeatable=True)

    @handles(APPROVE_REVIEW)
    async def approve(self, space: str, request: ApproveReviewRequest) -> Review:
        """Make a fact of a claim, as it is or in other words."""
        statement = None if request.statement is None else self._statement(request.statement)

        def body(tx: Tx) -> Review:
            facts.lock(tx, space=space)
            return self._approve(tx, space, request.review_id, statement, request.note)

        return await self._database.transact(body, space=space)

    @handles(APPROVE_REVIEWS)
    async def approve_all(self, space: str, request: DecideReviewsRequest) -> list[Review]:
        """Make facts of some claims, all or none."""

        def body(tx: Tx) -> list[Review]:
            facts.lock(tx, space=space)
            ids = dict.fromkeys(request.review_ids)
            return [self._approve(tx, space, each, None, request.note) for each in ids]

        return await self._database.transact(body, space=space)

    @handles(REJECT_REVIEWS)
    async def reject_all(self, space: str, request: DecideReviewsRequest) -> list[Review]:
        """Record that some claims are not believed, all or none."""

        def body(tx: Tx) -> list[Review]:
            ids = dict.fromkeys(request.review_ids)
            return [self._reject(tx, space, each, request.note) for each in ids]

        return await self._database.transact(body, space=space)

    @handles(REJECT_REVIEW)
    async def reject(self, space: str, request: RejectReviewRequest) -> Review:
        """Record that a claim is not believed."""

        return await self._database.transact(
            lambda tx: self._reject(tx, space, request.review_id, request.note), space=space
        )

    def _approve(self, tx: Tx, space: str, review_id: str, statement: str | None, note: str | None) -> Review:
        review = _undecided(tx, space, review_id)
        claim = _stated(review.claim, statement)
        if review.reason == REPORTED_WRONG:
            # It was a fact before: the same one holds again, with its sources, as a person says so now.
            facts.put(tx, space=space, fact=claim.fact, pinned_at=claim.fact.pinned_at)
            return self._decide(tx, space, review_id, ReviewStatus.APPROVED, note=note, fact_id=claim.fact.id)
        if not review.claim.quotes:
            hint = "Reject it, and state what you know yourself with facts.save()."
            raise Invalid(f"the claim {review.id} quotes no message.", hint=hint)
        settled = settle(tx, claim, space=space, effect=f"review:{review.id}", token=0)
        return self._decide(tx, space, review_id, ReviewStatus.APPROVED, note=note, fact_id=settled.fact_id)

    def _reject(self, tx: Tx, space: str, review_id: str, note: str | None) -> Review:
        _undecided(tx, space, review_id)
        return self._decide(tx, space, review_id, ReviewStatus.REJECTED, note=note)

    def _decide(
        self, tx: Tx, space: str, review_id: str, status: ReviewStatus, *, note: str | None, fact_id: str | None = None
    ) -> Review:  # fmt: skip
        why = None if note is None else self._cut(note)
        if not reviews.decide(
            tx, space=space, review_id=review_id, status=status, by=_PERSON, note=why, fact_id=fact_id
        ):  # fmt: skip
            raise Conflict(f"the claim {review_id} was decided meanwhile.", hint="Read it again.")
        return _found(tx, space, review_id)

    def _statement(self, text: str) -> str:
        statement = " ".join(self._cut(text).split())
        if not statement:
            raise Invalid("the statement is empty.", hint="Write one sentence, or leave it out to keep the claim's.")
        return statement

    async def _read(self, space: str, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, space=space, read=True)


def _message(tx: Tx, space: str, ref: Ref) -> Record:
    found = messages.after(tx, space=space, session_id=ref.id, number=ref.number - 1, limit=1)
    if not found or found[0].number != ref.number:
        raise NotFound(f"no message {ref} in space {space!r}.")
    return found[0]


def _proposal(record: Record, statement: str | None, kind: FactKind) -> ClaimedFact:
    """Return what a message says as a claim that quotes all of it."""
    message = record.message
    said = statement or " ".join(message.content.split())
    if not 0 < len(said) <= LONGEST_STATEMENT:
        hint = f"Pass a statement of at most {LONGEST_STATEMENT} characters."
        raise Invalid("the message is not one sentence to decide about.", hint=hint)
    fact = Fact(
        id=new_id("fct"),
        content=said,
        source=record.session_id,
        created_at=message.said_at or record.recorded_at,
        kind=kind,
        origin=Origin(message.origin or "import"),
        speaker=message.name,
        evidence=Evidence.QUOTED,
    )
    return ClaimedFact(
        fact=fact, quotes=(Quote(session_id=record.session_id, number=record.number, text=message.content),)
    )


def _stated(claim: ClaimedFact, statement: str | None) -> ClaimedFact:
    """Return a claim as a person's word: the user says so now, no matter who said it first."""
    fact = replace(claim.fact, origin=_PERSON, evidence=Evidence.STATED)
    if statement is not None and statement != fact.content:
        fact = replace(fact, content=statement, made_by=None)
    return replace(claim, fact=fact)


def _undecided(tx: Tx, space: str, review_id: str) -> Review:
    review = _found(tx, space, review_id)
    if review.decided_at is not None:
        hint = "A fact can be corrected or forgotten; what was rejected can be said again."
        raise Conflict(f"the claim {review_id} was {review.status} before.", hint=hint)
    return review


def _found(tx: Tx, space: str, review_id: str) -> Review:
    found = reviews.find(tx, space=space, review_id=review_id)
    if found is None:
        raise NotFound(f"no claim {review_id!r} under review in space {space!r}.")
    return found
