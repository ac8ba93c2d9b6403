"""Operations on reviews: list, propose, approve and reject claims."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.errors import InvalidRequestError
from bethink.model.access import Scope
from bethink.model.checks import Cleaned, Length, any_of, tuple_from
from bethink.model.kinds import FactKind
from bethink.model.operations.base import Empty, Limit, Name, Operation, Request, Retry, SpanName, served_by
from bethink.model.paging import Page
from bethink.model.refs import Ref, RefKind
from bethink.model.reviews import MAX_STATEMENT_LENGTH, Review, ReviewStatus

READ, WRITE, STEER = Scope.READ, Scope.WRITE, Scope.STEER

Statement = Annotated[str, Length(1, MAX_STATEMENT_LENGTH), Cleaned()]
Note = Annotated[str, Length(0, 1_000), Cleaned()]


@frozen
class ListReviewsRequest(Request):
    """A page of claims under review."""

    status: ReviewStatus = ReviewStatus.PENDING
    """Status of the claims: `pending` (default), `refused`, `approved` or `rejected`."""
    limit: Limit = 100
    """Maximum number of claims (default 100)."""
    after: str = ""
    """Cursor of the next page: the `next` of the previous page, or its last id."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", any_of("status", (self.status,), ReviewStatus)[0])
        Request.__post_init__(self)


@frozen
class ProposeRequest(Request):
    """A message to propose as a claim."""

    ref: Ref
    """Ref of the message, as in results: `message:session:number`."""
    text: Statement | None = None
    """Statement of the fact, in one sentence (default: the text of the message)."""
    kind: FactKind = FactKind.KNOWLEDGE
    """Kind of the fact (default `knowledge`)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", any_of("kind", (self.kind,), FactKind)[0])
        Request.__post_init__(self)
        if self.ref.kind is not RefKind.MESSAGE:
            hint = "Pass the ref of a message: message:SESSION:NUMBER."
            raise InvalidRequestError(f"A {self.ref.kind.replace('_', ' ')} cannot be proposed.", hint=hint)


@frozen
class ReviewRequest(Request):
    """One claim under review."""

    review_id: Name
    """Id of the claim, as in `reviews.list`."""


@frozen
class ApproveReviewRequest(ReviewRequest):
    """A claim to approve."""

    text: Statement | None = None
    """Replacement text of the fact, in one sentence (default: the text of the claim)."""
    note: Note | None = None
    """Reason, stored with the decision."""


@frozen
class RejectReviewRequest(ReviewRequest):
    """A claim to reject."""

    note: Note | None = None
    """Reason, stored with the decision."""


@frozen
class DecideReviewsRequest(Request):
    """Claims to approve or reject together: all or none."""

    review_ids: Annotated[tuple[Name, ...], Length(1, 1_000)]
    """Ids of the claims, as in `reviews.list`."""
    note: Note | None = None
    """Reason, stored with each decision."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "review_ids", tuple_from("review_ids", self.review_ids))
        Request.__post_init__(self)


_REVIEWS = "/spaces/{space}/reviews"
_REVIEW = f"{_REVIEWS}/{{review_id}}"
_NOT_FOUND = "NotFoundError: if the space has no such claim."
_DECISION_ERRORS = f"{_NOT_FOUND} ConflictError: if the claim is already approved or rejected."

LIST_REVIEWS: Operation[ListReviewsRequest, Page[Review]] = Operation(
    "space.reviews.list", ListReviewsRequest, Page[Review], f"GET {_REVIEWS}", READ, Retry.SAFE,
    "List claims that need review, with quotes and reason. Newest first.",
    raises="NotFoundError: if the claim `after` does not exist.",
)  # fmt: skip
COUNT_REVIEWS: Operation[Empty, dict[str, int]] = Operation(
    "space.reviews.count", Empty, dict[str, int], "GET /spaces/{space}/review_count", READ, Retry.SAFE,
    "Return the number of claims by status.",
)  # fmt: skip
GET_REVIEW: Operation[ReviewRequest, Review] = Operation(
    "space.reviews.get", ReviewRequest, Review, f"GET {_REVIEW}", READ, Retry.SAFE,
    "Return a claim with its quotes, the reason for the review, and the decision.",
    raises=_NOT_FOUND,
)  # fmt: skip
PROPOSE_REVIEW: Operation[ProposeRequest, Review] = Operation(
    "space.reviews.propose", ProposeRequest, Review, f"POST {_REVIEWS}", WRITE, Retry.IDEMPOTENT,
    "Propose a message as a fact. The claim needs a person's approval.",
    also_reads=True, status=201, span_name=SpanName.UPSERT,
    raises=(
        "NotFoundError: if the space has no such message. "
        "InvalidRequestError: if the text is too long for a statement."
    ),
    details="Proposing the same message again returns the existing claim.",
)  # fmt: skip
APPROVE_REVIEW: Operation[ApproveReviewRequest, Review] = Operation(
    "space.reviews.approve", ApproveReviewRequest, Review, f"POST {_REVIEW}/approve", STEER, Retry.ONCE,
    "Approve a claim, optionally with different text. It becomes a fact with the evidence `stated`.",
    also_reads=True, span_name=SpanName.CREATE,
    raises=f"{_DECISION_ERRORS} InvalidRequestError: if the claim quotes no message.",
    details="The new fact replaces or ends the facts named in the claim. Refused claims can be approved too.",
)  # fmt: skip
REJECT_REVIEW: Operation[RejectReviewRequest, Review] = Operation(
    "space.reviews.reject", RejectReviewRequest, Review, f"POST {_REVIEW}/reject", STEER, Retry.ONCE,
    "Reject a claim. It stays listed as rejected.",
    also_reads=True,
    raises=_DECISION_ERRORS,
)  # fmt: skip
APPROVE_REVIEWS: Operation[DecideReviewsRequest, list[Review]] = Operation(
    "space.reviews.approve_many", DecideReviewsRequest, list[Review], "POST /spaces/{space}/approve_reviews", STEER,
    Retry.ONCE,
    "Approve several claims unchanged: all or none.",
    also_reads=True, span_name=SpanName.CREATE,
    raises=f"{_DECISION_ERRORS} InvalidRequestError: if a claim quotes no message.",
)  # fmt: skip
REJECT_REVIEWS: Operation[DecideReviewsRequest, list[Review]] = Operation(
    "space.reviews.reject_many", DecideReviewsRequest, list[Review], "POST /spaces/{space}/reject_reviews", STEER,
    Retry.ONCE,
    "Reject several claims: all or none.",
    also_reads=True,
    raises=_DECISION_ERRORS,
)  # fmt: skip

OPERATIONS = served_by(
    "bethink.memory.facts.reviews",
    LIST_REVIEWS, COUNT_REVIEWS, GET_REVIEW, PROPOSE_REVIEW, APPROVE_REVIEW, REJECT_REVIEW, APPROVE_REVIEWS,
    REJECT_REVIEWS,
)  # fmt: skip
