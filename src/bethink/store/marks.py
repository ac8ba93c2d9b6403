"""Marks on spans of messages: words that a later message corrected, or that a person asked to forget."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.model.facts import SourceMessage
from bethink.model.moments import from_micros
from bethink.model.records import Record
from bethink.model.views import NOW, TimeView
from bethink.store.db import Row, Tx


class MarkKind(StrEnum):
    """Why words of a message do not count."""

    CORRECTED = "corrected"
    """A later message corrected them: they count until that was said, and as far as it is known."""
    HIDDEN = "hidden"
    """A person asked to forget them: they are never shown, whatever time is asked about."""


@frozen
class Mark:
    """A span of a message that does not count.

    `cause` is the message that corrects it, as `session:number`, or the id of the request to forget. `said_at` is when
    that was said, and `recorded_at` when memory learned it.
    """

    message: SourceMessage
    kind: MarkKind
    start: int
    stop: int
    cause: str
    said_at: datetime
    recorded_at: datetime | None = None


def cause_of(session_id: str, number: int) -> str:
    """Return the cause of the marks of a message that corrects others."""
    return f"{session_id}:{number}"


RETRACTED = "retracted"
"""Cause of the marks on repetitions of a message that was retracted."""
DELETED = "deleted"
"""Cause of the marks on repetitions of a message that was deleted."""


def add(tx: Tx, marks: Iterable[Mark], *, space: str) -> int:
    """Store marks, and return how many of them are new. A mark that exists keeps the time at which it was learned."""
    return sum(
        tx.run(
            "insert_mark",
            space=space, session=mark.message.session_id, number=mark.message.number, kind=mark.kind,
            start=mark.start, stop=mark.stop, cause=mark.cause, said_at=mark.said_at, now=tx.now,
        )
        for mark in marks
        if mark.start < mark.stop
    )  # fmt: skip


def of_messages(
    tx: Tx, space: str, refs: Iterable[SourceMessage], view: TimeView
) -> Mapping[SourceMessage, Sequence[Mark]]:  # fmt: skip
    """Return the marks of messages that count in a view, by message. Hidden spans count in every view."""
    pairs = list(dict.fromkeys((ref.session_id, ref.number) for ref in refs))
    if not pairs:
        return {}
    result: dict[SourceMessage, list[Mark]] = {}
    for row in tx.all(
        "marks_of_messages",
        space=space, ids=[pair[0] for pair in pairs], numbers=[pair[1] for pair in pairs],
        said_until=view.said_until, known_until=view.known_until,
    ):  # fmt: skip
        mark = _mark_of(row)
        result.setdefault(mark.message, []).append(mark)
    return result


def of_cause(tx: Tx, *, space: str, cause: str) -> list[Mark]:
    """Return the marks that a message or a request to forget caused."""
    return [_mark_of(row) for row in tx.all("marks_of_cause", space=space, cause=cause)]


def delete_of_causes(tx: Tx, causes: Iterable[str], *, space: str) -> int:
    """Remove the marks that messages or requests to forget caused, and return their number."""
    return tx.run("delete_marks_of_causes", space=space, causes=list(causes))


def hidden_words(tx: Tx, *, space: str, session_id: str) -> list[tuple[str, str]]:
    """Return the hidden words of a session, each with its cause."""
    rows = tx.all("hidden_words_of_session", space=space, session=session_id)
    return [(row["cause"], row["content"][row["start"] : row["stop"]]) for row in rows]


def visible_records(tx: Tx, records: Sequence[Record], *, space: str) -> list[Record]:
    """Return messages without hidden words, and without those of which nothing remains."""
    refs = [SourceMessage(record.session_id, record.number) for record in records]
    marked = of_messages(tx, space, refs, NOW)
    result: list[Record] = []
    for record, ref in zip(records, refs, strict=True):
        text = visible_text(record.message.content, marked.get(ref, ()))
        if text == record.message.content:
            result.append(record)
        elif text:
            result.append(replace(record, message=replace(record.message, content=text)))
    return result


def visible_text(text: str, marks: Iterable[Mark]) -> str:
    """Return a text without its hidden spans: empty if no word remains, and unchanged without any."""
    hidden = sorted((mark.start, mark.stop) for mark in marks if mark.kind is MarkKind.HIDDEN)
    if not hidden:
        return text
    parts: list[str] = []
    position = 0
    for start, stop in hidden:
        parts.append(text[position : max(position, start)])
        position = max(position, stop)
    parts.append(text[position:])
    visible = " ".join(part.strip() for part in parts if part.strip())
    return visible if any(char.isalnum() for char in visible) else ""


def _mark_of(row: Row) -> Mark:
    return Mark(
        message=SourceMessage(row["session_id"], row["number"]),
        kind=MarkKind(row["kind"]),
        start=row["start"],
        stop=row["stop"],
        cause=row["cause"],
        said_at=from_micros(row["said_at"]),
        recorded_at=from_micros(row["recorded_at"]),
    )
