"""How long things are kept: rules by which they are erased, and legal holds that forbid it. None holds a text."""

from datetime import datetime, timedelta

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum
from bethink.model.plural import plural
from bethink.model.records import Forgotten


class RetentionKind(OpenEnum):
    """What a rule is about. What was made of it goes with it."""

    MESSAGE = "message"
    SESSION_MEMORY = "session_memory"
    FACT = "fact"
    DOCUMENT = "document"
    THREAD = "thread"


WITHOUT_ORIGIN = (RetentionKind.SESSION_MEMORY, RetentionKind.THREAD)
"""Kinds whose origin is always the same, so that no rule can tell them apart by it."""


@frozen
class RetentionRule:
    """One rule: what is older than so many days is erased."""

    kind: RetentionKind
    older_than: int
    """Days, counted from when it was said, or last written or used."""
    origin: str | None = None
    """Only what came from there; None for any origin."""
    set_by: str = ""
    set_at: datetime | None = None
    """None for a rule that comes from the settings."""

    def before(self, now: datetime) -> datetime:
        """Return the time before which it erases."""
        return now - timedelta(days=self.older_than)

    def __str__(self) -> str:
        origin = "" if self.origin is None else f" from {self.origin}"
        return f"{self.kind.replace('_', ' ')}{origin} older than {plural(self.older_than, 'day')}"


@frozen
class Swept:
    """What a sweep erased in one space."""

    erasures: tuple[str, ...] = ()
    """The ids of the recorded erasures, each with a receipt: see `space.erasures()`."""
    went: Forgotten = Forgotten()
    more: bool = False
    """Whether more is due: a sweep erases so much at a time."""
    dry_run: bool = False
