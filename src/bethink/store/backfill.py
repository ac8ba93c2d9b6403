"""Indexes the texts of a database that was filled before there were keyed hashes: SQL alone cannot make those."""

from collections.abc import Callable

from bethink.model.recall import RefKind
from bethink.store import messages, terms
from bethink.store.db import Row, Tx
from bethink.store.terms import Entry, Words

_PAGE = 1_000
_WALLED = ("spaces", "messages", "facts", "session_memories", "documents", "term_counts")


def index_everything(tx: Tx) -> None:
    """Index every text of every space, in the order in which they were stored."""
    tx.set_walls(_WALLED, "NO FORCE")  # the owner of the tables, who migrates them, must see all spaces
    for row in tx.all("list_all_spaces"):
        index_space(tx, space=row["id"])
    tx.set_walls(_WALLED, "FORCE")


def index_space(tx: Tx, *, space: str) -> None:
    """Index every text of a space that has nothing in the index."""
    for kind, query, words in _TEXTS:
        _index(tx, space, kind, query, words)


def _index(tx: Tx, space: str, kind: RefKind, query: str, words: Callable[[Row], Words]) -> None:
    after, number = "", 0
    while rows := tx.all(query, space=space, after=after, number=number, limit=_PAGE):
        terms.put(tx, [Entry(kind, row["id"], row["number"], row["at"], words(row)) for row in rows], space=space)
        after, number = rows[-1]["id"], rows[-1]["number"]


_TEXTS: tuple[tuple[RefKind, str, Callable[[Row], Words]], ...] = (
    (
        RefKind.MESSAGE,
        "page_message_texts",
        lambda row: messages.words_of(row["content"], row["name"]),
    ),
    (
        RefKind.FACT,
        "page_fact_texts",
        lambda row: terms.fact_words(row["content"], row["kind"], row["slot"]),
    ),
    (
        RefKind.SESSION_MEMORY,
        "page_session_memory_texts",
        lambda row: terms.words_of(f"{row['summary']}\n{row['raw_memory']}"),
    ),
    (
        RefKind.DOCUMENT,
        "page_document_texts",
        lambda row: terms.words_of("\n".join((row["title"], row["description"], row["body"]))),
    ),
)
