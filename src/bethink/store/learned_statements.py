"""Statements learned from messages, and the current statement that replaced each."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from bethink.model.facts import SourceMessage
from bethink.model.moments import Micros, to_micros
from bethink.model.refs import Ref, RefKind
from bethink.model.rules import CONFIDENTIAL
from bethink.store.db import NO_LIMIT, Row, Tx, until


class CurrentStatement(NamedTuple):
    """The current form of a statement: the statement itself, or the last one that replaced it."""

    ref: Ref
    text: str
    at: Micros
    is_valid: bool = True
    """Whether it is valid. If not, it ended without a successor, or its successor was deleted."""


class LearnedStatement(NamedTuple):
    """A statement learned from a message, and its current form.

    `corrected` has the later versions that were written by hand: a later message may contain one of these.
    """

    source: SourceMessage
    ref: Ref
    text: str
    corrected: tuple[str, ...]
    now: CurrentStatement


def learned_from(tx: Tx, *, space: str, sources: Iterable[Ref], as_of: datetime | None) -> list[LearnedStatement]:
    """Return the statements learned from messages, and from the sessions of session summaries, as of a time."""
    refs = list(sources)
    at, now = until(as_of), to_micros(tx.now if as_of is None else as_of)
    rows = tx.all(
        "facts_stated_by",
        space=space, at=at, no_limit=NO_LIMIT, ids=[ref.id for ref in refs], numbers=[ref.number for ref in refs],
    )  # fmt: skip
    newest = {row["id"]: row for row in rows}
    versions: dict[str, dict[int, str]] = {}
    for row in rows:
        versions.setdefault(row["id"], {})[row["version"]] = row["content"]
    ends = {(row["id"], row["version"]): _end(row, newest, at, now) for row in rows if row["session_id"] is not None}
    ended_rows = [row for row in ends.values() if _is_replaced(row, at) or _has_ended(row, now)]
    after = _current_in_slots(tx, ended_rows, space=space, at=at, now=now)

    def current_statement(row: Row) -> CurrentStatement:
        if not _is_replaced(row, at) and not _has_ended(row, now):
            return _as_current(row)
        following = after.get((row["subject"], row["slot"]))
        return _as_current(row)._replace(is_valid=False) if following is None else _as_current(following)

    return [
        LearnedStatement(
            SourceMessage(row["session_id"], row["number"]),
            Ref(RefKind.FACT, row["id"], row["version"]),
            row["content"],
            tuple(text for version, text in versions[row["id"]].items() if version > row["version"]),
            current_statement(ends[row["id"], row["version"]]),
        )
        for row in rows
        if row["session_id"] is not None
    ]


def confidential_sources(tx: Tx, *, space: str, sources: Iterable[Ref]) -> set[SourceMessage]:
    """Return the messages that state a confidential fact.

    A session summary is looked up by its session and number 0: it is confidential if any message of its session is.
    """
    refs = list(sources)
    if not refs:
        return set()
    rows = tx.all(
        "confidential_sources",
        space=space, no_limit=NO_LIMIT, flag=f'%"{CONFIDENTIAL}"%',
        ids=[ref.id for ref in refs], numbers=[ref.number for ref in refs],
    )  # fmt: skip
    return {SourceMessage(row["id"], row["number"]) for row in rows}


def _end(row: Row, newest: dict[str, Row], at: int, now: int) -> Row:
    """Follow a fact to its last successor. A missing successor was deleted."""
    passed = {(row["id"], row["version"])}
    while (following := _following(row, at, now)) in newest:
        row = newest[following]
        if (row["id"], row["version"]) in passed:
            break
        passed.add((row["id"], row["version"]))
    return row


def _following(row: Row, at: int, now: int) -> str:
    if _is_replaced(row, at):
        return row["retired_by"] or ""
    return (row["ended_by"] or "") if _has_ended(row, now) else ""


def _current_in_slots(tx: Tx, ended_rows: list[Row], *, space: str, at: int, now: int) -> dict[tuple[str, str], Row]:
    slots = {
        (row["subject"], row["slot"]) for row in ended_rows if row["subject"] is not None and row["slot"] is not None
    }
    if not slots:
        return {}
    rows = tx.all(
        "facts_standing_in",
        space=space, at=at, now=now, no_limit=NO_LIMIT,
        subjects=sorted({subject for subject, _ in slots}), slots=sorted({slot for _, slot in slots}),
    )  # fmt: skip
    return {(row["subject"], row["slot"]): row for row in rows}


def _is_replaced(row: Row, at: int) -> bool:
    return row["retired_at"] is not None and row["retired_at"] <= at


def _has_ended(row: Row, now: int) -> bool:
    return any(end is not None and end <= now for end in (row["valid_to"], row["expires_at"]))


def _as_current(row: Row) -> CurrentStatement:
    return CurrentStatement(Ref(RefKind.FACT, row["id"], row["version"]), row["content"], row["created_at"])
