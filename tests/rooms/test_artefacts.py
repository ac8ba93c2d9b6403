"""Memory as files: generated from the database alone, byte for byte the same, and never outside their folder."""

import io
import shutil
import zipfile
from pathlib import Path

import pytest

from bethink import Memory
from bethink.errors import ConfigurationError
from bethink.memory.documents.files import archive, clear_files, folder_of, write_folder
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.db import Database
from tests.conftest import FakeClock
from tests.rooms.learn_kit import DONE, a_fact, consolidator
from tests.rooms.test_consolidate import DAY, Life


@pytest.fixture
def life(database: Database, memory: Memory) -> Life:
    return Life(database, memory)


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.spec("S2.31", "S2.32", "S2.55")
async def test_consolidation_writes_memory_files_and_session_summaries(
    life: Life, tmp_path: Path, clock: FakeClock
) -> None:
    first = await life.tell("I like tea.", a_fact("User likes tea", 1))
    clock.time += DAY
    second = await life.tell("I like rain.")
    await life.use(first)

    await life.consolidate(consolidator(life.database, folder=str(tmp_path)))

    files = contents(tmp_path / folder_of("alice"))
    assert {name for name in files if "/" not in name} == {
        "raw_memories.md", "MEMORY.md", "memory_summary.md", "index.md",
    }  # fmt: skip
    raw = files["raw_memories.md"]
    assert raw.index(second.id) < raw.index(first.id), "selected by use, written by time"
    summaries = [name for name in files if name.startswith("rollout_summaries/")]
    assert len(summaries) == 2
    assert [name for name in summaries if name.endswith("user-likes-tea.md") and first.id in files[name]]
    assert "User likes tea" in files["memory_summary.md"]


@pytest.mark.spec("S2.33", "S2.49")
async def test_previous_files_stay_until_the_writer_finishes(life: Life, tmp_path: Path, clock: FakeClock) -> None:
    old = await life.tell("I like tea.")
    await life.consolidate(consolidator(life.database, folder=str(tmp_path)))
    clock.time += 40 * DAY
    new = await life.tell("I like rain.")
    folder = tmp_path / folder_of("alice")
    seen: list[str] = []

    class Watching(ScriptedModel):
        async def answer(self, call: ModelCall) -> ModelAnswer:
            seen.append("".join(contents(folder).values()))
            return await super().answer(call)

    await life.consolidate(consolidator(life.database, Watching([DONE]), folder=str(tmp_path)))

    assert old.id in seen[0]
    assert new.id in seen[0]
    after = contents(folder)
    assert old.id not in "".join(after.values())
    assert len([name for name in after if name.startswith("rollout_summaries/")]) == 1


async def test_the_folder_can_be_deleted_and_is_made_again_byte_for_byte(life: Life, tmp_path: Path) -> None:
    await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    handler = consolidator(life.database, folder=str(tmp_path))
    await life.consolidate(handler)
    folder = tmp_path / folder_of("alice")
    before = contents(folder)
    shutil.rmtree(folder)

    await handler.refresh("alice")

    assert contents(folder) == before


async def test_the_same_files_come_as_an_archive_that_is_always_the_same(life: Life) -> None:
    await life.tell("I like tea.")
    await life.consolidate()
    files = await life.docs.read_all()

    packed = archive(files)

    assert packed == archive(files)
    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        assert {name: opened.read(name).decode() for name in opened.namelist()} == files


def test_write_folder_never_follows_symlinks(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.md").write_text("kept")
    linked = tmp_path / "linked"
    linked.symlink_to(outside)
    with pytest.raises(ConfigurationError, match="symlink"):
        write_folder(linked, {"raw_memories.md": "x"})

    root = tmp_path / "root"
    root.mkdir()
    (root / "rollout_summaries").symlink_to(outside)
    with pytest.raises(ConfigurationError, match="symlink"):
        write_folder(root, {"rollout_summaries/x.md": "x"})
    (root / "rollout_summaries").unlink()
    (root / "MEMORY.md").symlink_to(outside / "kept.md")
    write_folder(root, {"MEMORY.md": "new"})

    assert contents(outside) == {"kept.md": "kept"}
    assert contents(root) == {"MEMORY.md": "new"}


def test_every_space_has_its_own_folder() -> None:
    names = ["alice", "../alice", "a/b", "a-b", ".", "é" * 200]

    folders = [folder_of(name) for name in names]

    assert len(set(folders)) == len(names)
    assert all(set(folder) <= set("abcdefghijklmnopqrstuvwxyz0123456789-é") and len(folder) < 60 for folder in folders)


@pytest.mark.parametrize("others", [[], ["notes.txt"]])
async def test_clear_files_removes_the_folder_of_a_space_if_unused(tmp_path: Path, others: list[str]) -> None:
    folder = tmp_path / folder_of("ida@berg.example")
    write_folder(folder, {"MEMORY.md": "tea", "rollout_summaries/one.md": "tea"})
    for name in others:
        (folder / name).write_text("mine")

    await clear_files(tmp_path, "ida@berg.example")
    await clear_files(tmp_path, "nobody")

    assert list(contents(tmp_path)) == [f"{folder.name}/{name}" for name in others]
    assert list(tmp_path.iterdir()) == ([folder] if others else [])
