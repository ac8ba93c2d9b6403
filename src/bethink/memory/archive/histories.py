"""Two histories of one fact or document become one, by time: the last version holds, and the others stand below it."""

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from bethink.memory.archive.reading import RowDict
from bethink.store.archived import Values, declared_tables, tables

Rows = dict[str, dict[Values, RowDict]]


class VersionHistory(NamedTuple):
    """Where a history is stored: its table, and when a version begins and ends."""

    kind: str
    table: str
    begins: str
    ends: str
    ended_by: str


FACT = VersionHistory("fact", "facts", "recorded_at", "retired_at", "retired_by")
DOCUMENT = VersionHistory("document", "documents", "valid_from", "valid_to", "closed_run")


_VERSIONED = {
    "fact": {"facts": ("id", "version"), "feedback": ("fact_id", "version")},
    "document": {
        "documents": ("id", "version"),
        "document_references": ("source_id", "source_version"),
        "document_sources": ("document_id", "version", "last_version"),
    },
}
"""Where versions are numbered: the column with the id, and those with a number."""


class _End(NamedTuple):
    at: int
    by: str | None


def merge_histories(sides: tuple[Rows, Rows], history: VersionHistory) -> None:
    """Give both sides the same versions of each fact or document that differs."""
    found = [_by_id(side, history) for side in sides]
    for name in sorted(found[0].keys() & found[1].keys()):
        pair = found[0][name], found[1][name]
        lasts = [rows[max(rows)] for rows in pair]
        ends = [_End(row[history.ends], row[history.ended_by]) for row in lasts if row[history.ends] is not None]
        both = pair[0].keys() & pair[1].keys()
        alike = {each for each in both if _same(pair[0][each], pair[1][each], history)}
        for version in alike:
            _share(pair[0][version], pair[1][version], history)
        if both - alike:
            _interleave(sides, pair, min(both - alike), ends, history)
        elif max(pair[0]) != max(pair[1]):
            _end(max(lasts, key=lambda row: row["version"]), ends, history)


def _end(last: RowDict, ends: list[_End], history: VersionHistory) -> None:
    """Where one side went on and the other ended it, let what was done last hold."""
    later = [end for end in ends if end.at > last[history.begins]]
    if later:
        last[history.ends], last[history.ended_by] = min(later, key=lambda end: (end.at, end.by or ""))


def _by_id(side: Rows, history: VersionHistory) -> dict[str, dict[int, RowDict]]:
    found: dict[str, dict[int, RowDict]] = {}
    for (name, version), row in side.get(history.table, {}).items():
        found.setdefault(name, {})[version] = row
    return found


def _same(ours: RowDict, theirs: RowDict, history: VersionHistory) -> bool:
    if ours[history.begins] != theirs[history.begins]:
        return False
    redacted = ours.get("redacted") or theirs.get("redacted")
    text = "body" if history is DOCUMENT else "content"
    return bool(redacted) or ours[text] == theirs[text]


def _share(ours: RowDict, theirs: RowDict, history: VersionHistory) -> None:
    """Make one row of two that are the same version: what one side ended, redacted or pinned last, is."""
    ends = [row for row in (ours, theirs) if row[history.ends] is not None]
    first = min(ends, key=lambda row: (row[history.ends], row[history.ended_by] or ""), default=ours)
    whole = max(ours, theirs, key=lambda row: (row.get("redacted") or 0, _touched(row), _text(row)))
    shared = {**whole, history.ends: first[history.ends], history.ended_by: first[history.ended_by]}
    ours.update(shared)
    theirs.update(shared)


def _text(row: RowDict) -> str:
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def _touched(row: RowDict) -> int:
    return max(row.get("pinned_at") or 0, row.get("unpinned_at") or 0, row.get("expires_at") or 0)


def _interleave(
    sides: tuple[Rows, Rows],
    pair: tuple[dict[int, RowDict], dict[int, RowDict]],
    start: int,
    ends: list[_End],
    history: VersionHistory,
) -> None:
    """Number the versions of both sides by when they began, from the first that differs."""
    every = [(side, row) for side in (0, 1) for version, row in pair[side].items() if version >= start]
    every.sort(key=lambda each: (each[1][history.begins], _text(each[1])))
    name = every[0][1]["id"]
    numbers: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for number, (side, row) in enumerate(every, start):
        numbers[side][row["version"]] = number
    for (_, row), (_, after) in pairwise(every):
        if row[history.ends] is None or row[history.ends] > after[history.begins]:
            row[history.ends] = after[history.begins]
            row[history.ended_by] = name if history is FACT else after["run"]
    last = every[-1][1]
    last[history.ends], last[history.ended_by] = None, None if history is FACT else ""
    _end(last, ends, history)
    for side in (0, 1):
        _renumber_versions(sides[side], history, name, numbers[side], last=start + len(every) - 1)


def _renumber_versions(
    side: Rows, history: VersionHistory, name: str, numbers: Mapping[int, int], *, last: int
) -> None:
    newest = max(numbers.values())
    for table, (of, *columns) in _VERSIONED[history.kind].items():
        for row in side.get(table, {}).values():
            if row[of] != name:
                continue
            for column in columns:
                row[column] = numbers.get(row[column], row[column])
            if newest < last and row.get("last_version", 0) is None:
                row["last_version"] = newest  # the newest of all is the other side's, and does not rest on it
        if table in side:
            side[table] = _keyed(table, side[table])
    renumber(side, history.kind, name, numbers)


def renumber(side: Rows, kind: str, name: str, numbers: Mapping[int, int]) -> None:
    """Follow new numbers of messages or versions where they were shown, used and tested."""
    columns_about = {table.name: table.about for table in declared_tables() if table.about is not None}
    for table, (of, which, number) in columns_about.items():
        for row in side.get(table, {}).values():
            if row[of] == kind and row[which] == name and row[number] is not None:
                row[number] = numbers.get(row[number], row[number])
        if table in side:
            side[table] = _keyed(table, side[table])
    if kind == "message":
        for row in side.get("document_sources", {}).values():
            if row["kind"] == kind and row["source_id"] == name:
                row["number"] = numbers.get(row["number"], row["number"])
        if "document_sources" in side:
            side["document_sources"] = _keyed("document_sources", side["document_sources"])


def _keyed(table: str, rows: Mapping[Values, RowDict]) -> dict[Values, RowDict]:
    key_of = next(each for each in tables() if each.name == table).key_of
    return {key_of(row): row for row in rows.values()}
