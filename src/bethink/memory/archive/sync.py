"""Syncs two databases: each gets the rows it lacks, and their archives are then byte-identical."""

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from itertools import chain
from pathlib import Path

from bethink.base.frozen import frozen
from bethink.errors import ConflictError, DatabaseBusyError
from bethink.memory.archive.load import follow_up
from bethink.memory.archive.merge import Rows, merge_rows, missed_retractions, rows_by_key
from bethink.memory.archive.reading import ArchiveReader, RowDict
from bethink.memory.archive.write import write_archive
from bethink.memory.facts.merging import settle_merged
from bethink.model.moments import Micros
from bethink.model.refs import Ref, RefKind
from bethink.store import archived, erasures, holds, jobs
from bethink.store.archived import Table, Values
from bethink.store.db import Database, Tx

_ROUNDS = 5
_UNIQUE: dict[str, dict[str, str]] = {
    "agents": {"name": "id"},
    "conversations": {"key": "id"},
    "sessions": {"ordinal": "-", "ended_at": "created_at"},
    "messages": {"idempotency_key": ""},
    "facts": {"effect": "", "retired_at": "recorded_at"},
    "reviews": {"effect": "id"},
    "documents": {"valid_to": "valid_from"},
    "threads": {"session_id": ""},
}
"""Unique columns, and the column with a placeholder value for each until all rows are in place; empty for NULL."""


_CHILDREN = {
    "agents": (("conversations", ("agent_id",)),),
    "conversations": (("sessions", ("conversation_id",)),),
    "messages": tuple(
        (table, ("session_id", "number"))
        for table in ("fact_sources", "fact_quotes", "message_marks", "forget_requests")
    ),
}
"""Tables whose rows would be deleted with a row, and must be deleted or moved first."""


_FACT_COLUMNS = {
    "facts": ("id",), "fact_statements": ("fact_id",), "fact_links": ("fact_id", "target_id"),
    "fact_quotes": ("fact_id",), "reviews": ("fact_id",),
}  # fmt: skip
"""Tables that decide when facts are true, with the columns that name facts."""


@frozen
class SyncReport:
    """The result of syncing one space: the number of added and changed rows on each side."""

    space: str
    first: int = 0
    second: int = 0


async def sync_space(
    first: Database,
    second: Database,
    *,
    space: str,
    forget_again: Callable[[Tx, str], object],
    retract: Callable[[Tx, str, Ref, Micros], object],
    records: Iterable[Callable[[Tx, str], None]] = (),
) -> SyncReport:
    """Exchange the rows that each of two databases lacks of a space. Both are equal afterward.

    Only rows that differ are held in memory. `forget_again` deletes the items that the tombstones of a space cover:
    what one side deleted is deleted on the other first, or it would come back. `retract` does the same for a message
    that one side retracted at a time. Raises `DatabaseBusyError` if the space keeps changing: nothing is lost, and
    another run resumes. Raises `LegalHoldError` before anything is shared. `records` are called with the space before
    that, the first in the one database and the second in the other.
    """
    pair = (first, second)
    await _begin(pair, records, space=space)
    counts = [0, 0]
    await _share_tombstones(first, second, space=space)
    await _share_tombstones(second, first, space=space)
    for database in pair:
        await database.transact(lambda tx: forget_again(tx, space), space=space)
        await database.transact(lambda tx: jobs.ensure_space(tx, space=space), space=space, repeatable=True)
    with tempfile.TemporaryDirectory(prefix="bethink-") as folder:
        for _ in range(_ROUNDS):
            paths = [Path(folder) / "first.zip", Path(folder) / "second.zip"]
            for database, path in zip(pair, paths, strict=True):
                await write_archive(database, path, space=space)
            with ArchiveReader(paths[0]) as ours, ArchiveReader(paths[1]) as theirs:
                created_at = min(ours.manifest.created_at, theirs.manifest.created_at)
                if ours.manifest == theirs.manifest:
                    return SyncReport(space=space, first=counts[0], second=counts[1])
                sides = differing(ours, theirs)
            missed = missed_retractions(*sides)
            if any(missed):
                for index, (database, rows) in enumerate(zip(pair, missed, strict=True)):
                    await _retract_missed(database, rows, retract, space=space)
                    counts[index] += len(rows)
                continue  # derived data is deleted by the next round, on both sides
            result = merge_rows(*sides)
            fact_ids = changed_facts(sides, result)
            at = await first.transact(lambda tx: tx.now, read_only=True)
            for index, (database, side) in enumerate(zip(pair, sides, strict=True)):
                change = RowChanges(side, result, space=space)
                try:
                    counts[index] += await database.transact(
                        lambda tx, change=change, created_at=created_at, fact_ids=fact_ids, at=at: _apply_changes(
                            tx, change, created_at, fact_ids, at, space=space
                        ),
                        space=space,
                    )
                except ConflictError:
                    continue  # the space changed in the meantime: the next round sees it
    raise DatabaseBusyError(
        f"Space {space!r} kept changing during the sync.", hint="Run the sync again when there are fewer writes."
    )


