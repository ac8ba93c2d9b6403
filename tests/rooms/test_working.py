"""Working memory on both databases: the queue, the lock, the modes and the ladder."""

import anyio
import pytest

from bethink import Memory
from bethink.errors import Conflict, Misconfigured, NotFound
from bethink.model.records import EndReason
from bethink.model.working import Chunk, ChunkType, Event, EventType, Mode, Operation, Retention, SubType, add
from bethink.plugins.estimated_tokens import EstimatedTokens
from bethink.store.db import Database
from bethink.working.desk import Desk
from bethink.working.ladder import CompactionRequest, ExtractiveCompactor, Thresholds
from bethink.working.observers import Notice, Occasion
from bethink.working.process import Engine
from bethink.working.reducers import Reducers, default_reducers
from bethink.working.shelf import Shelf
from tests.conftest import KEY, FakeClock, database_at, many

THREAD = "thread_1"


class Words:
    """A counter that counts words, so that tests can count on their fingers."""

    def count(self, text: str) -> int:
        return len(text.split())


class Scripted:
    """A compactor that says what it was asked."""

    def __init__(self) -> None:
        self.requests: list[CompactionRequest] = []

    async def compact(self, request: CompactionRequest) -> str:
        self.requests.append(request)
        return f"summary {len(self.requests)}"


def user(text: str) -> Event:
    return Event(type=EventType.USER_MESSAGE, payload={"text": text})


def answer(text: str) -> Event:
    return Event(type=EventType.LLM_TEXT_RESPONSE, payload={"text": text})


def engine(**changes: object) -> Engine:
    fields = {"tokens": Words(), "thresholds": Thresholds(soft=50, hard=80, truncation=100)} | changes
    return Engine(**fields)  # pyright: ignore[reportArgumentType]


@pytest.fixture
def compactor() -> Scripted:
    return Scripted()


@pytest.fixture
def desk(database: Database, compactor: Scripted) -> Desk:
    return Desk(database, space="alice", engine=engine(), compactor=compactor, retain_recent=2)


@pytest.fixture
async def stepping(desk: Desk) -> Desk:
    await desk.open_thread(THREAD, mode=Mode.STEPPING)
    return desk


async def texts(desk: Desk, thread: str = THREAD) -> list[str]:
    return [chunk.text for chunk in (await desk.current_state(thread)).chunks]


def long(words: int) -> str:
    return " ".join(["word"] * words)


@pytest.mark.spec("S3.5", "S3.6", "S3.7", "S3.8", "S3.55", "S3.56", "S3.63")
async def test_a_desk_is_built_from_its_parts_with_the_defaults_of_the_specification(database: Database) -> None:
    desk = Desk(database, space="alice")

    assert desk.engine.auto_compact is True
    assert desk.thresholds == Thresholds(soft=50_000, hard=80_000, truncation=100_000)
    assert isinstance(desk._compactor, ExtractiveCompactor)
    assert (await desk.open_thread(THREAD)).mode is Mode.AUTO
    other = Desk(database, space="alice", default_mode=Mode.STEPPING)
    assert (await other.open_thread("thread_2")).mode is Mode.STEPPING


@pytest.mark.spec("S3.9", "S3.12")
async def test_in_auto_mode_an_event_is_processed_at_once_and_the_new_state_comes_back(desk: Desk) -> None:
    await desk.open_thread(THREAD)

    result = await desk.dispatch(THREAD, user("hello"))

    assert result.thread.state_number == 1
    assert [chunk.text for chunk in result.added_chunks] == ["hello"]
    assert await desk.queue_length(THREAD) == 0
    assert await texts(desk) == ["hello"]


@pytest.mark.spec("S3.1", "S3.13", "S3.26", "S3.29", "S3.30")
async def test_in_stepping_mode_an_event_waits_in_the_stored_queue_where_it_can_be_seen(stepping: Desk) -> None:
    result = await stepping.dispatch(THREAD, user("hello"))

    assert (result.thread.state_number, result.processed) == (0, ())
    [queued] = await stepping.queue(THREAD)
    assert queued.id.startswith("qevt_")
    assert queued.event == user("hello")
    assert queued.queued_at > 0
    assert await texts(stepping) == []


