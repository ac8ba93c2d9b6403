"""Pages of the context log, each memory with its text at that time."""

from dataclasses import fields
from typing import cast

from bethink.features.context_log.records import ContextLogEntry, ShownMemory
from bethink.model.pages import cursor_of, read_cursor
from bethink.model.paging import Page
from bethink.model.refs import Ref
from bethink.model.views import NOW, TimeView
from bethink.store import ledger, search
from bethink.store.db import Tx

_EXCERPT = 300


def page(
    tx: Tx,
    *,
    space: str,
    session_id: str | None,
    entry_id: str | None,
    view: TimeView,
    after: str,
    limit: int,
) -> Page[ContextLogEntry]:
    """Return a page of the context log, newest first. The cost does not depend on the length of the log."""
    key = cast("tuple[int, str] | None", read_cursor(after, int, str)) or (None, None)
    rows = tx.all(
        "page_showings",
        space=space, at=view.written_until, session=session_id, showing=entry_id, before=key[0], id=key[1],
        limit=limit + 1,
    )  # fmt: skip
    page_rows = rows[:limit]
    entries = ledger.with_refs(tx, page_rows, space=space)
    refs = dict.fromkeys(ref for entry in entries for ref in entry.refs)
    texts = search.texts(tx, space=space, refs=refs, view=NOW)
    memories = {ref: _shown_memory(ref, texts.get(ref)) for ref in refs}
    items = tuple(
        ContextLogEntry(
            **{field.name: getattr(entry, field.name) for field in fields(entry)},
            conversation=row["conversation"] or "",
            agent=row["agent"] or "",
            memories=tuple(memories[ref] for ref in entry.refs),
        )
        for row, entry in zip(page_rows, entries, strict=True)
    )
    last = page_rows[-1] if len(rows) > limit else None
    return Page(items=items, next="" if last is None else cursor_of(last["shown_at"], last["id"]))


def _shown_memory(ref: Ref, content: search.Text | None) -> ShownMemory:
    if content is None:
        return ShownMemory(ref=ref)
    return ShownMemory(ref=ref, text=content.text[:_EXCERPT], origin=content.origin)
