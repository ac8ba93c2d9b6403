"""The context log: which memories were shown, when, to which session, and which of them were used."""

from collections.abc import Sequence
from datetime import datetime

from bethink.model.ids import new_id
from bethink.model.moments import from_micros
from bethink.model.recall import ContextEntry, Purpose, Use
from bethink.model.refs import Ref, RefKind
from bethink.model.views import NOW
from bethink.store import consolidation, search
from bethink.store.db import NO_LIMIT, Row, Tx, until


def record(
    tx: Tx, *, space: str, purpose: Purpose, session_id: str, items: Sequence[tuple[Ref, str]], tokens: int, digest: str
) -> str:
    """Record the memories of a block and return the id of the entry. The same block again adds no entry."""
    last = tx.first("last_showing", space=space, session=session_id, purpose=purpose)
    if last is not None and last["digest"] == digest:
        return last["id"]
    entry_id = new_id("shw")
    tx.run(
        "insert_showing",
        space=space, id=entry_id, purpose=purpose, session=session_id, now=tx.now, tokens=tokens, digest=digest,
    )  # fmt: skip
    tx.insert(
        "insert_shown",
        [
            (space, entry_id, position, ref.kind, ref.id, ref.number, label)
            for position, (ref, label) in enumerate(items)
        ],
    )
    return entry_id


def list_entries(
    tx: Tx, *, space: str, session_id: str | None = None, as_of: datetime | None = None, limit: int = NO_LIMIT
) -> list[ContextEntry]:
    """Return the context log of a space, or of one session, the newest entry first."""
    rows = tx.all("list_showings", space=space, session=session_id, at=until(as_of), limit=limit)
    return with_refs(tx, rows, space=space)


def with_refs(tx: Tx, rows: Sequence[Row], *, space: str) -> list[ContextEntry]:
    """Return entries of the context log with the memories that each showed."""
    refs_by_entry: dict[str, list[Ref]] = {row["id"]: [] for row in rows}
    for item in tx.all("list_shown", space=space, ids=list(refs_by_entry)):
        refs_by_entry[item["ledger_id"]].append(Ref(RefKind(item["kind"]), item["id"], item["number"]))
    return [_entry(row, tuple(refs_by_entry[row["id"]])) for row in rows]


def entries_with(tx: Tx, *, space: str, ref: Ref, limit: int = 100) -> list[ContextEntry]:
    """Return when and to which session a memory was shown, in any version, the newest first."""
    number = ref.number if ref.kind is RefKind.MESSAGE else None
    rows = tx.all("where_shown", space=space, kind=ref.kind, id=ref.id, number=number, limit=limit)
    return [_entry(row, (Ref(ref.kind, ref.id, row["number"]),)) for row in rows]


def label_refs(tx: Tx, *, space: str, session_id: str, labels: Sequence[str]) -> dict[str, Ref]:
    """Return the memories behind the labels that a session was shown, in the order of the labels."""
    rows = tx.all("labelled", space=space, session=session_id, labels=list(labels))
    by_label = {row["label"]: Ref(RefKind(row["kind"]), row["id"], row["number"]) for row in rows}
    return {label: by_label[label] for label in labels if label in by_label}


def use(tx: Tx, *, space: str, refs: Sequence[Ref]) -> int:
    """Count memories and the session summaries they are based on as used, each once, and return how many exist."""
    existing = search.texts(tx, space=space, refs=dict.fromkeys(refs), view=NOW)
    used_refs = list(existing)
    for ref in used_refs:
        tx.run("count_usage", space=space, kind=ref.kind, id=ref.id, number=ref.number, now=tx.now)
    consolidation.use(tx, space=space, session_ids=_source_sessions(tx, space, used_refs))
    return len(used_refs)


def usage(tx: Tx, *, space: str, refs: Sequence[Ref]) -> dict[Ref, Use]:
    """Return how often some memories were used; those never used are omitted."""
    kinds, ids = sorted({ref.kind.value for ref in refs}), [ref.id for ref in refs]
    rows = tx.all("usage_among", space=space, kinds=kinds, ids=ids, numbers=[ref.number for ref in refs])
    return {Ref(RefKind(row["kind"]), row["id"], row["number"]): _use(row) for row in rows}


def usage_of(tx: Tx, *, space: str, ref: Ref) -> Use | None:
    """Return how often a memory was used, if ever."""
    row = tx.first("find_usage", space=space, kind=ref.kind, id=ref.id, number=ref.number)
    return None if row is None else _use(row)


def _source_sessions(tx: Tx, space: str, refs: Sequence[Ref]) -> list[str]:
    sessions = [ref.id for ref in refs if ref.kind in (RefKind.MESSAGE, RefKind.SESSION_SUMMARY)]
    facts = [ref.id for ref in refs if ref.kind is RefKind.FACT]
    documents = [ref for ref in refs if ref.kind is RefKind.DOCUMENT]
    if facts:
        sessions += [row["session_id"] for row in tx.all("sessions_behind_facts", space=space, ids=facts)]
    if documents:
        ids, numbers = [ref.id for ref in documents], [ref.number for ref in documents]
        rows = tx.all("sessions_behind_documents", space=space, ids=ids, numbers=numbers)
        sessions += [row["session_id"] for row in rows]
    return list(dict.fromkeys(sessions))


def _use(row: Row) -> Use:
    return Use(row["usage_count"], from_micros(row["last_usage"]))


def _entry(row: Row, refs: tuple[Ref, ...]) -> ContextEntry:
    return ContextEntry(
        id=row["id"],
        purpose=Purpose(row["purpose"]),
        session_id=row["session_id"] or None,
        shown_at=from_micros(row["shown_at"]),
        tokens=row["tokens"],
        digest=row["digest"],
        refs=refs,
    )
