"""Operations on a state, and every way back to an earlier one."""

from collections.abc import Callable

import pytest

from bethink.errors import ConflictError, InvalidRequestError, NotFoundError
from bethink.memory.working.chunk_list import ChunkList
from bethink.memory.working.memory import WorkingMemory
from bethink.memory.working.process import Engine
from bethink.memory.working.reducers import default_reducers
from bethink.model.working import (
    Chunk,
    ChunkType,
    Event,
    EventType,
    Mode,
    OperationKind,
    Retention,
    StateOperation,
    add,
    add_child,
    batch,
    batch_replace,
    delete,
    reorder,
    replace,
    update,
)
from bethink.store.db import Database

THREAD = "thread_1"
Make = Callable[[ChunkList], list[StateOperation]]


class Script:
    """Events that carry the operations to do, so that a test can say them outright."""

    def __init__(self) -> None:
        self.reducers = default_reducers()
        self.reducers.register(["DO"], self.reduce)
        self._steps: dict[str, Make] = {}

    def reduce(self, event: Event, shelf: ChunkList) -> list[StateOperation]:
        return self._steps[str(event.payload["name"])](shelf)

    def event(self, name: str, make: Make) -> Event:
        self._steps[name] = make
        return Event(type="DO", payload={"name": name})


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def desk(database: Database, script: Script) -> WorkingMemory:
    desk = WorkingMemory(database, space="alice", engine=Engine(reducers=script.reducers))
    await desk.open_thread(THREAD)
    return desk


def say(text: str) -> Event:
    return Event(type=EventType.USER_MESSAGE, payload={"text": text})


async def chunks(desk: WorkingMemory) -> list[Chunk]:
    return list((await desk.current_state(THREAD)).chunks)


async def texts(desk: WorkingMemory) -> list[str]:
    return [chunk.text for chunk in await chunks(desk)]


@pytest.fixture
async def abc(desk: WorkingMemory) -> list[Chunk]:
    for text in "abc":
        await desk.dispatch(THREAD, say(text))
    return await chunks(desk)


async def test_chunk_is_added_at_an_index(desk: WorkingMemory, script: Script, abc: list[Chunk]) -> None:
    for index in (0, 2, 99):
        name = f"at {index}"
        await desk.dispatch(
            THREAD,
            script.event(name, lambda shelf: [add(shelf.chunk(ChunkType.OUTPUT, name), index)]),  # noqa: B023
        )

    assert await texts(desk) == ["at 0", "a", "at 2", "b", "c", "at 99"]


async def test_chunk_can_be_inserted_at_one_position_repeatedly(
    desk: WorkingMemory, script: Script, abc: list[Chunk]
) -> None:
    for number in range(30):
        await desk.dispatch(
            THREAD,
            script.event(f"n{number}", lambda shelf: [add(shelf.chunk(ChunkType.OUTPUT, str(number)), 1)]),  # noqa: B023
        )

    assert await texts(desk) == ["a", *(str(number) for number in reversed(range(30))), "b", "c"]
    assert [chunk.text for chunk in (await desk.state_at(THREAD, 3)).chunks] == ["a", "b", "c"]


async def test_chunks_are_updated_replaced_deleted_and_moved(
    desk: WorkingMemory, script: Script, abc: list[Chunk]
) -> None:
    a, b, c = abc

    def make(shelf: ChunkList) -> list[StateOperation]:
        return [
            update(a.id, shelf.chunk(ChunkType.WORKING_FLOW, "A")),
            replace(b.id, shelf.chunk(ChunkType.OUTPUT, "B")),
            reorder(c.id, 0),
        ]

    result = await desk.dispatch(THREAD, script.event("change", make))

    assert await texts(desk) == ["c", "A", "B"]
    assert (await chunks(desk))[1].parents == (a.id,)
    assert set(result.removed_chunk_ids) == {a.id, b.id}
    await desk.dispatch(THREAD, script.event("drop", lambda shelf: [delete(c.id)]))
    assert await texts(desk) == ["A", "B"]


