"""Preview of what would be learned from messages. Nothing is stored."""

from dataclasses import field

from bethink.base.frozen import frozen
from bethink.model.jobs import Usage
from bethink.model.reviews import ClaimedFact


@frozen
class PreviewedClaim:
    """A claim and its outcome.

    The quotes refer to messages by their position in the list that was passed, from 1, without a session.
    `settlement` is the effect of an accepted claim: added, merged, known, succeeded or outranked, as in the report of
    `learn`. `reason` and `detail` say why a claim is not accepted, as in a review.
    """

    claim: ClaimedFact
    settlement: str | None = None
    reason: str | None = None
    detail: str = ""


@frozen
class Preview:
    """Claims that would be accepted, need review or be rejected, and the cost of the preview.

    `notes` would only appear in the session summary. `malformed` counts claims of the wrong form, and `suspicious` has
    the positions of messages that try to write to memory.
    """

    accepted: tuple[PreviewedClaim, ...] = ()
    pending: tuple[PreviewedClaim, ...] = ()
    rejected: tuple[PreviewedClaim, ...] = ()
    notes: tuple[str, ...] = ()
    malformed: int = 0
    suspicious: tuple[int, ...] = ()
    model: str = ""
    usage: Usage = field(default_factory=Usage)