@pytest.mark.spec("S3.28", "S3.4")
async def test_events_that_wait_survive_a_restart(target: str, clock: FakeClock) -> None:
    for restart in range(2):
        database = database_at(target, clock)
        await database.open()
        desk = Desk(database, space="alice", engine=engine())
        await desk.open_thread(THREAD, mode=Mode.STEPPING)
        if not restart:
            await desk.dispatch(THREAD, user("kept"))
        else:
            assert (await desk.step(THREAD)).event_processed
            assert await texts(desk) == ["kept"]
        await database.close()


@pytest.mark.spec("S3.2", "S3.16", "S3.17", "S3.20", "S3.73")
async def test_a_step_processes_one_event_and_says_what_is_left(stepping: Desk) -> None:
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
async def test_switching_back_to_auto_processes_what_waited(stepping: Desk) -> None:
    assert await stepping.get_mode(THREAD) is Mode.STEPPING
    for text in ("one", "two", "three"):
        await stepping.dispatch(THREAD, user(text))

    result = await stepping.set_mode(THREAD, Mode.AUTO)

    assert await stepping.get_mode(THREAD) is Mode.AUTO
    assert len(result.processed) == 3
    assert await texts(stepping) == ["one", "two", "three"]
    await stepping.set_mode(THREAD, Mode.STEPPING)
    assert (await stepping.dispatch(THREAD, user("four"))).processed == ()


async def test_an_event_that_ends_a_task_leaves_the_rest_of_the_queue_waiting(stepping: Desk) -> None:
    for event in (user("one"), Event(type=EventType.TASK_COMPLETED, payload={"text": "done"}), user("two")):
        await stepping.dispatch(THREAD, event)

    await stepping.set_mode(THREAD, Mode.AUTO)

    assert await texts(stepping) == ["one", "done"]
    assert await stepping.queue_length(THREAD) == 1


async def test_a_thread_in_auto_mode_cannot_be_stepped(desk: Desk) -> None:
    await desk.open_thread(THREAD)

    with pytest.raises(Conflict, match="auto mode"):
        await desk.step(THREAD)


@pytest.mark.spec("S3.3", "S3.22", "S3.23", "S3.24", "S3.39", "S3.40", "S3.41")
async def test_the_step_lock_is_in_the_thread_and_only_its_holder_can_give_it_back(stepping: Desk) -> None:
    assert await stepping.is_step_locked(THREAD) is False

    step_id = await stepping.acquire_step_lock(THREAD)

    assert step_id.startswith("step_")
    assert await stepping.is_step_locked(THREAD) is True
    assert await stepping.current_step_id(THREAD) == step_id
    assert (await stepping.get_thread(THREAD)).step_id == step_id
    with pytest.raises(Conflict, match="being stepped"):
        await stepping.acquire_step_lock(THREAD)
    with pytest.raises(Conflict, match="being stepped"):
        await stepping.step(THREAD)
    with pytest.raises(Conflict, match="does not hold"):
        await stepping.release_step_lock(THREAD, "step_other")
    await stepping.release_step_lock(THREAD, step_id)
    assert await stepping.current_step_id(THREAD) is None


@pytest.mark.spec("S3.25")
async def test_the_lock_is_free_after_a_step_that_failed(database: Database) -> None:
    def broken(event: Event, shelf: Shelf) -> list[Operation]:
        raise ZeroDivisionError

    reducers = Reducers()
    reducers.register([EventType.USER_MESSAGE], broken)
    desk = Desk(database, space="alice", engine=engine(reducers=reducers))
    await desk.open_thread(THREAD, mode=Mode.STEPPING)
    await desk.dispatch(THREAD, user("poison"))

    with pytest.raises(ZeroDivisionError):
        await desk.step(THREAD)

    assert await desk.is_step_locked(THREAD) is False
    assert await desk.queue_length(THREAD) == 1  # neither lost nor half done


async def test_a_lock_whose_holder_died_can_be_taken_when_its_lease_is_over(
    database: Database, clock: FakeClock
) -> None:
    desk = Desk(database, space="alice", engine=engine(), lease=1_000_000)
    await desk.open_thread(THREAD, mode=Mode.STEPPING)
    dead = await desk.acquire_step_lock(THREAD)
    await desk.dispatch(THREAD, user("waits"))
    clock.time += 2_000_000

    assert await desk.is_step_locked(THREAD) is False
    assert (await desk.step(THREAD)).event_processed
    with pytest.raises(Conflict):
        await desk.release_step_lock(THREAD, dead)


