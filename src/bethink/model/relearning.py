"""What learning a space again would change: a proposal that can be applied, and undone."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.facts import Fact
from bethink.model.jobs import Usage
from bethink.model.reviews import ClaimedFact


class RelearningStatus(StrEnum):
    """What became of a proposal."""

    PROPOSED = "proposed"
    APPLIED = "applied"
    UNDONE = "undone"


@frozen
class ChangedFact:
    """A known fact, and what would be learnt in its place from the same words or for the same slot."""

    before: Fact
    after: ClaimedFact


@frozen
class Relearning:
    """What would change if everything were learnt again: `same` counts the facts that would stay as they are.

    Facts that a person stated or corrected are never touched. `usage` is what it cost. An applied or undone relearning
    has no texts left, only its counts.
    """

    id: str
    status: RelearningStatus
    created_at: datetime
    model: str
    sessions: int
    same: int
    usage: Usage
    new: tuple[ClaimedFact, ...] = ()
    gone: tuple[Fact, ...] = ()
    changed: tuple[ChangedFact, ...] = ()
    held: int = 0
    refused: int = 0
    applied_at: datetime | None = field(default=None, compare=False)
