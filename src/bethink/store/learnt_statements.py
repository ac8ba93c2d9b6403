"""What messages said, as it was learnt from them, and what stands in the place of each statement now."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from bethink.model.facts import SourceMessage
from bethink.model.moments import Micros, to_micros
from bethink.model.recall import Ref, RefKind
from bethink.model.rules import CONFIDENTIAL
from bethink.store.db import NO_LIMIT, Row, Tx, until


class Standing(NamedTuple):
    """What stands in the place of a statement: the statement itself, or the last of those that superseded it."""

    ref: Ref
    text: str
    at: Micros
    holds: bool = True
    """Whether it holds. If not, it ended and nothing followed, or what followed was forgotten."""


class LearntStatement(NamedTuple):
    """What a message said, as it was learnt, and what stands in its place now.

    `corrected` has the versions that were written by hand afterwards: a later message may have said one of these.
    """

    source: SourceMessage
    ref: Ref
    text: str
    corrected: tuple[str, ...]
    now: Standing


def learnt_from(tx: Tx, *, space: str, sources: Iterable[Ref], as_of: datetime | None) -> list[LearntStatement]:
    """Return what was learnt from some messages, and from the sessions of some session memories, as of a time."""
    asked = list(sources)
    at, now = until(as_of), to_micros(tx.now if as_of is None else as_of)
    rows = tx.all(
        "facts_stated_by",
        space=space, at=at, no_limit=NO_LIMIT, ids=[ref.id for ref in asked], numbers=[ref.number for ref in asked],
    )  # fmt: skip
    newest = {row["id"]: row for row in rows}
    versions: dict[str, dict[int, str]] = {}
    for row in rows:
        versions.setdefault(row["id"], {})[row["version"]] = row["content"]
    ends = {(row["id"], row["version"]): _end(row, newest, at, now) for row in rows if row["session_id"] is not None}
    over = [row for row in ends.values() if _is_gone(row, at) or _has_ended(row, now)]
    after = _standing_in(tx, over, space=space, at=at, now=now)

    def stands(row: Row) -> Standing:
        if not _is_gone(row, at) and not _has_ended(row, now):
            return _as_standing(row)
        following = after.get((row["subject"], row["slot"]))
        return _as_standing(row)._replace(holds=False) if following is None else _as_standing(following)

    return [
        LearntStatement(
            SourceMessage(row["session_id"], row["number"]),
            Ref(RefKind.FACT, row["id"], row["version"]),
            row["content"],
            tuple(each for version, each in versions[row["id"]].items() if version > row["version"]),
            stands(ends[row["id"], row["version"]]),
        )
        for row in rows
        if row["session_id"] is not None
    ]


def confidential_sources(tx: Tx, *, space: str, sources: Iterable[Ref]) -> set[SourceMessage]:
    """Return which messages state a fact that somebody asked not to pass on.

    A session memory is looked up by its session and number 0: it is confidential if any message of its session is.
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
    """Follow a fact to the last that retired or ended it; one that is missing was forgotten."""
    passed = {(row["id"], row["version"])}
    while (following := _following(row, at, now)) in newest:
        row = newest[following]
        if (row["id"], row["version"]) in passed:
            break
        passed.add((row["id"], row["version"]))
    return row


def _following(row: Row, at: int, now: int) -> str:
    if _is_gone(row, at):
        return row["retired_by"] or ""
    return (row["ended_by"] or "") if _has_ended(row, now) else ""


def _standing_in(tx: Tx, over: list[Row], *, space: str, at: int, now: int) -> dict[tuple[str, str], Row]:
    slots = {(row["subject"], row["slot"]) for row in over if row["subject"] is not None and row["slot"] is not None}
    if not slots:
        return {}
    found = tx.all(
        "facts_standing_in",
        space=space, at=at, now=now, no_limit=NO_LIMIT,
        subjects=sorted({subject for subject, _ in slots}), slots=sorted({slot for _, slot in slots}),
    )  # fmt: skip
    return {(row["subject"], row["slot"]): row for row in found}


def _is_gone(row: Row, at: int) -> bool:
    return row["retired_at"] is not None and row["retired_at"] <= at


def _has_ended(row: Row, now: int) -> bool:
    return any(end is not None and end <= now for end in (row["valid_to"], row["expires_at"]))


def _as_standing(row: Row) -> Standing:
    return Standing(Ref(RefKind.FACT, row["id"], row["version"]), row["content"], row["created_at"])
