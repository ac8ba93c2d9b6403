"""The campaigns on power cuts and failing disks find what they look for."""

from pathlib import Path
from random import Random

import pytest

from faults import disk
from faults.power import Mutant, campaign
from faults.recorded_disk import Act, Disk, Event, Left, Replay


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize("mutant", Mutant)
def test_a_bug_on_purpose_is_found(mutant: Mutant) -> None:
    _, verdict = campaign(200, 7, mutant)

    assert verdict.violations


def test_what_was_synced_is_left_and_the_rest_only_by_chance(tmp_path: Path) -> None:
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


def test_a_deleted_file_may_come_back_until_its_folder_is_synced(tmp_path: Path) -> None:
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
def test_a_bug_that_a_failing_disk_brings_out_is_found(mutant: disk.Mutant) -> None:
    _, verdict = disk.campaign(60, 7, mutant)

    assert verdict.violations