async def _begin(pair: tuple[Database, Database], records: Iterable[Callable[[Tx, str], None]], *, space: str) -> None:
    for database in pair:
        await database.transact(lambda tx: holds.check_not_on_hold(tx, space=space), space=space, repeatable=True)
    for database, record in zip(pair, records, strict=False):
        await database.transact(lambda tx, record=record: record(tx, space), space=space, repeatable=True)


async def _retract_missed(
    database: Database, rows: list[RowDict], retract: Callable[[Tx, str, Ref, Micros], object], *, space: str
) -> None:
    for row in rows:
        ref = Ref(RefKind.MESSAGE, row["session_id"], row["number"])
        await database.transact(
            lambda tx, ref=ref, at=row["retracted_at"]: retract(tx, space, ref, at), space=space, repeatable=True
        )


def _apply_changes(
    tx: Tx, change: "RowChanges", created_at: int, fact_ids: Collection[str], at: datetime, *, space: str
) -> int:  # fmt: skip
    """Apply the merged rows, and settle what follows from them in the same way on both sides."""
    count = change.apply(tx)
    archived.set_created_at(tx, created_at, space=space)
    settle_merged(tx, fact_ids, space=space, at=at)
    if count:
        follow_up(tx, space=space)
    return count


def changed_facts(sides: tuple[Rows, Rows], result: Rows) -> set[str]:
    """Return the facts with a row that differs, in any table that decides when they are true."""
    return {
        row[column]
        for rows in (*sides, result)
        for table, columns in _FACT_COLUMNS.items()
        for row in rows.get(table, {}).values()
        for column in columns
        if row[column]
    }


async def _share_tombstones(source: Database, target: Database, *, space: str) -> None:
    stones, key = await source.transact(
        lambda tx: (erasures.tombstones(tx, space=space), erasures.digests(tx)), space=space, repeatable=True
    )

    if stones:
        keys = (key.own, *key.others)
        await target.transact(lambda tx: erasures.put(tx, stones, keys=keys, space=space), space=space, repeatable=True)


def differing(ours: ArchiveReader, theirs: ArchiveReader) -> tuple[Rows, Rows]:
    """Return the rows of each archive that the other lacks, or has with other values."""
    differences: tuple[Rows, Rows] = ({}, {})
    for table in archived.tables():
        for side, row in _unequal(table, ours, theirs):
            differences[side].setdefault(table.name, {})[table.key_of(row)] = row
    # Sessions with new messages on a side are included, even if their own rows are equal.
    session_ids = {key[0] for side in differences for key in side.get("messages", {})}
    sessions = next(table for table in archived.tables() if table.name == "sessions")
    for side, archive in zip(differences, (ours, theirs), strict=True):
        rows = (
            rows_by_key("sessions", (row for _, row in archive.rows(sessions) if row["id"] in session_ids))
            if session_ids
            else {}
        )
        side["sessions"] = rows | side.get("sessions", {})
    return differences


