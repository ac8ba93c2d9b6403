"""What waits for a person to decide, in any space."""

from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.enums import OpenEnum


class HeldKind(OpenEnum):
    """What waits."""

    CLAIM = "claim"
    """A claim under review: decide with `reviews.approve` or `reviews.reject`."""
    CHANGES = "changes"
    """A change set of documents: decide with `documents.approve` or `documents.reject`."""


@frozen
class HeldItem:
    """Something that waits for a person. `text` is what is claimed; `paths` are the documents that would change."""

    space: str
    kind: HeldKind
    id: str
    at: datetime
    text: str = ""
    reason: str = ""
    paths: tuple[str, ...] = ()


@frozen
class HeldPage:
    """A page of what waits, the newest first. `total` counts all of it, up to 1,000."""

    items: tuple[HeldItem, ...] = ()
    total: int = 0
    next: str | None = None
    """Pass it as `after` for the next page; None on the last one."""
