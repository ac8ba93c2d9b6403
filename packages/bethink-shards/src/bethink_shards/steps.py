"""Steps and report of a move."""

from collections.abc import Awaitable, Callable
from enum import StrEnum

from bethink.extensions.base import frozen


class MoveStep(StrEnum):
    """Last completed step of a move. A move that is killed after any step can be run again."""

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


async def ignore_step(step: MoveStep) -> None:
    """Do nothing."""


@frozen
class MoveReport:
    """Report of a move. `rows` is the number of copied rows, `paused` the seconds for which writers waited."""

    space: str
    source: str
    target: str
    rows: int = 0
    rounds: int = 0
    paused: float = 0.0
