"""Clears remains of deleted rows that SQLite leaves between the cells of a page."""

# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import apsw

from bethink.store.engines.sqlite_log import FILE, FRAME, HEADER, LOG, read_header

_HEADERS = {0x02: 12, 0x05: 12, 0x0A: 8, 0x0D: 8}
"""Bytes before the cell pointers, by the kind of a page: section 1.6 of https://sqlite.org/fileformat2.html."""
_LAST = 0x01FF_FFFF
"""Beyond this page (130 GB), a page that belongs to no tree may look like one that does."""
_READ_PAGES = 16
"""Pages that are read at once."""
_BATCH = 4_096
"""Pages that are cleared while other writers wait."""
_MAX_TRACKED = 50_000
"""Maximum number of tracked pages. Beyond it, all pages are checked."""


class Slack:
    """The space between the cells of pages, where parts of deleted rows may be.

    `secure_delete` overwrites a row where it is. But when SQLite splits a page, it moves rows to another one and leaves
    copies in the free space of the first, which remain when a row is deleted later.
    """

    def __init__(self, path: str, *, log: Path | None) -> None:
        """Track the database at `path`. `log` is its write-ahead log, or None."""
        self._path = path
        self._log = log
        self._writer: apsw.Connection | None = None
        self._pages: set[int] | None = None
        """Pages that were written since all were cleared; None if unknown, as without a log."""
        self._version: object = None
        """The `data_version` of the writer at that time."""
        self._frames, self._salt = 0, b""

    def watch(self, writer: apsw.Connection) -> None:
        """Set the connection whose commits are passed to `note`."""
        self._writer, self._pages = writer, None

    def note(self, frames: int) -> None:
        """Record the pages that a commit of the writer added to the log. `frames` is the new length of the log."""
        if self._pages is None:
            return
        try:
            self._pages |= self._pages_in_log(frames)
        except apsw.Error:
            self._pages = None
        else:
            self._pages = self._pages if len(self._pages) <= _MAX_TRACKED else None

    def clear(self, connection: apsw.Connection, empty_log: Callable[[], None]) -> bool:
        """Overwrite the slack of pages written since the last call with zeros. The log must be empty.

        `empty_log` empties it again between two batches, as each ends with a commit. Returns False if another
        connection wrote to the log in the meantime, or if pages cannot be identified: with `auto_vacuum`, and beyond
        130 GB. Raises the errors of SQLite.
        """
        changed, size = self._changed_pages(connection), int(str(connection.pragma("page_size")))
        file = apsw.VFSFile("", self._path, [FILE, 0])
        try:
            last = file.xFileSize() // size
            if last > _LAST or connection.pragma("auto_vacuum"):
                return False
            pages = range(2, last + 1) if changed is None else sorted(changed)
            for at in range(0, len(pages), _BATCH):
                if at:
                    empty_log()
                if not self._clear(connection, file, pages[at : at + _BATCH], size):
                    return False
        finally:
            file.xClose()
        self._pages = None if self._log is None else set()
        return True

    def _changed_pages(self, connection: apsw.Connection) -> set[int] | None:
        """Return the pages that may have changed; None for all of them, as others may have written."""
        is_tracked = connection is self._writer and self._version == connection.pragma("data_version")
        return self._pages if is_tracked else None

    def _clear(self, connection: apsw.Connection, file: apsw.VFSFile, pages: Iterable[int], size: int) -> bool:
        connection.execute("BEGIN EXCLUSIVE" if self._log is None else "BEGIN IMMEDIATE")
        try:
            if self._log is not None and self._log.exists() and self._log.stat().st_size:
                connection.execute("ROLLBACK")
                return False
            self._version = connection.pragma("data_version") if connection is self._writer else None
            self._salt = b""
            # Only unused bytes are written, which affects neither readers nor recovery after a power cut.
            cleared = [file.xWrite(bytes(length), at) for at, length in _find_slack(file, pages, size)]
            if cleared:
                file.xSync(apsw.SQLITE_SYNC_FULL)
                # A commit, so that no connection rewrites such a page from its cache.
                connection.pragma("user_version", connection.pragma("user_version"))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        connection.pragma("shrink_memory")
        return True

    def _pages_in_log(self, frames: int) -> set[int]:
        """Return the pages of the frames that were not read yet."""
        file = apsw.VFSFile("", str(self._log), [LOG, 0])
        try:
            size, salt = read_header(file)
            first = self._frames if salt == self._salt else 0  # otherwise the log was restarted
            self._frames, self._salt = frames, salt
            return {int.from_bytes(file.xRead(4, HEADER + at * (FRAME + size))) for at in range(first, frames)}
        finally:
            file.xClose()


def _find_slack(file: apsw.VFSFile, pages: Iterable[int], size: int) -> Iterator[tuple[int, int]]:
    """Yield the offset and length of free space between cells that is not all zeros."""
    for first, data in _read_pages(file, pages, size):
        for start in range(0, len(data) - size + 1, size):
            head = _HEADERS.get(data[start])
            if head is None:
                continue
            cells, content = data[start + 3] << 8 | data[start + 4], data[start + 5] << 8 | data[start + 6]
            begin, end = start + head + 2 * cells, start + (content or 65_536)
            free = data[begin:end]
            if begin < end <= start + size and free.count(0) != len(free):
                yield (first - 1) * size + begin, len(free)


def _read_pages(file: apsw.VFSFile, pages: Iterable[int], size: int) -> Iterator[tuple[int, bytes]]:
    """Read pages, several at once if they are adjacent. The first page has the schema, and is skipped."""
    if isinstance(pages, range):
        for first in pages[::_READ_PAGES]:
            yield first, file.xRead(size * min(_READ_PAGES, pages[-1] - first + 1), (first - 1) * size)
    else:
        for page in pages:
            if page > 1:
                yield page, file.xRead(size, (page - 1) * size)
