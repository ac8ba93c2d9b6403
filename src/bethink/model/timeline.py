"""Timeline of a space: the history of its memory."""

from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum
from bethink.model.facts import FactStatus


class TimelineKind(OpenEnum):
    """Kind of a timeline entry."""

    MESSAGE = "message"
    """A message was stored."""
    FACT = "fact"
    """A fact was learned or stated."""
    CORRECTION = "correction"
    """A fact was corrected or ended, which created a new version."""
    RETIRED = "retired"
    """A fact was replaced by another, or withdrawn."""
    DOCUMENT = "document"
    """A version of a document was written."""
    SHOWING = "showing"
    """Memories were shown."""
    ERASURE = "erasure"
    """Items were deleted. Listed while the change feed retains them."""


@frozen
class TimelineEntry:
    """An entry of the timeline. `text` is the beginning of a message or version; `count` is the number of shown items.

    `ref` works with `explain`; for an entry of the context log, it is its id. `who` is the origin of a message or fact,
    the fact that replaced another, the author of a document, or the purpose of an entry of the context log.
    """

    at: datetime
    kind: TimelineKind
    ref: str
    text: str = ""
    who: str = ""
    session_id: str | None = None
    count: int | None = None
    status: FactStatus | None = None
    """Status of a fact at the time of the request."""
