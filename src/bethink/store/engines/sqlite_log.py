"""Rewrites SQLite's write-ahead log and the pages it changed, after the disk failed to sync them."""

# pyright: reportUnknownMemberType=false

import apsw

_CHUNK = 64 * 1024
"""SQLite's files take less than 128 KiB at once."""
LOG = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_WAL
FILE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_MAIN_DB
HEADER, FRAME = 32, 24
"""Bytes before the first frame, and before the page in a frame: section 4 of https://sqlite.org/fileformat2.html."""


def rewrite_log(path: str) -> None:
    """Rewrite the log of a database in place, and sync it. No other connection may write.

    When a sync fails, Linux forgets which pages were not written: reads still return them and the next sync
    succeeds, but they are not on the disk. The log may begin with commits that were not synced, such as entries of
    the access log. With such a gap, everything synced after it would be lost at a power cut.
    """
    log = apsw.VFSFile("", f"{path}-wal", [LOG, 0])  # as SQLite opens it; locks are on another file
    try:
        size = log.xFileSize()
        for start in range(0, size, _CHUNK):
            log.xWrite(log.xRead(min(_CHUNK, size - start), start), start)
        log.xSync(apsw.SQLITE_SYNC_FULL)
    finally:
        log.xClose()


def rewrite_pages(path: str, frames: int) -> None:
    """Rewrite the pages of a log's first frames to the database, and sync it.

    All of them must have been written by a checkpoint, and no other connection may write. A checkpoint that does not
    reach the end of the log is not synced, and SQLite does not write its pages a second time: if a later sync fails,
    they may be lost, and once the log is overwritten nothing has them.
    """
    log = apsw.VFSFile("", f"{path}-wal", [LOG, 0])
    file = apsw.VFSFile("", path, [FILE, 0])
    try:
        size, salt = read_header(log)
        newest, pages = dict[int, int](), 0
        for at in range(HEADER, HEADER + frames * (FRAME + size), FRAME + size):
            frame = log.xRead(FRAME, at)
            if frame[8:16] != salt:
                raise apsw.CorruptError("The log changed while it was read.")
            newest[int.from_bytes(frame[:4])] = at
            pages = int.from_bytes(frame[4:8]) or pages  # only the last frame of a commit says how many there are
        for page, at in sorted(newest.items()):
            if page <= pages:
                file.xWrite(log.xRead(size, at + FRAME), (page - 1) * size)
        file.xSync(apsw.SQLITE_SYNC_FULL)
    finally:
        file.xClose()
        log.xClose()


def read_header(log: apsw.VFSFile) -> tuple[int, bytes]:
    """Return the size of a page, and the salt of every frame since the log was last restarted."""
    header = log.xRead(HEADER, 0)
    return int.from_bytes(header[8:12]), header[16:24]
