"""Brings two memories together: each gets what it lacks, and both end equal, archives byte for byte."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from bethink.base.frozen import frozen
from bethink.errors import Busy, Conflict
from bethink.memory.archive.load import follow_up
from bethink.memory.archive.merge import Rows, keyed, merged, taken_back
from bethink.memory.archive.reading import ArchiveReader, RowDict
from bethink.memory.archive.write import write_archive
from bethink.model.moments import Micros
from bethink.model.recall import Ref, RefKind
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
"""What only one row may have, and what stands there instead until every row has its place: another column, nothing."""


_CHILDREN = {
    "agents": (("conversations", ("agent_id",)),),
    "conversations": (("sessions", ("conversation_id",)),),
    "messages": (("fact_sources", ("session_id", "number")), ("fact_quotes", ("session_id", "number"))),
}
"""What would go with a row, and must be gone or moved before."""


@frozen
class Synced:
    """What a sync did to one space: how many rows each side got, and how many of its own were changed."""

    space: str
    first: int = 0
    second: int = 0


async def sync_space(
    first: Database,
    second: Database,
    *,
    space: str,
    forget_again: Callable[[Tx, str], object],
    take_back: Callable[[Tx, str, Ref, Micros], object],
    records: Iterable[Callable[[Tx, str], None]] = (),
) -> Synced:
    """Let two memories exchange what each lacks of a space. Both are equal afterwards.

    It holds what differs in memory, not what both have. `forget_again` removes what the tombstones of a space cover:
    what one side forgot is forgotten on the other first, or it would come back. `take_back` does the same for a message
    that one side took back at a time. Raises `Busy` if someone goes on writing meanwhile: nothing is lost, and another
    run goes on. Raises `UnderLegalHold` before anything is shared. `records` are called with the space before that, the
    first in the one database and the second in the other.
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
                made = min(ours.manifest.created_at, theirs.manifest.created_at)
                if ours.manifest == theirs.manifest:
                    return Synced(space=space, first=counts[0], second=counts[1])
                sides = differing(ours, theirs)
            missed = taken_back(*sides)
            if any(missed):
                for place, (database, rows) in enumerate(zip(pair, missed, strict=True)):
                    await _take_back(database, rows, take_back, space=space)
                    counts[place] += len(rows)
                continue  # what rests on them is gone by the next round, on both sides
            result = merged(*sides)
            for place, (database, side) in enumerate(zip(pair, sides, strict=True)):
                change = RowChanges(side, result, space=space)
                try:
                    counts[place] += await database.transact(
                        lambda tx, change=change, made=made: _applied(tx, change, made, space=space), space=space
                    )
                except Conflict:
                    continue  # someone wrote meanwhile: the next round sees it
    raise Busy(f"space {space!r} kept changing while it was synced.", hint="Run it again when less is written.")


async def _begin(pair: tuple[Database, Database], records: Iterable[Callable[[Tx, str], None]], *, space: str) -> None:
    for database in pair:
        await database.transact(lambda tx: holds.refuse_if_held(tx, space=space), space=space, repeatable=True)
    for database, record in zip(pair, records, strict=False):
        await database.transact(lambda tx, record=record: record(tx, space), space=space, repeatable=True)


async def _take_back(
    database: Database, rows: list[RowDict], take_back: Callable[[Tx, str, Ref, Micros], object], *, space: str
) -> None:
    for row in rows:
        ref = Ref(RefKind.MESSAGE, row["session_id"], row["number"])
        await database.transact(
            lambda tx, ref=ref, at=row["retracted_at"]: take_back(tx, space, ref, at), space=space, repeatable=True
        )


def _applied(tx: Tx, change: "RowChanges", created_at: int, *, space: str) -> int:
    count = change.apply(tx)
    archived.set_created_at(tx, created_at, space=space)
    if count:
        follow_up(tx, space=space)
    return count


async def _share_tombstones(of: Database, to: Database, *, space: str) -> None:
    stones, key = await of.transact(
        lambda tx: (erasures.tombstones(tx, space=space), erasures.digests(tx)), space=space, repeatable=True
    )

    if stones:
        keys = (key.own, *key.others)
        await to.transact(lambda tx: erasures.put(tx, stones, keys=keys, space=space), space=space, repeatable=True)


