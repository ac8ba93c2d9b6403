"""Working memory compared with a plain Python model, with crashes between writes and two seeded bugs."""

from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from bethink.errors import DatabaseError, InvalidRequestError
from bethink.memory.working import process
from bethink.memory.working.chunk_list import ChunkList
from bethink.memory.working.ladder import CompactionRequest, Thresholds
from bethink.memory.working.memory import WorkingMemory
from bethink.memory.working.process import Engine
from bethink.memory.working.reducers import Reducers, default_reducers
from bethink.memory.working.runner import Runner
from bethink.model.working import (
    ChunkType,
    Event,
    EventType,
    Mode,
    Retention,
    StateOperation,
    add,
    add_child,
    batch,
    delete,
    reorder,
)
from bethink.store import threads
from bethink.store.db import Database, Tx
from tests.conftest import DATABASES, FakeClock, database_at
from tests.rooms.machine_kit import QUICK, THOROUGH

T = TypeVar("T")
LEASE = timedelta(seconds=1)


class Crash(DatabaseError):
    """The process dies here, as far as the database can tell."""


class Words:
    def count(self, text: str) -> int:
        return len(text.split())


class Summing:
    """A compactor whose summary names what it replaced, so that nothing can vanish unnoticed."""

    async def compact(self, request: CompactionRequest) -> str:
        return " ".join(word for chunk in request.chunks for word in chunk.text.split() if word.startswith("w"))


def _move(event: Event, shelf: ChunkList) -> list[StateOperation]:
    chunks = shelf.chunks()
    if not chunks:
        return []
    first, second = (int(str(event.payload[name])) % len(chunks) for name in ("from", "to"))
    return [batch([reorder(chunks[first].id, second)])]


def _grow(event: Event, shelf: ChunkList) -> list[StateOperation]:
    chunks, text = shelf.chunks(), str(event.payload["text"])
    if not chunks:
        return [add(shelf.chunk(ChunkType.ENVIRONMENT, text), 0)]
    return [add_child(chunks[int(str(event.payload["at"])) % len(chunks)].id, {"text": text})]


def _break(event: Event, shelf: ChunkList) -> list[StateOperation]:
    return [add(shelf.chunk(ChunkType.ENVIRONMENT, str(event.payload["text"]))), delete("chunk_gone")]


def _reducers() -> Reducers:
    known = default_reducers()
    known.register(["BREAK"], _break)
    known.register(["MOVE"], _move)
    known.register(["GROW"], _grow)
    return known


