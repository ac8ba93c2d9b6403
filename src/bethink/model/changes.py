"""Records of the change feed, and of what was learned from one session."""

from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum


class ChangeKind(OpenEnum):
    """Kind of a change."""

    SESSION_LEARNED = "session.learned"
    SESSION_FORGOTTEN = "session.forgotten"
    MESSAGE_RETRACTED = "message.retracted"
    FACT_ADDED = "fact.added"
    FACT_CORRECTED = "fact.corrected"
    FACT_REPLACED = "fact.replaced"
    FACT_ENDED = "fact.ended"
    FACT_RESTORED = "fact.restored"
    FACT_PINNED = "fact.pinned"
    FACT_UNPINNED = "fact.unpinned"
    FACT_FORGOTTEN = "fact.forgotten"
    REVIEW_PENDING = "review.pending"
    REVIEW_REFUSED = "review.refused"
    DOCUMENT_CHANGED = "document.changed"
    DOCUMENT_DELETED = "document.deleted"
    DOCUMENT_FORGOTTEN = "document.forgotten"
    SPACE_FORGOTTEN = "space.forgotten"
    SPACE_IMPORTED = "space.imported"
    SPACE_RESTORED = "space.restored"


@frozen
class Change:
    """A change in a space. It contains no text: use the ref to read the item.

    Numbers increase within a space, and a change never appears after one with a higher number.
    """

    space: str
    number: int
    at: datetime
    kind: ChangeKind
    ref: str
    """Ref of the changed item, `kind:id:number`, as for `explain`. Empty for the entire space."""
    session_id: str | None = None
    """Session that the item was learned from, if any."""


@frozen
class LearnedSession:
    """Facts and claims learned from a session so far."""

    session_id: str
    done: bool
    """True if learning has processed all messages stored before the request."""
    until: int
    """Number of the last processed message."""
    new: tuple[str, ...] = ()
    """Refs of the added facts that were not deleted since."""
    pending: tuple[str, ...] = ()
    """Refs of the claims that need review."""
    rejected: tuple[str, ...] = ()
    """Refs of the rejected claims."""
    error: str | None = None
    """Error of the last attempt, if it failed."""
