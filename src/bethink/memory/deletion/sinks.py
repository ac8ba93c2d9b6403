"""Sinks: the locations that may contain a text. Each is checked for remains of an erasure."""

import json
import socket

from bethink.model.erasures import OTHERS, SPACE, THREAD
from bethink.model.refs import RefKind
from bethink.store import people
from bethink.store.db import Row, Tx
from bethink.store.sql import Dialect

ROWS, INDEX, VECTORS, WORKING = "rows", "index", "vectors", "working"
ANSWERS, DOCUMENTS, CHANGE_SETS, SUMMARIES = "answers", "documents", "change_sets", "summaries"
CACHES, LOG, FILES, EXPORTS = "caches", "log", "files", "exports"

INSIDE = (ROWS, INDEX, VECTORS, WORKING, ANSWERS, DOCUMENTS, CHANGE_SETS, SUMMARIES, CACHES)
"""Sinks that the transaction that deletes the rows can confirm. A process caches a text only with its row number,
and reads that row before it uses the text, so caches are clear once the rows are deleted."""

_DERIVED = (RefKind.FACT, RefKind.SESSION_SUMMARY, RefKind.DOCUMENT)


def sinks_of(dialect: Dialect) -> tuple[str, ...]:
    """Return the sinks of a database. PostgreSQL's own log cannot be cleared, and the receipt says so."""
    return (*INSIDE, *((LOG,) if dialect is Dialect.SQLITE else ()), FILES, EXPORTS)


def this_host() -> str:
    """Return the name of this machine, under which files are recorded."""
    return socket.gethostname()


def clean_inside(tx: Tx, *, space: str) -> list[str]:
    """Return the sinks inside the database that have no remains of what this transaction deleted."""
    if SPACE in tx.deleted_ids:
        remaining = _count(tx, "left_of_space", space=space)
        vectors = _count(tx, "left_vectors_of_space", space=space) if tx.has_table("vectors") else 0
        return [name for name in INSIDE if not (vectors if name == VECTORS else remaining)]
    return _clean_of_items(tx, space)


def _clean_of_items(tx: Tx, space: str) -> list[str]:
    remaining = {**dict.fromkeys(INSIDE, 0), **_count_inside(tx, space)}
    remaining[ROWS] += _count_others(tx, space)
    remaining[CHANGE_SETS] = _count_change_sets(tx, space)
    remaining[CACHES] = remaining[ROWS] + remaining[WORKING]
    return [sink for sink in INSIDE if not remaining[sink]]


def _count_inside(tx: Tx, space: str) -> dict[str, int]:
    """Count what is left in each table, with one statement and one for vectors."""
    ids, numbers = _messages(tx)
    facts, summaries, documents = (list(tx.deleted_ids.get(kind, ())) for kind in _DERIVED)
    items = {
        "space": space, "ids": ids, "numbers": numbers, "facts": facts, "summaries": summaries, "documents": documents
    }  # fmt: skip
    others = {"threads": list(tx.deleted_ids.get(THREAD, ())), "sessions": _sessions(tx), "sources": _source_ids(tx)}
    rows = tx.all("left_inside", None, **items, **others)
    rows += tx.all("left_vectors", None, **items) if tx.has_table("vectors") else []
    return {sink: count for row in rows for sink, count in row.items()}


def _count_others(tx: Tx, space: str) -> int:
    """Count what is left of claims and other recorded items."""
    remaining = 0
    for kind in OTHERS:
        deleted = tx.deleted_ids.get(kind)
        if deleted:
            remaining += sum(row["name"] in deleted for row in people.list_recorded(tx, kind, space=space))
    return remaining


def _count_change_sets(tx: Tx, space: str) -> int:
    source_ids = set(_source_ids(tx))
    if not source_ids:
        return 0
    rows = tx.all("list_change_set_texts", space=space)
    return sum(not source_ids.isdisjoint(names_in(row)) for row in rows)


def names_in(row: Row) -> set[str]:
    """Return the ids of the sessions, sources and documents of a change set."""
    changes = json.loads(row["changes"])
    names = {session_id for session_id, _ in json.loads(row["selection"])}
    names |= {name for change in changes for _, name, _ in change["sources"]}
    return names | {change["document_id"] for change in changes}


def _messages(tx: Tx) -> tuple[list[str], list[int]]:
    """Return the deleted messages as two lists: the ids of their sessions, and their numbers."""
    parts = [name.rpartition(":") for name in tx.deleted_ids.get(RefKind.MESSAGE, ())]
    return [session for session, _, _ in parts], [int(number) for _, _, number in parts]


def _sessions(tx: Tx) -> list[str]:
    return list(dict.fromkeys(_messages(tx)[0]))


def _source_ids(tx: Tx) -> list[str]:
    """Return the ids of deleted items that a document may cite."""
    return [*_sessions(tx), *tx.deleted_ids.get(RefKind.SESSION_SUMMARY, ()), *tx.deleted_ids.get(RefKind.FACT, ())]


def _count(tx: Tx, query: str, **params: object) -> int:
    row = tx.first(query, **params)
    return 0 if row is None else row["remaining"]
