"""Claims that were not accepted automatically: pending or rejected, each with its reason."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.facts import Fact, Quote

MAX_STATEMENT_LENGTH = 1_000
"""Maximum number of characters of a statement under review."""
REPORTED_WRONG = "reported_wrong"
"""Review reason of an accepted fact that a person reported as wrong."""
FORGET_REQUEST = "forget_request"
"""Review reason of a spoken request to forget. Approval deletes what it names for good, rejection shows it again."""


class ReviewStatus(StrEnum):
    """Status of a claim that was not accepted automatically."""

    PENDING = "pending"
    """It needs a person's decision."""
    REFUSED = "refused"
    """It was rejected automatically. A person may still approve it."""
    APPROVED = "approved"
    REJECTED = "rejected"


class ClaimChange(StrEnum):
    """Effect of a claim on existing facts."""

    NEW = "new"
    SAME = "same"
    """It repeats an existing fact."""
    REPLACES = "replaces"
    """It replaces existing facts: these were true until then."""
    CORRECTS = "corrects"
    """It corrects existing facts: these were never true."""
    ENDS = "ends"
    """It ends existing facts without replacing them."""
    FORGET = "forget"
    """A person asks to forget existing facts. It is stored as a request, never as a fact."""


@frozen
class ClaimedFact:
    """A claimed fact, with its quotes and its effect on the facts listed by id.

    `later_ids` are facts that were said later and already replace, correct or end this one, and `rests_on` are the
    facts that it depends on.
    """

    fact: Fact
    quotes: tuple[Quote, ...]
    change: ClaimChange = ClaimChange.NEW
    existing_ids: tuple[str, ...] = ()
    later_ids: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()


@frozen
class Review:
    """A claim that needs a person's approval, with the reason and the decision.

    `reason` is one word of a fixed list, `detail` says what exactly is wrong, and `fact_id` is the fact that was
    created from an approved claim or that was reported as wrong.
    """

    id: str
    status: ReviewStatus
    reason: str
    detail: str
    claim: ClaimedFact
    session_id: str
    created_at: datetime
    decided_at: datetime | None = field(default=None, compare=False)
    decided_by: str | None = field(default=None, compare=False)
    note: str | None = field(default=None, compare=False)
    fact_id: str | None = field(default=None, compare=False)
