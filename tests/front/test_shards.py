"""Many PostgreSQL databases as one memory: each space is on one shard and can be moved while in use."""

import uuid
from pathlib import Path

import anyio
import psycopg
import pytest

import bethink
from bethink.errors import (
    ConfigurationError,
    ConflictError,
    DatabaseUnavailableError,
    DuplicateError,
    InvalidRequestError,
    NotFoundError,
    OutcomeUnknownError,
    SpaceMovedError,
)
from bethink.host.local import Local
from bethink.model.documents import DocumentDraft
from bethink.store import archived, chain
from bethink_shards import marks, space_rows
from bethink_shards.directory import Placement, ShardState
from bethink_shards.marks import MoveMark, MoveState
from bethink_shards.moving import SpaceMove
from bethink_shards.operating import add_shard, drain_shard, move_space
from bethink_shards.steps import MoveStep
from tests.conftest import said
from tests.front.shards_kit import STEPS, Fleet, Killed, connected, killing, other_than, rows_left, texts
from tests.length import often
from tests.rooms.archive_kit import SPACE, Life
from tools import postgres


async def test_new_space_goes_to_the_emptiest_shard_with_its_operations(fleet: Fleet, name: str) -> None:
    memory, shards = fleet
    before = {shard.name: shard.spaces for shard in (await shards.directory.shards()).values()}
    spaces = [f"{name}-{number}" for number in range(4)]
    for space in spaces:
        await memory.space(space).remember(f"I live in Lisbon, says {space}.")

    after = {shard.name: shard.spaces for shard in (await shards.directory.shards()).values()}
    assert sum(after.values()) == sum(before.values()) + 4
    assert abs(after["a"] - after["b"]) <= 1
    for space in spaces:
        assert space in (await memory.space(space).recall("Where do I live?")).items[0].text
    assert set(spaces) <= {space.name for space in await memory.spaces.list(limit=1_000)}
    found = await memory.group(*spaces).recall("Where do I live?", limit=10)
    assert {item.space for item in found.items} == set(spaces)


async def test_ask_reads_several_spaces_of_one_shard_only(fleet: Fleet, name: str) -> None:
    memory, shards = fleet
    spaces = [f"{name}-{number}" for number in range(2)]
    for space in spaces:
        await memory.space(space).remember("I live in Oslo.")
    await move_space(shards, spaces[1], await other_than(shards, spaces[0]))

    with pytest.raises(InvalidRequestError, match="different shards"):
        await memory.group(*spaces).ask("Where do I live?")
    await move_space(shards, spaces[1], await other_than(shards, spaces[1]))
    with pytest.raises(InvalidRequestError, match="No model is configured"):
        await memory.group(*spaces).ask("Where do I live?")


async def test_a_heavier_shard_takes_more_spaces(fleet: Fleet, superuser_dsn: str) -> None:
    dsn = postgres.create_database(superuser_dsn, f"directory_{uuid.uuid4().hex[:12]}")
    memory, shards = connected({"directory": dsn})
    async with memory:
        await shards.directory.add("small", "postgresql:///small", weight=1)
        await shards.directory.add("large", "postgresql:///large", weight=3)
        places = [(await shards.directory.assign(f"space {number}")).shard for number in range(8)]

    assert (places.count("small"), places.count("large")) == (2, 6)


async def test_reading_an_unknown_space_does_not_place_it(fleet: Fleet, name: str) -> None:
    memory, shards = fleet

    assert not (await memory.space(name).recall("Where do I live?")).items
    assert await shards.directory.find(name) is None


