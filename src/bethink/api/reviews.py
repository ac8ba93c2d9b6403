"""The claims of a space that need review.

Written by tools/make_api.py from the table of operations; change a request there and run it again.
"""

from collections.abc import Iterable

from bethink.api.handles import Handle, tuple_of
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
from bethink.model.reviews import Review, ReviewStatus


class Reviews(Handle):
    """The claims of a space that need review."""

    async def all(self, *, status: ReviewStatus = ReviewStatus.HELD, limit: int = 100, after: str = "") -> list[Review]:
        """List claims that were not believed at once, the newest first, each with its quotes and the reason.

        Args:
            status: Only claims with this status: held, refused, approved or rejected.
            limit: How many claims to return at most.
            after: Only claims that follow this one: the last id of the previous page.

        Raises:
            NotFound: if the claim `after` does not exist.
        """
        return await self._run(LIST_REVIEWS, ListReviewsRequest(status=status, limit=limit, after=after))

    async def count(self) -> dict[str, int]:
        """Count the claims in the inbox by status."""
        return await self._run(COUNT_REVIEWS, Empty())

    async def get(self, review_id: str) -> Review:
        """Return a claim with its quotes, the reason why it was not believed, and what was decided.

        Args:
            review_id: The claim, by the id that the inbox lists.

        Raises:
            NotFound: if the space has no such claim.
        """
        return await self._run(GET_REVIEW, ReviewRequest(review_id=review_id))

    async def propose(
        self, ref: Ref | str, *, statement: str | None = None, kind: FactKind = FactKind.KNOWLEDGE
    ) -> Review:
        """Put what a message says into the inbox, as a claim for a person to decide about.

        A message is proposed once: then the claim is returned as it stands, decided or not.

        Args:
            ref: The message that says so, named as in results.
            statement: What the fact shall say, in one sentence. The text of the message, if left out.
            kind: What kind of fact it is to be.

        Raises:
            NotFound: if the space has no such message.
            Invalid: if it is longer than a statement may be.
        """
        return await self._run(PROPOSE_REVIEW, ProposeRequest(ref=Ref.read(ref), statement=statement, kind=kind))

    async def approve(self, review_id: str, *, statement: str | None = None, note: str | None = None) -> Review:
        """Believe a claim, as it is or in other words: it becomes a fact that is `stated`, with the user's authority.

        It replaces or ends what the claim says it does. A claim that was refused can be approved, too.

        Args:
            review_id: The claim, by the id that the inbox lists.
            statement: What the fact shall say instead, in one sentence.
            note: Why: kept with the decision.

        Raises:
            NotFound: if the space has no such claim.
            Conflict: if it was decided before.
            Invalid: if it quotes no message.
        """
        return await self._run(
            APPROVE_REVIEW, ApproveReviewRequest(review_id=review_id, statement=statement, note=note)
        )

    async def reject(self, review_id: str, *, note: str | None = None) -> Review:
        """Decide that a claim is not believed. It stays listed as rejected.

        Args:
            review_id: The claim, by the id that the inbox lists.
            note: Why: kept with the decision.

        Raises:
            NotFound: if the space has no such claim.
            Conflict: if it was decided before.
        """
        return await self._run(REJECT_REVIEW, RejectReviewRequest(review_id=review_id, note=note))

    async def approve_all(self, review_ids: Iterable[str], *, note: str | None = None) -> list[Review]:
        """Believe some claims as they are, all or none.

        Args:
            review_ids: The claims, by the ids that the inbox lists.
            note: Why: kept with each decision.

        Raises:
            NotFound: if the space has no such claim.
            Conflict: if it was decided before.
            Invalid: if one quotes no message.
        """
        return await self._run(APPROVE_REVIEWS, DecideReviewsRequest(review_ids=tuple_of(review_ids), note=note))

    async def reject_all(self, review_ids: Iterable[str], *, note: str | None = None) -> list[Review]:
        """Decide that some claims are not believed, all or none.

        Args:
            review_ids: The claims, by the ids that the inbox lists.
            note: Why: kept with each decision.

        Raises:
            NotFound: if the space has no such claim.
            Conflict: if it was decided before.
        """
        return await self._run(REJECT_REVIEWS, DecideReviewsRequest(review_ids=tuple_of(review_ids), note=note))
