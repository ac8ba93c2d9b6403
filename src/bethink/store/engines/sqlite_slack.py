"""Clears what SQLite leaves of deleted rows between the cells of a page."""

# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import apsw

from bethink.store.engines.sqlite_log import FILE, FRAME, HEADER, LOG, read_header

_HEADERS = {0x02: 12, 0x05: 12, 0x0A: 8, 0x0D: 8}
"""Bytes before the cell pointers, by the kind of a page: section 1.6 of https://sqlite.org/fileformat2.html."""
_LAST = 0x01FF_FFFF
"""Behind this page, 130 GB on, one that belongs to no tree may begin like one that does."""
_TOGETHER = 16
"""Pages that are read at once."""
_BATCH = 4_096
"""Pages that are cleared while other writers wait."""
_MOST_KNOWN = 50_000
"""Pages that are remembered; after more of them, all are looked at."""


class Slack:
    """The space between the cells of pages, where parts of deleted rows may be.

    `secure_delete` overwrites a row where it is. But when SQLite splits a page, it moves rows to another one and leaves
    what they were in the free space of the first: a row that is deleted later may have such a copy.
    """

    def __init__(self, path: str, *, log: Path | None) -> None:
        """Take the path of a database, and that of its write-ahead log, if it has one."""
        self._path = path
        self._log = log
        self._writer: apsw.Connection | None = None
        self._pages: set[int] | None = None
        """Those that were written since all were cleared; None if that is not known, as without a log."""
        self._version: object = None
        """What the writer knew of other connections' commits at that time."""
        self._frames, self._salt = 0, b""

    def watch(self, writer: apsw.Connection) -> None:
        """Take the connection whose commits are told to `note`."""
        self._writer, self._pages = writer, None

    def note(self, frames: int) -> None:
        """Take note of the pages that a commit of the writer has brought into the log, which has so many frames now."""
        if self._pages is None:
            return
        try:
            self._pages |= self._pages_in_log(frames)
        except apsw.Error:
            self._pages = None
        else:
            self._pages = self._pages if len(self._pages) <= _MOST_KNOWN else None

    def clear(self, connection: apsw.Connection, empty_log: Callable[[], None]) -> bool:
        """Overwrite it with zeros, where something was written since that was last done. The log must be empty.

        `empty_log` empties it again between two batches, as each ends with a commit. Returns False if another
        connection wrote to the log meanwhile, or if it cannot tell what pages are for: with `auto_vacuum`, and beyond
        130 GB. Raises what SQLite raises.
        """
        known, size = self._known(connection), int(str(connection.pragma("page_size")))
        file = apsw.VFSFile("", self._path, [FILE, 0])
        try:
            last = file.xFileSize() // size
            if last > _LAST or connection.pragma("auto_vacuum"):
                return False
            pages = range(2, last + 1) if known is None else sorted(known)
            for at in range(0, len(pages), _BATCH):
                if at:
                    empty_log()
                if not self._clear(connection, file, pages[at : at + _BATCH], size):
                    return False
        finally:
            file.xClose()
        self._pages = None if self._log is None else set()
        return True

    def _known(self, connection: apsw.Connection) -> set[int] | None:
        """Return the pages that may have changed; None for all of them, as others may have written."""
        mine = connection is self._writer and self._version == connection.pragma("data_version")
        return self._pages if mine else None

    def _clear(self, connection: apsw.Connection, file: apsw.VFSFile, pages: Iterable[int], size: int) -> bool:
        connection.execute("BEGIN EXCLUSIVE" if self._log is None else "BEGIN IMMEDIATE")
        try:
            if self._log is not None and self._log.exists() and self._log.stat().st_size:
                connection.execute("ROLLBACK")
                return False
            self._version = connection.pragma("data_version") if connection is self._writer else None
            self._salt = b""
            # Only what no cell uses is written, so that it does not matter to readers, or to a power cut.
            found = [file.xWrite(bytes(length), at) for at, length in _used(file, pages, size)]
            if found:
                file.xSync(apsw.SQLITE_SYNC_FULL)
                # A commit, so that no connection writes such a page again from what it has in memory.
                connection.pragma("user_version", connection.pragma("user_version"))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        connection.pragma("shrink_memory")
        return True

    def _pages_in_log(self, frames: int) -> set[int]:
        """Return the pages of the frames that were not looked at yet."""
        file = apsw.VFSFile("", str(self._log), [LOG, 0])
        try:
            size, salt = read_header(file)
            first = self._frames if salt == self._salt else 0  # else the log was started anew
            self._frames, self._salt = frames, salt
            return {int.from_bytes(file.xRead(4, HEADER + at * (FRAME + size))) for at in range(first, frames)}
        finally:
            file.xClose()


def _used(file: apsw.VFSFile, pages: Iterable[int], size: int) -> Iterator[tuple[int, int]]:
    """Return where the free space between the cells of pages is not all zeros, and its length."""
    for first, data in _read(file, pages, size):
        for start in range(0, len(data) - size + 1, size):
            head = _HEADERS.get(data[start])
            if head is None:
                continue
            cells, content = data[start + 3] << 8 | data[start + 4], data[start + 5] << 8 | data[start + 6]
            begin, end = start + head + 2 * cells, start + (content or 65_536)
            free = data[begin:end]
            if begin < end <= start + size and free.count(0) != len(free):
                yield (first - 1) * size + begin, len(free)


def _read(file: apsw.VFSFile, pages: Iterable[int], size: int) -> Iterator[tuple[int, bytes]]:
    """Read pages, several at once if they lie together; the first has the schema, and is left alone."""
    if isinstance(pages, range):
        for first in pages[::_TOGETHER]:
            yield first, file.xRead(size * min(_TOGETHER, pages[-1] - first + 1), (first - 1) * size)
    else:
        for page in pages:
            if page > 1:
                yield page, file.xRead(size, (page - 1) * size)
