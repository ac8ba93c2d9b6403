"""Merges two histories of a fact or document by time: the last version is current, the others are past."""

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from bethink.memory.archive.reading import RowDict
from bethink.store.archived import Values, declared_tables, tables

Rows = dict[str, dict[Values, RowDict]]


class VersionHistory(NamedTuple):
    """Columns of a history: its table, and the start and end of a version."""

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
"""Tables with version numbers: the column with the id, and the columns with a number."""


_APPROVED = "stated"
"""The evidence of a version that a person wrote or approved."""
_CORRECTED = "corrected"


class _End(NamedTuple):
    at: int
    cause: str | None


def merge_histories(sides: tuple[Rows, Rows], history: VersionHistory) -> None:
    """Give both sides the same versions of each fact or document that differs."""
    histories = [_by_id(side, history) for side in sides]
    for name in sorted(histories[0].keys() & histories[1].keys()):
        pair = histories[0][name], histories[1][name]
        lasts = [rows[max(rows)] for rows in pair]
        ends = [_End(row[history.ends], row[history.ended_by]) for row in lasts if row[history.ends] is not None]
        both = pair[0].keys() & pair[1].keys()
        same = {number for number in both if _same(pair[0][number], pair[1][number], history)}
        for version in same:
            _share(pair[0][version], pair[1][version], history)
        if both - same:
            _interleave(sides, pair, min(both - same), ends, history)
        elif max(pair[0]) != max(pair[1]):
            _end(max(lasts, key=lambda row: row["version"]), ends, history)


def _end(last: RowDict, ends: list[_End], history: VersionHistory) -> None:
    """End the last version if the other side ended the history after it began."""
    later = [end for end in ends if end.at > last[history.begins]]
    if later:
        last[history.ends], last[history.ended_by] = min(later, key=lambda end: (end.at, end.cause or ""))


def _by_id(side: Rows, history: VersionHistory) -> dict[str, dict[int, RowDict]]:
    histories: dict[str, dict[int, RowDict]] = {}
    for (name, version), row in side.get(history.table, {}).items():
        histories.setdefault(name, {})[version] = row
    return histories


def _same(ours: RowDict, theirs: RowDict, history: VersionHistory) -> bool:
    if ours[history.begins] != theirs[history.begins]:
        return False
    redacted = ours.get("redacted") or theirs.get("redacted")
    text = "body" if history is DOCUMENT else "content"
    return bool(redacted) or ours[text] == theirs[text]


def _share(ours: RowDict, theirs: RowDict, history: VersionHistory) -> None:
    """Merge two rows of the same version: an end, a redaction and the last pin of either side apply."""
    ends = [row for row in (ours, theirs) if row[history.ends] is not None]
    first = min(ends, key=lambda row: (row[history.ends], row[history.ended_by] or ""), default=ours)
    latest = max(ours, theirs, key=lambda row: (row.get("redacted") or 0, _last_change(row), _text(row)))
    shared = {**latest, history.ends: first[history.ends], history.ended_by: first[history.ended_by]}
    if history is FACT:
        # An approval counts on both sides. Only the end of a version says as what it ended.
        evidence = {row["evidence"] for row in (ours, theirs)}
        shared["evidence"] = _APPROVED if _APPROVED in evidence else latest["evidence"]
        shared["ended_as"] = first["ended_as"]
    ours.update(shared)
    theirs.update(shared)


def _text(row: RowDict) -> str:
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def _last_change(row: RowDict) -> int:
    return max(row.get("pinned_at") or 0, row.get("unpinned_at") or 0, row.get("expires_at") or 0)


def _interleave(
    sides: tuple[Rows, Rows],
    pair: tuple[dict[int, RowDict], dict[int, RowDict]],
    start: int,
    ends: list[_End],
    history: VersionHistory,
) -> None:
    """Number the versions of both sides by start time, from the first that differs."""
    versions = [(side, row) for side in (0, 1) for version, row in pair[side].items() if version >= start]
    versions.sort(key=lambda item: (item[1][history.begins], _text(item[1])))
    name = versions[0][1]["id"]
    numbers: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for number, (side, row) in enumerate(versions, start):
        numbers[side][row["version"]] = number
    for (_, row), (_, after) in pairwise(versions):
        if row[history.ends] is None or row[history.ends] > after[history.begins]:
            row[history.ends] = after[history.begins]
            row[history.ended_by] = name if history is FACT else after["run"]
            if history is FACT:
                is_corrected = after["evidence"] == _APPROVED and after["content"] != row["content"]
                row["ended_as"] = _CORRECTED if is_corrected else None
    last = versions[-1][1]
    last[history.ends], last[history.ended_by] = None, None if history is FACT else ""
    _end(last, ends, history)
    for side in (0, 1):
        _renumber_versions(sides[side], history, name, numbers[side], last=start + len(versions) - 1)


def _renumber_versions(
    side: Rows, history: VersionHistory, name: str, numbers: Mapping[int, int], *, last: int
) -> None:
    newest = max(numbers.values())
    for table, (id_column, *columns) in _VERSIONED[history.kind].items():
        for row in side.get(table, {}).values():
            if row[id_column] != name:
                continue
            for column in columns:
                row[column] = numbers.get(row[column], row[column])
            if newest < last and row.get("last_version", 0) is None:
                row["last_version"] = newest  # the newest version is the other side's, and does not cite this source
        if table in side:
            side[table] = _rows_by_key(table, side[table])
    if history is FACT:
        _renumber_supports(side, name, numbers)
    renumber(side, history.kind, name, numbers)


def _renumber_supports(side: Rows, fact_id: str, numbers: Mapping[int, int]) -> None:
    """Rename the statements and links that belong to a version that a program or a person wrote."""
    for table, column, prefix in (("fact_statements", "fact_id", "saved:"), ("fact_links", "target_id", "version:")):
        for row in side.get(table, {}).values():
            if row[column] == fact_id and row["support"].startswith(prefix):
                number = int(row["support"].removeprefix(prefix))
                row["support"] = f"{prefix}{numbers.get(number, number)}"
        if table in side:
            side[table] = _rows_by_key(table, side[table])


def renumber(side: Rows, kind: str, name: str, numbers: Mapping[int, int]) -> None:
    """Update references to renumbered messages or versions."""
    columns_about = {table.name: table.about for table in declared_tables() if table.about is not None}
    for table, (kind_column, id_column, number) in columns_about.items():
        for row in side.get(table, {}).values():
            if row[kind_column] == kind and row[id_column] == name and row[number] is not None:
                row[number] = numbers.get(row[number], row[number])
        if table in side:
            side[table] = _rows_by_key(table, side[table])
    if kind == "message":
        for row in side.get("document_sources", {}).values():
            if row["kind"] == kind and row["source_id"] == name:
                row["number"] = numbers.get(row["number"], row["number"])
        if "document_sources" in side:
            side["document_sources"] = _rows_by_key("document_sources", side["document_sources"])


def _rows_by_key(table: str, rows: Mapping[Values, RowDict]) -> dict[Values, RowDict]:
    key_of = next(entry for entry in tables() if entry.name == table).key_of
    return {key_of(row): row for row in rows.values()}