async def test_add_child_replaces_the_chunk_in_position(desk: WorkingMemory, script: Script, abc: list[Chunk]) -> None:
    a = abc[0]
    await desk.dispatch(THREAD, script.event("grow", lambda shelf: [add_child(a.id, {"text": "leaf"})]))

    grown = (await chunks(desk))[0]
    assert (grown.text, grown.parents, grown.created_at) == ("a\nleaf", (a.id,), a.created_at)
    assert (await desk.state_at(THREAD, 3)).chunks[0] == a


async def test_batch_replace_merges_chunks_and_ignores_missing_ones(
    desk: WorkingMemory, script: Script, abc: list[Chunk]
) -> None:
    _, b, c = abc

    def make(shelf: ChunkList) -> list[StateOperation]:
        return [batch([batch_replace([c.id, "chunk_gone", b.id], shelf.chunk(ChunkType.WORKING_FLOW, "b+c"))])]

    await desk.dispatch(THREAD, script.event("fold", make))
    assert await texts(desk) == ["a", "b+c"]

    end = script.event("end", lambda shelf: [batch_replace(["chunk_gone"], shelf.chunk(ChunkType.OUTPUT, "end"))])
    await desk.dispatch(THREAD, end)
    assert await texts(desk) == ["a", "b+c", "end"]
    assert list((await desk.history(THREAD))[-2].operations) == ["BATCH", "BATCH_REPLACE"]


@pytest.mark.parametrize("kind", ["update", "replace", "delete", "reorder", "add_child"])
async def test_operation_on_a_missing_chunk_changes_nothing(
    desk: WorkingMemory, script: Script, abc: list[Chunk], kind: str
) -> None:
    def make(shelf: ChunkList) -> list[StateOperation]:
        chunk = shelf.chunk(ChunkType.OUTPUT, "x")
        wrong = {
            "update": update("gone", chunk),
            "replace": replace("gone", chunk),
            "delete": delete("gone"),
            "reorder": reorder("gone", 0),
            "add_child": add_child("gone", {"text": "x"}),
        }
        return [add(chunk), wrong[kind]]

    with pytest.raises(InvalidRequestError, match="not in the current state"):
        await desk.dispatch(THREAD, script.event("wrong", make))
    assert await texts(desk) == ["a", "b", "c"]
    assert await desk.queue_length(THREAD) == 0
    assert [each.event.event.payload["name"] for each in await desk.failed_events(THREAD)] == ["wrong"]


async def test_invalid_operation_is_rejected(desk: WorkingMemory, script: Script) -> None:
    with pytest.raises(InvalidRequestError, match="needs a chunk"):
        await desk.dispatch(THREAD, script.event("empty", lambda shelf: [StateOperation(kind=OperationKind.ADD)]))
    below = script.event("below", lambda shelf: [add(shelf.chunk(ChunkType.OUTPUT, "x"), -1)])
    with pytest.raises(InvalidRequestError, match="Count from 0"):
        await desk.dispatch(THREAD, below)


async def test_a_chunk_can_be_marked_critical_and_forgotten(desk: WorkingMemory, abc: list[Chunk]) -> None:
    a, b, _ = abc
    await desk.dispatch(THREAD, Event(type=EventType.MEMORY_MARK_CRITICAL, payload={"chunks": [a.id, "gone"]}))
    await desk.dispatch(THREAD, Event(type=EventType.MEMORY_FORGET, payload={"chunks": [b.id, "gone"]}))

    first, last = await chunks(desk)
    assert (first.text, first.retention, first.parents) == ("a", Retention.CRITICAL, (a.id,))
    assert last.text == "c"


