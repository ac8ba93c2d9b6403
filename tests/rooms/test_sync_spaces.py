"""Sync: two databases exchange missing data, end byte for byte equal, and lose no message."""

import random
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import bethink
import bethink.types
from bethink.memory.archive.merge import merge_rows
from bethink.memory.archive.reading import ArchiveReader
from bethink.memory.archive.sync import SyncReport, differing, sync_space
from bethink.memory.archive.write import write_archive
from bethink.memory.deletion.replay import replay
from bethink.memory.deletion.retract import retract_as_of
from bethink.store import chain
from bethink.store.db import Database
from tests.conftest import FakeClock, memory_on, said
from tests.length import often
from tests.rooms.archive_kit import SPACE, Life, opened

LIVES = often(1, long=20)


@pytest.fixture
async def other(template: Path, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Database]:
    """Another memory, on the same clock."""
    async with opened(shutil.copy(template, tmp_path / "other.db"), clock) as database:
        yield database


async def _sync(first: Database, second: Database) -> SyncReport:
    return await sync_space(
        first, second, space=SPACE, forget_again=lambda tx, space: replay(tx, space=space), retract=retract_as_of
    )


async def _equal(first: Database, second: Database, folder: Path) -> bool:
    for database, name in ((first, "first.zip"), (second, "second.zip")):
        await write_archive(database, folder / name, space=SPACE)
    return (folder / "first.zip").read_bytes() == (folder / "second.zip").read_bytes()


async def _said(database: Database) -> set[str]:
    space = memory_on(database).space(SPACE)
    found: set[str] = set()
    for entry in await space.sessions.list(limit=1_000):
        session = await space.sessions.get(entry.session.id)
        found |= {record.message.content for record in await session.messages(limit=1_000)}
    return found


async def _live(first: Database, second: Database, seed: int, steps: int, folder: Path) -> None:
    lives = [Life(first, seed, forgets=False), Life(second, seed + 1_000, forgets=False)]
    chance = random.Random(seed)
    while steps > 0:
        for life in lives:
            many = chance.randint(1, 15)
            steps -= many
            await life.go_on(many)
        spoken = await _said(first) | await _said(second)
        await _sync(first, second)
        assert await _equal(first, second, folder)
        assert await _said(first) == spoken


