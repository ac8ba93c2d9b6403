"""The log: messages are added, read in order, and removed only by forgetting."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.model.filters import Filter
from bethink.model.moments import FIRST, LAST, Micros, from_micros, from_micros_or_none, to_micros
from bethink.model.records import Message, Origin, Record, Role
from bethink.model.refs import RefKind
from bethink.store import terms
from bethink.store.chain import seals
from bethink.store.db import NO_LIMIT, Row, Tx
from bethink.store.terms import Entry, SpaceIndex, Words

_FIRST, _LAST = to_micros(FIRST), to_micros(LAST)
_COLUMNS = 12
_USER_ORIGIN = "user"
_MEMORY_ORIGIN = "memory"
"""Origin of memories that a session was shown. Their text is indexed already."""


class Prepared(NamedTuple):
    """A message ready to store: cleaned, redacted, and serialized. The order is that of the columns."""

    role: str
    content: str
    name: str | None
    tool_calls: str
    tool_call_id: str | None
    is_error: int
    metadata: str
    origin: str
    idempotency_key: str | None
    trace_parent: str | None
    said_at: Micros | None
    tags: str = "[]"
    words: Words | None = None
    """Words to index; computed when the message is stored, if None."""


@frozen
class KeyedMessage:
    """The message that already has an idempotency key."""

    session_id: str
    conversation_id: str
    number: int
    role: str
    content: str


def append(
    tx: Tx, *, space: str, session_id: str, first: int, rows: Sequence[Prepared], index: SpaceIndex, link: str
) -> None:
    """Store messages under the numbers from `first` on, which the caller has reserved, and seal and index them."""
    now = to_micros(tx.now)
    sealed = seals(rows, key=index.key, session_id=session_id, first=first, recorded_at=now, before=link)
    # One row at a time and joined with +: this runs for every message, and a list of rows would trigger the collector.
    tx.insert(
        "insert_messages",
        (
            (space, session_id, number, now) + row[:_COLUMNS] + (seal,)  # noqa: RUF005
            for number, (row, seal) in enumerate(zip(rows, sealed, strict=True), first)
        ),
    )
    entries = [
        Entry(
            RefKind.MESSAGE,
            session_id,
            number,
            now if row.said_at is None else row.said_at,
            row.words or words_of(row.content, row.name, by_user=is_by_user(row.role, row.origin)),
        )
        for number, row in enumerate(rows, first)
        if row.role != Role.SYSTEM and row.origin != _MEMORY_ORIGIN
    ]
    terms.put(tx, entries, space=space, at=index)


def words_of(content: str, name: str | None, *, by_user: bool) -> Words:
    """Analyze a message and the name of its speaker."""
    return terms.message_words(content, name, by_user=by_user)


def is_by_user(role: str, origin: str) -> bool:
    """Return whether a user wrote a message. Only then may its text instruct an agent."""
    return role == Role.USER and origin == _USER_ORIGIN


def find_by_keys(tx: Tx, *, space: str, keys: list[str]) -> dict[str, KeyedMessage]:
    """Return the messages of a space that already have one of these idempotency keys, by key."""
    return {
        row["idempotency_key"]: KeyedMessage(
            session_id=row["session_id"],
            conversation_id=row["conversation_id"],
            number=row["number"],
            role=row["role"],
            content=row["content"],
        )
        for row in tx.all("find_keys", space=space, keys=keys)
    }


def after(
    tx: Tx,
    *,
    space: str,
    session_id: str,
    number: int,
    limit: int = NO_LIMIT,
    only: Filter | None = None,
    retracted: bool = False,
) -> list[Record]:
    """Return the messages of a session after a number that fit a filter, in order; with `retracted`, all."""
    only_kept = None if retracted else 1
    rows = tx.all("read_messages", only, space=space, session=session_id, after=number, limit=limit, kept=only_kept)
    return [record_of(row) for row in rows]


def newest(tx: Tx, *, space: str, session_id: str, number: int, limit: int, only: Filter | None = None) -> list[Record]:
    """Return the last messages of a session after a number that fit a filter, in order."""
    rows = tx.all("read_last_messages", only, space=space, session=session_id, after=number, limit=limit)
    return [record_of(row) for row in reversed(rows)]


def retract(tx: Tx, *, space: str, session_id: str, number: int, at: Micros | None = None) -> bool | None:
    """Retract a message, now or as of a time. Returns False if it was retracted before, None if it does not exist."""
    key = {"space": space, "session": session_id, "number": number}
    if tx.run("retract_message", at=to_micros(tx.now) if at is None else at, by=NO_LIMIT if at is None else at, **key):
        return True
    return None if tx.first("find_message", **key) is None else False


def last_of(tx: Tx, *, space: str, conversation: str, limit: int) -> list[Record]:
    """Return the newest messages of a conversation across its sessions, in the order they were said."""
    records: list[Record] = []
    for session in tx.all("list_filled_sessions", space=space, conversation=conversation):
        if len(records) >= limit:
            break
        rows = tx.all("read_last_messages", space=space, session=session["id"], after=0, limit=limit - len(records))
        records.extend(record_of(row) for row in rows)
    return records[::-1]


def count_since(tx: Tx, *, space: str, session_id: str, number: int) -> int:
    """Count the messages of a session after a number."""
    row = tx.first("count_since", space=space, session=session_id, after=number)
    return 0 if row is None else row["count"]


def max_number(tx: Tx, *, space: str, session_id: str) -> int | None:
    """Return the number of the last message of a session, or None if it has none."""
    row = tx.first("max_number", space=space, session=session_id)
    return None if row is None else row["number"]


def count_of(tx: Tx, *, space: str, conversation: str) -> int:
    """Count the messages of a conversation."""
    row = tx.first("count_conversation", space=space, conversation=conversation)
    return 0 if row is None else row["count"]


def record_of(row: Row) -> Record:
    """Read a message from its row."""
    # Message bodies are read only here, so that old ones can move to other storage.
    return Record(
        session_id=row["session_id"],
        number=row["number"],
        recorded_at=from_micros(row["recorded_at"]),
        retracted_at=from_micros_or_none(row["retracted_at"]),
        message=Message(
            role=Role(row["role"]),
            content=row["content"],
            name=row["name"],
            tool_calls=tuple(json.loads(row["tool_calls"])),
            tool_call_id=row["tool_call_id"],
            is_error=bool(row["is_error"]),
            metadata=json.loads(row["metadata"]),
            origin=Origin(row["origin"]),
            idempotency_key=row["idempotency_key"],
            trace_parent=row["trace_parent"],
            said_at=_said_at(row["said_at"]),
            tags=tuple(json.loads(row["tags"])),
        ),
    )


def _said_at(at: int | None) -> datetime | None:
    # Times that no datetime can represent were stored before they were rejected: treat them as unknown.
    return None if at is None or not _FIRST <= at <= _LAST else from_micros(at)
