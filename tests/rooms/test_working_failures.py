"""Events that cannot be processed: the sender gets an error, and the thread continues."""

import anyio
import pytest

from bethink.errors import BethinkError, DatabaseBusyError, InvalidRequestError, OutcomeUnknownError
from bethink.memory.working.chunk_list import ChunkList
from bethink.memory.working.ladder import CompactionRequest, Thresholds
from bethink.memory.working.memory import WorkingMemory
from bethink.memory.working.observers import Notice, Occasion
from bethink.memory.working.reducers import default_reducers
from bethink.model.working import ChunkType, Event, EventType, Mode, StateOperation, add
from bethink.store.db import Database
from tests.conftest import KEY, Quiet, many, memory_on
from tests.rooms.working_kit import THREAD, engine, texts, user

POISON = Event(type="BREAK", payload={"text": "my secret is 4711"})


def breaking(error: Exception):
    """Reducers of which one adds a chunk for its event and another raises."""

    def half(event: Event, shelf: ChunkList) -> list[StateOperation]:
        return [add(shelf.chunk(ChunkType.OUTPUT, "half done"))]

    def broken(event: Event, shelf: ChunkList) -> list[StateOperation]:
        raise error

    reducers = default_reducers()
    reducers.register(["BREAK"], half)
    reducers.register(["BREAK"], broken)
    return engine(reducers=reducers)


@pytest.fixture
async def fragile(database: Database) -> WorkingMemory:
    desk = WorkingMemory(database, space="alice", engine=breaking(ValueError("my secret is 4711")))
    await desk.open_thread(THREAD)
    return desk


