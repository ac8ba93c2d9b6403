"""Handles the review inbox: a person approves or rejects claims that were not accepted automatically."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Self, TypeVar

from bethink.errors import ConflictError, InvalidRequestError, NotFoundError
from bethink.extend import Redactor
from bethink.memory.deletion.settling import finish_open
from bethink.memory.facts.forget_requests import delete_for_good, hide_learned, request_of_review, withdraw_request
from bethink.memory.facts.reconcile import settle
from bethink.memory.registry import Host, handles
from bethink.model.facts import Evidence, Fact, FactStatus, Quote, SourceMessage
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
from bethink.model.paging import Page, page_of
from bethink.model.records import Origin, Record
from bethink.model.refs import Ref
from bethink.model.reviews import (
    FORGET_REQUEST,
    MAX_STATEMENT_LENGTH,
    REPORTED_WRONG,
    ClaimedFact,
    Review,
    ReviewStatus,
)
from bethink.store import facts, messages, reviews, sessions, statements, views
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
    def from_host(cls, host: Host) -> Self:
        """Create the service from an open memory."""
        return cls(host.database, redactor=host.redactor)

    @handles(LIST_REVIEWS)
    async def list_reviews(self, space: str, request: ListReviewsRequest) -> Page[Review]:
        """List claims with a status, the newest first."""

        def body(tx: Tx) -> Page[Review]:
            after = _get_review(tx, space, request.after) if request.after else None
            limit = request.limit
            rows = reviews.list_reviews(tx, space=space, statuses=[request.status], limit=limit + 1, after=after)
            return page_of(rows, limit, lambda review: review.id)

        return await self._query(space, body)

    @handles(COUNT_REVIEWS)
    async def count(self, space: str, request: Empty) -> dict[str, int]:
        """Count claims by status."""
        del request
        counted = await self._query(space, lambda tx: reviews.counts(tx, space=space))
        return {str(status): counted.get(status, 0) for status in ReviewStatus}

    @handles(GET_REVIEW)
    async def get(self, space: str, request: ReviewRequest) -> Review:
        """Return a claim under review."""
        return await self._query(space, lambda tx: _get_review(tx, space, request.review_id))

    @handles(PROPOSE_REVIEW)
    async def propose(self, space: str, request: ProposeRequest) -> Review:
        """Propose a message as a claim for review."""
        statement = None if request.text is None else self._statement(request.text)
        effect = reviews.proposal_key(request.ref.id, request.ref.number)

        def body(tx: Tx) -> Review:
            existing = reviews.find_by_effect(tx, space=space, effect=effect)
            if existing is not None:
                return existing
            # Lock the session: a message that is retracted before the claim is stored would leave the claim behind.
            sessions.find(tx, space=space, session_id=request.ref.id, lock=True)
            claim = _proposal(_message(tx, space, request.ref), statement, request.kind)
            review = reviews.put(
                tx, claim, space=space, status=ReviewStatus.PENDING, reason=_PROPOSED,
                detail=f"proposed; stated by {claim.fact.origin}", effect=effect,
            )  # fmt: skip
            return _get_review(tx, space, review)

        return await self._database.transact(body, space=space, repeatable=True)

    @handles(APPROVE_REVIEW)
    async def approve(self, space: str, request: ApproveReviewRequest) -> Review:
        """Approve a claim, as it is or with another statement."""
        statement = None if request.text is None else self._statement(request.text)

        def body(tx: Tx) -> Review:
            facts.lock(tx, space=space)
            return self._approve(tx, space, request.review_id, statement, request.note)

        review = await self._database.transact(body, space=space)
        await self._finish_deletions([review])
        return review

    @handles(APPROVE_REVIEWS)
    async def approve_all(self, space: str, request: DecideReviewsRequest) -> list[Review]:
        """Approve several claims, all or none."""

        def body(tx: Tx) -> list[Review]:
            facts.lock(tx, space=space)
            ids = dict.fromkeys(request.review_ids)
            return [self._approve(tx, space, review_id, None, request.note) for review_id in ids]

        decided = await self._database.transact(body, space=space)
        await self._finish_deletions(decided)
        return decided

    @handles(REJECT_REVIEWS)
    async def reject_all(self, space: str, request: DecideReviewsRequest) -> list[Review]:
        """Reject several claims, all or none."""

        def body(tx: Tx) -> list[Review]:
            ids = dict.fromkeys(request.review_ids)
            return [self._reject(tx, space, review_id, request.note) for review_id in ids]

        return await self._database.transact(body, space=space)

    @handles(REJECT_REVIEW)
    async def reject(self, space: str, request: RejectReviewRequest) -> Review:
        """Reject a claim."""

        return await self._database.transact(
            lambda tx: self._reject(tx, space, request.review_id, request.note), space=space
        )

    async def _finish_deletions(self, decided: Sequence[Review]) -> None:
        """Carry out the deletions that approved requests to forget have recorded. A worker finishes the others."""
        if any(review.reason == FORGET_REQUEST for review in decided):
            await finish_open(self._database)

    def _approve(self, tx: Tx, space: str, review_id: str, statement: str | None, note: str | None) -> Review:
        review = _get_pending(tx, space, review_id)
        if review.reason == FORGET_REQUEST:
            request = request_of_review(tx, review.claim, space=space)
            if request is not None:
                delete_for_good(tx, space=space, request_id=request.id, fact_ids=review.claim.existing_ids)
            return self._decide(tx, space, review_id, ReviewStatus.APPROVED, note=note)
        claim = _confirm_claim(review.claim, statement)
        if review.reason == REPORTED_WRONG:
            # The claim was a fact before: restore it with its sources, now confirmed by a person.
            _restore(tx, space, claim.fact)
            return self._decide(tx, space, review_id, ReviewStatus.APPROVED, note=note, fact_id=claim.fact.id)
        if not review.claim.quotes:
            hint = "Reject the claim, and add your own fact with `facts.save`."
            raise InvalidRequestError(f"Claim {review.id} does not quote a message.", hint=hint)
        settled = settle(tx, claim, space=space, effect=f"review:{review.id}", token=0)
        hide_learned(tx, space=space, messages=[SourceMessage(item.session_id, item.number) for item in claim.quotes])
        return self._decide(tx, space, review_id, ReviewStatus.APPROVED, note=note, fact_id=settled.fact_id)

    def _reject(self, tx: Tx, space: str, review_id: str, note: str | None) -> Review:
        review = _get_pending(tx, space, review_id)
        if review.reason == FORGET_REQUEST:
            request = request_of_review(tx, review.claim, space=space)
            if request is not None:
                withdraw_request(tx, space=space, request_id=request.id)
        elif review.reason == REPORTED_WRONG and (reported := _reported_version(tx, space, review.claim.fact.id)):
            facts.mark_corrected(tx, space=space, fact_id=reported.id, version=reported.version)  # no longer pending
        return self._decide(tx, space, review_id, ReviewStatus.REJECTED, note=note)

    def _decide(
        self, tx: Tx, space: str, review_id: str, status: ReviewStatus, *, note: str | None, fact_id: str | None = None
    ) -> Review:  # fmt: skip
        reason = None if note is None else self._cut(note)
        if not reviews.decide(
            tx, space=space, review_id=review_id, status=status, actor=_PERSON, note=reason, fact_id=fact_id
        ):  # fmt: skip
            raise ConflictError(
                f"Claim {review_id} has already been decided.", hint="Read the claim again to see the decision."
            )
        return _get_review(tx, space, review_id)

    def _statement(self, text: str) -> str:
        statement = " ".join(self._cut(text).split())
        if not statement:
            raise InvalidRequestError(
                "`statement` is empty.", hint="Pass one sentence, or omit it to keep the text of the claim."
            )
        return statement

    async def _query(self, space: str, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, space=space, read_only=True)


def _message(tx: Tx, space: str, ref: Ref) -> Record:
    records = messages.after(tx, space=space, session_id=ref.id, number=ref.number - 1, limit=1)
    if not records or records[0].number != ref.number:
        raise NotFoundError(f"No message {ref} in space {space!r}.")
    return records[0]


def _proposal(record: Record, statement: str | None, kind: FactKind) -> ClaimedFact:
    """Return a message as a claim that quotes all of it."""
    message = record.message
    content = statement or " ".join(message.content.split())
    if not 0 < len(content) <= MAX_STATEMENT_LENGTH:
        hint = f"Pass a statement of at most {MAX_STATEMENT_LENGTH} characters."
        raise InvalidRequestError("The message is too long or empty to be a claim.", hint=hint)
    fact = Fact(
        id=new_id("fct"),
        text=content,
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


def _confirm_claim(claim: ClaimedFact, statement: str | None) -> ClaimedFact:
    """Return a claim as a statement of the user, regardless of who made it first."""
    fact = replace(claim.fact, origin=_PERSON, evidence=Evidence.STATED)
    if statement is not None and statement != fact.text:
        fact = replace(fact, text=statement, created_by=None)
    return replace(claim, fact=fact)


def _reported_version(tx: Tx, space: str, fact_id: str) -> Fact | None:
    """Return the newest version of a fact that was reported as wrong, unless it has been replaced since."""
    newest = next(reversed(facts.versions(tx, space=space, fact_id=fact_id)), None)
    return newest if newest is not None and newest.status is FactStatus.PENDING else None


def _restore(tx: Tx, space: str, fact: Fact) -> None:
    """Store a fact again that was reported as wrong, with its statements and what they do to other facts."""
    reported = facts.versions(tx, space=space, fact_id=fact.id)
    facts.put(tx, space=space, fact=fact, pinned_at=fact.pinned_at)
    if not reported or reported[-1].replaced_at is None:
        return
    restored = facts.versions(tx, space=space, fact_id=fact.id)[-1]
    statements.restore(
        tx, space=space, fact_id=fact.id, dropped_at=reported[-1].replaced_at, version=restored.version
    )  # fmt: skip
    if restored.text != reported[-1].text:
        facts.mark_corrected(tx, space=space, fact_id=fact.id, version=reported[-1].version)
    views.refresh(tx, space=space, fact_ids=views.neighbors(tx, space=space, fact_ids=[fact.id]))


def _get_pending(tx: Tx, space: str, review_id: str) -> Review:
    review = _get_review(tx, space, review_id)
    if review.decided_at is not None:
        hint = "Correct or forget the fact of an approved claim. Propose a rejected claim again."
        raise ConflictError(f"Claim {review_id} has already been {review.status}.", hint=hint)
    return review


def _get_review(tx: Tx, space: str, review_id: str) -> Review:
    review = reviews.find(tx, space=space, review_id=review_id)
    if review is None:
        raise NotFoundError(f"No claim {review_id!r} under review in space {space!r}.")
    return review
