"""The verbs of the review inbox: list the claims that were not believed at once, and decide about them."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.errors import Invalid
from bethink.model.access import Scope
from bethink.model.checks import Cleaned, Length, any_of, tuple_from
from bethink.model.kinds import FactKind
from bethink.model.operations.base import Empty, Limit, MemoryOperation, Name, Request, Retry, Verb, served_by
from bethink.model.recall import Ref, RefKind
from bethink.model.reviews import LONGEST_STATEMENT, Review, ReviewStatus

READ, WRITE, STEER = Scope.READ, Scope.WRITE, Scope.STEER

Statement = Annotated[str, Length(1, LONGEST_STATEMENT), Cleaned()]
Note = Annotated[str, Length(0, 1_000), Cleaned()]


@frozen
class ListReviewsRequest(Request):
    """A page of the inbox."""

    status: ReviewStatus = ReviewStatus.HELD
    """Only claims with this status: held, refused, approved or rejected."""
    limit: Limit = 100
    """How many claims to return at most."""
    after: str = ""
    """Only claims that follow this one: the last id of the previous page."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", any_of("status", (self.status,), ReviewStatus)[0])
        Request.__post_init__(self)


@frozen
class ProposeRequest(Request):
    """A claim for a person to decide about."""

    ref: Ref
    """The message that says so, named as in results."""
    statement: Statement | None = None
    """What the fact shall say, in one sentence. The text of the message, if left out."""
    kind: FactKind = FactKind.KNOWLEDGE
    """What kind of fact it is to be."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", any_of("kind", (self.kind,), FactKind)[0])
        Request.__post_init__(self)
        if self.ref.kind is not RefKind.MESSAGE:
            hint = "Name the message that says so: message:SESSION:NUMBER."
            raise Invalid(f"a {self.ref.kind.replace('_', ' ')} cannot be proposed.", hint=hint)


@frozen
class ReviewRequest(Request):
    """One claim under review."""

    review_id: Name
    """The claim, by the id that the inbox lists."""


@frozen
class ApproveReviewRequest(ReviewRequest):
    """A claim to believe."""

    statement: Statement | None = None
    """What the fact shall say instead, in one sentence."""
    note: Note | None = None
    """Why: kept with the decision."""


@frozen
class RejectReviewRequest(ReviewRequest):
    """A claim not to believe."""

    note: Note | None = None
    """Why: kept with the decision."""


@frozen
class DecideReviewsRequest(Request):
    """Some claims to decide about, all or none."""

    review_ids: Annotated[tuple[Name, ...], Length(1, 1_000)]
    """The claims, by the ids that the inbox lists."""
    note: Note | None = None
    """Why: kept with each decision."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "review_ids", tuple_from("review_ids", self.review_ids))
        Request.__post_init__(self)


_REVIEWS = "/spaces/{space}/reviews"
_REVIEW = f"{_REVIEWS}/{{review_id}}"
_MISSING = "NotFound: if the space has no such claim."
_DECIDED = f"{_MISSING} Conflict: if it was decided before."

LIST_REVIEWS: Verb[ListReviewsRequest, list[Review]] = Verb(
    "reviews.all", ListReviewsRequest, list[Review], f"GET {_REVIEWS}", READ, Retry.SAFE,
    "List claims that were not believed at once, the newest first, each with its quotes and the reason.",
    raises="NotFound: if the claim `after` does not exist.",
)  # fmt: skip
COUNT_REVIEWS: Verb[Empty, dict[str, int]] = Verb(
    "reviews.count", Empty, dict[str, int], "GET /spaces/{space}/review_count", READ, Retry.SAFE,
    "Count the claims in the inbox by status.",
)  # fmt: skip
GET_REVIEW: Verb[ReviewRequest, Review] = Verb(
    "reviews.get", ReviewRequest, Review, f"GET {_REVIEW}", READ, Retry.SAFE,
    "Return a claim with its quotes, the reason why it was not believed, and what was decided.",
    raises=_MISSING,
)  # fmt: skip
PROPOSE_REVIEW: Verb[ProposeRequest, Review] = Verb(
    "reviews.propose", ProposeRequest, Review, f"POST {_REVIEWS}", WRITE, Retry.IDEMPOTENT,
    "Put what a message says into the inbox, as a claim for a person to decide about.",
    also_reads=True, status=201, operation=MemoryOperation.UPSERT,
    raises="NotFound: if the space has no such message. Invalid: if it is longer than a statement may be.",
    details="A message is proposed once: then the claim is returned as it stands, decided or not.",
)  # fmt: skip
APPROVE_REVIEW: Verb[ApproveReviewRequest, Review] = Verb(
    "reviews.approve", ApproveReviewRequest, Review, f"POST {_REVIEW}/approve", STEER, Retry.ONCE,
    "Believe a claim, as it is or in other words: it becomes a fact that is `stated`, with the user's authority.",
    also_reads=True, operation=MemoryOperation.CREATE,
    raises=f"{_DECIDED} Invalid: if it quotes no message.",
    details="It replaces or ends what the claim says it does. A claim that was refused can be approved, too.",
)  # fmt: skip
REJECT_REVIEW: Verb[RejectReviewRequest, Review] = Verb(
    "reviews.reject", RejectReviewRequest, Review, f"POST {_REVIEW}/reject", STEER, Retry.ONCE,
    "Decide that a claim is not believed. It stays listed as rejected.",
    also_reads=True,
    raises=_DECIDED,
)  # fmt: skip
APPROVE_REVIEWS: Verb[DecideReviewsRequest, list[Review]] = Verb(
    "reviews.approve_all", DecideReviewsRequest, list[Review], "POST /spaces/{space}/approve_reviews", STEER,
    Retry.ONCE,
    "Believe some claims as they are, all or none.",
    also_reads=True, operation=MemoryOperation.CREATE,
    raises=f"{_DECIDED} Invalid: if one quotes no message.",
)  # fmt: skip
REJECT_REVIEWS: Verb[DecideReviewsRequest, list[Review]] = Verb(
    "reviews.reject_all", DecideReviewsRequest, list[Review], "POST /spaces/{space}/reject_reviews", STEER, Retry.ONCE,
    "Decide that some claims are not believed, all or none.",
    also_reads=True,
    raises=_DECIDED,
)  # fmt: skip

VERBS = served_by(
    "bethink.memory.facts.reviews",
    LIST_REVIEWS, COUNT_REVIEWS, GET_REVIEW, PROPOSE_REVIEW, APPROVE_REVIEW, REJECT_REVIEW, APPROVE_REVIEWS,
    REJECT_REVIEWS,
)  # fmt: skip