async def test_operations_over_all_spaces_are_asked_of_every_shard(fleet: Fleet, name: str) -> None:
    memory, _ = fleet
    spaces = [f"{name}-{number}" for number in range(2)]
    for space in spaces:
        await memory.space(space).remember("Zerlina plays the oboe.")
        await memory.space(space).admin.holds.place("a lawsuit", actor="Mira")

    held = await memory.admin.holds.list(limit=1_000)
    assert {hold.space for hold in held} >= set(spaces)
    found = await memory.admin.people.find("Zerlina")
    assert {each.space for each in found.spaces} >= set(spaces)
    erased = await memory.admin.people.forget("Zerlina")
    assert {each.space for each in erased.spaces if each.refused} >= set(spaces)
    for hold in held:
        await memory.admin.holds.lift(hold.space, hold.id, reason="it is over")
    assert len((await memory.admin.people.forget("Zerlina")).spaces) >= 2
    with pytest.raises(DatabaseUnavailableError, match="several shards"):
        await memory.admin.jobs.list()


async def test_stale_cache_is_detected_by_readers_and_writers(fleet: Fleet, dsns: dict[str, str], name: str) -> None:
    memory, shards = fleet
    await (await memory.space(name).session("chat")).append(said("one"))
    stale, others = connected(dsns)
    async with stale:
        assert await texts(stale, name) == ["one"]
        before = await others.directory.find(name)
        await move_space(shards, name, await other_than(shards, name))
        assert await others.directory.find(name) == before  # it has not asked since

        assert await texts(stale, name) == ["one"]
        await (await stale.space(name).session("chat")).append(said("two"))

        assert await others.directory.find(name) == await shards.directory.find(name, refresh=True)
        assert before is not None
        assert (await others.directory.find(name)) == Placement(shard="b" if before.shard == "a" else "a", version=2)
    assert await texts(memory, name) == ["one", "two"]


async def test_a_space_that_left_cannot_be_used_by_the_address_of_its_old_shard(
    fleet: Fleet, dsns: dict[str, str], name: str
) -> None:
    memory, shards = fleet
    await memory.space(name).remember("I live in Lisbon.")
    new = await other_than(shards, name)
    await move_space(shards, name, new)

    async with bethink.connect(dsns["b" if new == "a" else "a"], learn=False) as old:
        with pytest.raises(SpaceMovedError, match="has moved"):
            await old.space(name).recall("Where do I live?")
        with pytest.raises(SpaceMovedError):
            await old.space(name).remember("I live in Porto.")


async def test_move_includes_changes_made_while_it_runs(fleet: Fleet, tmp_path: Path) -> None:
    memory, shards = fleet
    place = await shards.directory.assign(SPACE)
    database = (await shards.shard(place.shard)).database
    life = Life(database, 5)
    await life.go_on(often(20, long=60))
    await memory.space(SPACE).forget(everything=True)  # a tombstone, a receipt, and numbers of changes that go on
    await life.go_on(often(20, long=60))
    seen: dict[str, object] = {}

    async def at(step: MoveStep) -> None:
        if step in (MoveStep.EXPORTED, MoveStep.LOADED):
            await life.go_on(often(15, long=40))
        if step is MoveStep.QUIET:
            await memory.space(SPACE).admin.export_archive(tmp_path / "old.zip")
            seen["stands"] = await database.transact(
                lambda tx: space_rows.table_states(tx, space=SPACE), space=SPACE, read_only=True
            )
            seen["changes"] = await memory.space(SPACE).admin.changes.list(after=0, limit=1_000)
            seen["erasures"] = await memory.space(SPACE).admin.erasures.list()

    new = await other_than(shards, SPACE)
    await SpaceMove(shards.directory, shards.database, at=at).run(SPACE, new)

    await memory.space(SPACE).admin.export_archive(tmp_path / "new.zip")
    assert (tmp_path / "new.zip").read_bytes() == (tmp_path / "old.zip").read_bytes()
    target = (await shards.shard(new)).database
    assert (
        await target.transact(lambda tx: space_rows.table_states(tx, space=SPACE), space=SPACE, read_only=True)
        == seen["stands"]
    )
    assert await memory.space(SPACE).admin.changes.list(after=0, limit=1_000) == seen["changes"]
    assert await memory.space(SPACE).admin.erasures.list() == seen["erasures"]
    report = await target.transact(lambda tx: chain.check(tx, space=SPACE), space=SPACE, read_only=True)
    assert (report.broken, report.unsealed) == ((), 0)
    assert await rows_left(await shards.shard(place.shard), SPACE) == []