class Crashing:
    """Counts the writes of a thread's life and dies at the one it was told to."""

    def __init__(self) -> None:
        self.left: int | None = None

    def __call__(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise Crash("the process died.")


class Working(RuleBasedStateMachine):
    """Sends events, steps, compacts and crashes; what was said must be there exactly once."""

    database: Database
    portal: BlockingPortal
    clock: FakeClock
    crashing: Crashing
    runs = 0

    def __init__(self) -> None:
        super().__init__()
        Working.runs += 1
        self.thread = f"thread_{Working.runs}"
        self.said: list[str] = []
        self.forgotten: set[str] = set()
        self.restart()

    def restart(self) -> None:
        thresholds = Thresholds(soft=6, hard=12, truncation=18)
        engine = Engine(reducers=_reducers(), tokens=Words(), thresholds=thresholds, retain_recent=2)
        self.desk = WorkingMemory(self.database, space="machine", engine=engine, compactor=Summing(), lease=LEASE)

    def wait(self, call: Callable[[], Awaitable[T]]) -> T:
        return self.portal.call(call)

    def surviving(self, call: Callable[[], Awaitable[T]], crash: int | None) -> T | None:
        """Make a call that may die at its n-th write; then start again, when its lease is over.

        It may also meet an event that cannot be processed, which is not the thread's end.
        """
        self.crashing.left = crash
        try:
            return self.wait(call)
        except Crash:
            self.restart()
            self.clock.time += 2 * LEASE
            return None
        except InvalidRequestError:
            return None
        finally:
            self.crashing.left = None

    @initialize(mode=st.sampled_from(list(Mode)))
    def begin(self, mode: Mode) -> None:
        self.wait(lambda: self.desk.open_thread(self.thread, mode=mode))

    @rule(words=st.integers(1, 4), critical=st.booleans(), crash=st.none() | st.integers(0, 25))
    def say(self, words: int, *, critical: bool, crash: int | None) -> None:
        new = [f"w{len(self.said) + number}" for number in range(words)]
        kind = EventType.TODO_SET if critical else EventType.USER_MESSAGE
        self.send(Event(type=kind, payload={"text": " ".join(new)}), crash, new)

    def send(self, event: Event, crash: int | None, new: list[str]) -> None:
        before = self.wait(lambda: self.desk.get_thread(self.thread)).last_event
        self.surviving(lambda: self.desk.dispatch(self.thread, event), crash)
        if self.wait(lambda: self.desk.get_thread(self.thread)).last_event > before:
            self.said += new

    @rule(at=st.integers(0, 9), crash=st.none() | st.integers(0, 25))
    def grow(self, at: int, crash: int | None) -> None:
        word = f"w{len(self.said)}"
        self.send(Event(type="GROW", payload={"at": at, "text": word}), crash, [word])

    @rule(crash=st.none() | st.integers(0, 25))
    def poison(self, crash: int | None) -> None:
        self.send(Event(type="BREAK", payload={"text": "poison"}), crash, [])

    @rule(first=st.integers(0, 9), second=st.integers(0, 9), crash=st.none() | st.integers(0, 25))
    def move(self, first: int, second: int, crash: int | None) -> None:
        self.send(Event(type="MOVE", payload={"from": first, "to": second}), crash, [])

    @rule(kind=st.sampled_from([EventType.MEMORY_FORGET, EventType.MEMORY_MARK_CRITICAL]), at=st.integers(0, 9))
    def edit(self, kind: EventType, at: int) -> None:
        chunks = self.wait(lambda: self.desk.current_state(self.thread)).chunks
        named = [chunks[at % len(chunks)].id] if chunks else []
        self.send(Event(type=kind, payload={"chunks": [*named, "chunk_gone"]}), None, [])

    @rule(crash=st.none() | st.integers(0, 25))
    def step(self, crash: int | None) -> None:
        if self.wait(lambda: self.desk.get_mode(self.thread)) is Mode.STEPPING:
            self.surviving(lambda: self.desk.step(self.thread), crash)

    @rule(mode=st.sampled_from(list(Mode)), crash=st.none() | st.integers(0, 25))
    def switch(self, mode: Mode, crash: int | None) -> None:
        self.surviving(lambda: self.desk.set_mode(self.thread, mode), crash)

    @rule(crash=st.none() | st.integers(0, 25))
    def compact(self, crash: int | None) -> None:
        self.surviving(lambda: self.desk.trigger_compaction(self.thread), crash)

    @rule()
    def advance(self) -> None:
        self.wait(lambda: self.desk.advance(self.thread))

    @rule(number=st.integers(0, 60))
    def look_back(self, number: int) -> None:
        last = self.wait(lambda: self.desk.get_thread(self.thread)).state_number
        state = self.wait(lambda: self.desk.state_at(self.thread, min(number, last)))
        assert state.info.total_tokens == sum(chunk.tokens for chunk in state.chunks)

    @invariant()
    def nothing_is_lost_doubled_or_out_of_order(self) -> None:
        state = self.wait(lambda: self.desk.current_state(self.thread))
        queued = self.wait(lambda: self.desk.queue(self.thread))
        held = [word for chunk in state.chunks for word in chunk.text.split()]
        waiting = [
            word for each in queued for word in str(each.event.payload.get("text", "")).split() if word in self.said
        ]
        infos = self.wait(lambda: self.desk.history(self.thread))
        truncated = self._truncated(infos)
        assert sorted([*held, *waiting, *truncated]) == sorted(self.said)
        assert [info.previous for info in infos[1:]] == [info.number for info in infos[:-1]]
        assert self.wait(lambda: self.desk.is_step_locked(self.thread)) is False

    def _truncated(self, infos: list[Any]) -> list[str]:
        gone: list[str] = []
        for info in infos:
            if info.source == "truncation" or info.event_type == EventType.MEMORY_FORGET:
                before = self.wait(lambda info=info: self.desk.state_at(self.thread, info.number - 1))
                after = self.wait(lambda info=info: self.desk.state_at(self.thread, info.number))
                kept = {chunk.id for chunk in after.chunks}
                lost = [chunk for chunk in before.chunks if chunk.id not in kept]
                kept_back = info.source == "truncation"
                assert not kept_back or all(chunk.retention is not Retention.CRITICAL for chunk in lost)
                gone += [word for chunk in lost for word in chunk.text.split()]
        return gone

    def teardown(self) -> None:
        self.crashing.left = None
        state = self.wait(lambda: self.desk.current_state(self.thread))
        assert self.wait(lambda: self.desk.replay(self.thread)) == state.chunks


@pytest.fixture(params=DATABASES)
def machine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Working]]:
    target = str(tmp_path / "machine.db") if request.param == "sqlite" else request.getfixturevalue("clean_dsn")
    clock, crashing = FakeClock(), Crashing()
    database = database_at(target, clock)
    run, write = Tx.run, Runner.write

    def crashing_run(self: Tx, name: str, /, **parameters: object) -> int:
        crashing()
        return run(self, name, **parameters)

    async def crashing_write(self: Runner, body: Callable[[Tx], T], *, repeatable: bool = False) -> T:
        crashing()
        return await write(self, body, repeatable=repeatable)

    monkeypatch.setattr(Tx, "run", crashing_run)
    monkeypatch.setattr(Runner, "write", crashing_write)
    with start_blocking_portal() as portal:
        portal.call(database.open)

        class Machine(Working):
            pass

        Machine.database, Machine.portal, Machine.clock, Machine.crashing = database, portal, clock, crashing
        yield Machine
        portal.call(database.close)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_working_memory_survives_crashes_without_loss(machine: type[Working]) -> None:
    run_state_machine_as_test(machine, settings=THOROUGH)


