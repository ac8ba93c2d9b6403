"""A move of a space that sleeps while another run overtakes it must not touch the current data."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

import bethink
from bethink.errors import ConflictError, SpaceMovedError
from bethink.store.engines.postgres import PostgresDatabase
from bethink_shards import marks
from bethink_shards.copying import SpaceCopy
from bethink_shards.directory import Placement
from bethink_shards.marks import MoveState
from bethink_shards.moving import SpaceMove
from bethink_shards.operating import move_space
from bethink_shards.steps import MoveStep
from tests.conftest import said
from tests.front.shards_kit import STEPS, Fleet, Killed, killing, other_than, rows_left, texts
from tests.length import LONG

OVERTAKEN = (ConflictError, SpaceMovedError)
BACK = STEPS if LONG else [MoveStep.BEGUN, MoveStep.CLEARED, MoveStep.CAUGHT_UP, MoveStep.EQUAL, MoveStep.QUEUED]


async def is_as_it_was_left(fleet: Fleet, name: str, *, there: Placement, elsewhere: str) -> None:
    """Check that a space is in one place, used by all, and that the other holds nothing of it."""
    memory, shards = fleet
    assert await shards.directory.find(name, refresh=True) == there
    assert await texts(memory, name) == ["kept", "later"]
    await (await memory.space(name).session("chat")).append(said("last"))
    assert await texts(memory, name) == ["kept", "later", "last"]
    database = (await shards.shard(there.shard)).database
    assert await database.transact(lambda tx: marks.find(tx, space=name), read_only=True) is None
    assert await rows_left(await shards.shard(elsewhere), name) == []
    assert await shards.directory.moves() == []


async def begin(memory: bethink.Memory, name: str) -> Callable[[], Awaitable[None]]:
    """Store two messages; return what erases one of them and adds another."""
    session = await memory.space(name).session("chat")
    await session.append(said("kept"))
    [number] = await session.append(said("erased"))

    async def live_on() -> None:
        await memory.space(name).forget(f"message:{session.id}:{number}")
        await session.append(said("later"))

    return live_on


@pytest.mark.parametrize(("step", "and_back"), [*((step, False) for step in STEPS), *((step, True) for step in BACK)])
async def test_overtaken_move_changes_nothing_on_the_current_shard(
    fleet: Fleet, name: str, step: MoveStep, *, and_back: bool
) -> None:
    memory, shards = fleet
    live_on = await begin(memory, name)
    old, new = await shards.directory.find(name), await other_than(shards, name)
    assert old is not None
    seen: list[MoveStep] = []

    async def overtaken(at: MoveStep) -> None:
        seen.append(at)
        if at is step and seen.count(at) == 1:
            await move_space(shards, name, new)
            if and_back:
                await move_space(shards, name, old.shard)
            await live_on()

    with suppress(*OVERTAKEN):
        await SpaceMove(shards.directory, shards.database, at=overtaken).run(name, new)

    assert step in seen
    there = Placement(shard=old.shard, version=3) if and_back else Placement(shard=new, version=2)
    await is_as_it_was_left(fleet, name, there=there, elsewhere=new if and_back else old.shard)


@pytest.mark.usefixtures("killed")
@pytest.mark.parametrize("taken_back", [False, True], ids=["starts over", "takes back"])
async def test_overtaken_move_erases_nothing_of_an_arrived_space(
    fleet: Fleet, name: str, monkeypatch: pytest.MonkeyPatch, *, taken_back: bool
) -> None:
    memory, shards = fleet
    live_on = await begin(memory, name)
    old, new = await shards.directory.find(name), await other_than(shards, name)
    assert old is not None
    with pytest.raises(Killed):
        await SpaceMove(shards.directory, shards.database, at=killing(MoveStep.LOADED)).run(name, new)
    erase = SpaceCopy.erase

    async def asleep(self: SpaceCopy, database: PostgresDatabase, *given: MoveState) -> None:
        monkeypatch.setattr(SpaceCopy, "erase", erase)
        await move_space(shards, name, new)
        await live_on()
        await erase(self, database, *given)

    monkeypatch.setattr(SpaceCopy, "erase", asleep)
    with pytest.raises(OVERTAKEN):
        await move_space(shards, name, old.shard if taken_back else new)

    await is_as_it_was_left(fleet, name, there=Placement(shard=new, version=2), elsewhere=old.shard)