async def test_failed_event_raises_and_the_thread_continues(
    fragile: WorkingMemory, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[Notice] = []
    fragile.watch(seen.append)

    with pytest.raises(
        InvalidRequestError, match=r"qevt_\w+ \(BREAK\) of thread thread_1 failed and was set aside: ValueError"
    ) as failure:
        await fragile.dispatch(THREAD, POISON)
    await fragile.dispatch(THREAD, user("after"))

    assert isinstance(failure.value.__cause__, ValueError)
    assert await texts(fragile) == ["after"]
    assert await fragile.queue_length(THREAD) == 0
    [failed] = await fragile.failed_events(THREAD)
    assert (failed.event.event, failed.reason) == (POISON, "ValueError")
    assert [notice.details["event"].id for notice in seen if notice.occasion is Occasion.ERROR] == [failed.event.id]
    assert failed.event.id in caplog.text
    assert "4711" not in caplog.text


async def test_failed_event_does_not_block_others(fragile: WorkingMemory) -> None:
    await fragile.set_mode(THREAD, Mode.STEPPING)
    for event in (user("one"), POISON, user("two"), POISON):
        await fragile.dispatch(THREAD, event)

    result = await fragile.set_mode(THREAD, Mode.AUTO)
    await fragile.push_event(THREAD, POISON)
    await fragile.dispatch(THREAD, user("three"))  # of what else fails, its sender hears nothing

    assert len(result.processed) == 2
    assert await texts(fragile) == ["one", "two", "three"]
    assert len(await fragile.failed_events(THREAD)) == 3


async def test_step_names_the_failed_event_and_continues(fragile: WorkingMemory) -> None:
    await fragile.set_mode(THREAD, Mode.STEPPING)
    for event in (POISON, user("one")):
        await fragile.dispatch(THREAD, event)
    first = await fragile.peek_event(THREAD)
    assert first is not None

    with pytest.raises(InvalidRequestError, match=first.id):
        await fragile.step(THREAD)

    assert await fragile.is_step_locked(THREAD) is False
    assert (await fragile.step(THREAD)).event_processed
    assert await texts(fragile) == ["one"]


async def test_sender_gets_the_error_if_another_task_processed_it(fragile: WorkingMemory, database: Database) -> None:
    other = WorkingMemory(database, space="alice", engine=fragile.engine)
    told: list[InvalidRequestError] = []

    async def send(desk: WorkingMemory, event: Event) -> None:
        try:
            await desk.dispatch(THREAD, event)
        except InvalidRequestError as error:
            told.append(error)

    async with anyio.create_task_group() as tasks:
        for number in range(6):
            tasks.start_soon(send, fragile, POISON)
            tasks.start_soon(send, other, user(f"m{number}"))

    assert len(await texts(fragile)) == 6
    assert await fragile.queue_length(THREAD) == 0
    assert len({str(error) for error in told}) == 6


async def test_database_error_does_not_set_an_event_aside(database: Database) -> None:
    trouble: list[BethinkError] = [DatabaseBusyError("another writer held it.")]
    reducers = default_reducers()

    def unlucky(event: Event, shelf: ChunkList) -> list[StateOperation]:
        if trouble:
            raise trouble.pop()
        return []

    reducers.register([EventType.USER_MESSAGE], unlucky)
    desk = WorkingMemory(database, space="alice", engine=engine(reducers=reducers))
    await desk.open_thread(THREAD)

    with pytest.raises(OutcomeUnknownError):  # not "nothing was written": it is in the queue
        await desk.dispatch(THREAD, user("once"))
    assert await desk.queue_length(THREAD) == 1
    await desk.advance(THREAD)

    assert await texts(desk) == ["once"]
    assert await desk.failed_events(THREAD) == []


async def test_failed_events_are_neither_popped_nor_cleared(fragile: WorkingMemory) -> None:
    with pytest.raises(InvalidRequestError):
        await fragile.dispatch(THREAD, POISON)

    assert await fragile.pop_event(THREAD) is None
    assert await fragile.clear_queue(THREAD) == 0
    assert len(await fragile.failed_events(THREAD)) == 1


async def test_a_truncation_that_cannot_be_read_does_not_stop_a_compaction(fragile: WorkingMemory) -> None:
    await fragile.set_mode(THREAD, Mode.STEPPING)
    for text in ("one", "two", "three"):
        await fragile.dispatch(THREAD, user(text))
        await fragile.step(THREAD)
    await fragile.push_event(THREAD, Event(type=EventType.MEMORY_TRUNCATE, payload={"hard": "many"}))

    await fragile.trigger_compaction(THREAD)

    assert len(await texts(fragile)) == 2
    [failed] = await fragile.failed_events(THREAD)
    assert failed.event.event.type == EventType.MEMORY_TRUNCATE


class Careless:
    async def compact(self, request: CompactionRequest) -> str:
        raise ValueError(f"cannot sum up {request.chunks[0].text}")


@pytest.mark.parametrize("what", ["a reducer", "a compactor"])
async def test_stored_messages_are_acknowledged_if_a_thread_fails(
    database: Database, caplog: pytest.LogCaptureFixture, what: str
) -> None:
    def broken(event: Event, shelf: ChunkList) -> list[StateOperation]:
        raise ValueError(str(event.payload["text"]))

    reducers = default_reducers()
    if what == "a reducer":
        reducers.register([EventType.USER_MESSAGE], broken)
    low = Thresholds(soft=1, hard=2, truncation=1000)
    memory = memory_on(
        database, redactor=Quiet(), engine=engine(reducers=reducers, thresholds=low), compactor=Careless()
    )
    session = await memory.space("alice").session(KEY)
    await memory.backend.local().working("alice").open_thread(THREAD, session_id=session.id)

    assert await session.append(many(2)) == [1, 2]
    assert await memory.backend.local().history("alice").append(KEY, {"role": "user", "content": "message 3"}) == 3
    assert str((await memory.space("alice").remember("message 4", session_id=session.id)).refs[0]).endswith(":4")

    assert len(await session.messages()) == 4
    assert "ValueError" in caplog.text
    assert "message" not in caplog.text
