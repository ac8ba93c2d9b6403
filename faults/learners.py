"""The children of the learning campaign: one that appends, and workers that learn from what it appended."""

import os
import random
import time
from contextlib import nullcontext
from contextvars import ContextVar
from operator import itemgetter
from pathlib import Path

import anyio

import bethink
from bethink.errors import DatabaseBusyError, SessionEndedError
from bethink.jobs.worker import Worker, WorkerOptions
from bethink.memory.learning.extraction.extract import Extractor
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import JobKind, JobResult, Lease
from bethink.model.records import conversation_key
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.db import Clock, Database, system_clock
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions
from faults.ledger import Ledger
from faults.logs import log_of, log_to
from faults.mutants import Mutant, mutated
from faults.places import AsItIs, Place
from faults.scripted import answer, claim, claimed, judged, new_lines, quote, says_so
from faults.signs import Signs

ASKED = "asked"
"""The file in the ledger's folder that says what a model was asked about, and when."""
_TOKEN = ContextVar("token", default=0)
LEASE = 0.25
WORKERS = 3
_SPACES = 3
_CHATS = 9
_BLOCK = 8
_LONGEST_SESSION = 60
"""An answer holds at most 200 claims, and here every message is one."""


def said(number: int) -> str:
    """Say something that shares no word with anything else that is said, so that no two facts are taken for one."""
    return f"note{number}x blue{number}x"


async def append(
    place: Place, dice: random.Random, mutant: Mutant | None, last: int = 10**9, signs: Signs | None = None
) -> None:
    """Append messages `0-1`, `0-2`, … up to `last`, going on where the ledger ends; tell of pauses and ends at times.

    The block a message is in decides its conversation, and a session ends only after a block: a retry finds its place.
    """
    ledger = Ledger(place.ledger, 0)
    async with bethink.connect(place.target, redactor=AsItIs(), postgres_pool_size=2, learn=False) as memory:
        while ledger.acknowledged < last:
            first = ledger.acknowledged + 1
            end = (first // _BLOCK + 1) * _BLOCK
            keys = {
                f"0-{number}": said(number)
                for number in range(first, min(end, last + 1, first + dice.choice((1, 2, 4))))
            }
            session = await _open(memory, first // _BLOCK % _CHATS)
            if mutant is Mutant.ACK_FIRST:
                ledger.acknowledge(session.id, dict.fromkeys(keys, 0))
            messages = [{"role": "user", "content": text, "idempotency_key": key} for key, text in keys.items()]
            try:
                with signs.shown(signs.feeder) if signs else nullcontext():
                    numbers = await session.append(messages)
            except (DatabaseBusyError, SessionEndedError):
                continue  # nothing was written; the same keys again
            if mutant is not Mutant.ACK_FIRST:
                ledger.acknowledge(session.id, dict(zip(keys, numbers, strict=True)))
            if first + len(keys) == end:
                await _pause(session, dice, length=numbers[-1])
            elif dice.random() < 0.3:
                await session.checkpoint(force=True)  # so that more comes in while a model thinks
            await anyio.sleep(dice.uniform(0.0, 0.01))


async def _open(memory: bethink.Memory, chat: int) -> bethink.Session:
    key = conversation_key(channel="faults", chat=str(chat))
    return await memory.space(f"space-{chat % _SPACES}").session(key)


async def _pause(session: bethink.Session, dice: random.Random, *, length: int) -> None:
    throw = dice.random()
    if length >= _LONGEST_SESSION or throw < 0.1:
        await session.restart()
    elif throw < 0.2:
        await session.end()
    elif throw < 0.6:
        await session.checkpoint(force=True)


async def finish(place: Place) -> None:
    """Make the client's last retry, and say of every conversation that nothing more is coming."""
    goal = Ledger(place.ledger, 0).acknowledged + 1
    await append(place, random.Random(0), None, goal)
    async with bethink.connect(place.target, redactor=AsItIs(), postgres_pool_size=2, learn=False) as memory:
        for chat in range(_CHATS):
            await (await _open(memory, chat)).checkpoint(force=True)


class Thinking(ScriptedModel):
    """Makes a fact of every new message, at once or after a while, and writes down what it is asked about and when."""

    def __init__(self, dice: random.Random, signs: Signs, slot: int, place: Place) -> None:
        super().__init__(one_fact_each)
        self._dice = dice
        self._signs = signs
        self._slot = slot
        self._asked = place.ledger / ASKED

    async def answer(self, call: ModelCall) -> ModelAnswer:
        with self._signs.shown(self._slot):
            return await self._answer(call)

    async def _answer(self, call: ModelCall) -> ModelAnswer:
        note_down(self._asked, call)
        await anyio.sleep(self._dice.choice((0.0, 0.05, 0.2)) * self._dice.random())
        self.calls.clear()
        return await super().answer(call)


def noting(extractor: type[Extractor]) -> type[Extractor]:
    """Return an extractor that tells its model under which claim it is asked."""

    class Noting(extractor):
        async def process(self, lease: Lease) -> JobResult:
            _TOKEN.set(lease.token)
            return await extractor.process(self, lease)

    return Noting


def note_down(file: Path, call: ModelCall) -> None:
    """Write down that a call begins, under which claim and what about.

    Each line is one write, so that those of other processes do not mix in.
    """
    second = call.schema_name == "verdicts"
    texts = [each.statement for each in claimed(call.prompt)] if second else map(itemgetter(2), new_lines(call.prompt))
    line = "\t".join((call.schema_name, str(time.time_ns() // 1_000), str(_TOKEN.get()), *texts))
    opened = os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    try:
        os.write(opened, f"{line}\n".encode())
    finally:
        os.close(opened)


def one_fact_each(call: ModelCall) -> str:
    """Answer as a model that takes every message for a fact and quotes all of it, and as one that checks this."""
    if call.schema_name == "verdicts":
        return judged(call.prompt, says_so(call.prompt))
    return answer([claim(line.text, quote(line.number, line.text)) for line in new_lines(call.prompt)])


def database_at(target: str, clock: Clock = system_clock) -> Database:
    """Build the database that a campaign's target names."""
    if target.startswith("postgresql:"):
        return PostgresDatabase(PostgresOptions(dsn=target, pool_size=3), clock=clock)
    return SqliteDatabase(SqliteOptions(path=target), clock=clock)


async def learn(place: Place, dice: random.Random, signs: Signs, slot: int, mutant: Mutant | None) -> None:
    """Work until killed."""
    log_to(log_of(place))
    database = database_at(place.target)
    await database.open()
    extractor = noting(mutated(mutant))
    model = Thinking(dice, signs, slot, place)
    handler = extractor(database=database, model=model, reader=model, redactor=AsItIs(), tokens=EstimatedTokens())
    options = WorkerOptions(
        interval=0.05,
        batch=3,
        concurrency=3,
        lease=LEASE,
        max_attempts=10**6,
        retry_first=0.05,
        retry_longest=0.2,
        daily_cap=None,
    )
    await Worker(database, {JobKind.EXTRACT: handler}, options).run()
