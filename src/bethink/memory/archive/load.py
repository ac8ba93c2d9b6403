"""Loads an archive into a space: checks all of it first, then stores it in steps that can be resumed."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from anyio import to_thread

from bethink.base.frozen import frozen
from bethink.errors import BethinkError, ConflictError, CorruptDatabaseError, InvalidRequestError
from bethink.memory.archive.reading import ArchiveReader, RowDict
from bethink.model.changes import ChangeKind
from bethink.model.jobs import JobKind
from bethink.model.rules import QUIET_CHECK
from bethink.store import archived, changes, jobs, views
from bethink.store.archived import Table
from bethink.store.db import Database, Tx

_STEP = 500
_CONFLICTS = (ConflictError, InvalidRequestError)


@frozen
class LoadReport:
    """The result of an import: the space, and the numbers of stored and of existing rows."""

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
) -> LoadReport:
    """Store everything in an archive, in a space of the same name or another. A second run continues the first.

    The space must be empty, or contain only a part of this archive. Raises `CorruptDatabaseError` for a damaged
    archive, with the file and the line, and `ConflictError` for a space that has anything else; nothing is written
    then. `record` is called with the space in the first transaction that writes.
    """
    with ArchiveReader(path) as archive:
        manifest = await to_thread.run_sync(archive.check)
        loading = _Loading(database, archive, space or manifest.space)
        empty = await database.transact(
            lambda tx: archived.is_empty(tx, space=loading.space), space=loading.space, read_only=True
        )
        if not empty:
            await database.transact(loading.must_be_part, space=loading.space, read_only=True)
        if dry_run:
            return LoadReport(space=loading.space, stored=sum(manifest.rows.values()), known=0, dry_run=True)
        try:
            return await loading.run(record)
        except _CONFLICTS as error:
            if empty:
                await database.transact(loading.undo, space=loading.space)
            raise CorruptDatabaseError(
                f"{path.name} is inconsistent: {loading.position}: {_message_of(error)}", hint=_HINT
            ) from error


async def load_for_move(database: Database, file: BinaryIO, *, check: Callable[[Tx], None]) -> int:
    """Store the rows of a space that moves and is not in use yet, and return their number. Queues no jobs.

    `check` is called in each transaction, and raises if the space may no longer be written there.
    """
    with ArchiveReader(Path("the copy"), file=file, for_move=True) as archive:
        manifest = await to_thread.run_sync(archive.check)
        return await _Loading(database, archive, manifest.space, check=check).store()


_HINT = "Nothing was stored. The digests are correct, so another program wrote this archive."


def _message_of(error: BethinkError) -> str:
    return str(error.args[0])


class _Loading:
    def __init__(
        self, database: Database, archive: ArchiveReader, space: str, *, check: Callable[[Tx], None] | None = None
    ) -> None:
        self._database = database
        self._check = check
        self._archive = archive
        self.space = space
        self.position = ""
        self._stored = self._existing = 0

    def must_be_part(self, tx: Tx) -> None:
        """Raise `ConflictError` if the space contains a row that the archive does not have."""
        for table in archived.tables():
            rows = self._archive.rows(table)
            for page in archived.pages(tx, table, space=self.space, size=_STEP):
                for row in page:
                    key = table.key_of(row)
                    match = next((candidate for _, candidate in rows if table.key_of(candidate) >= key), None)
                    if match is None or not archived.is_same(table, match, row):
                        raise ConflictError(
                            f"Space {self.space!r} contains data that is not in this archive ({table.name}).",
                            hint="Import it into another space, or merge two databases with 'bethink data sync'.",
                        )

    async def run(self, record: Callable[[Tx, str], None] | None) -> LoadReport:
        """Store the rows step by step, then queue the jobs that follow."""
        await self._database.transact(lambda tx: self._begin(tx, record), space=self.space, repeatable=True)
        await self.store()
        self.position = "the end"
        await self._refresh_facts()
        await self._database.transact(lambda tx: follow_up(tx, space=self.space), space=self.space, repeatable=True)
        return LoadReport(space=self.space, stored=self._stored, known=self._existing)

    async def store(self) -> int:
        """Store the rows step by step, and return the number of new rows."""
        for table in self._archive.tables:
            for first, rows in self._archive.pages(table, _STEP):
                self.position = f"rows/{table.name}.jsonl, lines {first} to {first + len(rows) - 1}"
                new = await self._database.transact(
                    lambda tx, table=table, rows=rows: self._store(tx, table, rows), space=self.space, repeatable=True
                )
                self._stored += new
                self._existing += len(rows) - new
        return self._stored

    async def _refresh_facts(self) -> None:
        """Store when the imported facts are true now, which may differ from when they were exported."""
        table = next(table for table in self._archive.tables if table.name == "facts")
        for _, rows in self._archive.pages(table, _STEP):
            ids = {row["id"] for row in rows}
            await self._database.transact(
                lambda tx, ids=ids: views.refresh(tx, space=self.space, fact_ids=ids), space=self.space, repeatable=True
            )

    def undo(self, tx: Tx) -> None:
        """Delete the rows of an inconsistent archive from a space that was empty before."""
        tx.run("forget_space", space=self.space)
        tx.deletes = True

    def _begin(self, tx: Tx, record: Callable[[Tx, str], None] | None) -> None:
        if record is not None:
            record(tx, self.space)
        jobs.ensure_space(tx, space=self.space)
        archived.set_created_at(tx, self._archive.manifest.created_at, space=self.space)

    def _store(self, tx: Tx, table: Table, rows: list[RowDict]) -> int:
        if self._check is not None:
            self._check(tx)
        existing = archived.between(tx, table, table.key_of(rows[0]), table.key_of(rows[-1]), space=self.space)
        new = [row for row in rows if table.key_of(row) not in existing]
        archived.insert(tx, table, new, space=self.space)
        return len(new)


def follow_up(tx: Tx, *, space: str) -> None:
    """Queue the jobs for imported rows: learning, consolidating, embedding.

    They have no seals: the chain of their session begins with its next message.
    """
    tx.run("seal_from_the_next_message", space=space)
    sessions = next(table for table in archived.tables() if table.name == "sessions")
    for page in archived.pages(tx, sessions, space=space, size=_STEP):
        for row in page:
            _queue_learning(tx, row, space=space)
    jobs.queue(tx, space=space, kind=JobKind.INDEX, key=jobs.SPACE_KEY, watermark=0)
    if tx.first("any_unselected", space=space) is not None:
        jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY, watermark=0)
    changes.record(tx, space=space, kind=ChangeKind.SPACE_IMPORTED, ref="")


def _queue_learning(tx: Tx, row: archived.Row, *, space: str) -> None:
    if not row["learns"]:
        return
    if row["invalidated_at"] is not None:
        jobs.queue(tx, space=space, kind=JobKind.EXTRACT, key=row["id"], watermark=row["invalidated_at"])
    elif (row["processed_until"] or 0) < row["last_number"] or row["ended_at"] is None:
        jobs.schedule_idle_check(tx, space=space, session_id=row["id"], due=tx.now + QUIET_CHECK)