async def test_concurrent_writes_survive_moves_of_their_space(fleet: Fleet, dsns: dict[str, str], name: str) -> None:
    memory, shards = fleet
    sent: list[str] = []
    over = anyio.Event()

    async def write(of: bethink.Memory, who: str) -> None:
        session = await of.space(name).session("chat")
        while not over.is_set():
            text = f"{who}-{len(sent)}"
            await session.append(said(text))
            sent.append(text)

    await (await memory.space(name).session("chat")).append(said("first"))
    second, _ = connected(dsns)
    async with second, anyio.create_task_group() as tasks:
        tasks.start_soon(write, memory, "one")
        tasks.start_soon(write, second, "two")
        for _ in range(2):
            await move_space(shards, name, await other_than(shards, name))
        over.set()

    place = await shards.directory.find(name, refresh=True)
    assert place is not None
    database = (await shards.shard(place.shard)).database
    [messages] = [table for table in archived.tables() if table.name == "messages"]
    rows = await database.transact(
        lambda tx: [row for page in archived.pages(tx, messages, space=name, size=500) for row in page],
        space=name, read_only=True,
    )  # fmt: skip
    assert sorted(row["content"] for row in rows) == sorted(["first", *sent])


async def test_a_key_of_before_the_move_stores_nothing_twice_after_it(fleet: Fleet, name: str) -> None:
    memory, shards = fleet
    session = await memory.space(name).session("chat")
    await session.append(said("once"), idempotency_key="k")
    documents, draft = memory.space(name).documents, DocumentDraft(slug="tea", title="Tea")
    made = await documents.create(draft, idempotency_key="k")
    await move_space(shards, name, await other_than(shards, name))
    await session.append(said("once"), idempotency_key="k")

    assert await texts(memory, name) == ["once"]
    assert await documents.create(draft, idempotency_key="k") == made


@pytest.mark.usefixtures("killed")
@pytest.mark.parametrize("step", STEPS)
async def test_killed_move_briefly_pauses_writers_and_can_be_finished(fleet: Fleet, name: str, step: MoveStep) -> None:
    memory, shards = fleet
    session = await memory.space(name).session("chat")
    await session.append(said("before"), idempotency_key="before")
    old, new = (await shards.directory.find(name)), await other_than(shards, name)
    assert old is not None

    with pytest.raises(Killed):
        await SpaceMove(shards.directory, shards.database, at=killing(step)).run(name, new)
    await session.append(said("between"))  # nobody has run it again yet
    await session.append(said("before"), idempotency_key="before")
    report = await move_space(shards, name, new)
    await session.append(said("after"))

    assert (report.source, report.target) == (old.shard, new)
    assert await texts(memory, name) == ["before", "between", "after"]
    assert await shards.directory.find(name, refresh=True) == Placement(shard=new, version=2)
    assert await shards.directory.moves() == []
    assert await rows_left(await shards.shard(old.shard), name) == []
    target = (await shards.shard(new)).database
    assert await target.transact(lambda tx: marks.find(tx, space=name), read_only=True) is None


@pytest.mark.usefixtures("killed")
@pytest.mark.parametrize("step", [MoveStep.LOADED, MoveStep.EQUAL, MoveStep.DECIDED])
async def test_move_can_be_canceled_until_committed(fleet: Fleet, name: str, step: MoveStep) -> None:
    memory, shards = fleet
    await (await memory.space(name).session("chat")).append(said("one"))
    old, new = (await shards.directory.find(name)), await other_than(shards, name)
    assert old is not None
    with pytest.raises(Killed):
        await SpaceMove(shards.directory, shards.database, at=killing(step)).run(name, new)

    if step is MoveStep.DECIDED:
        with pytest.raises(ConflictError, match="has left shard"):
            await move_space(shards, name, old.shard)
        await move_space(shards, name, new)
    else:
        await move_space(shards, name, old.shard)
        assert await shards.directory.find(name, refresh=True) == old
        assert await rows_left(await shards.shard(new), name) == []
    assert await texts(memory, name) == ["one"]
    assert await shards.directory.moves() == []


