"""Working memory on both databases: the queue, the lock, the modes and the observers."""

from datetime import timedelta

import anyio
import pytest

from bethink.errors import ConflictError, InvalidRequestError, NotFoundError
from bethink.memory.working.chunk_list import ChunkList
from bethink.memory.working.ladder import ExtractiveCompactor, Thresholds
from bethink.memory.working.memory import WorkingMemory
from bethink.memory.working.observers import Notice, Occasion
from bethink.memory.working.reducers import Reducers
from bethink.model.moments import EPOCH
from bethink.model.working import ChunkType, Event, EventType, Mode, StateOperation, add
from bethink.store.db import Database
from tests.conftest import FakeClock, database_at
from tests.rooms.working_kit import THREAD, engine, texts, user


@pytest.mark.spec("S3.5", "S3.6", "S3.7", "S3.8", "S3.55", "S3.56", "S3.63")
async def test_working_memory_has_the_specified_defaults(database: Database) -> None:
    desk = WorkingMemory(database, space="alice")

    assert desk.engine.auto_compact is True
    assert desk.thresholds == Thresholds(soft=50_000, hard=80_000, truncation=100_000)
    assert isinstance(desk._runner.compactor, ExtractiveCompactor)
    assert (await desk.open_thread(THREAD)).mode is Mode.AUTO
    other = WorkingMemory(database, space="alice", default_mode=Mode.STEPPING)
    assert (await other.open_thread("thread_2")).mode is Mode.STEPPING


@pytest.mark.spec("S3.9", "S3.12")
async def test_auto_mode_processes_an_event_at_once(desk: WorkingMemory) -> None:
    await desk.open_thread(THREAD)

    result = await desk.dispatch(THREAD, user("hello"))

    assert result.thread.state_number == 1
    assert [chunk.text for chunk in result.added_chunks] == ["hello"]
    assert await desk.queue_length(THREAD) == 0
    assert await texts(desk) == ["hello"]


@pytest.mark.spec("S3.1", "S3.13", "S3.26", "S3.29", "S3.30")
async def test_stepping_mode_queues_an_event_visibly(
    stepping: WorkingMemory,
) -> None:
    result = await stepping.dispatch(THREAD, user("hello"))

    assert (result.thread.state_number, result.processed) == (0, ())
    [queued] = await stepping.queue(THREAD)
    assert queued.id.startswith("qevt_")
    assert queued.event == user("hello")
    assert queued.queued_at > EPOCH
    assert await texts(stepping) == []


@pytest.mark.spec("S3.28", "S3.4")
async def test_events_that_wait_survive_a_restart(target: str, clock: FakeClock) -> None:
    for restart in range(2):
        database = database_at(target, clock)
        await database.open()
        desk = WorkingMemory(database, space="alice", engine=engine())
        await desk.open_thread(THREAD, mode=Mode.STEPPING)
        if not restart:
            await desk.dispatch(THREAD, user("kept"))
        else:
            assert (await desk.step(THREAD)).event_processed
            assert await texts(desk) == ["kept"]
        await database.close()


@pytest.mark.spec("S3.2", "S3.16", "S3.17", "S3.20", "S3.73")
async def test_a_step_processes_one_event_and_says_what_is_left(stepping: WorkingMemory) -> None:
    for text in ("one", "two"):
        await stepping.dispatch(THREAD, user(text))

    first = await stepping.step(THREAD)
    assert first.dispatch_result is not None
    assert [chunk.text for chunk in first.dispatch_result.added_chunks] == ["one"]
    assert (first.event_processed, first.truncation_performed, first.compaction_performed) == (True, False, False)
    assert (first.queued_event_count, first.has_pending_operations) == (1, True)

    second = await stepping.step(THREAD)
    assert (second.queued_event_count, second.has_pending_operations) == (0, False)
    nothing = await stepping.step(THREAD)
    assert (nothing.dispatch_result, nothing.event_processed) == (None, False)


@pytest.mark.spec("S3.14", "S3.15", "S3.64")
async def test_switching_back_to_auto_processes_what_waited(stepping: WorkingMemory) -> None:
    assert await stepping.get_mode(THREAD) is Mode.STEPPING
    for text in ("one", "two", "three"):
        await stepping.dispatch(THREAD, user(text))

    result = await stepping.set_mode(THREAD, Mode.AUTO)

    assert await stepping.get_mode(THREAD) is Mode.AUTO
    assert len(result.processed) == 3
    assert await texts(stepping) == ["one", "two", "three"]
    await stepping.set_mode(THREAD, Mode.STEPPING)
    assert (await stepping.dispatch(THREAD, user("four"))).processed == ()