async def test_a_holder_whose_lease_ran_out_cannot_write_any_more(database: Database, clock: FakeClock) -> None:
    desk = Desk(database, space="alice", engine=engine(), lease=1_000_000)
    await desk.open_thread(THREAD, mode=Mode.STEPPING)
    await desk.push_event(THREAD, user("one"))
    slow = await desk.acquire_step_lock(THREAD)
    clock.time += 2_000_000
    await desk.acquire_step_lock(THREAD)

    with pytest.raises(Conflict, match="no longer holds"):
        await desk._process_one(THREAD, slow)


async def test_dispatches_at_once_are_all_processed_once_and_in_the_order_of_the_queue(desk: Desk) -> None:
    await desk.open_thread(THREAD)

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(desk.dispatch, THREAD, user(f"m{number}"))

    assert sorted(await texts(desk)) == sorted(f"m{number}" for number in range(20))
    assert await desk.queue_length(THREAD) == 0
    assert (await desk.get_thread(THREAD)).applied == 20


@pytest.mark.spec("S3.27", "S3.35", "S3.36", "S3.37", "S3.38")
async def test_the_queue_can_be_pushed_peeked_popped_and_cleared(stepping: Desk) -> None:
    pushed = [await stepping.push_event(THREAD, user(text)) for text in ("one", "two", "three")]

    assert await stepping.peek_event(THREAD) == pushed[0]
    assert await stepping.queue_length(THREAD) == 3
    assert await stepping.pop_event(THREAD) == pushed[0]
    assert await stepping.queue(THREAD) == pushed[1:]
    assert await stepping.clear_queue(THREAD) == 2
    assert await stepping.pop_event(THREAD) is None
    assert await stepping.peek_event(THREAD) is None
    assert await stepping.queue_length(THREAD) == 0


async def test_a_thread_nobody_opened_has_no_queue_and_takes_no_event(desk: Desk) -> None:
    assert await desk.queue("nowhere") == []
    assert await desk.queue_length("nowhere") == 0
    assert await desk.peek_event("nowhere") is None
    for call in (
        lambda: desk.dispatch("nowhere", user("x")),
        lambda: desk.pop_event("nowhere"),
        lambda: desk.acquire_step_lock("nowhere"),
    ):
        with pytest.raises(NotFound):
            await call()


@pytest.mark.spec("S3.31", "S3.67")
async def test_a_thread_is_made_once_and_goes_with_everything_it_holds(desk: Desk) -> None:
    first = await desk.open_thread(THREAD)
    await desk.dispatch(THREAD, user("x"))

    assert (await desk.open_thread(THREAD)).created_at == first.created_at
    await desk.delete_thread(THREAD)
    with pytest.raises(NotFound):
        await desk.get_thread(THREAD)
    assert (await desk.open_thread(THREAD)).state_number == 0


@pytest.mark.spec("S3.32", "S3.34")
async def test_the_current_state_is_cached_until_it_changes_or_the_cache_is_cleared(desk: Desk) -> None:
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
async def test_observers_are_told_in_order_and_cannot_break_anything(desk: Desk) -> None:
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
async def test_an_event_without_operations_leaves_the_state_unchanged(desk: Desk) -> None:
    await desk.open_thread(THREAD)
    await desk.dispatch(THREAD, user("x"))

    result = await desk.dispatch(THREAD, Event(type=EventType.EXECUTION_PAUSE))

    assert result.thread.state_number == 1
    assert (result.added_chunks, result.removed_chunk_ids) == ((), ())
    assert result.thread.applied == 2


async def test_every_reducer_that_can_handle_an_event_runs_in_order(database: Database) -> None:
    def saying(text: str):
        def reduce(event: Event, shelf: Shelf) -> list[Operation]:
            return [add(shelf.chunk(ChunkType.ENVIRONMENT, text))]

        return reduce

    reducers = Reducers()
    reducers.register(["A", "B"], saying("first"))
    reducers.register(["A"], saying("second"), can_handle=lambda event: bool(event.payload.get("yes")))
    reducers.register(["A"], saying("third"))
    desk = Desk(database, space="alice", engine=engine(reducers=reducers))
    await desk.open_thread(THREAD)

    await desk.dispatch(THREAD, Event(type="A"))
    await desk.dispatch(THREAD, Event(type="A", payload={"yes": True}))

    assert await texts(desk) == ["first", "third", "first", "second", "third"]


