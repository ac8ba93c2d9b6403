"""A model does everything wrong that a model can: nothing unproven or secret is kept, and no session is left behind."""

import argparse
import logging
import random
import secrets
import sys
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import cast

import anyio

from bethink import Memory, Session
from bethink.api.connect import memory_from
from bethink.config.settings import load_settings
from bethink.jobs.worker import Worker, WorkerOptions
from bethink.memory.learning.extraction.extract import Extractor
from bethink.model.calls import ModelAnswer, ModelCall
from bethink.model.jobs import Job, JobKind, JobStatus
from bethink.model.moments import from_micros
from bethink.model.records import Message, conversation_key
from bethink.providers.default_redactor import redactor_for
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.scripted_model import Line, ScriptedModel
from bethink.store import jobs
from bethink.store.db import Database
from faults.learners import database_at
from faults.ledger import Verdict
from faults.model_check import check, tainted
from faults.model_faults import BOTH, FAULTS, FIRST, SECOND, VETOES, Scene, good
from faults.places import Place, chosen, place
from faults.raw import Raw

_SPACES = 3
_CHATS = 12
_LONGEST_SESSION = 40
_ATTEMPTS = 3
_HOURS_30 = timedelta(hours=30)
_ROUNDS = 100_000
"""More than there are jobs: one that was tried before is claimed alone."""
_REASONS = "SELECT last_error FROM jobs WHERE last_error IS NOT NULL"


class Clock:
    """Stands still until it is moved, but for a microsecond each time it is read."""

    def __init__(self) -> None:
        self.time = from_micros(1_700_000_000_000_000)

    def __call__(self) -> datetime:
        self.time += timedelta(microseconds=1)
        return self.time


class Faulty(ScriptedModel):
    """Answers wrong, each time in another way, until so many faults are done; then well."""

    def __init__(self, dice: random.Random, faults: int, kinds: list[str]) -> None:
        super().__init__(self._next)
        self._kinds = kinds
        self.left = faults
        self.answered = 0
        self.done: Counter[str] = Counter()
        self.vetoed: set[str] = set()
        self.foreign = "ses_none"
        self._dice = dice

    async def answer(self, call: ModelCall) -> ModelAnswer:
        self.calls.clear()
        answer = await super().answer(call)
        self.answered += 1
        return answer

    def _next(self, call: ModelCall) -> Line:
        scene = Scene.of(call, self._dice, self.foreign)
        if self.left <= 0 or self._dice.random() < 0.1:
            return good(scene)
        fitting = [name for name in self._kinds if name in BOTH or name in (SECOND if scene.second else FIRST)]
        if not fitting:
            return good(scene)
        self.left -= 1
        name = self._dice.choice(fitting)
        self.done[name] += 1
        self.vetoed |= {each.statement for each in scene.asked} if name in VETOES else set()
        return FAULTS[name](scene)


