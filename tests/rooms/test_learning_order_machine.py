"""Workers lease, finish, fail and die in any order: a space never has two leases, and its sessions keep their order."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from bethink import Memory, Message
from bethink.errors import NotFoundError
from bethink.model.jobs import Job, JobKind, JobStatus, Lease, Outcome
from bethink.model.records import conversation_key
from bethink.model.rules import QUIET_CHECK
from bethink.store import jobs, learning
from bethink.store.db import Database, Tx
from bethink.store.sql import Dialect
from tests.conftest import DATABASES, FakeClock, database_at, memory_on
from tests.rooms.machine_kit import QUICK, THOROUGH, spoil

T = TypeVar("T")
LEASE = timedelta(minutes=1)
SPACE, CHAT = st.sampled_from(["a", "b"]), st.sampled_from(["1", "2", "3", "4"])
AGE, PICK = st.integers(min_value=21, max_value=50), st.integers(min_value=0, max_value=9)


class Talk(NamedTuple):
    """What the machine knows about a session: when each message was said, and how many were learned."""

    said: list[datetime]
    learned: int = 0


class Workers(RuleBasedStateMachine):
    """Compares every lease with the rule, which needs nothing but the jobs and the times of the messages."""

    database: Database
    memory: Memory
    portal: BlockingPortal
    clock: FakeClock
    runs = 0

    def __init__(self) -> None:
        super().__init__()
        Workers.runs += 1
        self.run = Workers.runs
        self.talks: dict[tuple[str, str], Talk] = {}
        self.leases: list[Lease] = []

    def wait(self, call: Callable[[], Awaitable[T]]) -> T:
        return self.portal.call(call)

    def ask(self, body: Callable[[Tx], T], space: str | None = None) -> T:
        return self.wait(lambda: self.database.transact(body, space=space))

    def name(self, space: str) -> str:
        return f"run{self.run}-{space}"

    def extractions(self, space: str) -> dict[str, Job]:
        listed = self.ask(lambda tx: jobs.list_jobs(tx, space=space, limit=100), space)
        return {job.key: job for job in listed if job.kind is JobKind.EXTRACT}

    def first(self, space: str) -> str | None:
        """The session of a space that may be leased now, by the rule."""
        now = self.clock.time
        existing = self.extractions(space)
        running = [job for job in existing.values() if job.status is JobStatus.RUNNING]
        if running:
            [job] = running
            return job.key if job.due_at is not None and job.due_at <= now else None
        due = [
            key
            for key, job in existing.items()
            if job.status is not JobStatus.WAITING and job.due_at is not None and job.due_at <= now
        ]
        return min(due, key=lambda key: (self.said_at(space, key), key), default=None)

    def said_at(self, space: str, key: str) -> datetime:
        talk = self.talks[space, key]
        return talk.said[talk.learned]

    def spaces(self) -> list[str]:
        return [self.name("a"), self.name("b")]

    @rule(space=SPACE, chat=CHAT, age=AGE, count=st.integers(min_value=1, max_value=7), marks=st.booleans())
    def append(self, space: str, chat: str, age: int, count: int, marks: bool) -> None:
        name = self.name(space)
        session = self.wait(lambda: self.memory.space(name).session(conversation_key(channel=name, chat=chat)))
        at = self.clock.time - timedelta(days=age)
        times = [at + 3 * number * timedelta(days=1) for number in range(count)]
        messages = [Message(role="user", content="tea", said_at=time) for time in times]
        self.wait(lambda: session.append(messages))
        talk = self.talks.setdefault((name, session.id), Talk([]))
        talk.said.extend(times)
        if marks:
            self.wait(lambda: session.checkpoint(force=True))

    @rule(space=SPACE, chat=CHAT)
    def end(self, space: str, chat: str) -> None:
        name = self.name(space)
        session = self.wait(lambda: self.memory.space(name).session(conversation_key(channel=name, chat=chat)))
        self.talks.setdefault((name, session.id), Talk([]))
        self.wait(session.end)

    @rule(limit=st.integers(min_value=1, max_value=3), tried_first=st.booleans())
    def lease(self, limit: int, tried_first: bool) -> None:
        expected = {name: key for name in self.spaces() if (key := self.first(name)) is not None}
        leases = self.ask(
            lambda tx: jobs.lease_jobs(
                tx, kind=JobKind.EXTRACT, worker="w", duration=LEASE, limit=limit, tried_first=tried_first
            )
        )
        assert all(expected[held.space] == held.key for held in leases), "the first of its space"
        assert bool(leases) == bool(expected), "something is leased wherever something is due"
        self.note(leases)

    @rule(space=SPACE)
    def lease_in_a_space(self, space: str) -> None:
        name = self.name(space)
        expected = self.first(name)
        leases = self.ask(
            lambda tx: jobs.lease_jobs(
                tx, kind=JobKind.EXTRACT, worker="w", duration=LEASE, limit=9, space=name
            ),
            name,
        )  # fmt: skip
        assert [held.key for held in leases] == ([] if expected is None else [expected])
        self.note(leases)

    @precondition(lambda self: self.talks)
    @rule(pick=PICK)
    def lease_by_name(self, pick: int) -> None:
        name, key = sorted(self.talks)[pick % len(self.talks)]
        expected = self.first(name)
        leases = self.ask(
            lambda tx: jobs.lease_job(
                tx, space=name, kind=JobKind.EXTRACT, key=key, worker="w", duration=LEASE
            ),
            name,
        )  # fmt: skip
        assert [held.key for held in leases] == ([key] if expected == key else [])
        self.note(leases)

    def note(self, leases: list[Lease]) -> None:
        keys = {(held.space, held.key) for held in leases}
        assert len({held.space for held in leases}) == len(leases), "one of each space"
        self.leases = [held for held in self.leases if (held.space, held.key) not in keys] + leases

    def pop(self, pick: int) -> Lease:
        return self.leases.pop(pick % len(self.leases))

    @precondition(lambda self: self.leases)
    @rule(pick=PICK)
    def finish(self, pick: int) -> None:
        held = self.pop(pick)
        talk = self.talks[held.space, held.key]

        def body(tx: Tx) -> bool:
            until = len(talk.said)
            progress = learning.advance(tx, space=held.space, session_id=held.key, start=talk.learned, until=until)
            assert progress is not None
            status, due = (JobStatus.WAITING, tx.now + QUIET_CHECK)
            return jobs.finish(tx, held, status=status, outcome=Outcome.SUCCEEDED, due=due, attempts=0)

        assert self.ask(body, held.space)
        self.talks[held.space, held.key] = talk._replace(learned=len(talk.said))

    @precondition(lambda self: self.leases)
    @rule(pick=PICK)
    def finish_the_first_message(self, pick: int) -> None:
        """As of a session over the window, the rest of which is due at once."""
        held = self.pop(pick)
        talk = self.talks[held.space, held.key]

        def body(tx: Tx) -> bool:
            until = talk.learned + 1
            learning.advance(tx, space=held.space, session_id=held.key, start=talk.learned, until=until)
            more = until < len(talk.said)
            status, due = (JobStatus.QUEUED, tx.now) if more else (JobStatus.WAITING, tx.now + QUIET_CHECK)
            return jobs.finish(tx, held, status=status, outcome=Outcome.SUCCEEDED, due=due, attempts=0)

        assert self.ask(body, held.space)
        self.talks[held.space, held.key] = talk._replace(learned=talk.learned + 1)

    @precondition(lambda self: self.leases)
    @rule(pick=PICK, seconds=st.sampled_from([0, 0, 30, 900]), status=st.sampled_from(["failed", "abandoned"]))
    def fail(self, pick: int, seconds: int, status: str) -> None:
        held, ends = self.pop(pick), JobStatus(status)
        due = None if ends is JobStatus.ABANDONED else self.clock.time + timedelta(seconds=seconds)
        assert self.ask(lambda tx: jobs.finish(tx, held, status=ends, outcome=Outcome.FAILED, due=due), held.space)

    @precondition(lambda self: self.leases)
    @rule(pick=PICK)
    def release(self, pick: int) -> None:
        """As a worker that stops: outside of the space, whose messages it cannot see there."""
        held = self.pop(pick)
        assert self.ask(lambda tx: jobs.finish(tx, held, status=JobStatus.QUEUED, outcome=None, due=tx.now, attempts=0))

    @precondition(lambda self: self.leases)
    @rule(pick=PICK)
    def renew(self, pick: int) -> None:
        held = self.leases[pick % len(self.leases)]
        assert self.ask(lambda tx: jobs.renew_lease(tx, held, duration=LEASE))

    @rule(seconds=st.sampled_from([10, 40, 70, 2_000]))
    def pass_time(self, seconds: int) -> None:
        self.clock.time += timedelta(seconds=seconds)

    @invariant()
    def a_space_has_one_lease(self) -> None:
        assert len({held.space for held in self.leases}) == len(self.leases)

    @invariant()
    def workers_wake_up_if_something_can_be_leased(self) -> None:
        expected = {(name, key) for name in self.spaces() if (key := self.first(name)) is not None}
        assert self.ask(lambda tx: jobs.any_due(tx, kind=JobKind.EXTRACT)) == bool(expected)
        due = self.ask(lambda tx: jobs.due(tx, kind=JobKind.EXTRACT, limit=100))
        assert {(name, key) for name, key, _ in due} == expected

    def teardown(self) -> None:
        for name in self.spaces():
            with suppress(NotFoundError):
                self.wait(lambda name=name: self.memory.space(name).forget(everything=True))
        assert not self.ask(lambda tx: jobs.any_due(tx, kind=JobKind.EXTRACT)), "nothing is left of deleted spaces"


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


def opened(portal: BlockingPortal, target: str) -> Database:
    Workers.clock = FakeClock()
    database = database_at(target, Workers.clock)
    portal.call(database.open)
    Workers.database, Workers.memory, Workers.portal = database, memory_on(database), portal
    return database


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.timeout(600)
def test_leases_of_a_space_follow_the_order_of_what_was_said(
    kind: str, portal: BlockingPortal, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    target = str(tmp_path / "space.db") if kind == "sqlite" else request.getfixturevalue("clean_dsn")
    database = opened(portal, target)

    run_state_machine_as_test(Workers, settings=THOROUGH)

    portal.call(database.close)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("claim_extractions", "ORDER BY j.said_at, j.key", "ORDER BY j.due_at, j.key"),
        ("claim_extraction_in", "ORDER BY j.said_at, j.key", "ORDER BY j.key"),
        ("queue_job", "said_at = excluded.said_at,", ""),
        ("finish_job", ", said_at = CASE", ", worker = CASE"),
        ("any_due_extraction", "retry_due_at <=", "retry_due_at < -"),
    ],
)
@pytest.mark.timeout(600)
def test_the_machine_finds_sessions_out_of_order(
    name: str, old: str, new: str, portal: BlockingPortal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = opened(portal, str(tmp_path / "space.db"))
    spoil(monkeypatch, Dialect.SQLITE, name, old, new)

    with pytest.raises(AssertionError):
        run_state_machine_as_test(Workers, settings=QUICK)

    portal.call(database.close)


def test_the_machine_finds_two_leases_of_a_space(
    portal: BlockingPortal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = opened(portal, str(tmp_path / "space.db"))

    def body(tx: Tx) -> None:
        tx.script("DROP INDEX jobs_extracting; DROP TRIGGER jobs_turns_au")

    portal.call(database.transact, body)

    with pytest.raises((AssertionError, ValueError)):
        run_state_machine_as_test(Workers, settings=QUICK)

    portal.call(database.close)
