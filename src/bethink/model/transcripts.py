"""Transcripts: messages of a session with the facts, documents and claims based on them."""

from bethink.base.frozen import frozen
from bethink.model.records import Record, SessionInfo
from bethink.model.refs import Ref
from bethink.model.reviews import ReviewStatus


@frozen
class LineFact:
    """The newest version of a fact that is based on a message."""

    ref: Ref
    text: str
    retired: bool = False


@frozen
class LineClaim:
    """A claim that quotes a message and was not accepted automatically."""

    review_id: str
    status: ReviewStatus
    reason: str


@frozen
class TranscriptRow:
    """A message, and the items derived from it. `documents` are those that cite the message itself."""

    record: Record
    facts: tuple[LineFact, ...] = ()
    documents: tuple[Ref, ...] = ()
    claims: tuple[LineClaim, ...] = ()
    shown_count: int = 0
    """Number of times it was shown."""


@frozen
class Transcript:
    """A part of a session. `earlier` and `later` say whether there are more messages before and after."""

    session: SessionInfo
    lines: tuple[TranscriptRow, ...] = ()
    earlier: bool = False
    later: bool = False
