"""Statements learned from messages, and the current statement that replaced each."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bethink.model.facts import FactStatus, SourceMessage
from bethink.model.moments import Micros, to_micros
from bethink.model.refs import Ref, RefKind
from bethink.model.rules import PRIVATE_FLAGS
from bethink.model.views import TimeView
from bethink.store.db import NO_LIMIT, Row, Tx
from bethink.store.facts import status_of
from bethink.store.timelines import FactTimes
from bethink.store.views import read_timelines

_MAX_STEPS = 10


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
    status: FactStatus
    doubted_by: Ref | None = None
    """The fact whose change put it in doubt."""


def learned_from(tx: Tx, *, space: str, sources: Iterable[Ref], view: TimeView) -> list[LearnedStatement]:
    """Return the statements learned from messages, and from the sessions of session summaries, in a view."""
    refs = list(sources)
    rows = tx.all(
        "facts_stated_by",
        space=space, known=view.known_until, no_limit=NO_LIMIT, ids=[ref.id for ref in refs],
        numbers=[ref.number for ref in refs],
    )  # fmt: skip
    newest: dict[str, Row] = {}
    versions: dict[str, dict[int, str]] = {}
    for row in rows:
        # A version that a program stored later, as said later, is not part of the view.
        if row["id"] not in newest or row["created_at"] <= view.said_until:
            newest[row["id"]] = row
            versions.setdefault(row["id"], {})[row["version"]] = row["content"]
    forms = _Forms(tx, newest, space=space, view=view)
    stated = [row for row in rows if row["effect"] is not None and forms.was_said(row["id"])]
    return [
        LearnedStatement(
            SourceMessage(row["session_id"], row["number"]),
            Ref(RefKind.FACT, row["id"], row["version"]),
            row["content"],
            tuple(text for version, text in versions[row["id"]].items() if version > row["version"]),
            forms.current(row),
            forms.status(row),
            forms.doubted_by(row),
        )
        for row in stated
    ]


def confidential_sources(tx: Tx, *, space: str, sources: Iterable[Ref]) -> set[SourceMessage]:
    """Return the messages that state a fact which stays in its space.

    A session summary is looked up by its session and number 0: it is confidential if any message of its session is.
    """
    refs = list(sources)
    if not refs:
        return set()
    rows = tx.all(
        "confidential_sources",
        space=space, no_limit=NO_LIMIT, **{flag: f'%"{flag}"%' for flag in PRIVATE_FLAGS},
        ids=[ref.id for ref in refs], numbers=[ref.number for ref in refs],
    )  # fmt: skip
    return {SourceMessage(row["id"], row["number"]) for row in rows}


class _Forms:
    """The current forms of facts in a view: each fact that ended leads to the one that took its place."""

    def __init__(self, tx: Tx, newest: Mapping[str, Row], *, space: str, view: TimeView) -> None:
        self._known, self._said = view.known_until, view.said_until
        self._at = to_micros(view.at(tx.now))
        self._rows: dict[str, Row] = {}
        self._times: dict[str, FactTimes | None] = {}
        self._is_now = view.is_now
        level = dict(newest)
        for _ in range(_MAX_STEPS):
            self._rows.update(level)
            if not view.is_now and level:
                timelines = read_timelines(tx, space=space, fact_ids=level, view=view)
                self._times.update((fact_id, timelines.of(fact_id, self._at)) for fact_id in level)
            causes = {cause for row in level.values() if (cause := self._cause(row))} - self._rows.keys()
            if not causes:
                break
            rows = tx.all("newest_versions", space=space, ids=sorted(causes), known=self._known, said=self._said)
            level = {row["id"]: row for row in rows}

    def was_said(self, fact_id: str) -> bool:
        """Return whether a fact had been said in the view."""
        is_forgotten = self._rows[fact_id]["ended_as"] == "hidden"
        return self._is_now or is_forgotten or self._times.get(fact_id) is not None

    def status(self, row: Row) -> FactStatus:
        """Return whether what a version states is true."""
        newest = self._rows[row["id"]]
        times = self._times.get(row["id"])
        if self._is_now or times is None or self._is_withdrawn(newest):
            return status_of(newest, Micros(self._at))
        return FactStatus.ENDED if self._is_expired(newest) else times.status(self._at)

    def doubted_by(self, row: Row) -> Ref | None:
        """Return the fact whose change put a version in doubt."""
        if self.status(row) is not FactStatus.DOUBTFUL:
            return None
        times = self._times.get(row["id"])
        cause = self._rows[row["id"]]["doubted_by"] if self._is_now else times and times.doubt and times.doubt.cause
        return None if not cause else Ref(RefKind.FACT, cause)

    def current(self, row: Row) -> CurrentStatement:
        """Return the current form of a version: its newest one, or that of the fact that took its place."""
        passed: set[str] = set()
        row = self._rows.get(row["id"], row)
        while self._has_ended(row):
            passed.add(row["id"])
            cause = self._cause(row)
            if cause not in self._rows or cause in passed:
                return _as_current(row)._replace(is_valid=False)
            row = self._rows[cause]
        return _as_current(row)

    def _has_ended(self, row: Row) -> bool:
        end = self._valid_to(row)
        return self._is_withdrawn(row) or self._is_expired(row) or (end is not None and end <= self._at)

    def _is_withdrawn(self, row: Row) -> bool:
        # The newest version of a view stays its newest one, though another took its place later.
        return row["retired_at"] is not None and row["retired_by"] != row["id"] and row["retired_at"] <= self._known

    def _is_expired(self, row: Row) -> bool:
        return row["expires_at"] is not None and row["expires_at"] <= self._at

    def _valid_to(self, row: Row) -> int | None:
        if self._is_now:
            return row["valid_to"]
        times = self._times.get(row["id"])
        return self._at if times is None else times.valid_to

    def _cause(self, row: Row) -> str:
        """Return the fact that took the place of one, if that has ended."""
        if not self._has_ended(row):
            return ""
        times = self._times.get(row["id"])
        cause = row["ended_by"] if self._is_now else times and times.cause
        return cause or ""


def _as_current(row: Row) -> CurrentStatement:
    return CurrentStatement(Ref(RefKind.FACT, row["id"], row["version"]), row["content"], row["created_at"])
