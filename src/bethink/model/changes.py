"""What changed in a memory: the record that readers follow, and what was learnt from one session."""

from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum


class ChangeKind(OpenEnum):
    """What happened."""

    SESSION_LEARNT = "session.learnt"
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
    REVIEW_HELD = "review.held"
    REVIEW_REFUSED = "review.refused"
    DOCUMENT_CHANGED = "document.changed"
    DOCUMENT_DELETED = "document.deleted"
    DOCUMENT_FORGOTTEN = "document.forgotten"
    SPACE_FORGOTTEN = "space.forgotten"
    SPACE_IMPORTED = "space.imported"
    SPACE_RESTORED = "space.restored"


@frozen
class MemoryChange:
    """One change of a space. It says what changed, never what it says: follow the ref to read that.

    Numbers grow within a space, and a change never appears after one with a higher number.
    """

    space: str
    number: int
    at: datetime
    kind: ChangeKind
    ref: str
    """What changed: `kind:id:number`, as `explain` takes it. Empty if it was the whole space."""
    session_id: str | None = None
    """The session that it was learnt from, if it was."""


@frozen
class SessionLearnt:
    """What was learnt from a session so far."""

    session_id: str
    done: bool
    """Whether all that was said when it was asked has been learnt from."""
    until: int
    """The number of the last message that was learnt from."""
    new: tuple[str, ...] = ()
    """Refs of the facts that were added and are not forgotten."""
    held: tuple[str, ...] = ()
    """Refs of what is held for review."""
    refused: tuple[str, ...] = ()
    """Refs of what was refused."""
    error: str | None = None
    """Why learning failed, if the last attempt did."""
