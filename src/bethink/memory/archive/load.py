"""Reads an archive into a space: checked as a whole first, then stored in steps that can be taken up again."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from anyio import to_thread

from bethink.base.frozen import frozen
from bethink.errors import BethinkError, Conflict, Corrupt, Invalid
from bethink.memory.archive.reading import ArchiveReader, RowDict
from bethink.model.changes import ChangeKind
from bethink.model.jobs import JobKind
from bethink.model.rules import QUIET_CHECK
from bethink.store import archived, changes, jobs
from bethink.store.archived import Table
from bethink.store.db import Database, Tx

_STEP = 500
_REFUSED = (Conflict, Invalid)


@frozen
class Loaded:
    """What an import did: into which space, how many rows it stored, and how many were there already."""

    space: str
    stored: int
    known: int
    dry_run: bool = False


async def load_archive(
    database: Database,
    path: Path,
    *,
    space: str | None = None,
    dry_run: bool = False,
    record: Callable[[Tx, str], None] | None = None,
) -> Loaded:
    """Store everything in an archive, in a space of the same name or another. A second run continues the first.

    The space must be empty, or hold nothing but a part of this archive. Raises `Corrupt` for a damaged archive,
    with the file and the line, and `Conflict` for a space that holds anything else; nothing is written then. `record`
    is called with the space in the first transaction that writes.
    """
    with ArchiveReader(path) as archive:
        manifest = await to_thread.run_sync(archive.check)
        loading = _Loading(database, archive, space or manifest.space)
        empty = await database.transact(
            lambda tx: archived.is_empty(tx, space=loading.space), space=loading.space, read=True
        )
        if not empty:
            await database.transact(loading.must_be_part, space=loading.space, read=True)
        if dry_run:
            return Loaded(space=loading.space, stored=sum(manifest.rows.values()), known=0, dry_run=True)
        try:
            return await loading.run(record)
        except _REFUSED as error:
            if empty:
                await database.transact(loading.undo, space=loading.space)
            raise Corrupt(f"{path.name} contradicts itself: {loading.place}: {_said(error)}", hint=_HINT) from error


async def load_whole(database: Database, file: BinaryIO, *, check: Callable[[Tx], None]) -> int:
    """Store the rows of a space that moves, which no other process uses yet, and return how many. Nothing is queued.

    `check` is called in each of its transactions, and raises if it may no longer write there.
    """
    with ArchiveReader(Path("the copy"), file=file, whole=True) as archive:
        manifest = await to_thread.run_sync(archive.check)
        return await _Loading(database, archive, manifest.space, check=check).store()


_HINT = "Nothing of it is stored. Its digests are right, so it was written by something else than Bethink."


def _said(error: BethinkError) -> str:
    return str(error.args[0])


class _Loading:
    def __init__(
        self, database: Database, archive: ArchiveReader, space: str, *, check: Callable[[Tx], None] | None = None
    ) -> None:
        self._database = database
        self._check = check
        self._archive = archive
        self.space = space
        self.place = ""
        self._stored = self._known = 0

    def must_be_part(self, tx: Tx) -> None:
        """Raise `Conflict` if the space holds a row that the archive does not have."""
        for table in archived.tables():
            rows = self._archive.rows(table)
            for page in archived.pages(tx, table, space=self.space, size=_STEP):
                for row in page:
                    key = table.key_of(row)
                    there = next((found for _, found in rows if table.key_of(found) >= key), None)
                    if there is None or any(there.get(name, row[name]) != row[name] for name in table.names):
                        raise Conflict(
                            f"space {self.space!r} holds memories that are not in this archive ({table.name}).",
                            hint="Import it into another space, or bring two memories together with 'bethink sync'.",
                        )

    async def run(self, record: Callable[[Tx, str], None] | None) -> Loaded:
        """Store the rows step by step, then what follows from them."""
        await self._database.transact(lambda tx: self._begin(tx, record), space=self.space, repeatable=True)
        await self.store()
        self.place = "the end"
        await self._database.transact(lambda tx: follow_up(tx, space=self.space), space=self.space, repeatable=True)
        return Loaded(space=self.space, stored=self._stored, known=self._known)

    async def store(self) -> int:
        """Store the rows step by step, and return how many were new."""
        for table in self._archive.tables:
            for first, rows in self._archive.pages(table, _STEP):
                self.place = f"rows/{table.name}.jsonl, lines {first} to {first + len(rows) - 1}"
                new = await self._database.transact(
                    lambda tx, table=table, rows=rows: self._store(tx, table, rows), space=self.space, repeatable=True
                )
                self._stored += new
                self._known += len(rows) - new
        return self._stored

    def undo(self, tx: Tx) -> None:
        """Remove what was stored of an archive that contradicts itself, in a space that was empty before."""
        tx.run("forget_space", space=self.space)
        tx.forgets = True

    def _begin(self, tx: Tx, record: Callable[[Tx, str], None] | None) -> None:
        if record is not None:
            record(tx, self.space)
        jobs.ensure_space(tx, space=self.space)
        archived.set_created_at(tx, self._archive.manifest.created_at, space=self.space)

    def _store(self, tx: Tx, table: Table, rows: list[RowDict]) -> int:
        if self._check is not None:
            self._check(tx)
        there = archived.between(tx, table, table.key_of(rows[0]), table.key_of(rows[-1]), space=self.space)
        new = [row for row in rows if table.key_of(row) not in there]
        archived.insert(tx, table, new, space=self.space)
        return len(new)


def follow_up(tx: Tx, *, space: str) -> None:
    """Queue what is to be done with rows that came from elsewhere: learning, consolidating, embedding.

    They have no seals: the chain of their session begins with its next message.
    """
    tx.run("seal_from_the_next_message", space=space)
    sessions = next(table for table in archived.tables() if table.name == "sessions")
    for page in archived.pages(tx, sessions, space=space, size=_STEP):
        for row in page:
            _await(tx, row, space=space)
    jobs.queue(tx, space=space, kind=JobKind.INDEX, key=jobs.SPACE_KEY, watermark=0)
    if tx.one("any_unselected", space=space) is not None:
        jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY, watermark=0)
    changes.record(tx, space=space, kind=ChangeKind.SPACE_IMPORTED, ref="")


def _await(tx: Tx, row: archived.Row, *, space: str) -> None:
    if not row["learns"]:
        return
    if row["invalidated_at"] is not None:
        jobs.queue(tx, space=space, kind=JobKind.EXTRACT, key=row["id"], watermark=row["invalidated_at"])
    elif (row["processed_until"] or 0) < row["last_number"] or row["ended_at"] is None:
        jobs.await_quiet(tx, space=space, session_id=row["id"], due=tx.now + QUIET_CHECK)
