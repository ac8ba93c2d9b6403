"""What waits for a person in any space."""

from collections.abc import Iterable
from dataclasses import replace

from bethink.model.held import HeldItem, HeldKind, HeldPage
from bethink.model.moments import from_micros
from bethink.model.pages import cursor_of, read_cursor
from bethink.store import consolidation, reviews
from bethink.store.db import Tx

_COUNTED = 1_000


def page(tx: Tx, *, kind: HeldKind | None, after: str, limit: int) -> HeldPage:
    """Return a page of what waits in all spaces, the newest first and without texts."""
    at, space, last, name = read_cursor(after, int, str, str, str) or (None, None, None, None)
    rows = tx.all("page_held", kind=kind, key=at, space=space, last=last, id=name, limit=limit + 1)
    items = tuple(
        HeldItem(space=row["space_id"], kind=HeldKind(row["kind"]), id=row["id"], at=from_micros(row["at"]))
        for row in rows[:limit]
    )
    following = None
    if len(rows) > limit:
        end = rows[limit - 1]
        following = cursor_of(end["at"], end["space_id"], end["kind"], end["id"])
    return HeldPage(items=items, total=count(tx, kind=kind), next=following)


def count(tx: Tx, *, kind: HeldKind | None = None) -> int:
    """Count what waits in all spaces, up to 1,000."""
    row = tx.one("count_held", kind=kind, limit=_COUNTED)
    return 0 if row is None else row["count"]


def described(tx: Tx, items: Iterable[HeldItem], *, space: str) -> list[HeldItem]:
    """Return items of one space with what they say, without those that were decided meanwhile."""
    found = (_described(tx, item, space) for item in items)
    return [item for item in found if item is not None]


def _described(tx: Tx, item: HeldItem, space: str) -> HeldItem | None:
    if item.kind is HeldKind.CLAIM:
        review = reviews.find(tx, space=space, review_id=item.id)
        return review and replace(item, text=review.claim.fact.content, reason=review.reason)
    changes = consolidation.find_change_set(tx, space=space, run=item.id)
    return changes and replace(item, paths=tuple(each.path for each in changes.changes))