@dataclass(slots=True)
class Stage:
    """The sessions that are talked in, and what learns from them."""

    database: Database
    clock: Clock
    memory: Memory
    model: Faulty
    dice: random.Random
    said: int = 0
    died: Counter[str] = field(default_factory=Counter[str])
    sessions: dict[int, Session] = field(default_factory=dict[int, Session])

    async def talk(self, chat: int) -> None:
        """Let something be said in a conversation, and nothing more for now."""
        if chat not in self.sessions:
            key = conversation_key(channel="faults", chat=str(chat))
            self.sessions[chat] = await self.memory.space(f"space-{chat % _SPACES}").session(key)
        session = self.sessions[chat]
        numbers = await session.append([self._message() for _ in range(self.dice.randint(1, 4))])
        await session.checkpoint(force=True)
        self.model.foreign = session.id
        if numbers[-1] > _LONGEST_SESSION:
            self.sessions[chat] = await session.restart()

    def _message(self) -> Message:
        self.said += 1
        role = self.dice.choice(("user", "user", "assistant", "tool"))
        text = f"note{self.said}x blue{self.said}x harbour"  # so that there is something known to name
        return Message(role=role, content=text, name="web" if role == "tool" else None)

    async def work(self) -> int:
        """Let a new worker do what is due, long after whatever was to be waited for; return how much it was."""
        self.clock.time += _HOURS_30
        extractor = Extractor(
            database=self.database, model=self.model, reader=self.model, redactor=redactor_for(self.database),
            tokens=EstimatedTokens(),
        )  # fmt: skip
        options = WorkerOptions(max_attempts=_ATTEMPTS, daily_cap=None, retry_first=1.0)
        try:
            report = await Worker(self.database, {JobKind.EXTRACT: extractor}, options).run_once()
        except Exception as error:  # noqa: BLE001 - whatever a model does, a worker must not die of it
            self.died[_innermost(error)] += 1
            return 1
        return report.leased

    async def settle(self) -> list[str]:
        """Let everything be learnt now that the model answers well; what was given up is woken by something new."""
        found = [f"a worker died {count} times of {reason}" for reason, count in self.died.items()]
        await self._drain()
        for space in range(_SPACES):
            for job in await self._jobs(f"space-{space}"):
                if job.status is JobStatus.ABANDONED:
                    found += [] if job.attempts >= _ATTEMPTS else [f"{job.key} was given up after {job.attempts}"]
                    await self._wake(job.space, job.key)
        await self._drain()
        return found

    async def _jobs(self, space: str) -> list[Job]:
        return await self.database.transact(lambda tx: jobs.list_jobs(tx, space=space, limit=10_000), space=space)

    async def _wake(self, space: str, session_id: str) -> None:
        session = await self.memory.space(space).sessions.get(session_id)
        if session.info.ended_at is None:
            await session.append([self._message()])
        else:
            await self.memory.space(space).sessions.relearn(session_id)

    async def _drain(self) -> None:
        for _ in range(_ROUNDS):
            if not await self.work():
                return


def _innermost(error: Exception) -> str:
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    return f"{type(error).__name__}: {error}"[:100]


async def campaign(where: Place, faults: int, seed: int, kinds: list[str]) -> Verdict:
    """Talk and learn until the model has done everything wrong so many times, then let it do well, and check."""
    dice, clock = random.Random(seed), Clock()
    database = database_at(where.target, clock)
    await database.open()
    memory = memory_from(load_settings(environ={}, learn=False), database=database)
    stage = Stage(database, clock, memory, Faulty(dice, faults, kinds), dice)
    shown, leaks = faults, set[str]()
    with Raw(where.raw) as raw:
        while stage.model.left > 0:
            for chat in dice.sample(range(_CHATS), 4):
                await stage.talk(chat)
            await stage.work()
            leaks |= set(tainted("jobs", raw.rows(_REASONS)))  # why it failed is forgotten once it succeeds
            if stage.model.left <= shown - 1_000:
                shown = stage.model.left
                print(f"  {where.database}: {faults - shown} of {faults} faults", file=sys.stderr, flush=True)
    found = [*await stage.settle(), *leaks]
    await database.close()
    verdict = check(where.raw, answered=stage.model.answered, vetoed=stage.model.vetoed)
    done = f"{sum(stage.model.done.values())} faults of {len(stage.model.done)} kinds, {stage.said} messages"
    return Verdict(figures=f"{done}, {verdict.figures}", violations=found + verdict.violations)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, required=True, help="how many wrong answers, 20000 for a release")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--seed", type=int, default=None, help="repeat an earlier run")
    parser.add_argument("--only", choices=list(FAULTS), action="append", help="one kind of fault; may be repeated")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    logging.disable(logging.ERROR)
    databases = chosen(options.database)
    verdicts: list[tuple[str, Verdict]] = []
    for database in databases:
        with place(database) as where:
            share, kinds = options.faults // len(databases), options.only or list(FAULTS)
            verdicts.append((database, anyio.run(campaign, where, share, seed, kinds)))
    for database, verdict in verdicts:
        for violation in verdict.violations[:20]:
            print(f"{database}: {violation}")
    for database, verdict in verdicts:
        print(f"{database}: {verdict.figures}, {len(verdict.violations)} violations (seed {seed})")
    return 1 if any(verdict.violations for _, verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