@pytest.mark.spec("S3.48", "S3.49", "S3.50", "S3.51", "S3.52", "S3.60", "S3.61", "S3.62")
async def test_usage_is_measured_against_the_ladder(database: Database) -> None:
    desk = Desk(database, space="alice", engine=engine(auto_compact=False))
    await desk.open_thread(THREAD, mode=Mode.STEPPING)

    async def say(text: str) -> None:
        await desk.push_event(THREAD, user(text))
        await desk._process_one(THREAD, None)

    await say(long(49))
    low = await desk.check_token_usage(THREAD)
    assert (low.total_tokens, low.suggest_compaction, low.force_compaction) == (49, False, False)
    await say(long(1))
    soft = await desk.check_token_usage(THREAD)
    assert (soft.suggest_compaction, soft.force_compaction, soft.needs_truncation) == (True, False, False)
    await say(long(30))
    hard = await desk.check_token_usage(THREAD)
    assert (hard.force_compaction, hard.needs_truncation, hard.chunks_to_truncate) == (True, False, ())
    await say(long(20))
    full = await desk.check_token_usage(THREAD)
    assert (full.total_tokens, full.compressible_tokens, full.needs_truncation) == (100, 100, True)
    state = await desk.current_state(THREAD)
    assert [chunk.id for chunk in full.chunks_to_compact] == [chunk.id for chunk in state.chunks]
    assert full.chunks_to_truncate == (state.chunks[0].id,)  # 49 words cover the excess of 20


async def test_text_inside_children_counts_as_text(database: Database) -> None:
    def nested(event: Event, shelf: Shelf) -> list[Operation]:
        children = [{"text": "three words here"}, {"parts": [{"text": "two more"}], "role": "not text"}]
        return [add(shelf.chunk(ChunkType.WORKING_FLOW, "", children=children))]

    reducers = default_reducers()
    reducers.register(["NESTED"], nested)
    desk = Desk(database, space="alice", engine=engine(reducers=reducers), compactor=ExtractiveCompactor())
    await desk.open_thread(THREAD)

    result = await desk.dispatch(THREAD, Event(type="NESTED"))

    assert result.thread.total_tokens == 5
    summary = await ExtractiveCompactor().compact(
        CompactionRequest(thread_id=THREAD, chunks=result.added_chunks, goal="", earlier=())
    )
    assert "three words here" in summary


@pytest.mark.spec("S3.69", "S3.70", "S3.71", "S3.58", "S4.14", "S4.15")
async def test_in_auto_mode_the_hard_threshold_compacts_at_once(desk: Desk, compactor: Scripted) -> None:
    await desk.open_thread(THREAD)
    for _ in range(7):
        await desk.dispatch(THREAD, user(long(10)))
    assert compactor.requests == []

    result = await desk.dispatch(THREAD, user(long(10)))

    assert await texts(desk) == ["summary 1", long(10), long(10)]
    assert (await desk.current_state(THREAD)).chunks[0].subtype is SubType.COMPACTED
    assert len(result.removed_chunk_ids) == 6
    infos = await desk.history(THREAD)
    assert (infos[-1].source, list(infos[-1].operations)) == ("compaction", ["BATCH_REPLACE"])
    assert result.thread.pending_compaction is False


@pytest.mark.spec("S3.72")
async def test_the_soft_threshold_only_suggests(desk: Desk, compactor: Scripted) -> None:
    await desk.open_thread(THREAD)
    await desk.dispatch(THREAD, user(long(60)))

    assert (await desk.check_token_usage(THREAD)).suggest_compaction is True
    assert compactor.requests == []
    assert await desk.has_pending_compaction(THREAD) is False


@pytest.mark.spec("S3.6")
async def test_automatic_compaction_can_be_switched_off(database: Database, compactor: Scripted) -> None:
    desk = Desk(database, space="alice", engine=engine(auto_compact=False), compactor=compactor)
    await desk.open_thread(THREAD)

    for _ in range(3):
        await desk.dispatch(THREAD, user(long(30)))

    assert compactor.requests == []
    assert len(await texts(desk)) == 3