@pytest.mark.spec("S3.33")
async def test_every_state_is_stored_in_an_unbroken_chain(desk: WorkingMemory, abc: list[Chunk]) -> None:
    infos = await desk.history(THREAD)

    assert [info.number for info in infos] == [0, 1, 2, 3]
    assert [info.previous for info in infos] == [None, 0, 1, 2]
    assert [info.source for info in infos] == ["initial", *["event_dispatch"] * 3]
    assert all(info.id.startswith("state_") for info in infos)
    assert all(info.event_id and info.event_id.startswith("qevt_") for info in infos[1:])
    assert all(info.step_id and info.step_id.startswith("step_") for info in infos[1:])
    assert [info.event_type for info in infos[1:]] == [EventType.USER_MESSAGE] * 3
    for number in range(4):
        state = await desk.state_at(THREAD, number)
        assert [chunk.text for chunk in state.chunks] == list("abc")[:number]
    with pytest.raises(NotFoundError, match="Its last state is 3"):
        await desk.state_at(THREAD, 4)


async def test_two_states_can_be_compared(desk: WorkingMemory, script: Script, abc: list[Chunk]) -> None:
    a, b, c = abc

    def make(shelf: ChunkList) -> list[StateOperation]:
        return [delete(b.id), add(shelf.chunk(ChunkType.OUTPUT, "d")), reorder(c.id, 0)]

    await desk.dispatch(THREAD, script.event("x", make))

    found = await desk.diff(THREAD, 3, 4)

    assert [chunk.text for chunk in found.added] == ["d"]
    assert [chunk.text for chunk in found.removed] == ["b"]
    assert set(found.moved) == {a.id, c.id}
    assert (await desk.diff(THREAD, 4, 4)).moved == ()


async def test_a_fork_begins_at_a_state_and_leaves_its_source_alone(desk: WorkingMemory, abc: list[Chunk]) -> None:
    forked = await desk.fork(THREAD, at=2, into="fork", mode=Mode.AUTO)
    await desk.dispatch("fork", say("z"))
    await desk.dispatch(THREAD, say("d"))

    assert (forked.forked_from, forked.forked_at, forked.state_number) == (THREAD, 2, 0)
    assert [chunk.text for chunk in (await desk.current_state("fork")).chunks] == ["a", "b", "z"]
    assert await texts(desk) == ["a", "b", "c", "d"]
    assert (await desk.get_thread("fork")).total_tokens == 3
    assert (await desk.history("fork"))[0].source == "fork"
    with pytest.raises(ConflictError, match="already"):
        await desk.fork(THREAD, at=0, into="fork")
    assert await desk.replay("fork") == (await desk.current_state("fork")).chunks


async def test_a_replay_makes_the_same_state_from_the_events_alone(desk: WorkingMemory, abc: list[Chunk]) -> None:
    a = abc[0]
    await desk.dispatch(THREAD, Event(type=EventType.MEMORY_MARK_CRITICAL, payload={"chunks": [a.id]}))
    for number in range(6):
        await desk.dispatch(THREAD, say(f"more {number}"))
    await desk.trigger_compaction(THREAD)
    await desk.dispatch(THREAD, say("after"))
    await desk.execute_truncation(THREAD, [(await chunks(desk))[-2].id])

    assert await desk.replay(THREAD) == (await desk.current_state(THREAD)).chunks
    assert [thread.id for thread in await desk.threads()] == [THREAD]


async def test_a_replay_leaves_every_other_thread_alone_whatever_its_name(
    desk: WorkingMemory, abc: list[Chunk]
) -> None:
    other = await desk.fork(THREAD, at=1, into=f"replay_{THREAD}")
    await desk.dispatch(other.id, say("precious"))

    assert await desk.replay(THREAD) == tuple(abc)

    assert [chunk.text for chunk in (await desk.current_state(other.id)).chunks] == ["a", "precious"]
    assert {thread.id for thread in await desk.threads()} == {THREAD, other.id}


async def test_a_replay_passes_over_what_was_set_aside(desk: WorkingMemory, script: Script, abc: list[Chunk]) -> None:
    def make(shelf: ChunkList) -> list[StateOperation]:
        return [add(shelf.chunk(ChunkType.OUTPUT, "x")), delete("gone")]

    with pytest.raises(InvalidRequestError):
        await desk.dispatch(THREAD, script.event("wrong", make))
    await desk.dispatch(THREAD, say("d"))

    assert await texts(desk) == ["a", "b", "c", "d"]
    assert await desk.replay(THREAD) == (await desk.current_state(THREAD)).chunks
