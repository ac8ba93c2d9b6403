"""Sinks: the locations that may contain a text. Each is checked for remains of an erasure."""

import json
import socket
from collections.abc import Callable, Iterable

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
    return [sink for sink, look in _COUNTERS.items() if not look(tx, space)]


def _rows(tx: Tx, space: str) -> int:
    ids, numbers = _messages(tx)
    remaining = _count(tx, "left_messages", space=space, ids=ids, numbers=numbers) if ids else 0
    facts = list(tx.deleted_ids.get(RefKind.FACT, ()))
    for kind in OTHERS:
        deleted = tx.deleted_ids.get(kind)
        remaining += (
            sum(row["name"] in deleted for row in people.list_recorded(tx, kind, space=space)) if deleted else 0
        )
    return remaining + (_count(tx, "left_facts", space=space, ids=facts) if facts else 0)


def _index(tx: Tx, space: str) -> int:
    return _count_in_index(tx, space, "left_terms", "left_terms_of")


def _vectors(tx: Tx, space: str) -> int:
    return _count_in_index(tx, space, "left_vectors", "left_vectors_of") if tx.has_table("vectors") else 0


def _count_in_index(tx: Tx, space: str, of_messages: str, of_others: str) -> int:
    ids, numbers = _messages(tx)
    remaining = _count(tx, of_messages, space=space, kind=RefKind.MESSAGE, ids=ids, numbers=numbers) if ids else 0
    for kind in _DERIVED:
        if tx.deleted_ids.get(kind):
            remaining += _count(tx, of_others, space=space, kind=kind, ids=list(tx.deleted_ids[kind]))
    return remaining


def _working(tx: Tx, space: str) -> int:
    return _count_ids(tx, space, "left_threads", tx.deleted_ids.get(THREAD, ()))


def _answers(tx: Tx, space: str) -> int:
    return _count_ids(tx, space, "left_answers", _sessions(tx))


def _documents(tx: Tx, space: str) -> int:
    return _count_ids(tx, space, "left_documents", _source_ids(tx))


def _change_sets(tx: Tx, space: str) -> int:
    source_ids = set(_source_ids(tx))
    return (
        sum(not source_ids.isdisjoint(names_in(row)) for row in tx.all("list_change_set_texts", space=space))
        if source_ids
        else 0
    )


def _summaries(tx: Tx, space: str) -> int:
    return _count_ids(tx, space, "left_summaries", tx.deleted_ids.get(RefKind.SESSION_SUMMARY, ()))


_COUNTERS: dict[str, Callable[[Tx, str], int]] = {
    ROWS: _rows,
    INDEX: _index,
    VECTORS: _vectors,
    WORKING: _working,
    ANSWERS: _answers,
    DOCUMENTS: _documents,
    CHANGE_SETS: _change_sets,
    SUMMARIES: _summaries,
    CACHES: lambda tx, space: _rows(tx, space) + _working(tx, space),
}


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


def _count_ids(tx: Tx, space: str, query: str, ids: Iterable[str]) -> int:
    values = list(ids)
    return _count(tx, query, space=space, ids=values) if values else 0


def _count(tx: Tx, query: str, **params: object) -> int:
    row = tx.first(query, **params)
    return 0 if row is None else row["remaining"]