@pytest.mark.spec("S3.18", "S3.19", "S3.21", "S3.46", "S3.65", "S3.66", "S3.68", "S3.73")
async def test_in_stepping_mode_truncation_comes_after_events_and_compaction_after_truncation(
    stepping: Desk, compactor: Scripted
) -> None:
    for words in (60, 50, 10):
        await stepping.dispatch(THREAD, user(long(words)))
    assert (await stepping.step(THREAD)).event_processed
    assert (await stepping.step(THREAD)).event_processed
    assert await stepping.has_pending_truncation(THREAD) is True
    assert await stepping.has_pending_compaction(THREAD) is True
    assert (await stepping.step(THREAD)).event_processed  # an event still goes first

    truncated = await stepping.step(THREAD)
    assert (truncated.event_processed, truncated.truncation_performed, truncated.compaction_performed) == (
        False,
        True,
        False,
    )
    assert await texts(stepping) == [long(50), long(10)]
    assert await stepping.has_pending_truncation(THREAD) is False
    assert await stepping.has_pending_compaction(THREAD) is False

    for _ in range(2):
        await stepping.dispatch(THREAD, user(long(10)))
        await stepping.step(THREAD)
    compacted = await stepping.step(THREAD)
    assert (compacted.truncation_performed, compacted.compaction_performed) == (False, True)
    assert compacted.has_pending_operations is False
    assert len(compactor.requests) == 1


async def test_pending_work_survives_a_restart_and_is_worked_out_when_it_runs(
    target: str, clock: FakeClock, compactor: Scripted
) -> None:
    for restart in range(2):
        database = database_at(target, clock)
        await database.open()
        desk = Desk(database, space="alice", engine=engine(), compactor=compactor, retain_recent=1)
        await desk.open_thread(THREAD, mode=Mode.STEPPING)
        if not restart:
            for _ in range(3):
                await desk.dispatch(THREAD, user(long(30)))
                await desk.step(THREAD)
            [first, *_] = (await desk.current_state(THREAD)).chunks
            forget = Event(type=EventType.MEMORY_FORGET, payload={"chunks": [first.id]})
            assert await desk.has_pending_compaction(THREAD)
            await desk.dispatch(THREAD, user(long(20)))
            await desk.dispatch(THREAD, forget)
            await desk.step(THREAD)
            await desk.step(THREAD)
        else:
            assert await desk.has_pending_compaction(THREAD)
            assert (await desk.step(THREAD)).compaction_performed
            assert [chunk.text for chunk in compactor.requests[0].chunks] == [long(30), long(30)]
        await database.close()


@pytest.mark.spec("S3.61", "S3.62")
async def test_critical_chunks_are_never_truncated(stepping: Desk) -> None:
    critical = Event(type=EventType.TODO_SET, payload={"text": long(60)})
    for event in (critical, user(long(30)), user(long(30))):
        await stepping.dispatch(THREAD, event)
        await stepping.step(THREAD)

    await stepping.step(THREAD)

    assert await texts(stepping) == [long(60)]
    [kept] = (await stepping.current_state(THREAD)).chunks
    assert kept.retention is Retention.CRITICAL


@pytest.mark.spec("S3.10", "S3.53", "S3.54", "S3.59")
async def test_a_compaction_asked_for_knows_the_goal_and_what_was_summarised_before(
    desk: Desk, compactor: Scripted
) -> None:
    await desk.open_thread(THREAD)
    task = Event(type=EventType.PARENT_AGENT_MESSAGE, payload={"task": "mend the roof"})
    for event in (task, user("one"), answer("two"), user("three"), user("four")):
        await desk.dispatch(THREAD, event)
    await desk.trigger_compaction(THREAD)
    other = Scripted()
    desk.register_compactor(other)
    chosen = [chunk for chunk in (await desk.current_state(THREAD)).chunks if chunk.compressible]

    result = await desk.trigger_compaction(THREAD, chosen)

    assert compactor.requests[0].goal == "mend the roof"
    assert [chunk.text for chunk in compactor.requests[0].chunks] == ["one", "two"]
    assert other.requests[0].earlier == ("summary 1",)
    assert len(result.removed_chunk_ids) == 3
    assert (await desk.history(THREAD))[-1].event_type == EventType.MEMORY_COMPACT_MANUAL