def differing(ours: ArchiveReader, theirs: ArchiveReader) -> tuple[Rows, Rows]:
    """Return the rows of each archive that the other does not have, or has otherwise."""
    found: tuple[Rows, Rows] = ({}, {})
    for table in archived.tables():
        for side, row in _unequal(table, ours, theirs):
            found[side].setdefault(table.name, {})[table.key_of(row)] = row
    # Sessions in which a side has spoken are looked at, even if their own rows happen to be equal.
    wanted = {key[0] for side in found for key in side.get("messages", {})}
    sessions = next(table for table in archived.tables() if table.name == "sessions")
    for side, archive in zip(found, (ours, theirs), strict=True):
        rows = keyed("sessions", (row for _, row in archive.rows(sessions) if row["id"] in wanted)) if wanted else {}
        side["sessions"] = rows | side.get("sessions", {})
    return found


def _unequal(table: Table, ours: ArchiveReader, theirs: ArchiveReader) -> Iterator[tuple[int, RowDict]]:
    """Go along both archives, which have the same order, and yield what differs with its side."""
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
    """What makes one side what both are to become: rows to change, to add and to remove."""

    def __init__(self, side: Rows, result: Rows, *, space: str, whole: bool = False) -> None:
        self._side, self._result = side, result
        self._space = space
        self._tables = archived.tables(whole=whole)

    def apply(self, tx: Tx) -> int:
        """Change the space in one transaction, and return how many rows that took."""
        tx.one("lock_space", space=self._space)
        count = 0
        for table in self._tables:
            self._must_be_as_read(tx, table)
        for table in self._tables:
            self._give_up(tx, table)
        for table in self._tables:
            count += self._put(tx, table)
        for table in reversed(self._tables):
            for key in self._gone(table):
                self._must_be_alone(tx, table, key)
                archived.delete(tx, table, key, space=self._space)
                count += 1
        return count

    def _must_be_as_read(self, tx: Tx, table: Table) -> None:
        side, result = self._side.get(table.name, {}), self._result[table.name]
        for key, row in side.items():
            if result.get(key) != row and archived.between(tx, table, key, key, space=self._space).get(key) != row:
                raise Conflict(f"a row of {table.name} was changed meanwhile.")

    def _must_be_alone(self, tx: Tx, table: Table, key: Values) -> None:
        for child, columns in _CHILDREN.get(table.name, ()):
            if archived.refers(tx, child, columns, key, space=self._space):
                raise Conflict(f"a row of {child} was added meanwhile.")

    def _changed(self, table: Table) -> list[tuple[RowDict, RowDict]]:
        side, result = self._side.get(table.name, {}), self._result[table.name]
        return [(row, result[key]) for key, row in side.items() if key in result and result[key] != row]

    def _gone(self, table: Table) -> list[Values]:
        return [key for key in self._side.get(table.name, {}) if key not in self._result[table.name]]

    def _give_up(self, tx: Tx, table: Table) -> None:
        unique = _UNIQUE.get(table.name)
        if unique is None:
            return
        side = self._side.get(table.name, {})
        for row in [*(row for row, _ in self._changed(table)), *(side[key] for key in self._gone(table))]:
            without = {name: _instead(row, name, other) for name, other in unique.items()}
            archived.update(tx, table, {**row, **without}, space=self._space)

    def _put(self, tx: Tx, table: Table) -> int:
        side, result = self._side.get(table.name, {}), self._result[table.name]
        changed = self._changed(table)
        for _, row in sorted(changed, key=lambda each: _is_open(each[1])):
            archived.update(tx, table, row, space=self._space)
        new = [row for key, row in result.items() if key not in side]
        archived.insert(tx, table, new, space=self._space)
        return len(changed) + len(new)


def _instead(row: RowDict, name: str, other: str) -> object:
    if other == "-":
        return -1 - row[name]
    if name.endswith(("_at", "_to")):
        return row[name] or row[other]
    return row[other] if other else None


def _is_open(row: RowDict) -> bool:
    return any(name in row and row[name] is None for name in ("retired_at", "valid_to", "ended_at"))
