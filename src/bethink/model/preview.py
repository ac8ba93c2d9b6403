"""What would be learnt from messages, looked at before anything is stored."""

from dataclasses import field

from bethink.base.frozen import frozen
from bethink.model.jobs import Usage
from bethink.model.reviews import ClaimedFact


@frozen
class PreviewedClaim:
    """A claim, and what would become of it.

    The quotes name messages by their place in what was passed, from 1 on; they have no session. `settlement` says what
    a claim that stands would do: added, merged, known, succeeded or outranked, as in the report of `learn`. `reason`
    and `detail` say why one does not stand, as in the inbox.
    """

    claim: ClaimedFact
    settlement: str | None = None
    reason: str | None = None
    detail: str = ""


@frozen
class Preview:
    """What would be learnt: the claims that would stand, wait for a person, or be refused, and what it cost to look.

    `notes` would only go into the memory of the session. `malformed` counts claims without the right shape,
    `suspicious` has the places of messages that try to write memory.
    """

    stands: tuple[PreviewedClaim, ...] = ()
    held: tuple[PreviewedClaim, ...] = ()
    refused: tuple[PreviewedClaim, ...] = ()
    notes: tuple[str, ...] = ()
    malformed: int = 0
    suspicious: tuple[int, ...] = ()
    model: str = ""
    usage: Usage = field(default_factory=Usage)
