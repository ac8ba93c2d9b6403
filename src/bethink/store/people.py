"""Reads every text of a space, page by page, to find data about a person, and deletes the other kinds of data."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.erasures import LABELS, OTHERS, THREAD
from bethink.model.moments import from_micros
from bethink.model.refs import RefKind
from bethink.store.db import Row, Tx

KINDS: tuple[str, ...] = (RefKind.MESSAGE, RefKind.FACT, RefKind.SESSION_SUMMARY, RefKind.DOCUMENT, THREAD, *OTHERS)
"""Kinds of data that may be about a person, in the order in which they are listed."""
_TABLES = {THREAD: ("chunk", "event")}
_FIRST: dict[str, object] = {"chunk": ""}
"""Value before the first part of a text, if it is not a number."""
_PAGE = 1_000


@frozen
class StoredText:
    """A text with its speaker and its subjects."""

    kind: str
    id: str
    number: int
    speaker: str | None
    about: tuple[str, ...]
    """The subject and the entities of a fact."""
    at: datetime
    text: str
    more: str
    """Other text that may contain a name: metadata, tool calls, notes on a session."""


def texts(tx: Tx, kind: str, *, space: str) -> Iterator[StoredText]:
    """Yield every text of a kind, in order."""
    for table in _TABLES.get(kind, (kind,)):
        yield from _texts(tx, table, _reader(kind), space=space)


def list_recorded(tx: Tx, kind: str, *, space: str) -> list[Row]:
    """Return the rows of one of the other kinds: ids, names for tombstones, and when they were recorded."""
    return tx.all(f"list_recorded_{kind}", space=space)


def forget_other(tx: Tx, kind: str, *, space: str, id: str) -> bool:  # noqa: A002 - as every ref calls it
    """Delete an item of one of the other kinds. Returns False if it does not exist."""
    label_row = tx.first("name_of_labels", space=space, id=id) if kind == LABELS else None
    if not tx.run(f"forget_{kind}", space=space, id=id):
        return False
    tx.note_deleted(kind, [id if label_row is None else label_row["name"]])
    tx.deletes = True
    return True


def _texts(tx: Tx, table: str, parse: Callable[[Row], StoredText], *, space: str) -> Iterator[StoredText]:
    after, part = "", _FIRST.get(table, -1)
    while True:
        parameters = {"space": space, "after": after, "limit": _PAGE}
        rows = tx.all(f"texts_of_{table}", **parameters, part=part)
        yield from map(parse, rows)
        if len(rows) < _PAGE:
            return
        after, part = rows[-1]["id"], rows[-1]["part"]


def _reader(kind: str) -> Callable[[Row], StoredText]:
    def parse(row: Row) -> StoredText:
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

    return parse
