"""What SQLite needs to survive power cuts and failing disks."""

# pyright: reportUnknownMemberType=false
import os
from functools import partial
from pathlib import Path

import apsw
import pytest

from bethink.errors import DatabaseUnavailableError
from bethink.store.engines import checkpoint
from bethink.store.engines.sqlite_log import rewrite_log
from tests.conftest import KEY, many, memory_on
from tests.store.test_sqlite import opened, pragma


async def test_without_a_log_the_folder_is_synced_after_each_commit_too(tmp_path: Path) -> None:
    database = await opened(tmp_path / "m.db", wal=False)

    assert await pragma(database, "synchronous") == 3
    await database.close()


async def test_a_new_folder_is_synced_into_the_one_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []

    def note(file: int) -> None:
        synced.append(os.fstat(file).st_ino)

    monkeypatch.setattr(os, "fsync", note)

    database = await opened(tmp_path / "a" / "b" / "m.db")

    await database.close()
    assert {tmp_path.stat().st_ino, (tmp_path / "a").stat().st_ino} <= set(synced)


async def test_log_that_failed_to_sync_is_rewritten_before_new_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[bytes] = []

    def fails(path: str) -> None:
        written.append(Path(f"{path}-wal").read_bytes())
        raise apsw.IOError("eio")

    database = await opened(tmp_path / "m.db")
    session = await memory_on(database).space("alice").session(KEY)
    await session.append(many(30))
    database._checkpointer.note_disk_failure()
    monkeypatch.setattr(checkpoint, "rewrite_log", fails)
    with pytest.raises(DatabaseUnavailableError, match="Nothing was written"):
        await session.append(many(1))
    assert not await database.empty_log()
    assert len(written[0]) > 0
    monkeypatch.undo()

    await session.append(many(1))

    assert not database._checkpointer.is_log_suspect
    assert len(await session.messages()) == 31
    await database.close()


async def test_a_log_is_written_again_byte_for_byte(tmp_path: Path) -> None:
    database = await opened(tmp_path / "m.db")
    session = await memory_on(database).space("alice").session(KEY)
    await session.append(many(300))
    before = (tmp_path / "m.db-wal").read_bytes()

    rewrite_log(str(tmp_path / "m.db"))

    assert (tmp_path / "m.db-wal").read_bytes() == before
    assert len(before) > 128 * 1024
    await database.close()


async def test_doubtful_log_is_left_for_the_next_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = await opened(tmp_path / "m.db")
    session = await memory_on(database).space("alice").session(KEY)
    await session.append(many(1))
    database._checkpointer.note_disk_failure()
    monkeypatch.setattr(checkpoint, "rewrite_log", partial(_raise, apsw.IOError("eio")))

    await database.close()

    assert (tmp_path / "m.db-wal").stat().st_size > 0


def _raise(error: Exception, _: str) -> None:
    raise error
