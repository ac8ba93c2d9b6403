"""The places that a text can be in. Each says itself that nothing of an erasure is left there, by looking."""

import json
import socket
from collections.abc import Callable, Iterable

from bethink.model.erasures import OTHERS, SPACE, THREAD
from bethink.model.recall import RefKind
from bethink.store import people
from bethink.store.db import Row, Tx
from bethink.store.sql import Dialect

ROWS, INDEX, VECTORS, WORKING = "rows", "index", "vectors", "working"
ANSWERS, DOCUMENTS, CHANGE_SETS, SUMMARIES = "answers", "documents", "change_sets", "summaries"
CACHES, LOG, FILES, EXPORTS = "caches", "log", "files", "exports"

INSIDE = (ROWS, INDEX, VECTORS, WORKING, ANSWERS, DOCUMENTS, CHANGE_SETS, SUMMARIES, CACHES)
"""What the transaction that removes the rows can confirm. A process keeps a text in a cache only with the number of
its row, and asks for that row before it uses it: so caches hold nothing once the rows are gone."""

_DERIVED = (RefKind.FACT, RefKind.SESSION_MEMORY, RefKind.DOCUMENT)


def sinks_of(dialect: Dialect) -> tuple[str, ...]:
    """Return the places of a database. PostgreSQL's own log is out of our reach, and the receipt says so."""
    return (*INSIDE, *((LOG,) if dialect is Dialect.SQLITE else ()), FILES, EXPORTS)


def this_host() -> str:
    """Return the name of this machine, under which files are written down."""
    return socket.gethostname()


def clean_inside(tx: Tx, *, space: str) -> list[str]:
    """Return those places inside the database that hold nothing of what this transaction forgot."""
    if SPACE in tx.gone:
        left = _count(tx, "left_of_space", space=space)
        vectors = _count(tx, "left_vectors_of_space", space=space) if tx.has_table("vectors") else 0
        return [each for each in INSIDE if not (vectors if each == VECTORS else left)]
    return [sink for sink, look in _LOOKS.items() if not look(tx, space)]


def _rows(tx: Tx, space: str) -> int:
    ids, numbers = _messages(tx)
    left = _count(tx, "left_messages", space=space, ids=ids, numbers=numbers) if ids else 0
    facts = list(tx.gone.get(RefKind.FACT, ()))
    for kind in OTHERS:
        gone = tx.gone.get(kind)
        left += sum(row["name"] in gone for row in people.recorded(tx, kind, space=space)) if gone else 0
    return left + (_count(tx, "left_facts", space=space, ids=facts) if facts else 0)


def _index(tx: Tx, space: str) -> int:
    return _in_index(tx, space, "left_terms", "left_terms_of")


def _vectors(tx: Tx, space: str) -> int:
    return _in_index(tx, space, "left_vectors", "left_vectors_of") if tx.has_table("vectors") else 0


def _in_index(tx: Tx, space: str, of_messages: str, of_others: str) -> int:
    ids, numbers = _messages(tx)
    left = _count(tx, of_messages, space=space, kind=RefKind.MESSAGE, ids=ids, numbers=numbers) if ids else 0
    for kind in _DERIVED:
        if tx.gone.get(kind):
            left += _count(tx, of_others, space=space, kind=kind, ids=list(tx.gone[kind]))
    return left


def _working(tx: Tx, space: str) -> int:
    return _of_ids(tx, space, "left_threads", tx.gone.get(THREAD, ()))


def _answers(tx: Tx, space: str) -> int:
    return _of_ids(tx, space, "left_answers", _sessions(tx))


def _documents(tx: Tx, space: str) -> int:
    return _of_ids(tx, space, "left_documents", _resting(tx))


def _change_sets(tx: Tx, space: str) -> int:
    gone = set(_resting(tx))
    return (
        sum(not gone.isdisjoint(names_in(row)) for row in tx.all("list_change_set_texts", space=space)) if gone else 0
    )


def _summaries(tx: Tx, space: str) -> int:
    return _of_ids(tx, space, "left_summaries", tx.gone.get(RefKind.SESSION_MEMORY, ()))


_LOOKS: dict[str, Callable[[Tx, str], int]] = {
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
    """Return the ids of what a change set looked at, rests on and writes."""
    changes = json.loads(row["changes"])
    names = {session_id for session_id, _ in json.loads(row["selection"])}
    names |= {name for change in changes for _, name, _ in change["sources"]}
    return names | {change["document_id"] for change in changes}


def _messages(tx: Tx) -> tuple[list[str], list[int]]:
    """Return the messages that went as two lists: the ids of their sessions, and their numbers."""
    parts = [name.rpartition(":") for name in tx.gone.get(RefKind.MESSAGE, ())]
    return [session for session, _, _ in parts], [int(number) for _, _, number in parts]


def _sessions(tx: Tx) -> list[str]:
    return list(dict.fromkeys(_messages(tx)[0]))


def _resting(tx: Tx) -> list[str]:
    """Return the ids that a document may have rested on."""
    return [*_sessions(tx), *tx.gone.get(RefKind.SESSION_MEMORY, ()), *tx.gone.get(RefKind.FACT, ())]


def _of_ids(tx: Tx, space: str, query: str, ids: Iterable[str]) -> int:
    given = list(ids)
    return _count(tx, query, space=space, ids=given) if given else 0


def _count(tx: Tx, query: str, **given: object) -> int:
    row = tx.one(query, **given)
    return 0 if row is None else row["remaining"]
