"""Writes a space into an archive: one snapshot, in one pass, with one page of rows in memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from bethink.errors import InvalidRequestError, NotFoundError
from bethink.memory.archive.format import MAX_LINE, ArchiveManifest, ZipWriter, atomic_file, line_of
from bethink.memory.archive.readable import ReadableCopy
from bethink.store import archived, sessions
from bethink.store.archived import Table
from bethink.store.db import Database, Row, Tx
from bethink.store.migrate import newest_version

_PAGE = 256
_TIMES = frozenset({
    "created_at", "recorded_at", "retired_at", "ended_at", "set_at", "given_at", "decided_at", "changed_at",
    "settled_at", "applied_at", "shown_at", "generated_at", "requested_at",
})  # fmt: skip
"""Columns with times of actions: the newest of them is the time of the archive."""


async def write_archive(database: Database, path: Path, *, space: str) -> ArchiveManifest:
    """Write everything in a space to a file, which appears only when it is complete. Returns its manifest.

    The same content gives the same bytes. Raises `NotFoundError` if there is no such space.
    """
    return await database.transact(lambda tx: _to_file(tx, path, space=space), space=space, read_only=True)


def must_exist(tx: Tx, *, space: str) -> int:
    """Return the creation time of a space. Raises `NotFoundError` for an unknown space."""
    created_at = archived.created_at(tx, space=space)
    if created_at is None:
        raise NotFoundError(f"No space {space!r}.", hint="Run 'bethink admin spaces' to list the spaces.")
    return created_at


def write_for_move(tx: Tx, sink: BinaryIO, *, space: str) -> ArchiveManifest:
    """Write a space that moves to another shard: an archive without pages, with additional tables."""
    sink.seek(0)
    sink.truncate()
    return _write_to(tx, sink, space=space, for_move=True)


def _to_file(tx: Tx, path: Path, *, space: str) -> ArchiveManifest:
    with atomic_file(path) as sink:
        return _write_to(tx, sink, space=space, for_move=False)


def _write_to(tx: Tx, sink: BinaryIO, *, space: str, for_move: bool) -> ArchiveManifest:
    # The erasures of a deleted space move, too.
    created_at = archived.created_at(tx, space=space) or 0 if for_move else must_exist(tx, space=space)
    writing = _Writing(tx, sink, space=space, for_move=for_move)
    try:
        return writing.run(created_at)
    finally:
        writing.close()


class _Writing:
    """One pass over the tables of a space."""

    def __init__(self, tx: Tx, sink: BinaryIO, *, space: str, for_move: bool) -> None:
        self._tx, self._space, self._for_move = tx, space, for_move
        self._zip = ZipWriter(sink)
        self._newest = 0
        self.copy = ReadableCopy(space, self._conversation_of)

    def run(self, created_at: int) -> ArchiveManifest:
        self._newest = created_at
        for table in archived.tables(include_moved=self._for_move):
            self._zip.add_table(table.name, table.names, self._lines(table))
        for name, chunks in () if self._for_move else self.copy.files():
            self._zip.add(name, chunks)
        manifest = ArchiveManifest(
            space=self._space,
            created_at=created_at,
            newest=self._newest,
            schema=newest_version(self._tx.dialect),
            files=tuple(self._zip.files),
        )
        self._zip.close(manifest)
        return manifest

    def close(self) -> None:
        """Release open files, even after an error."""
        self.copy.close()
        self._zip.release()

    def _lines(self, table: Table) -> Iterator[bytes]:
        times = [name for name in table.names if name in _TIMES]
        for page in archived.pages(self._tx, table, space=self._space, size=_PAGE):
            for row in page:
                self._newest = max(self._newest, *(row[name] or 0 for name in times), 0)
                if not self._for_move:
                    self.copy.add_row(table.name, row)
                yield _line(table, row)

    def _conversation_of(self, session_id: str) -> str:
        session = sessions.find(self._tx, space=self._space, session_id=session_id)
        key = session and sessions.key_of(self._tx, space=self._space, conversation=session.conversation_id)
        return key or session_id


def _line(table: Table, row: Row) -> bytes:
    line = line_of(row, table.names)
    if len(line) > MAX_LINE:
        raise InvalidRequestError(
            f"A row of {table.name} has more than {MAX_LINE} bytes: {table.key_of(row)!r}.",
            hint="Delete this row, then export the space again.",
        )
    return line
