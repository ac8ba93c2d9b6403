"""The steps of a move, and what it reports."""

from collections.abc import Awaitable, Callable
from enum import StrEnum

from bethink.extensions.base import frozen


class MoveStep(StrEnum):
    """What a move has done last. Killed after any of them, it is run again."""

    BEGUN = "begun"
    CLEARED = "cleared"
    EXPORTED = "exported"
    LOADED = "loaded"
    CAUGHT_UP = "caught up"
    FENCED = "fenced"
    QUIET = "quiet"
    EQUAL = "equal"
    DECIDED = "decided"
    OPENED = "opened"
    SWITCHED = "switched"
    QUEUED = "queued"
    ERASED = "erased"
    ENDED = "ended"


OnStep = Callable[[MoveStep], Awaitable[None]]


async def nothing(step: MoveStep) -> None:
    """Be told of a step, and do nothing."""


@frozen
class MoveReport:
    """What a move did. `rows`: how many were copied; `paused`: for how many seconds writers were kept out."""

    space: str
    source: str
    target: str
    rows: int = 0
    rounds: int = 0
    paused: float = 0.0