async def test_a_compaction_with_nothing_to_compact_does_nothing(desk: Desk, compactor: Scripted) -> None:
    await desk.open_thread(THREAD)
    await desk.dispatch(THREAD, Event(type=EventType.TODO_SET, payload={"text": long(90)}))

    assert compactor.requests == []
    assert await desk.has_pending_compaction(THREAD) is False


@pytest.mark.spec("S3.11")
async def test_a_truncation_asked_for_removes_those_chunks_and_passes_over_what_is_gone(desk: Desk) -> None:
    await desk.open_thread(THREAD)
    for text in ("one", "two", "three"):
        await desk.dispatch(THREAD, user(text))
    one, two, _ = (await desk.current_state(THREAD)).chunks

    result = await desk.execute_truncation(THREAD, [two.id, one.id, two.id, "chunk_gone"])

    assert set(result.removed_chunk_ids) == {one.id, two.id}
    assert await texts(desk) == ["three"]
    assert (await desk.history(THREAD))[-1].source == "truncation"


@pytest.mark.spec("S3.57")
def test_tokens_are_counted_by_one_replaceable_counter_that_needs_no_download() -> None:
    counter = EstimatedTokens()

    assert [counter.count(text) for text in ("", "a", "four", "é" * 8)] == [0, 1, 2, 5]


def test_thresholds_that_do_not_rise_are_refused() -> None:
    with pytest.raises(Misconfigured, match="do not rise"):
        Thresholds(soft=10, hard=5, truncation=20)


@pytest.mark.spec("S0.5", "S1.15", "S4.16", "S4.18")
async def test_a_compaction_ends_and_marks_the_session_and_goes_on_in_the_next(
    memory: Memory, desk: Desk, compactor: Scripted
) -> None:
    session = await memory.open_session(space="alice", conversation=KEY)
    await memory.append(session, many(3))
    await desk.open_thread(THREAD, session_id=session.id)
    for _ in range(8):
        await desk.dispatch(THREAD, user(long(10)))

    old = await memory.get_session(space="alice", session_id=session.id)
    assert old is not None
    assert (old.end_reason, old.invalidated_at) == (EndReason.COMPACTION, 3)
    following = await memory.open_session(space="alice", conversation=KEY)
    assert following.id != session.id
    assert (await desk.get_thread(THREAD)).session_id == following.id
    assert await memory.history(space="alice").get_summary(KEY) == "summary 1"
    assert len(await texts(desk)) == 3  # the summary and the two that are retained


@pytest.mark.spec("S4.20", "S1.14")
async def test_an_emergency_keeps_only_the_newest_and_asks_no_model(
    memory: Memory, database: Database, compactor: Scripted
) -> None:
    desk = Desk(database, space="alice", engine=engine(), compactor=compactor, emergency_retain=2)
    session = await memory.open_session(space="alice", conversation=KEY)
    await memory.append(session, many(2))
    await desk.open_thread(THREAD, session_id=session.id)
    for text in ("one", "two", "three", "four"):
        await desk.dispatch(THREAD, user(text))

    await desk.emergency(THREAD)

    assert await texts(desk) == ["three", "four"]
    assert compactor.requests == []
    old = await memory.get_session(space="alice", session_id=session.id)
    assert old is not None
    assert (old.end_reason, old.invalidated_at) == (EndReason.EMERGENCY, 2)


async def test_without_a_model_a_summary_quotes_what_was_said_the_newest_kept() -> None:
    chunks = tuple(
        Chunk(
            id=f"c{number}",
            type=ChunkType.WORKING_FLOW,
            subtype=SubType.USER,
            content={"text": f"message {number} " + "x" * 300},
            created_at=number,  # pyright: ignore[reportArgumentType]
        )
        for number in range(100)
    )
    request = CompactionRequest(thread_id=THREAD, chunks=chunks, goal="mend", earlier=())

    summary = await ExtractiveCompactor(characters=1000).compact(request)

    assert summary.startswith("Task: mend\nWhat happened before:\n- user: message ")
    assert "message 99" in summary
    assert "message 5 " not in summary
    assert len(summary) < 1200
