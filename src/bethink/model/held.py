"""Items that need review, in any space."""

from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum


class PendingKind(OpenEnum):
    """Kind of a pending item."""

    CLAIM = "claim"
    """A claim under review: decide with `reviews.approve` or `reviews.reject`."""
    CHANGES = "changes"
    """A change set of documents: decide with `documents.changes.approve` or `documents.changes.reject`."""


@frozen
class PendingItem:
    """A claim or change set that needs review. `text` is the claim; `paths` are the documents that would change."""

    space: str
    kind: PendingKind
    id: str
    created_at: datetime
    text: str = ""
    reason: str = ""
    paths: tuple[str, ...] = ()
