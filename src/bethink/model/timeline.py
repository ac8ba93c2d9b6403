"""The timeline of a space: what happened to its memory, in order."""

from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum


class TimelineKind(OpenEnum):
    """What happened."""

    MESSAGE = "message"
    """Something was said."""
    FACT = "fact"
    """A fact was learnt or stated."""
    CORRECTION = "correction"
    """A fact was corrected, or got an end: it has a new version."""
    RETIRED = "retired"
    """Another fact took the place of one, or none did."""
    DOCUMENT = "document"
    """A version of a document was written."""
    SHOWING = "showing"
    """Memories were shown."""
    ERASURE = "erasure"
    """Something was forgotten. Known for as long as changes are kept."""


@frozen
class TimelineEntry:
    """One thing that happened. `text` is the beginning of what was said or written; `count`, how many were shown.

    `ref` is what `explain` takes; of a showing, it is its id. `who` is the origin of a message or fact, the fact that
    took the place of a retired one, the author of a document, or the purpose of a showing.
    """

    at: datetime
    kind: TimelineKind
    ref: str
    text: str = ""
    who: str = ""
    session_id: str | None = None
    count: int | None = None


@frozen
class TimelinePage:
    """A page of the timeline, the newest first."""

    items: tuple[TimelineEntry, ...] = ()
    next: str | None = None
    """Pass it as `after` for the next page; None on the last one."""