async def test_task_end_event_leaves_later_events_queued(stepping: WorkingMemory) -> None:
    for event in (user("one"), Event(type=EventType.TASK_COMPLETED, payload={"text": "done"}), user("two")):
        await stepping.dispatch(THREAD, event)

    await stepping.set_mode(THREAD, Mode.AUTO)

    assert await texts(stepping) == ["one", "done"]
    assert await stepping.queue_length(THREAD) == 1


async def test_a_thread_in_auto_mode_cannot_be_stepped(desk: WorkingMemory) -> None:
    await desk.open_thread(THREAD)

    with pytest.raises(ConflictError, match="auto mode"):
        await desk.step(THREAD)


@pytest.mark.spec("S3.3", "S3.22", "S3.23", "S3.24", "S3.39", "S3.40", "S3.41")
async def test_step_lock_is_released_only_by_its_holder(stepping: WorkingMemory) -> None:
    assert await stepping.is_step_locked(THREAD) is False

    step_id = await stepping.acquire_step_lock(THREAD)

    assert step_id.startswith("step_")
    assert await stepping.is_step_locked(THREAD) is True
    assert await stepping.current_step_id(THREAD) == step_id
    assert (await stepping.get_thread(THREAD)).step_id == step_id
    with pytest.raises(ConflictError, match="Another step has the lock"):
        await stepping.acquire_step_lock(THREAD)
    with pytest.raises(ConflictError, match="Another step has the lock"):
        await stepping.step(THREAD)
    with pytest.raises(ConflictError, match="does not have the lock"):
        await stepping.release_step_lock(THREAD, "step_other")
    await stepping.release_step_lock(THREAD, step_id)
    assert await stepping.current_step_id(THREAD) is None


@pytest.mark.spec("S3.25")
async def test_the_lock_is_free_after_a_step_that_failed(database: Database) -> None:
    def broken(event: Event, shelf: ChunkList) -> list[StateOperation]:
        raise ZeroDivisionError

    reducers = Reducers()
    reducers.register([EventType.USER_MESSAGE], broken)
    desk = WorkingMemory(database, space="alice", engine=engine(reducers=reducers))
    await desk.open_thread(THREAD, mode=Mode.STEPPING)
    await desk.dispatch(THREAD, user("poison"))

    with pytest.raises(InvalidRequestError, match="ZeroDivisionError") as failure:
        await desk.step(THREAD)

    assert isinstance(failure.value.__cause__, ZeroDivisionError)
    assert await desk.is_step_locked(THREAD) is False
    assert await desk.queue_length(THREAD) == 0
    assert [each.event.event for each in await desk.failed_events(THREAD)] == [user("poison")]  # not lost


async def test_expired_step_lock_can_be_acquired(database: Database, clock: FakeClock) -> None:
    desk = WorkingMemory(database, space="alice", engine=engine(), lease=timedelta(seconds=1))
    await desk.open_thread(THREAD, mode=Mode.STEPPING)
    dead = await desk.acquire_step_lock(THREAD)
    await desk.dispatch(THREAD, user("waits"))
    clock.time += timedelta(seconds=2)

    assert await desk.is_step_locked(THREAD) is False
    assert (await desk.step(THREAD)).event_processed
    with pytest.raises(ConflictError):
        await desk.release_step_lock(THREAD, dead)


async def test_a_holder_whose_lease_ran_out_cannot_write_any_more(database: Database, clock: FakeClock) -> None:
    desk = WorkingMemory(database, space="alice", engine=engine(), lease=timedelta(seconds=1))
    await desk.open_thread(THREAD, mode=Mode.STEPPING)
    await desk.push_event(THREAD, user("one"))
    slow = await desk.acquire_step_lock(THREAD)
    clock.time += timedelta(seconds=2)
    await desk.acquire_step_lock(THREAD)

    with pytest.raises(ConflictError, match="no longer has the lock"):
        await desk._runner.process_one(THREAD, slow)


async def test_concurrent_dispatches_are_each_processed_once(desk: WorkingMemory) -> None:
    await desk.open_thread(THREAD)

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(desk.dispatch, THREAD, user(f"m{number}"))

    assert sorted(await texts(desk)) == sorted(f"m{number}" for number in range(20))
    assert await desk.queue_length(THREAD) == 0
    assert (await desk.get_thread(THREAD)).applied == 20


