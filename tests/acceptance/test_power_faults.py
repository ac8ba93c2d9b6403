"""The campaigns on power cuts and failing disks detect seeded bugs."""

# pyright: reportUnknownMemberType=false
from dataclasses import dataclass
from pathlib import Path
from random import Random

import apsw
import pytest

from bethink.store.engines.sqlite import SqliteDatabase
from faults import disk
from faults.power import Mutant, campaign
from faults.power_life import FILE
from faults.recorded_disk import Act, Disk, Event, Left, Replay, failed, recording
from tests.conftest import KEY, many, memory_on
from tests.store.test_sqlite import opened


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize("mutant", Mutant)
def test_seeded_bug_is_detected(mutant: Mutant) -> None:
    _, verdict = campaign(200, 7, mutant)

    assert verdict.violations


def test_replayed_power_cut_keeps_synced_data(tmp_path: Path) -> None:
    written = Disk(tmp_path)
    kept = written.opened("kept")
    written.add(Event(Act.WRITE, kept, 0, b"synced--" * 200))
    written.add(Event(Act.SYNC, kept, len(written.events)))
    written.add(Event(Act.SYNC_FOLDER, at=len(written.events)))
    written.add(Event(Act.WRITE, kept, 0, b"written-" * 200))
    written.add(Event(Act.WRITE, written.opened("new"), 0, b"written-"))
    replay = Replay(written, Random(1))
    replay.go(len(written.events))

    torn = {replay.cut(Left.TORN, Random(seed))["kept"] for seed in range(20)}

    assert replay.cut(Left.NOTHING, Random(1)) == {"kept": b"synced--" * 200}
    assert replay.cut(Left.EVERYTHING, Random(1)) == {"kept": b"written-" * 200, "new": b"written-"}
    assert any(b"synced--" in each and b"written-" in each for each in torn)


def test_deleted_file_may_return_until_its_folder_is_synced(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(b"old")
    written = Disk(tmp_path)
    written.deleted("journal", synced=False)
    replay = Replay(written, Random(1))
    replay.go(len(written.events))
    before = replay.cut(Left.NOTHING, Random(1))
    written.add(Event(Act.SYNC_FOLDER, at=len(written.events)))
    replay.go(len(written.events))

    assert before == {"journal": b"old"}
    assert replay.cut(Left.NOTHING, Random(1)) == {}


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize("mutant", disk.Mutant)
def test_bug_exposed_by_a_failing_disk_is_detected(mutant: disk.Mutant) -> None:
    _, verdict = disk.campaign(240, 7, mutant)

    assert verdict.violations


@dataclass
class _FailsToSyncTheFile:
    ill: bool = False
    hits: int = 0

    def __call__(self, act: Act, name: str) -> None:
        if self.ill and act is Act.SYNC and name == FILE:
            self.hits += 1
            raise failed(apsw.SQLITE_IOERR_FSYNC)


async def _fold(database: SqliteDatabase) -> None:
    await database._writer.run(lambda holder: database._checkpointer._merge_log(holder.connection()))


async def _folded_in_part(database: SqliteDatabase, path: Path) -> None:
    """Store 31 messages and write most of them to the file, which SQLite does not sync then."""
    session = await memory_on(database).space("faults").session(KEY)
    await session.append(many(30))
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM messages")
    await session.append(many(1))
    await _fold(database)
    reader.close()


async def _three_more(database: SqliteDatabase) -> None:
    session = await memory_on(database).space("faults").session(KEY)
    for _ in range(3):
        await session.append(many(1))
        await _fold(database)


def _messages_after_a_cut(written: Disk, seed: int, folder: Path) -> int:
    replay = Replay(written, Random(seed))
    replay.go(len(written.events))
    folder.mkdir()
    for name, content in replay.cut(Left.NOTHING, Random(seed)).items():
        (folder / name).write_bytes(content)
    connection = apsw.Connection(str(folder / FILE))
    assert connection.pragma("integrity_check") == "ok"
    return int(str(connection.execute("SELECT count(*) FROM messages").get))


@pytest.mark.parametrize("readers", [0, 2])
@pytest.mark.parametrize("reopened", [False, True])
@pytest.mark.parametrize("seed", range(3))
async def test_pages_lost_by_a_failed_sync_are_rewritten(
    tmp_path: Path, seed: int, reopened: bool, readers: int
) -> None:
    failing = _FailsToSyncTheFile()
    written = Disk(tmp_path.resolve(), failing=failing)
    with recording(written):
        database = await opened(tmp_path / FILE, readers=readers)
        await _folded_in_part(database, tmp_path / FILE)
        failing.ill = True
        await _fold(database)
        if reopened:
            await database.close()
            database = await opened(tmp_path / FILE, readers=readers)
        failing.ill = False
        await _three_more(database)
        assert failing.hits
        assert _messages_after_a_cut(written, seed, tmp_path / "cut") == 34

        assert await database.empty_log()
        await database.close()


@pytest.mark.parametrize("seed", range(3))
async def test_another_program_may_go_on_with_a_file_that_could_not_be_synced(tmp_path: Path, seed: int) -> None:
    failing = _FailsToSyncTheFile()
    written = Disk(tmp_path.resolve(), failing=failing)
    with recording(written):
        database, other = await opened(tmp_path / FILE), await opened(tmp_path / FILE)
        await _folded_in_part(database, tmp_path / FILE)
        failing.ill = True
        await _fold(database)
        failing.ill = False
        await database.close()
        await _three_more(other)
        assert _messages_after_a_cut(written, seed, tmp_path / "cut") == 34
        await other.close()
