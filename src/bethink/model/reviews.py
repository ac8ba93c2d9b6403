"""Claims that were not believed at once: held for a person to decide, or refused, each with its reason."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.facts import Fact, Quote

LONGEST_STATEMENT = 1_000
"""How many characters one sentence may have that a person decides about."""
REPORTED_WRONG = "reported_wrong"
"""The reason why a fact that was believed is under review again: somebody said that it is wrong."""


class ReviewStatus(StrEnum):
    """What became of a claim that was not believed at once."""

    HELD = "held"
    """It waits for a person."""
    REFUSED = "refused"
    """It was not believed; a person may still approve it."""
    APPROVED = "approved"
    REJECTED = "rejected"


class ClaimChange(StrEnum):
    """What a claim means for what is already known."""

    NEW = "new"
    SAME = "same"
    """It says a known fact again."""
    REPLACES = "replaces"
    """It stands in the place of known facts."""
    ENDS = "ends"
    """Known facts end, with nothing in their place."""


@frozen
class ClaimedFact:
    """A fact as it was claimed: with the words it rests on, and what it means for the facts it names by id."""

    fact: Fact
    quotes: tuple[Quote, ...]
    change: ClaimChange = ClaimChange.NEW
    known: tuple[str, ...] = ()


@frozen
class Review:
    """A claim with the reason why it was not believed at once, and what was decided about it.

    `reason` is one word of a fixed list, `detail` says what exactly was wrong, and `fact_id` names the fact that an
    approved claim became, or that was reported as wrong.
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
