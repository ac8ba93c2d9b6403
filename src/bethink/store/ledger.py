"""The ledger: what was shown, when, to which session, and what of it was used."""

from collections.abc import Sequence
from datetime import datetime

from bethink.model.ids import new_id
from bethink.model.moments import from_micros
from bethink.model.recall import Purpose, Ref, RefKind, Showing, Use
from bethink.store import consolidation, search
from bethink.store.db import NO_LIMIT, Row, Tx, until


def record(
    tx: Tx, *, space: str, purpose: Purpose, session_id: str, items: Sequence[tuple[Ref, str]], tokens: int, digest: str
) -> str:
    """Record what was shown and return the id of the entry; showing a session the same block again adds no entry."""
    last = tx.one("last_showing", space=space, session=session_id, purpose=purpose)
    if last is not None and last["digest"] == digest:
        return last["id"]
    showing = new_id("shw")
    tx.run(
        "insert_showing",
        space=space, id=showing, purpose=purpose, session=session_id, now=tx.now, tokens=tokens, digest=digest,
    )  # fmt: skip
    tx.insert(
        "insert_shown",
        [(space, showing, place, ref.kind, ref.id, ref.number, label) for place, (ref, label) in enumerate(items)],
    )
    return showing


def showings(
    tx: Tx, *, space: str, session_id: str | None = None, as_of: datetime | None = None, limit: int = NO_LIMIT
) -> list[Showing]:
    """Return what was shown in a space, or to one session, the newest first."""
    rows = tx.all("list_showings", space=space, session=session_id, at=until(as_of), limit=limit)
    return with_refs(tx, rows, space=space)


def with_refs(tx: Tx, rows: Sequence[Row], *, space: str) -> list[Showing]:
    """Return entries of the ledger with the memories that each showed."""
    shown: dict[str, list[Ref]] = {row["id"]: [] for row in rows}
    for item in tx.all("list_shown", space=space, ids=list(shown)):
        shown[item["ledger_id"]].append(Ref(RefKind(item["kind"]), item["id"], item["number"]))
    return [_showing(row, tuple(shown[row["id"]])) for row in rows]


def where_shown(tx: Tx, *, space: str, ref: Ref, limit: int = 100) -> list[Showing]:
    """Return when and to which session a memory was shown, in any version, the newest first."""
    number = ref.number if ref.kind is RefKind.MESSAGE else None
    rows = tx.all("where_shown", space=space, kind=ref.kind, id=ref.id, number=number, limit=limit)
    return [_showing(row, (Ref(ref.kind, ref.id, row["number"]),)) for row in rows]


def labelled(tx: Tx, *, space: str, session_id: str, labels: Sequence[str]) -> dict[str, Ref]:
    """Return the memories behind the labels that a session was shown, in the order of the labels."""
    rows = tx.all("labelled", space=space, session=session_id, labels=list(labels))
    by_label = {row["label"]: Ref(RefKind(row["kind"]), row["id"], row["number"]) for row in rows}
    return {label: by_label[label] for label in labels if label in by_label}


def use(tx: Tx, *, space: str, refs: Sequence[Ref]) -> int:
    """Count memories and the session memories they rest on as used, each once, and return how many exist."""
    there = search.texts(tx, space=space, refs=dict.fromkeys(refs), as_of=None)
    once = list(there)
    for ref in once:
        tx.run("count_usage", space=space, kind=ref.kind, id=ref.id, number=ref.number, now=tx.now)
    consolidation.use(tx, space=space, session_ids=_sessions_behind(tx, space, once))
    return len(once)


def usage(tx: Tx, *, space: str, refs: Sequence[Ref]) -> dict[Ref, Use]:
    """Return how often some memories were used; those never used are left out."""
    kinds, ids = sorted({ref.kind.value for ref in refs}), [ref.id for ref in refs]
    rows = tx.all("usage_among", space=space, kinds=kinds, ids=ids, numbers=[ref.number for ref in refs])
    return {Ref(RefKind(row["kind"]), row["id"], row["number"]): _use(row) for row in rows}


def usage_of(tx: Tx, *, space: str, ref: Ref) -> Use | None:
    """Return how often a memory was used, if ever."""
    row = tx.one("find_usage", space=space, kind=ref.kind, id=ref.id, number=ref.number)
    return None if row is None else _use(row)


def _sessions_behind(tx: Tx, space: str, refs: Sequence[Ref]) -> list[str]:
    sessions = [ref.id for ref in refs if ref.kind in (RefKind.MESSAGE, RefKind.SESSION_MEMORY)]
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


def _showing(row: Row, refs: tuple[Ref, ...]) -> Showing:
    return Showing(
        id=row["id"],
        purpose=Purpose(row["purpose"]),
        session_id=row["session_id"] or None,
        shown_at=from_micros(row["shown_at"]),
        tokens=row["tokens"],
        digest=row["digest"],
        refs=refs,
    )