@pytest.mark.spec("S3.27", "S3.35", "S3.36", "S3.37", "S3.38")
async def test_the_queue_can_be_pushed_peeked_popped_and_cleared(stepping: WorkingMemory) -> None:
    pushed = [await stepping.push_event(THREAD, user(text)) for text in ("one", "two", "three")]

    assert await stepping.peek_event(THREAD) == pushed[0]
    assert await stepping.queue_length(THREAD) == 3
    assert await stepping.pop_event(THREAD) == pushed[0]
    assert await stepping.queue(THREAD) == pushed[1:]
    assert await stepping.clear_queue(THREAD) == 2
    assert await stepping.pop_event(THREAD) is None
    assert await stepping.peek_event(THREAD) is None
    assert await stepping.queue_length(THREAD) == 0


async def test_unknown_thread_has_no_queue_and_rejects_events(desk: WorkingMemory) -> None:
    assert await desk.queue("nowhere") == []
    assert await desk.queue_length("nowhere") == 0
    assert await desk.peek_event("nowhere") is None
    for call in (
        lambda: desk.dispatch("nowhere", user("x")),
        lambda: desk.pop_event("nowhere"),
        lambda: desk.acquire_step_lock("nowhere"),
    ):
        with pytest.raises(NotFoundError):
            await call()


@pytest.mark.spec("S3.31", "S3.67")
async def test_thread_is_created_once_and_deleted_with_its_data(desk: WorkingMemory) -> None:
    first = await desk.open_thread(THREAD)
    await desk.dispatch(THREAD, user("x"))

    assert (await desk.open_thread(THREAD)).created_at == first.created_at
    await desk.delete_thread(THREAD)
    with pytest.raises(NotFoundError):
        await desk.get_thread(THREAD)
    assert (await desk.open_thread(THREAD)).state_number == 0


@pytest.mark.spec("S3.32", "S3.34")
async def test_current_state_is_cached_until_changed_or_cleared(desk: WorkingMemory) -> None:
    await desk.open_thread(THREAD)
    await desk.dispatch(THREAD, user("x"))

    first = await desk.current_state(THREAD)
    assert await desk.current_state(THREAD) is first
    desk.clear_state_cache(THREAD)
    again = await desk.current_state(THREAD)
    assert again is not first
    assert again == first
    await desk.dispatch(THREAD, user("y"))
    assert len((await desk.current_state(THREAD)).chunks) == 2


@pytest.mark.spec("S3.42", "S3.43", "S3.45", "S3.58")
async def test_observers_are_notified_in_order_and_cannot_break_events(desk: WorkingMemory) -> None:
    seen: list[Occasion] = []

    def watch(notice: Notice) -> None:
        seen.append(notice.occasion)
        raise ZeroDivisionError

    await desk.open_thread(THREAD)
    stop = desk.watch(watch)
    await desk.dispatch(THREAD, user("x"))
    await desk.dispatch(THREAD, Event(type="NOBODY_KNOWS"))
    await desk.trigger_compaction(THREAD)
    stop()
    stop()
    await desk.dispatch(THREAD, user("unseen"))

    event = [Occasion.EVENT_QUEUED, Occasion.EVENT_DISPATCH, Occasion.EVENT_DEQUEUED, Occasion.REDUCER_EXECUTE]
    assert seen == [
        *event, Occasion.STATE_CHANGE,
        *event,
        Occasion.COMPACTION_START, Occasion.EVENT_DEQUEUED, Occasion.REDUCER_EXECUTE, Occasion.STATE_CHANGE,
        Occasion.COMPACTION_END,
    ]  # fmt: skip
    assert (await desk.get_thread(THREAD)).state_number == 3


@pytest.mark.spec("S3.45")
async def test_an_event_without_operations_leaves_the_state_unchanged(desk: WorkingMemory) -> None:
    await desk.open_thread(THREAD)
    await desk.dispatch(THREAD, user("x"))

    result = await desk.dispatch(THREAD, Event(type=EventType.EXECUTION_PAUSE))

    assert result.thread.state_number == 1
    assert (result.added_chunks, result.removed_chunk_ids) == ((), ())
    assert result.thread.applied == 2


async def test_every_reducer_that_can_handle_an_event_runs_in_order(database: Database) -> None:
    def saying(text: str):
        def reduce(event: Event, shelf: ChunkList) -> list[StateOperation]:
            return [add(shelf.chunk(ChunkType.ENVIRONMENT, text))]

        return reduce

    reducers = Reducers()
    reducers.register(["A", "B"], saying("first"))
    reducers.register(["A"], saying("second"), can_handle=lambda event: bool(event.payload.get("yes")))
    reducers.register(["A"], saying("third"))
    desk = WorkingMemory(database, space="alice", engine=engine(reducers=reducers))
    await desk.open_thread(THREAD)

    await desk.dispatch(THREAD, Event(type="A"))
    await desk.dispatch(THREAD, Event(type="A", payload={"yes": True}))

    assert await texts(desk) == ["first", "third", "first", "second", "third"]
