"""Writes SQLite's write-ahead log again after the disk failed to sync it."""

# pyright: reportUnknownMemberType=false

import apsw

_CHUNK = 64 * 1024
"""SQLite's files take less than 128 KiB at once."""
_LOG = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_WAL


def write_log_again(path: str) -> None:
    """Write what the log of a database holds in its place once more, and sync it. No other connection may write.

    When a sync fails, Linux forgets which pages it still had to write: they are read as if all were well, the next sync
    succeeds, and they are not on the disk. The log may begin with commits that were not synced, such as records of
    reads. With a hole there, all that is synced after it would be lost at a power cut.
    """
    log = apsw.VFSFile("", f"{path}-wal", [_LOG, 0])  # as SQLite opens it; locks are on another file
    try:
        size = log.xFileSize()
        for start in range(0, size, _CHUNK):
            log.xWrite(log.xRead(min(_CHUNK, size - start), start), start)
        log.xSync(apsw.SQLITE_SYNC_FULL)
    finally:
        log.xClose()
