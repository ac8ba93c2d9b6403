"""Proposals to learn a space again, which can be applied and undone."""

from dataclasses import field
from datetime import datetime
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.decisions import SettledClaim
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
class RelearningCounts:
    """Numbers of facts that an applied relearning changed.

    `restated` facts got other messages or links to facts, `replaced` and `removed` ones have an end in history, and
    `skipped` claims were not stored, because the facts say otherwise since the proposal.
    """

    added: int = 0
    replaced: int = 0
    removed: int = 0
    restated: int = 0
    skipped: int = 0


@frozen
class Relearning:
    """Changes from learning everything again. `same` counts the facts that would not change.

    Facts that a person stated or corrected never change: `settled` lists the claims about their words, with the
    decision. `usage` is the cost, and `applied` what changed in the end. An applied or undone relearning has only
    counts, without texts.
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
    settled: tuple[SettledClaim, ...] = ()
    pending: int = 0
    rejected: int = 0
    applied_at: datetime | None = field(default=None, compare=False)
    applied: RelearningCounts | None = None
