"""The compaction stages on both databases: suggest, compact, truncate, emergency."""

import anyio
import pytest

from bethink import Memory
from bethink.errors import ConfigurationError
from bethink.memory.working.chunk_list import ChunkList
from bethink.memory.working.ladder import CompactionRequest, ExtractiveCompactor, Thresholds
from bethink.memory.working.memory import WorkingMemory
from bethink.memory.working.reducers import default_reducers
from bethink.model.records import EndReason
from bethink.model.working import Chunk, ChunkType, Event, EventType, Mode, Retention, StateOperation, SubType, add
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.store.db import Database
from tests.conftest import KEY, FakeClock, database_at, many
from tests.rooms.working_kit import THREAD, Scripted, answer, engine, long, texts, user


@pytest.mark.spec("S3.48", "S3.49", "S3.50", "S3.51", "S3.52", "S3.60", "S3.61", "S3.62")
async def test_usage_is_measured_against_the_ladder(database: Database) -> None:
    desk = WorkingMemory(database, space="alice", engine=engine(auto_compact=False))
    await desk.open_thread(THREAD, mode=Mode.STEPPING)

    async def say(text: str) -> None:
        await desk.push_event(THREAD, user(text))
        await desk._runner.process_one(THREAD, None)

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
    def nested(event: Event, shelf: ChunkList) -> list[StateOperation]:
        children = [{"text": "three words here"}, {"parts": [{"text": "two more"}], "role": "not text"}]
        return [add(shelf.chunk(ChunkType.WORKING_FLOW, "", children=children))]

    reducers = default_reducers()
    reducers.register(["NESTED"], nested)
    desk = WorkingMemory(database, space="alice", engine=engine(reducers=reducers), compactor=ExtractiveCompactor())
    await desk.open_thread(THREAD)

    result = await desk.dispatch(THREAD, Event(type="NESTED"))

    assert result.thread.total_tokens == 5
    summary = await ExtractiveCompactor().compact(
        CompactionRequest(thread_id=THREAD, chunks=result.added_chunks, goal="", earlier=())
    )
    assert "three words here" in summary


@pytest.mark.spec("S3.69", "S3.70", "S3.71", "S3.58", "S4.14", "S4.15")
async def test_in_auto_mode_the_hard_threshold_compacts_at_once(desk: WorkingMemory, compactor: Scripted) -> None:
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


async def test_concurrent_dispatches_succeed_and_keep_the_thread_short(
    desk: WorkingMemory, compactor: Scripted
) -> None:
    await desk.open_thread(THREAD)

    async with anyio.create_task_group() as tasks:
        for _ in range(30):
            tasks.start_soon(desk.dispatch, THREAD, user(long(10)))

    await desk.advance(THREAD)
    thread = await desk.get_thread(THREAD)
    assert thread.total_tokens < 100
    assert await desk.queue_length(THREAD) == 0
    assert compactor.requests


async def test_event_dispatched_during_compaction_is_processed_after(database: Database) -> None:
    class Talking:
        async def compact(self, request: CompactionRequest) -> str:
            result = await desk.dispatch(THREAD, user("meanwhile"))
            assert result.processed == ()  # the thread is held
            return "summary"

    desk = WorkingMemory(database, space="alice", engine=engine(), compactor=Talking())
    await desk.open_thread(THREAD)
    for text in ("one", "two"):
        await desk.dispatch(THREAD, user(text))

    await desk.trigger_compaction(THREAD)

    assert await texts(desk) == ["summary", "two", "meanwhile"]


@pytest.mark.spec("S3.72")
async def test_the_soft_threshold_only_suggests(desk: WorkingMemory, compactor: Scripted) -> None:
    await desk.open_thread(THREAD)
    await desk.dispatch(THREAD, user(long(60)))

    assert (await desk.check_token_usage(THREAD)).suggest_compaction is True
    assert compactor.requests == []
    assert await desk.has_pending_compaction(THREAD) is False


@pytest.mark.spec("S3.6")
async def test_automatic_compaction_can_be_switched_off(database: Database, compactor: Scripted) -> None:
    desk = WorkingMemory(database, space="alice", engine=engine(auto_compact=False), compactor=compactor)
    await desk.open_thread(THREAD)

    for _ in range(3):
        await desk.dispatch(THREAD, user(long(30)))

    assert compactor.requests == []
    assert len(await texts(desk)) == 3


@pytest.mark.spec("S3.18", "S3.19", "S3.21", "S3.46", "S3.65", "S3.66", "S3.68", "S3.73")
async def test_stepping_truncates_after_events_then_compacts(stepping: WorkingMemory, compactor: Scripted) -> None:
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


async def test_pending_work_survives_a_restart(target: str, clock: FakeClock, compactor: Scripted) -> None:
    for restart in range(2):
        database = database_at(target, clock)
        await database.open()
        desk = WorkingMemory(database, space="alice", engine=engine(retain_recent=1), compactor=compactor)
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
async def test_critical_chunks_are_never_truncated(stepping: WorkingMemory) -> None:
    critical = Event(type=EventType.TODO_SET, payload={"text": long(60)})
    for event in (critical, user(long(30)), user(long(30))):
        await stepping.dispatch(THREAD, event)
        await stepping.step(THREAD)

    await stepping.step(THREAD)

    assert await texts(stepping) == [long(60)]
    [kept] = (await stepping.current_state(THREAD)).chunks
    assert kept.retention is Retention.CRITICAL


async def steps(desk: WorkingMemory) -> str:
    """Step until nothing is left to do, and say what was done: events, truncations, compactions."""
    done = ""
    while len(done) < 20:
        step = await desk.step(THREAD)
        done += "e" * step.event_processed + "t" * step.truncation_performed + "c" * step.compaction_performed
        if not step.has_pending_operations:
            return done
    return f"{done}…"


