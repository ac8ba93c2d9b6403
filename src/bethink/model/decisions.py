"""Decisions of people about quoted words, which no learning changes."""

from datetime import datetime
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.reviews import ClaimedFact


class DecisionKind(StrEnum):
    """Decision of a person about quoted words."""

    CORRECTED = "corrected"
    """They mean what the person wrote."""
    APPROVED = "approved"
    """They mean what the fact says."""
    REJECTED = "rejected"
    """The claim about them is not true."""
    REPORTED_WRONG = "reported_wrong"
    """The fact about them needs review."""
    ENDED = "ended"
    """The fact about them is no longer true."""
    FORGOTTEN = "forgotten"
    """A person asked to forget them."""
    DELETED = "deleted"
    """The fact about them was deleted."""


@frozen
class Decision:
    """A person's decision about quoted words: who decided what and when, and the text that is valid since.

    `fact_id` is the fact that the words belong to, and `text` what it says. Both are None if the claim was rejected or
    its fact deleted.
    """

    kind: DecisionKind
    actor: str
    decided_at: datetime
    fact_id: str | None = None
    text: str | None = None


@frozen
class SettledClaim:
    """A claim about words that a person has decided. Relearning lists it and does not apply it."""

    claim: ClaimedFact
    decision: Decision