@pytest.mark.parametrize("seed", range(LIVES))
async def test_both_are_equal_whatever_each_did(database: Database, other: Database, tmp_path: Path, seed: int) -> None:
    await _live(database, other, seed, 100, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(often(400, long=3_600))
async def test_both_are_equal_after_many_things_on_each_side(
    database: Database, other: Database, tmp_path: Path
) -> None:
    await _live(database, other, 77, often(150, long=2_000), tmp_path)


async def test_sync_is_symmetric(database: Database, other: Database, tmp_path: Path) -> None:
    for seed in range(3):
        await Life(database, seed, forgets=False).go_on(20)
        await Life(other, seed + 50, forgets=False).go_on(20)
        await write_archive(database, tmp_path / "a.zip", space=SPACE)
        await write_archive(other, tmp_path / "b.zip", space=SPACE)
        with ArchiveReader(tmp_path / "a.zip") as first, ArchiveReader(tmp_path / "b.zip") as second:
            ours, theirs = differing(first, second)
        assert merge_rows(ours, theirs) == merge_rows(theirs, ours)
        if seed == 1:
            await _sync(other, database)


async def test_sync_merges_messages_of_one_session_in_order(
    database: Database, other: Database, tmp_path: Path
) -> None:
    here, there = memory_on(database).space(SPACE), memory_on(other).space(SPACE)
    session = await here.session("cli:desk")
    await session.append(said("one"))
    await _sync(database, other)
    await session.append(said("two here", "three here"))
    away = await there.session("cli:desk")
    assert away.id == session.id
    await away.append(said("two there"))
    await _sync(database, other)
    for space in (here, there):
        found = await (await space.sessions.get(session.id)).messages()
        told = [(record.number, record.message.content) for record in found]
        assert told == [(1, "one"), (2, "two here"), (3, "three here"), (4, "two there")]
        assert (await space.recall("two there")).items
    assert await session.append(said("five")) == [5]
    assert await _equal(database, other, tmp_path) is False


async def test_sync_keeps_both_fact_changes_and_the_later_is_current(database: Database, other: Database) -> None:
    here, there = memory_on(database).space(SPACE), memory_on(other).space(SPACE)
    await here.facts.save(bethink.Fact(id="home", text="Mira lives in Oslo."))
    await _sync(database, other)
    await there.correct("fact:home:1", "Mira lives in Bergen.")
    await here.correct("fact:home:1", "Mira lives in Kyoto.")
    await _sync(database, other)
    for space in (here, there):
        assert (await space.facts.get("home")).text == "Mira lives in Kyoto."
        told = [each.text for each in await space.facts.versions("home")]
        assert told == ["Mira lives in Oslo.", "Mira lives in Bergen.", "Mira lives in Kyoto."]


async def test_newer_fact_in_a_slot_is_current_after_sync(database: Database, other: Database) -> None:
    here, there = memory_on(database).space(SPACE), memory_on(other).space(SPACE)
    await there.facts.save(bethink.Fact(id="b", text="Lives in Bergen.", subject="Mira", slot="city"))
    await here.facts.save(bethink.Fact(id="a", text="Lives in Oslo.", subject="Mira", slot="city"))
    await _sync(database, other)
    for space in (here, there):
        assert [fact.id for fact in await space.facts.list()] == ["a"]


async def test_documents_at_one_path_merge_with_both_histories(database: Database, other: Database) -> None:
    here, there = memory_on(database).space(SPACE), memory_on(other).space(SPACE)
    for space, text in ((here, "from here"), (there, "from there")):
        parent = await space.documents.create(bethink.types.DocumentDraft(slug="plans", title="Plans", body=text))
        await space.documents.create(
            bethink.types.DocumentDraft(slug="trip", title="Trip", body=f"trip {text}", parent=parent.id)
        )
    await _sync(database, other)
    for space in (here, there):
        tree = {entry.path: entry for entry in await space.documents.list()}
        trip = await space.documents.get(tree[next(path for path in tree if path.endswith("plans/trip"))].id)
        assert trip.body == "trip from there"
        assert sum(path.endswith("trip") for path in tree) == 1
        plans = next(each for path, each in tree.items() if path.endswith("plans"))
        assert [each.body for each in await space.documents.versions(plans.id)] == ["from here", "from there"]


async def test_a_memory_that_is_empty_gets_everything(database: Database, other: Database, tmp_path: Path) -> None:
    await Life(database, 5).go_on(40)
    await write_archive(database, tmp_path / "before.zip", space=SPACE)
    await _sync(database, other)
    assert await _equal(database, other, tmp_path)
    assert (tmp_path / "first.zip").read_bytes() == (tmp_path / "before.zip").read_bytes()
    again = await _sync(database, other)
    assert (again.first, again.second) == (0, 0)


@pytest.mark.parametrize("there_first", [True, False])
async def test_deletion_syncs_to_the_other_side_for_good(
    database: Database, other: Database, tmp_path: Path, *, there_first: bool
) -> None:
    here, there = memory_on(database).space(SPACE), memory_on(other).space(SPACE)
    kept = await here.remember("I like the harbour.")
    session = await here.session("chat:mira")
    await session.append(said("my neighbour is called Wilhelmina", "the kettle is blue"))
    await _sync(database, other)
    await here.forget(f"message:{session.id}:1")

    await (_sync(other, database) if there_first else _sync(database, other))

    assert kept is not None
    for space in (here, there):
        assert not [line for line in (await space.recall("Wilhelmina")).items if "Wilhelmina" in line.text]
        assert [record.number for record in await (await space.sessions.get(session.id)).messages()] == [2]
    assert await _equal(database, other, tmp_path)
    await (await there.sessions.get(session.id)).append(said("and the door is green"))
    await _sync(database, other)
    for side in (database, other):
        report = await side.transact(lambda tx: chain.check(tx, space=SPACE), space=SPACE, read_only=True)
        assert report.broken == ()


@pytest.mark.parametrize("there_first", [True, False])
async def test_retraction_syncs_to_both_sides_once(
    database: Database, other: Database, tmp_path: Path, *, there_first: bool
) -> None:
    here, there = memory_on(database).space(SPACE), memory_on(other).space(SPACE)
    session = await here.session("cli:desk")
    await session.append(said("one", "two", "I keep a zebrafinch."))
    review = await here.reviews.propose(f"message:{session.id}:3")
    await here.reviews.approve(review.id)
    await _sync(database, other)
    assert len(await there.facts.list()) == 1
    await session.retract(3)
    taken_back = (await session.transcript()).lines[-1].record.retracted_at
    # Both go on, and the other side takes back something, too.
    await session.append(said("four here"))
    away = await there.session("cli:desk")
    await away.append(said("four there"))
    await away.retract(2)

    await (_sync(other, database) if there_first else _sync(database, other))

    for space in (here, there):
        lines = (await (await space.sessions.get(session.id)).transcript()).lines
        told = [(line.record.number, line.record.message.content, line.record.retracted_at is None) for line in lines]
        assert told == [
            (1, "one", True), (2, "two", False), (3, "I keep a zebrafinch.", False), (4, "four here", True),
            (5, "four there", True),
        ]  # fmt: skip
        assert lines[2].record.retracted_at == taken_back
        assert await space.facts.list() == []
        assert not (await space.recall("zebrafinch")).items
    assert await _equal(database, other, tmp_path)


async def test_earlier_retraction_time_wins_after_sync(database: Database, other: Database, tmp_path: Path) -> None:
    here, there = memory_on(database).space(SPACE), memory_on(other).space(SPACE)
    session = await here.session("cli:desk")
    await session.append(said("one", "two"))
    await _sync(database, other)
    away = await there.sessions.get(session.id)
    await away.retract(2)
    first = (await away.transcript()).lines[-1].record.retracted_at
    await session.retract(2)

    await _sync(database, other)

    for space in (here, there):
        lines = (await (await space.sessions.get(session.id)).transcript()).lines
        assert [line.record.retracted_at for line in lines] == [None, first]
    assert await _equal(database, other, tmp_path)