async def test_stepping_ends_where_nothing_more_may_be_cut(stepping: WorkingMemory, compactor: Scripted) -> None:
    critical = Event(type=EventType.TODO_SET, payload={"text": long(120)})
    for event in (critical, user("one"), user("two")):
        await stepping.dispatch(THREAD, event)

    assert await steps(stepping) == "eeetc"  # all that may go is cut at once, and there is nothing to compact
    assert await texts(stepping) == [long(120)]
    assert compactor.requests == []
    await stepping.dispatch(THREAD, critical)
    assert await steps(stepping) == "etc"  # it is looked at again once there is something new


async def test_compacting_ends_where_only_a_summary_is_left_to_compact(
    stepping: WorkingMemory, compactor: Scripted
) -> None:
    critical = Event(type=EventType.TODO_SET, payload={"text": long(85)})
    for event in (critical, user("one"), user("two"), user("three")):
        await stepping.dispatch(THREAD, event)

    assert await steps(stepping) == "eeeecc"
    assert len(compactor.requests) == 1  # the second time there was nothing that could be made shorter
    assert await texts(stepping) == [long(85), "summary 1", "three"]


async def test_stepping_ends_where_the_thresholds_are_one(database: Database, compactor: Scripted) -> None:
    one = Thresholds(soft=10, hard=10, truncation=10)
    desk = WorkingMemory(database, space="alice", engine=engine(thresholds=one), compactor=compactor)
    await desk.open_thread(THREAD, mode=Mode.STEPPING)
    await desk.dispatch(THREAD, user(long(10)))

    assert await steps(desk) == "etc"


async def test_a_compaction_that_finds_nothing_leaves_a_truncation_due(stepping: WorkingMemory) -> None:
    await stepping.dispatch(THREAD, Event(type=EventType.TODO_SET, payload={"text": long(120)}))
    await stepping.step(THREAD)

    await stepping.trigger_compaction(THREAD)

    assert await stepping.has_pending_compaction(THREAD) is False
    assert await stepping.has_pending_truncation(THREAD) is True


@pytest.mark.spec("S3.10", "S3.53", "S3.54", "S3.59")
async def test_requested_compaction_knows_goal_and_earlier_summaries(desk: WorkingMemory, compactor: Scripted) -> None:
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


async def test_a_compaction_with_nothing_to_compact_does_nothing(desk: WorkingMemory, compactor: Scripted) -> None:
    await desk.open_thread(THREAD)
    await desk.dispatch(THREAD, Event(type=EventType.TODO_SET, payload={"text": long(90)}))

    assert compactor.requests == []
    assert await desk.has_pending_compaction(THREAD) is False


@pytest.mark.spec("S3.11")
async def test_requested_truncation_ignores_missing_chunks(desk: WorkingMemory) -> None:
    await desk.open_thread(THREAD)
    for text in ("one", "two", "three"):
        await desk.dispatch(THREAD, user(text))
    one, two, _ = (await desk.current_state(THREAD)).chunks

    result = await desk.execute_truncation(THREAD, [two.id, one.id, two.id, "chunk_gone"])

    assert set(result.removed_chunk_ids) == {one.id, two.id}
    assert await texts(desk) == ["three"]
    assert (await desk.history(THREAD))[-1].source == "truncation"


@pytest.mark.spec("S3.57")
def test_default_token_counter_needs_no_download() -> None:
    counter = EstimatedTokens()

    assert [counter.count(text) for text in ("", "a", "four", "é" * 8)] == [0, 1, 2, 5]


def test_thresholds_that_do_not_rise_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="not in ascending order"):
        Thresholds(soft=10, hard=5, truncation=20)


@pytest.mark.spec("S0.5", "S1.15", "S4.16", "S4.18")
async def test_compaction_ends_the_session_and_continues_in_the_next(
    memory: Memory, desk: WorkingMemory, compactor: Scripted
) -> None:
    session = await memory.space("alice").session(KEY)
    await session.append(many(3))
    await desk.open_thread(THREAD, session_id=session.id)
    for _ in range(8):
        await desk.dispatch(THREAD, user(long(10)))

    old = (await memory.space("alice").sessions.get(session.id)).info
    assert (old.end_reason, old.invalidated_at) == (EndReason.COMPACTION, 3)
    following = await memory.space("alice").session(KEY)
    assert following.id != session.id
    assert (await desk.get_thread(THREAD)).session_id == following.id
    assert await memory.backend.local().history("alice").get_summary(KEY) == "summary 1"
    assert len(await texts(desk)) == 3  # the summary and the two that are retained


@pytest.mark.spec("S4.20", "S1.14")
async def test_an_emergency_keeps_only_the_newest_and_asks_no_model(
    memory: Memory, database: Database, compactor: Scripted
) -> None:
    desk = WorkingMemory(database, space="alice", engine=engine(emergency_retain=2), compactor=compactor)
    session = await memory.space("alice").session(KEY)
    await session.append(many(2))
    await desk.open_thread(THREAD, session_id=session.id)
    for text in ("one", "two", "three", "four"):
        await desk.dispatch(THREAD, user(text))

    await desk.emergency(THREAD)

    assert await texts(desk) == ["three", "four"]
    assert compactor.requests == []
    old = (await memory.space("alice").sessions.get(session.id)).info
    assert (old.end_reason, old.invalidated_at) == (EndReason.EMERGENCY, 2)


async def test_summary_without_a_model_quotes_the_newest_messages() -> None:
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

    assert summary.startswith("Task: mend\nEarlier events:\n- user: message ")
    assert "message 99" in summary
    assert "message 5 " not in summary
    assert len(summary) < 1200
