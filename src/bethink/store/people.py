"""Reads every text of a space, page by page, to look for a person in it, and removes what no other part removes."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.erasures import LABELS, OTHERS, THREAD
from bethink.model.moments import from_micros
from bethink.model.recall import RefKind
from bethink.store.db import Row, Tx

KINDS: tuple[str, ...] = (RefKind.MESSAGE, RefKind.FACT, RefKind.SESSION_MEMORY, RefKind.DOCUMENT, THREAD, *OTHERS)
"""What may hold something of a person, in the order in which it is listed."""
_TABLES = {THREAD: ("chunk", "event")}
_FIRST: dict[str, object] = {"chunk": ""}
"""What comes before the first part of something, where that is not a number."""
_PAGE = 1_000


@frozen
class StoredText:
    """A text with what says whose it is."""

    kind: str
    id: str
    number: int
    speaker: str | None
    about: tuple[str, ...]
    """The subject and the entities of a fact."""
    at: datetime
    text: str
    more: str
    """What else may hold a name: metadata, calls of tools, the notes on a session."""


def texts(tx: Tx, kind: str, *, space: str) -> Iterator[StoredText]:
    """Yield every text of a kind, in order."""
    for table in _TABLES.get(kind, (kind,)):
        yield from _texts(tx, table, _reader(kind), space=space)


def recorded(tx: Tx, kind: str, *, space: str) -> list[Row]:
    """List one of the other kinds: ids, the names that they are buried under, and when they were recorded."""
    return tx.all(f"list_recorded_{kind}", space=space)


def forget_other(tx: Tx, kind: str, *, space: str, id: str) -> bool:  # noqa: A002 - as every ref calls it
    """Remove something of one of the other kinds. Returns False if it is not there."""
    named = tx.one("name_of_labels", space=space, id=id) if kind == LABELS else None
    if not tx.run(f"forget_{kind}", space=space, id=id):
        return False
    tx.lose(kind, [id if named is None else named["name"]])
    tx.forgets = True
    return True


def _texts(tx: Tx, table: str, read: Callable[[Row], StoredText], *, space: str) -> Iterator[StoredText]:
    after, part = "", _FIRST.get(table, -1)
    while True:
        given = {"space": space, "after": after, "limit": _PAGE}
        rows = tx.all(f"texts_of_{table}", **given, part=part)
        yield from map(read, rows)
        if len(rows) < _PAGE:
            return
        after, part = rows[-1]["id"], rows[-1]["part"]


def _reader(kind: str) -> Callable[[Row], StoredText]:
    def read(row: Row) -> StoredText:
        entities: list[str] = json.loads(row["entities"])
        return StoredText(
            kind=kind,
            id=row["id"],
            number=row["number"],
            speaker=row["speaker"],
            about=tuple(filter(None, (row["subject"], *entities))),
            at=from_micros(row["at"]),
            text=row["text"],
            more=row["more"],
        )

    return read
