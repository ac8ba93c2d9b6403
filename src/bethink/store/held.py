"""Pending reviews in all spaces."""

from collections.abc import Iterable
from dataclasses import replace

from bethink.model.held import PendingItem, PendingKind
from bethink.model.moments import from_micros
from bethink.model.pages import cursor_of, read_cursor
from bethink.model.paging import Page
from bethink.store import consolidation, reviews
from bethink.store.db import Tx

_MAX_COUNT = 1_000


def page(tx: Tx, *, kind: PendingKind | None, after: str, limit: int) -> Page[PendingItem]:
    """Return a page of pending items in all spaces, the newest first and without texts."""
    at, space, last, name = read_cursor(after, int, str, str, str) or (None, None, None, None)
    rows = tx.all("page_held", kind=kind, key=at, space=space, last=last, id=name, limit=limit + 1)
    items = tuple(
        PendingItem(
            space=row["space_id"], kind=PendingKind(row["kind"]), id=row["id"], created_at=from_micros(row["at"])
        )
        for row in rows[:limit]
    )
    following = ""
    if len(rows) > limit:
        end = rows[limit - 1]
        following = cursor_of(end["at"], end["space_id"], end["kind"], end["id"])
    return Page(items=items, next=following)


def count(tx: Tx, *, kind: PendingKind | None = None) -> int:
    """Count the pending items in all spaces, up to 1,000."""
    row = tx.first("count_held", kind=kind, limit=_MAX_COUNT)
    return 0 if row is None else row["count"]


def with_texts(tx: Tx, items: Iterable[PendingItem], *, space: str) -> list[PendingItem]:
    """Return items of one space with their texts, without those that have been decided."""
    loaded = (_with_text(tx, item, space) for item in items)
    return [item for item in loaded if item is not None]


def _with_text(tx: Tx, item: PendingItem, space: str) -> PendingItem | None:
    if item.kind is PendingKind.CLAIM:
        review = reviews.find(tx, space=space, review_id=item.id)
        return review and replace(item, text=review.claim.fact.text, reason=review.reason)
    changes = consolidation.find_change_set(tx, space=space, run=item.id)
    return changes and replace(item, paths=tuple(change.path for change in changes.changes))
