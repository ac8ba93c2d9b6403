"""The timeline: messages, facts, documents, context log and erasures, each read by its own index and merged by time."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from bethink.model.facts import SourceMessage
from bethink.model.moments import from_micros
from bethink.model.pages import cursor_of, read_cursor
from bethink.model.paging import Page
from bethink.model.refs import Ref, RefKind
from bethink.model.timeline import TimelineEntry, TimelineKind
from bethink.model.views import TimeView
from bethink.store import marks
from bethink.store.db import Row, Tx


class _Source(NamedTuple):
    query: str
    kinds: tuple[TimelineKind, ...]
    ref: RefKind | None = None


_SOURCES = (
    _Source("timeline_messages", (TimelineKind.MESSAGE,), RefKind.MESSAGE),
    _Source("timeline_facts", (TimelineKind.FACT, TimelineKind.CORRECTION), RefKind.FACT),
    _Source("timeline_ended", (TimelineKind.RETIRED,), RefKind.FACT),
    _Source("timeline_retired", (TimelineKind.RETIRED,), RefKind.FACT),
    _Source("timeline_documents", (TimelineKind.DOCUMENT,), RefKind.DOCUMENT),
    _Source("timeline_showings", (TimelineKind.SHOWING,)),
    _Source("timeline_erasures", (TimelineKind.ERASURE,)),
)
"""At the same time, entries of the last source are the newest."""

_Key = tuple[int, int, str, int]


def page(
    tx: Tx, *, space: str, kinds: Collection[TimelineKind], view: TimeView, after: str, limit: int
) -> Page[TimelineEntry]:
    """Return a page of the timeline, the newest entry first."""
    key = cast("_Key | None", read_cursor(after, int, int, str, int))
    candidates: list[tuple[_Key, Row]] = []
    bound = view.written_until
    for rank, source in enumerate(_SOURCES):
        if any(kind in kinds for kind in source.kinds):
            parameters = {"space": space, "limit": limit + 1, "as_of": bound, **_start_after(key, rank, bound)}
            rows = tx.all(source.query, None, **parameters)
            candidates += [((row["at"], rank, row["id"], row["number"]), row) for row in rows]
    candidates.sort(key=lambda candidate: candidate[0], reverse=True)
    # Entries of other kinds still count toward the page: it ends where each source was read to.
    page_rows = candidates[:limit]
    entries = _visible(tx, [_entry(_SOURCES[key[1]], row) for key, row in page_rows], space=space, view=view)
    items = tuple(entry for entry in entries if entry.kind in kinds)
    return Page(items=items, next=cursor_of(*page_rows[-1][0]) if len(candidates) > limit else "")


def _visible(
    tx: Tx, entries: Sequence[TimelineEntry], *, space: str, view: TimeView
) -> list[TimelineEntry]:  # fmt: skip
    """Return entries without the words of messages that a person asked to forget."""
    refs = {
        entry.ref: SourceMessage(entry.ref.id, entry.ref.number)
        for entry in entries
        if isinstance(entry.ref, Ref) and entry.ref.kind is RefKind.MESSAGE
    }
    marked = marks.of_messages(tx, space, refs.values(), view)
    hidden = {ref: marked[message] for ref, message in refs.items() if message in marked}
    return [
        replace(entry, text=marks.visible_text(entry.text, hidden[entry.ref]))
        if isinstance(entry.ref, Ref) and entry.ref in hidden
        else entry
        for entry in entries
    ]


def _start_after(key: _Key | None, rank: int, bound: int) -> dict[str, object]:
    """Return where a source continues after the last row of a page, which may be of another source."""
    if key is None:
        return {"until": bound}
    at, last, name, number = key
    if rank == last:
        return {"until": min(at, bound), "key": at, "id": name, "number": number}
    return {"until": min(at if rank < last else at - 1, bound)}


def _entry(source: _Source, row: Row) -> TimelineEntry:
    corrected = source.query == "timeline_facts" and row["number"] > 1
    ref = row["id"] if source.ref is None else Ref(source.ref, row["id"], row["number"])
    return TimelineEntry(
        at=from_micros(row["at"]),
        kind=source.kinds[-1 if corrected else 0],
        ref=ref,
        text=row["text"],
        who=row["who"] or "",
        session_id=row["session_id"] or None,
        count=row.get("count"),
    )
