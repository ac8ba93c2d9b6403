"""A transcript: messages of a session, each with what became of it."""

from bethink.base.frozen import frozen
from bethink.model.recall import Ref
from bethink.model.records import Record, SessionInfo
from bethink.model.reviews import ReviewStatus


@frozen
class LineFact:
    """A fact that rests on a message, in its newest version."""

    ref: Ref
    text: str
    retired: bool = False


@frozen
class LineClaim:
    """A claim that quotes a message and was not believed at once."""

    review_id: str
    status: ReviewStatus
    reason: str


@frozen
class TranscriptRow:
    """A message, and what became of it. `documents` are those that name the message itself as a source."""

    record: Record
    facts: tuple[LineFact, ...] = ()
    documents: tuple[Ref, ...] = ()
    claims: tuple[LineClaim, ...] = ()
    shown: int = 0
    """How often it was shown."""


@frozen
class Transcript:
    """A part of a session. `earlier` and `later` are true if there is more of it before and after."""

    session: SessionInfo
    lines: tuple[TranscriptRow, ...] = ()
    earlier: bool = False
    later: bool = False