async def test_the_fence_waits_for_a_writer_that_began_before_it(fleet: Fleet, dsns: dict[str, str], name: str) -> None:
    memory, shards = fleet
    await (await memory.space(name).session("chat")).append(said("one"))
    place, new = await shards.directory.find(name), await other_than(shards, name)
    assert place is not None
    writer = psycopg.connect(dsns[place.shard])
    writer.execute("SELECT version FROM schema_now")  # as every transaction that writes
    writer.execute("SELECT set_config('bethink.space', %s, true)", [name])
    steps: list[MoveStep] = []

    async def at(step: MoveStep) -> None:
        steps.append(step)
        if step is MoveStep.CAUGHT_UP and steps.count(step) == 2:  # one fence was lifted, as the writer went on
            writer.execute("UPDATE messages SET content = 'late' WHERE space_id = %s", [name])
            writer.commit()

    with writer:
        await SpaceMove(shards.directory, shards.database, at=at).run(name, new)

    assert steps.count(MoveStep.FENCED) >= 2
    assert await texts(memory, name) == ["late"]


async def test_fence_expires_only_after_its_time(fleet: Fleet, name: str) -> None:
    memory, shards = fleet
    await memory.space(name).remember("I live in Lisbon.")
    place = await shards.directory.find(name)
    assert place is not None
    database = (await shards.shard(place.shard)).database
    fence = MoveMark(state=MoveState.LEAVING, token="mov_x", shard="b", version=1)
    await database.transact(lambda tx: marks.mark(tx, fence, space=name, seconds=60))

    assert not await database.transact(lambda tx: marks.lift(tx, space=name, overdue=True))
    with pytest.raises(SpaceMovedError, match="is moving"):
        await database.transact(lambda tx: tx.first("lock_space", space=name), space=name)
    assert (await memory.space(name).recall("Where do I live?")).items  # it may be read
    await database.transact(lambda tx: marks.mark(tx, fence, space=name, seconds=0))
    await memory.space(name).remember("I live in Porto.")


