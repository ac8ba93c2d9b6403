"""Records of retention: rules that delete old items, and reports. None contains message text."""

from datetime import datetime, timedelta

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum
from bethink.model.plural import plural
from bethink.model.records import Deletion


class RetentionKind(OpenEnum):
    """Kinds of items a rule deletes. Derived data is deleted too."""

    MESSAGE = "message"
    SESSION_SUMMARY = "session_summary"
    FACT = "fact"
    DOCUMENT = "document"
    THREAD = "thread"


WITHOUT_ORIGIN = (RetentionKind.SESSION_SUMMARY, RetentionKind.THREAD)
"""Kinds with a single origin, so rules cannot filter them by origin."""


@frozen
class RetentionRule:
    """A rule that deletes items older than N days."""

    kind: RetentionKind
    older_than: int
    """Days since the item was said, or last written or used."""
    origin: str | None = None
    """Only items of this origin; None for any origin."""
    set_by: str = ""
    set_at: datetime | None = None
    """None for a rule from the settings."""

    def before(self, now: datetime) -> datetime:
        """Return the time before which items are deleted."""
        return now - timedelta(days=self.older_than)

    def __str__(self) -> str:
        origin = "" if self.origin is None else f" from {self.origin}"
        return f"{self.kind.replace('_', ' ')}{origin} older than {plural(self.older_than, 'day')}"


@frozen
class RetentionReport:
    """Result of one retention run in a space."""

    erasures: tuple[str, ...] = ()
    """Ids of the recorded erasures, each with a receipt."""
    deletion: Deletion = Deletion()
    more: bool = False
    """True if more items are due: one run deletes a limited number."""
    dry_run: bool = False
