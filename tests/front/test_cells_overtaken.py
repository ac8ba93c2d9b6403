"""A move of a space that sleeps while another run takes it over: it must not touch what lives there by now."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

import bethink
from bethink.cells.copying import SpaceCopy
from bethink.cells.directory import Place
from bethink.cells.moving import SpaceMove
from bethink.cells.operating import move_space
from bethink.cells.steps import MoveStep
from bethink.errors import Conflict, Moved
from bethink.store import moves
from bethink.store.engines.postgres import PostgresDatabase
from bethink.store.moves import MoveState
from tests.conftest import said
from tests.front.cells_kit import STEPS, Fleet, Killed, killing, other_than, rows_left, texts
from tests.length import LONG

OVERTAKEN = (Conflict, Moved)
BACK = STEPS if LONG else [MoveStep.BEGUN, MoveStep.CLEARED, MoveStep.CAUGHT_UP, MoveStep.EQUAL, MoveStep.QUEUED]


async def is_as_it_was_left(fleet: Fleet, name: str, *, there: Place, elsewhere: str) -> None:
    """Check that a space is in one place, used by all, and that the other holds nothing of it."""
    memory, cells = fleet
    assert await cells.directory.find(name, anew=True) == there
    assert await texts(memory, name) == ["kept", "later"]
    await (await memory.space(name).session("chat")).append(said("last"))
    assert await texts(memory, name) == ["kept", "later", "last"]
    database = (await cells.cell(there.cell)).database
    assert await database.transact(lambda tx: moves.find(tx, space=name), read=True) is None
    assert await rows_left(await cells.cell(elsewhere), name) == []
    assert await cells.directory.moves() == []


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
async def test_a_run_that_was_overtaken_by_another_changes_nothing_where_the_space_lives(
    fleet: Fleet, name: str, step: MoveStep, *, and_back: bool
) -> None:
    memory, cells = fleet
    live_on = await begin(memory, name)
    old, new = await cells.directory.find(name), await other_than(cells, name)
    assert old is not None
    seen: list[MoveStep] = []

    async def overtaken(at: MoveStep) -> None:
        seen.append(at)
        if at is step and seen.count(at) == 1:
            await move_space(cells, name, new)
            if and_back:
                await move_space(cells, name, old.cell)
            await live_on()

    with suppress(*OVERTAKEN):
        await SpaceMove(cells.directory, cells.database, at=overtaken).run(name, new)

    assert step in seen
    there = Place(cell=old.cell, version=3) if and_back else Place(cell=new, version=2)
    await is_as_it_was_left(fleet, name, there=there, elsewhere=new if and_back else old.cell)


@pytest.mark.usefixtures("killed")
@pytest.mark.parametrize("taken_back", [False, True], ids=["starts over", "takes back"])
async def test_a_run_that_was_overtaken_before_it_erases_leaves_a_space_that_arrived_meanwhile(
    fleet: Fleet, name: str, monkeypatch: pytest.MonkeyPatch, *, taken_back: bool
) -> None:
    memory, cells = fleet
    live_on = await begin(memory, name)
    old, new = await cells.directory.find(name), await other_than(cells, name)
    assert old is not None
    with pytest.raises(Killed):
        await SpaceMove(cells.directory, cells.database, at=killing(MoveStep.LOADED)).run(name, new)
    erase = SpaceCopy.erase

    async def asleep(self: SpaceCopy, database: PostgresDatabase, *given: MoveState) -> None:
        monkeypatch.setattr(SpaceCopy, "erase", erase)
        await move_space(cells, name, new)
        await live_on()
        await erase(self, database, *given)

    monkeypatch.setattr(SpaceCopy, "erase", asleep)
    with pytest.raises(OVERTAKEN):
        await move_space(cells, name, old.cell if taken_back else new)

    await is_as_it_was_left(fleet, name, there=Place(cell=new, version=2), elsewhere=old.cell)
