"""Threads and their sessions: how they continue and how they are deleted together."""

import pytest

from bethink import Memory
from bethink.errors import DuplicateError
from bethink.memory.working.memory import WorkingMemory
from bethink.model.records import RestartReason, conversation_key
from bethink.model.working import Mode
from bethink.store.db import Database
from tests.conftest import KEY, many, said
from tests.rooms.working_kit import THREAD, engine, texts, user

OTHER = conversation_key(channel="cli", chat="other")


@pytest.mark.parametrize("reason", RestartReason)
async def test_thread_follows_its_conversation_to_the_next_session(memory: Memory, reason: RestartReason) -> None:
    session = await memory.space("alice").session(KEY)
    desk = memory.backend.local().working("alice")
    await desk.open_thread(THREAD, session_id=session.id)
    await session.append(said("before"))

    following = await session.restart(reason)
    await following.append(said("after"))

    assert (await desk.get_thread(THREAD)).session_id == following.id
    assert await texts(desk) == ["before", "after"]


async def test_inherited_thread_yields_to_one_opened_for_the_session(memory: Memory) -> None:
    session = await memory.space("alice").session(KEY)
    desk = memory.backend.local().working("alice")
    await desk.open_thread(THREAD, session_id=session.id)
    await session.append(many(4))
    following = await session.restart()

    await desk.open_thread(THREAD, session_id=following.id)  # by its own id it stays
    assert (await desk.get_thread(THREAD)).session_id == following.id
    await desk.open_thread("fresh", session_id=following.id)
    await following.append(said("new"))
    await desk.trigger_compaction(THREAD)
    await desk.dispatch(THREAD, user("still working"))

    assert (await desk.get_thread(THREAD)).session_id is None
    assert (await texts(desk))[-1] == "still working"
    assert await texts(desk, "fresh") == ["new"]
    assert (await memory.space("alice").session(KEY)).id == following.id
    with pytest.raises(DuplicateError):
        await desk.open_thread("third", session_id=following.id)


async def test_a_thread_that_was_left_behind_can_be_compacted(memory: Memory, database: Database) -> None:
    session = await memory.space("alice").session(KEY)
    desk = WorkingMemory(database, space="alice", engine=engine())
    await desk.open_thread(THREAD, session_id=session.id)
    await session.append(many(4))
    await session.end()
    following = await memory.space("alice").session(KEY)
    await desk.open_thread("fresh", session_id=following.id)
    await memory.backend.local().history("alice").set_summary(KEY, "what the other knows")

    await desk.trigger_compaction(THREAD)
    await desk.dispatch(THREAD, user("x"))

    assert await desk.queue_length(THREAD) == 0
    assert await desk.failed_events(THREAD) == []
    assert (await desk.get_thread(THREAD)).session_id == session.id
    assert (await desk.get_thread("fresh")).session_id == following.id
    assert await memory.backend.local().history("alice").get_summary(KEY) == "what the other knows"


async def test_history_append_reaches_the_thread_at_once(memory: Memory) -> None:
    session = await memory.space("alice").session(KEY)
    desk = memory.backend.local().working("alice")
    await desk.open_thread(THREAD, session_id=session.id)

    await memory.backend.local().history("alice").append(KEY, {"role": "user", "content": "hi"})
    async with memory.space("alice").sessions.live(KEY) as live:
        await live.append({"role": "user", "content": "ho"})

    assert await texts(desk) == ["hi", "ho"]
    await desk.set_mode(THREAD, Mode.STEPPING)
    await memory.backend.local().history("alice").append(KEY, {"role": "user", "content": "wait"})
    assert await desk.queue_length(THREAD) == 1


@pytest.mark.parametrize("what", ["message", "session", "conversation"])
async def test_fork_is_deleted_with_its_conversation(memory: Memory, what: str) -> None:
    session = await memory.space("alice").session(KEY)
    desk = memory.backend.local().working("alice")
    await desk.open_thread(THREAD, session_id=session.id)
    await session.append(said("I keep a zebrafinch."))
    await desk.fork(THREAD, at=1, into="fork")
    await desk.delete_thread(THREAD)
    await desk.fork("fork", at=0, into="fork of fork")
    await desk.delete_thread("fork")

    if what == "message":
        forgotten = await memory.space("alice").forget(f"message:{session.id}:1")
    elif what == "session":
        forgotten = await memory.space("alice").forget(session_id=session.id)
    else:
        forgotten = await memory.space("alice").forget(conversation=KEY)

    assert forgotten.threads == 1
    assert await desk.threads() == []


async def test_fork_survives_deletion_of_a_thread_with_its_source_id(memory: Memory) -> None:
    desk = memory.backend.local().working("alice")
    await desk.open_thread(THREAD)
    await desk.dispatch(THREAD, user("of no conversation"))
    await desk.fork(THREAD, at=1, into="fork")
    await desk.delete_thread(THREAD)
    session = await memory.space("alice").session(KEY)
    await desk.open_thread(THREAD, session_id=session.id)
    await session.append(said("to be forgotten"))

    assert (await memory.space("alice").forget(session_id=session.id)).threads == 1

    assert await texts(desk, "fork") == ["of no conversation"]


async def test_a_thread_that_gave_way_is_forgotten_with_its_conversation(memory: Memory) -> None:
    session = await memory.space("alice").session(KEY)
    desk = memory.backend.local().working("alice")
    await desk.open_thread(THREAD, session_id=session.id)
    await session.append(said("I keep a zebrafinch."))
    following = await session.restart()
    await desk.open_thread("fresh", session_id=following.id)

    assert (await memory.space("alice").forget(conversation=KEY)).threads == 2
    assert await desk.threads() == []


async def test_a_desk_never_shows_the_state_of_a_thread_that_was_forgotten(memory: Memory) -> None:
    session = await memory.space("alice").session(KEY)
    desk = memory.backend.local().working("alice")
    await desk.open_thread(THREAD, session_id=session.id)
    await session.append(said("my secret is 4711"))
    assert await texts(desk) == ["my secret is 4711"]

    await memory.space("alice").forget(session_id=session.id)
    other = await memory.space("alice").session(OTHER)
    await desk.open_thread(THREAD, session_id=other.id)
    await other.append(said("hello"))

    assert await texts(desk) == ["hello"]
    assert (await desk.prompt(THREAD, budget=1000)).to_openai() == [{"role": "user", "content": "hello"}]


async def test_recreated_thread_is_not_confused_with_the_cached_state(memory: Memory) -> None:
    desk, elsewhere = memory.backend.local().working("alice"), memory.backend.local().working("alice")
    await desk.open_thread(THREAD)
    await desk.dispatch(THREAD, user("old"))
    assert await texts(desk) == ["old"]

    await elsewhere.delete_thread(THREAD)
    await elsewhere.open_thread(THREAD)
    await elsewhere.dispatch(THREAD, user("new"))

    assert await texts(desk) == ["new"]


async def test_a_desk_keeps_a_few_dozen_states_at_hand_and_no_more(memory: Memory) -> None:
    desk = memory.backend.local().working("alice")
    names = [f"thread_{number:02}" for number in range(40)]
    for name in names:
        await desk.open_thread(name)
        await desk.current_state(name)

    assert list(desk._runner._cache) == names[-32:]
    first = await desk.current_state(names[-32])
    await desk.current_state(names[0])
    assert await desk.current_state(names[-32]) is first  # what was asked for last goes last