@pytest.mark.mutant
@pytest.mark.slow
def test_machine_detects_events_popped_before_processing(
    machine: type[Working], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def pop_then_process(self: Runner, thread_id: str, step_id: str | None) -> object:
        popped = await self.peek(thread_id)
        if popped is None:
            return None
        number = popped.number
        await self.write(lambda tx: threads.drop_event(tx, space=self.space, thread_id=thread_id, number=number))
        await self.write(lambda tx: process.push(tx, space=self.space, thread_id=thread_id, events=[popped.event]))
        return await real(self, thread_id, step_id)

    real = Runner.process_one
    monkeypatch.setattr(Runner, "process_one", pop_then_process)

    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine, settings=QUICK)


@pytest.mark.mutant
@pytest.mark.slow
def test_the_machine_finds_a_truncation_of_ids_from_an_older_state(
    machine: type[Working], monkeypatch: pytest.MonkeyPatch
) -> None:
    stale: dict[str, list[str]] = {}
    real = Runner.truncate

    async def remembered(self: Runner, thread_id: str, step_id: str) -> object:
        old = stale.get(thread_id)
        stale[thread_id] = [chunk.id for chunk in (await self.state(thread_id)).chunks]
        if old is None:
            return await real(self, thread_id, step_id)
        event = Event(type=EventType.MEMORY_TRUNCATE, payload={"chunks": old})
        return await self._apply_now(thread_id, step_id, event)

    monkeypatch.setattr(Runner, "truncate", remembered)

    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine, settings=QUICK)
