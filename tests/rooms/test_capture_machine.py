"""Capture compared with a plain Python model, on both databases, with three seeded bugs that must be detected."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    initialize,
    multiple,
    rule,
    run_state_machine_as_test,
)

from bethink import Memory, Message, Session
from bethink.errors import ConflictError, InvalidRequestError
from bethink.model.records import conversation_key
from bethink.types import AgentKind, SessionInfo
from tests.conftest import DATABASES, database_at, memory_on
from tests.rooms.capture_model import Model, ModelSession, Refused
from tests.rooms.machine_kit import QUICK, THOROUGH, spoil

T = TypeVar("T")

CONTENT = st.sampled_from(["tea", "coffee", "water", "a\0b", "😀"])
KEY = st.none() | st.sampled_from(["k1", "k2", "k3", "k4"])
BATCH = st.lists(st.tuples(CONTENT, KEY), min_size=1, max_size=4, unique_by=lambda each: each[1] or object())
NUMBER = st.integers(0, 15)


class Capture(RuleBasedStateMachine):
    """Does the same to Memory and to the model, and compares what they answer and what they hold."""

    memory: Memory
    portal: BlockingPortal
    runs = 0
    sessions: Bundle[Session] = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        Capture.runs += 1
        self.spaces = [f"run{Capture.runs}-{letter}" for letter in "ab"]

    def wait(self, call: Callable[[], Awaitable[T]]) -> T:
        return self.portal.call(call)

    def of(self, session: Session | SessionInfo) -> ModelSession:
        return self.model.sessions[session.id]

    def agrees(self, session: Session) -> None:
        expected = self.of(session)
        now = self.wait(lambda: self.memory.space(session.space).sessions.get(session_id=session.id))
        assert now is not None
        assert (
            now.info.last_number,
            now.info.invalidated_at,
            now.info.processed_until,
            now.info.ended_at is not None,
        ) == (
            expected.last,
            expected.mark,
            expected.processed,
            expected.ended,
        )
        records = self.wait(session.messages)
        assert {record.number: record.message.content for record in records} == expected.messages
        assert [record.number for record in records] == sorted(expected.messages)

    @initialize(target=sessions)
    def begin(self) -> MultipleResults[Any]:
        return multiple(self.open(0, "assistant", "one"), self.open(1, "assistant", "one"))

    @rule(
        target=sessions,
        space=st.integers(0, 1),
        agent=st.sampled_from(["assistant", "writer"]),
        chat=st.sampled_from(["one", "two"]),
    )
    def open(self, space: int, agent: str, chat: str) -> Session:
        kind = AgentKind.PRIMARY if agent == "assistant" else AgentKind.MEMORY_WRITER
        key = (self.spaces[space], agent, chat)
        session = self.wait(
            lambda: self.memory.space(key[0]).session(conversation_key(channel="c", chat=chat), agent=agent, kind=kind)
        )
        active = self.model.active(key)
        if active is None:
            self.model.opened(key, session.id, learns=agent == "assistant")
            assert session.info.ordinal == len(self.model.conversations[key])
        else:
            assert session.id == active.id
        self.agrees(session)
        return session

    @rule(session=sessions, batch=BATCH)
    def append(self, session: Session, batch: list[tuple[str, str | None]]) -> None:
        cleaned = [(content.replace("\0", "\ufffd"), key) for content, key in batch]
        messages = [Message(role="user", content=content, idempotency_key=key) for content, key in batch]
        try:
            expected = self.model.append(self.of(session), cleaned)
        except Refused:
            with pytest.raises(ConflictError):
                self.wait(lambda: session.append(messages))
        else:
            assert self.wait(lambda: session.append(messages)) == expected
        self.agrees(session)

    @rule(session=sessions)
    def idle(self, session: Session) -> None:
        expected = self.model.mark_pending(self.of(session))
        assert self.wait(lambda: session.checkpoint(force=True)) == expected
        self.agrees(session)

    @rule(session=sessions)
    def end_turn(self, session: Session) -> None:
        expected = self.model.end_turn(self.of(session))
        assert self.wait(session.checkpoint) == expected
        self.agrees(session)

    @rule(session=sessions, number=NUMBER)
    def invalidate(self, session: Session, number: int) -> None:
        if not 1 <= number <= self.of(session).last:
            with pytest.raises(InvalidRequestError):
                self.wait(lambda: self.memory.backend.local().marks().invalidate(session.info, number))
        else:
            expected = self.model.set_mark(self.of(session), number)
            assert self.wait(lambda: self.memory.backend.local().marks().invalidate(session.info, number)) == expected
        self.agrees(session)

    @rule(target=sessions, session=consumes(sessions), compaction=st.booleans())
    def succeed(self, session: Session, *, compaction: bool) -> MultipleResults[Any]:
        following = self.wait(lambda: session.restart("compaction" if compaction else "reset"))
        old = self.of(session)
        self.model.end(old)
        active = self.model.active(old.key)
        if active is None:
            self.model.opened(old.key, following.id, learns=old.learns)
        else:
            assert following.id == active.id
        self.agrees(session)
        self.agrees(following)
        return multiple(session, following)

    @rule(session=sessions)
    def end(self, session: Session) -> None:
        self.model.end(self.of(session))
        self.wait(session.end)
        self.agrees(session)

    @rule(session=sessions, until=NUMBER, expected=NUMBER, right=st.booleans())
    def process(self, session: Session, until: int, expected: int, *, right: bool) -> None:
        mark = self.of(session).mark
        expected = mark if right and mark is not None else expected
        cleared = self.model.mark_processed(self.of(session), until, expected)
        assert (
            self.wait(
                lambda: self.memory.backend.local().marks().mark_processed(session.info, until=until, expected=expected)
            )
            == cleared
        )
        self.agrees(session)

    @rule(limit=st.integers(1, 4))
    def find(self, limit: int) -> None:
        found = self.wait(lambda: self.memory.backend.local().marks().find_invalidated(limit))
        assert [session.id for session in found] == self.model.marked()[:limit]
        assert [session.invalidated_at for session in found] == [self.of(session).mark for session in found]

    @rule(session=sessions)
    def purge(self, session: Session) -> None:
        space, agent, chat = self.of(session).key
        key = conversation_key(channel="c", chat=chat)
        expected = self.model.purge((space, agent, chat))
        forgotten = self.wait(lambda: self.memory.space(space).forget(conversation=key, agent=agent))
        assert forgotten.messages == expected
        self.agrees(session)

    @rule(session=sessions, summary=CONTENT, n=st.integers(-1, 9))
    def look_back(self, session: Session, summary: str, n: int) -> None:
        name = self.of(session).key
        history = self.memory.backend.local().history(name[0], agent=name[1])
        key = conversation_key(channel="c", chat=name[2])
        assert self.wait(lambda: history.get_summary(key)) == self.model.summaries.get(name, "")
        self.wait(lambda: history.set_summary(key, summary))
        self.model.summaries[name] = summary.replace("\0", "\ufffd")
        held = self.model.history(name)
        assert self.wait(lambda: history.length(key)) == len(held)
        recent = self.wait(lambda: history.recent(key, n))
        assert [record.message.content for record in recent] == (held[-n:] if n > 0 else [])

    @rule(session=sessions, number=NUMBER)
    def count(self, session: Session, number: int) -> None:
        expected = self.of(session)
        assert self.wait(
            lambda: self.memory.backend.local().marks().count_since(session.info, number)
        ) == expected.count_since(number)
        assert self.wait(lambda: self.memory.backend.local().marks().max_number(session.info)) == expected.max_number

    def teardown(self) -> None:
        for session in self.wait(lambda: self.memory.backend.local().marks().find_invalidated(1000)):
            self.wait(
                lambda session=session: (
                    self.memory.backend.local()
                    .marks()
                    .mark_processed(session, until=session.last_number, expected=session.invalidated_at or 0)
                )
            )


@pytest.fixture(params=DATABASES)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[type[Capture]]:
    target = str(tmp_path / "machine.db") if request.param == "sqlite" else request.getfixturevalue("clean_dsn")
    database = database_at(target)
    with start_blocking_portal() as portal:
        portal.call(database.open)

        class Machine(Capture):
            pass

        Machine.memory, Machine.portal = memory_on(database), portal
        yield Machine
        portal.call(database.close)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_capture_matches_its_model(machine: type[Capture]) -> None:
    run_state_machine_as_test(machine, settings=THOROUGH)


MUTANTS = {
    "a mark lowered": ("mark_session", " AND (invalidated_at IS NULL OR invalidated_at < ", " AND (TRUE OR 0 < "),
    "a number reused after a purge": (
        "clear_purged_marks",
        "SET invalidated_at = NULL,",
        "SET last_number = 0, invalidated_at = NULL,",
    ),
    "a compare-and-swap that ignores the expected mark": ("clear_mark", "AND invalidated_at = ", "AND 0 < "),
}


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_machine_finds_each_seeded_bug(
    machine: type[Capture], mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialect = machine.memory.backend.local().database.dialect
    spoil(monkeypatch, dialect, *MUTANTS[mutant])

    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine, settings=QUICK)
