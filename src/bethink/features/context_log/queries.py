"""Pages of the ledger: what was shown to whom, each memory with the text that it had."""

from datetime import datetime
from typing import cast

from bethink.features.context_log.records import ShownBlock, ShownMemory, ShownPage
from bethink.model.pages import cursor_of, read_cursor
from bethink.model.recall import Ref
from bethink.store import ledger, search
from bethink.store.db import Tx, until

_EXCERPT = 300


def page(
    tx: Tx,
    *,
    space: str,
    session_id: str | None,
    showing_id: str | None,
    as_of: datetime | None,
    after: str,
    limit: int,
) -> ShownPage:
    """Return a page of what was shown, the newest first. It costs the same however much was shown before."""
    key = cast("tuple[int, str] | None", read_cursor(after, int, str)) or (None, None)
    rows = tx.all(
        "page_showings",
        space=space, at=until(as_of), session=session_id, showing=showing_id, before=key[0], id=key[1], limit=limit + 1,
    )  # fmt: skip
    listed = rows[:limit]
    shown = ledger.with_refs(tx, listed, space=space)
    refs = dict.fromkeys(ref for each in shown for ref in each.refs)
    texts = search.texts(tx, space=space, refs=refs, as_of=None)
    told = {ref: _told(ref, texts.get(ref)) for ref in refs}
    items = tuple(
        ShownBlock(
            showing=each,
            conversation=row["conversation"] or "",
            agent=row["agent"] or "",
            memories=tuple(told[ref] for ref in each.refs),
        )
        for row, each in zip(listed, shown, strict=True)
    )
    last = listed[-1] if len(rows) > limit else None
    return ShownPage(items=items, next=None if last is None else cursor_of(last["shown_at"], last["id"]))


def _told(ref: Ref, found: search.Text | None) -> ShownMemory:
    if found is None:
        return ShownMemory(ref=ref)
    return ShownMemory(ref=ref, text=found.text[:_EXCERPT], origin=found.origin)