def _unequal(table: Table, ours: ArchiveReader, theirs: ArchiveReader) -> Iterator[tuple[int, RowDict]]:
    """Walk both archives, which have the same order, and yield the differing rows with their side."""
    sides = [(row for _, row in archive.rows(table)) for archive in (ours, theirs)]
    now = [next(side, None) for side in sides]
    while now[0] is not None and now[1] is not None:
        keys = [table.key_of(row) for row in now if row is not None]
        if keys[0] == keys[1]:
            if now[0] != now[1]:
                yield 0, now[0]
                yield 1, now[1]
            now = [next(side, None) for side in sides]
        else:
            side = 0 if keys[0] < keys[1] else 1
            row = now[side]
            assert row is not None  # noqa: S101 - the loop says so
            yield side, row
            now[side] = next(sides[side], None)
    for side in (0, 1):
        for row in chain([now[side]], sides[side]):
            if row is not None:
                yield side, row


class RowChanges:
    """The rows to change, add and remove to turn one side into the merged result."""

    def __init__(self, side: Rows, result: Rows, *, space: str, for_move: bool = False) -> None:
        self._side, self._result = side, result
        self._space = space
        self._tables = archived.tables(include_moved=for_move)

    def apply(self, tx: Tx) -> int:
        """Change the space in one transaction, and return the number of changed rows."""
        tx.lock_space(self._space)
        count = 0
        for table in self._tables:
            self._check_unchanged(tx, table)
        for table in self._tables:
            self._free_unique_values(tx, table)
        for table in self._tables:
            count += self._put(tx, table)
        for table in reversed(self._tables):
            for key in self._deleted_keys(table):
                self._check_no_children(tx, table, key)
                archived.delete(tx, table, key, space=self._space)
                count += 1
        return count

    def _check_unchanged(self, tx: Tx, table: Table) -> None:
        side, result = self._side.get(table.name, {}), self._result[table.name]
        for key, row in side.items():
            if result.get(key) != row and archived.between(tx, table, key, key, space=self._space).get(key) != row:
                raise ConflictError(f"A row of {table.name} was changed in the meantime.")

    def _check_no_children(self, tx: Tx, table: Table, key: Values) -> None:
        for child, columns in _CHILDREN.get(table.name, ()):
            if archived.has_reference(tx, child, columns, key, space=self._space):
                raise ConflictError(f"A row of {child} was added in the meantime.")

    def _changed_rows(self, table: Table) -> list[tuple[RowDict, RowDict]]:
        side, result = self._side.get(table.name, {}), self._result[table.name]
        return [(row, result[key]) for key, row in side.items() if key in result and result[key] != row]

    def _deleted_keys(self, table: Table) -> list[Values]:
        return [key for key in self._side.get(table.name, {}) if key not in self._result[table.name]]

    def _free_unique_values(self, tx: Tx, table: Table) -> None:
        unique = _UNIQUE.get(table.name)
        if unique is None:
            return
        side = self._side.get(table.name, {})
        for row in [*(row for row, _ in self._changed_rows(table)), *(side[key] for key in self._deleted_keys(table))]:
            without = {name: _placeholder(row, name, other) for name, other in unique.items()}
            archived.update(tx, table, {**row, **without}, space=self._space)

    def _put(self, tx: Tx, table: Table) -> int:
        side, result = self._side.get(table.name, {}), self._result[table.name]
        changed = self._changed_rows(table)
        for _, row in sorted(changed, key=lambda pair: _is_open(pair[1])):
            archived.update(tx, table, row, space=self._space)
        changed = [(before, row) for before, row in changed if not archived.is_same(table, before, row)]
        new = [row for key, row in result.items() if key not in side]
        archived.insert(tx, table, new, space=self._space)
        return len(changed) + len(new)


def _placeholder(row: RowDict, name: str, other: str) -> object:
    if other == "-":
        return -1 - row[name]
    if name.endswith(("_at", "_to")):
        return row[name] or row[other]
    return row[other] if other else None


def _is_open(row: RowDict) -> bool:
    return any(name in row and row[name] is None for name in ("retired_at", "valid_to", "ended_at"))