async def test_a_call_that_was_half_done_when_its_space_moved_says_so(
    fleet: Fleet, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, shards = fleet
    await memory.space(name).remember("I live in Lisbon.")

    async def half(*given: object) -> None:
        raise OutcomeUnknownError("part of it is stored.") from SpaceMovedError("it moves.")

    monkeypatch.setattr(Local, "run", half)
    monkeypatch.setattr(shards, "_max_wait", 0.1)
    with pytest.raises(OutcomeUnknownError):
        await memory.space(name).remember("I live in Porto.")


async def test_a_drained_shard_is_empty_and_takes_nothing_new(fleet: Fleet, name: str) -> None:
    memory, shards = fleet
    for number in range(2):
        await memory.space(f"{name}-{number}").remember("I live in Lisbon.")
    try:
        async for report in drain_shard(shards, "a"):
            assert (report.source, report.target) == ("a", "b")
        found = await shards.directory.shards()
        assert (found["a"].state, found["a"].spaces) == (ShardState.DRAINING, 0)
        await memory.space(f"{name}-new").remember("I live in Lisbon.")
        place = await shards.directory.find(f"{name}-new")
        assert place is not None
        assert place.shard == "b"
        with pytest.raises(ConflictError, match="draining"):
            await move_space(shards, f"{name}-new", "a")
    finally:
        await shards.directory.set_state("a", ShardState.OPEN)


async def test_wrong_use_is_refused_with_what_to_do(fleet: Fleet, dsns: dict[str, str], name: str) -> None:
    memory, shards = fleet
    await memory.space(name).remember("I live in Lisbon.")
    with pytest.raises(NotFoundError, match="No space"):
        await move_space(shards, f"{name}-none", "a")
    with pytest.raises(NotFoundError, match="Shard 'c' does not exist"):
        await move_space(shards, name, "c")
    with pytest.raises(ConflictError, match="is already the shard"):
        await add_shard(shards, "c", dsns["a"])
    with pytest.raises(DuplicateError, match="Shard 'a' already"):
        await add_shard(shards, "a", dsns["a"])
    with pytest.raises(ConfigurationError, match="is a directory"):
        await add_shard(shards, "c", dsns["directory"])
    with pytest.raises(InvalidRequestError, match="capacity"):
        await shards.directory.add("c", dsns["a"], weight=0)
    with pytest.raises(ConfigurationError, match="is a memory, not a directory"):
        await bethink.connect("shards" + dsns["a"].removeprefix("postgresql")).open()
    with pytest.raises(DatabaseUnavailableError, match="several shards"):
        memory.backend.local()
    place = await shards.directory.find(name)
    assert place is not None
    report = await move_space(shards, name, place.shard)  # it is there
    assert report.rows == 0


async def test_a_directory_without_a_shard_says_how_to_add_one(superuser_dsn: str) -> None:
    dsn = postgres.create_database(superuser_dsn, f"directory_{uuid.uuid4().hex[:12]}")
    async with bethink.connect("shards" + dsn.removeprefix("postgresql"), learn=False) as memory:
        with pytest.raises(ConfigurationError, match="no open shard"):
            await memory.space("mira").remember("I live in Lisbon.")


async def test_shard_joins_with_its_spaces(fleet: Fleet, superuser_dsn: str, name: str) -> None:
    memory, shards = fleet
    dsn = postgres.create_database(superuser_dsn, f"shard_{uuid.uuid4().hex[:12]}")
    async with bethink.connect(dsn, learn=False) as alone:
        await alone.space(name).remember("I live in Lisbon.")
    assert await add_shard(shards, name, dsn) == 1
    try:
        assert (await memory.space(name).recall("Where do I live?")).items
        assert await shards.directory.find(name) == Placement(shard=name, version=1)
    finally:
        await shards.directory.set_state(name, ShardState.DRAINING)


async def test_rejected_shard_can_be_added_later(fleet: Fleet, superuser_dsn: str, name: str) -> None:
    memory, shards = fleet
    await memory.space(name).remember("I live in Lisbon.")
    dsn = postgres.create_database(superuser_dsn, f"shard_{uuid.uuid4().hex[:12]}")
    async with bethink.connect(dsn, learn=False) as alone:
        await alone.space(name).remember("I live in Porto.")
    with pytest.raises(DuplicateError, match="Shard 'a' already"):
        await add_shard(shards, "a", dsn)
    with pytest.raises(InvalidRequestError, match="capacity"):
        await add_shard(shards, f"{name}-1", dsn, weight=0)
    with pytest.raises(DuplicateError, match="in this database and in shard"):
        await add_shard(shards, f"{name}-2", dsn)
    async with bethink.connect(dsn, learn=False) as alone:
        await alone.space(name).forget(everything=True)

    await add_shard(shards, f"{name}-3", dsn)
    await shards.directory.set_state(f"{name}-3", ShardState.DRAINING)


# The last one: a shard that holds what the directory has elsewhere cannot be drained.
async def test_forget_person_covers_spaces_missing_from_the_directory(fleet: Fleet, name: str) -> None:
    memory, shards = fleet
    stray, twice = f"{name}-stray", f"{name}-twice"
    await memory.space(twice).remember("Ottilie Quast called.")
    past = {"a": bethink.Memory(await shards.shard("a")), "b": bethink.Memory(await shards.shard("b"))}
    strays = [past["a"].space(stray), past[await other_than(shards, twice)].space(twice)]
    for space in strays:
        await space.remember("Ottilie Quast called again.")

    found = await memory.admin.people.find("Ottilie Quast")
    assert sorted(each.space for each in found.spaces) == [stray, twice, twice]
    await memory.admin.people.forget("Ottilie Quast")

    assert (await memory.admin.people.find("Ottilie Quast")).spaces == ()
