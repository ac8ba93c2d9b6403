"""What the lifecycle is measured on: a memory with its real worker, a calendar that is put forward, and tallies."""

import random
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from benchmarks.lifecycle_model import Credulous
from bethink import Memory, Message, Session
from bethink.api.connect import memory_from
from bethink.config.settings import load_settings
from bethink.model.facts import Fact, SourceMessage
from bethink.model.moments import from_micros
from bethink.model.recall import RecallResult
from bethink.model.records import conversation_key
from bethink.model.refs import RefKind
from bethink.store import facts
from bethink.store.db import Database
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions

DAY = timedelta(days=1)
_START = from_micros(1_767_258_000_000_000)
_ROUNDS = 100
_PATIENCE = 25_000
"""Milliseconds: jobs of one space wait for each other, on a busy machine long, and one that gave up would count."""
_MOST_FAILURES = 50


class Goal(StrEnum):
    """What a tally is to come to; some are only shown."""

    ALL = "all"
    NONE = "none"
    SHOWN = "shown"


@dataclass(slots=True, kw_only=True)
class Tally:
    """So many of so many, and which were not as they should be."""

    name: str
    goal: Goal
    count: int = 0
    of: int = 0
    failures: list[str] = field(default_factory=list[str])

    def add(self, counts: bool, case: object = "") -> None:  # noqa: FBT001 - it is what is counted
        """Count a case, if it counts."""
        self.of += 1
        self.count += counts
        if counts is (self.goal is Goal.NONE) and self.goal is not Goal.SHOWN and len(self.failures) < _MOST_FAILURES:
            self.failures.append(f"{self.name}: {case}")

    @property
    def met(self) -> bool:
        """Say whether it came to what it should, of anything at all."""
        if self.goal is Goal.SHOWN:
            return True
        return self.of > 0 and self.count == (self.of if self.goal is Goal.ALL else 0)

    @property
    def share(self) -> float:
        """The count in percent."""
        return 100 * self.count / self.of if self.of else 0.0


class Calendar:
    """A clock that is put forward by hand, and by a microsecond each time it is read."""

    def __init__(self) -> None:
        self.time = _START

    def __call__(self) -> datetime:
        self.time += timedelta(microseconds=1)
        return self.time


@dataclass(slots=True, kw_only=True)
class Stage:
    """Where people talk, and what learns from them."""

    database: Database
    memory: Memory
    clock: Calendar
    dice: random.Random
    late: dict[str, list[tuple[str, list[Message]]]] = field(default_factory=dict[str, list[tuple[str, list[Message]]]])
    """Sessions of the spaces whose history is imported afterwards: the conversation and its dated messages."""

    def delay(self, space: str) -> None:
        """Store what is said in a space from now on only with `import_late`."""
        self.late[space] = []

    def pass_days(self, days: float) -> datetime:
        """Put the calendar forward and return the time."""
        self.clock.time += days * DAY
        return self.clock.time

    async def open(self, space: str, chat: str) -> Session:
        """Open a session of a conversation."""
        return await self.memory.space(space).session(conversation(chat))

    async def talk(self, space: str, chat: str, messages: Sequence[Message]) -> None:
        """Have a whole session, which is stored at once or, in a space that is late, after the last day."""
        if space in self.late:
            dated = [replace(message, said_at=self.clock()) for message in messages]
            self.late[space].append((chat, dated))
            return
        session = await self.open(space, chat)
        await session.append(messages)
        await session.end()

    async def import_late(self, *, at_once: Collection[str] = ()) -> None:
        """Store the sessions of late spaces, shuffled, and learn from each before the next, or from all of a space."""
        waiting, self.late = self.late, {}
        for sessions in waiting.values():
            self.dice.shuffle(sessions)
        while any(waiting.values()):
            for space, sessions in waiting.items():
                while sessions:
                    await self.talk(space, *sessions.pop())
                    if space not in at_once:
                        break
            await self.learn()

    async def learn(self) -> None:
        """Let the worker learn until nothing is left. Raises `SystemExit` if anything failed: it would measure less."""
        for _ in range(_ROUNDS):
            report = await self.memory.learn()
            if report.outcomes["failed"] or report.blocked:
                raise SystemExit(f"learning failed: {report}")
            if not report.leased:
                return
        raise SystemExit("learning found no end")

    async def held(self, space: str) -> list[Fact]:
        """Return the facts that hold today."""
        known = await self.database.transact(
            lambda tx: facts.list_current(tx, space=space), space=space, read_only=True
        )
        return [fact for fact in known if fact.valid_to is None or fact.valid_to > self.clock.time]

    async def sources(self, space: str) -> dict[str, list[SourceMessage]]:
        """Return the messages behind every fact."""
        return await self.database.transact(lambda tx: facts.all_sources(tx, space=space), space=space, read_only=True)


def conversation(chat: str) -> str:
    """Name a conversation."""
    return conversation_key(channel="lifecycle", chat=chat)


def user(text: str) -> Message:
    """Something a user says."""
    return Message(role="user", content=text)


def assistant(text: str) -> Message:
    """Something an assistant says."""
    return Message(role="assistant", content=text)


def tool(text: str, name: str = "web") -> Message:
    """What a tool brings."""
    return Message(role="tool", name=name, content=text)


def document(text: str) -> Message:
    """A system's text."""
    return Message(role="system", content=text)


def facts_in(found: RecallResult) -> list[Fact]:
    """Return the facts of an answer, in its order."""
    return [item.fact for item in found.items if item.ref.kind is RefKind.FACT and item.fact is not None]


_ONSETS = ("b", "br", "d", "dr", "f", "g", "gl", "h", "j", "k", "kr", "l", "m", "n", "p", "pl", "r", "s", "t", "v", "z")
_VOWELS = ("a", "e", "i", "o", "u")
_ENDS = ("ld", "rn", "mp", "nt", "sk", "rt", "lm", "nd")


class Names:
    """Makes names that nobody has, no two of which begin alike unless they are asked to."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._taken: set[str] = set()

    def new(self) -> str:
        """Return a name unlike any other."""
        while True:
            middle = "".join(self._dice.choice(_ONSETS) + self._dice.choice(_VOWELS) for _ in range(3))
            name = (middle + self._dice.choice(_ENDS)).capitalize()
            if len(middle) > 5 and name[:5] not in self._taken:
                self._taken.add(name[:5])
                return name

    def like(self, name: str) -> str:
        """Return another name with the same beginning, as Stockport is to Stockholm."""
        endings = [vowel + end for vowel in _VOWELS for end in _ENDS]
        return name[:6] + self._dice.choice([each for each in endings if not name.endswith(each)])


@asynccontextmanager
async def staged(target: str, dice: random.Random) -> AsyncGenerator[Stage]:
    """Open a memory on a file or an address, wired as `bethink.connect` wires it, but for the clock and the model."""
    clock = Calendar()
    if target.startswith("postgresql:"):
        options = PostgresOptions(dsn=target, lock_timeout=_PATIENCE)
        database: Database = PostgresDatabase(options, clock=clock)
    else:
        database = SqliteDatabase(SqliteOptions(path=target, busy_timeout=_PATIENCE), clock=clock)
    settings = load_settings(
        environ={}, embedder="none", daily_budget="inf", worker_batch=200, learn_in_background=False
    )
    async with memory_from(settings, database=database, model=Credulous()) as memory:
        yield Stage(database=database, memory=memory, clock=clock, dice=dice)
