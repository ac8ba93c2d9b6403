"""Proposals to learn a space again, which can be applied and undone."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.facts import Fact
from bethink.model.jobs import Usage
from bethink.model.reviews import ClaimedFact


class RelearningStatus(StrEnum):
    """Status of a proposal."""

    PROPOSED = "proposed"
    APPLIED = "applied"
    UNDONE = "undone"


@frozen
class ChangedFact:
    """An existing fact, and the claim that would replace it, from the same words or for the same slot."""

    before: Fact
    after: ClaimedFact


@frozen
class Relearning:
    """Changes from learning everything again. `same` counts the facts that would not change.

    Facts that a person stated or corrected never change. `usage` is the cost. An applied or undone relearning has
    only counts, without texts.
    """

    id: str
    status: RelearningStatus
    created_at: datetime
    model: str
    sessions: int
    same: int
    usage: Usage
    new: tuple[ClaimedFact, ...] = ()
    removed: tuple[Fact, ...] = ()
    changed: tuple[ChangedFact, ...] = ()
    pending: int = 0
    rejected: int = 0
    applied_at: datetime | None = field(default=None, compare=False)
