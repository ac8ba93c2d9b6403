"""The disk fails, is full, or the clock jumps while a memory on SQLite is used (--faults): what callers hear is true.

A message is stored once, not at all, or of unknown outcome, as its caller was told, also if the power fails on top of
it. What was not written when a sync failed is gone for good, though later syncs succeed: that is what Linux does. Once
the disk is well again, and each handle has heard of what failed, nobody hears an error, and nothing is started anew.
"""

import argparse
import contextlib
import re
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from random import Random
from unittest.mock import patch

import anyio
import apsw

import bethink
from bethink.errors import BethinkError, DatabaseBusyError, DatabaseUnavailableError, OutcomeUnknownError
from bethink.model.jobs import JobKind, JobStatus
from bethink.store import jobs
from bethink.store.db import Tx, system_clock
from bethink.store.engines import checkpoint, sqlite
from bethink.store.sql import Dialect, queries
from faults.ledger import Verdict
from faults.power import folding_early, moments, put
from faults.power_life import FILE, SPACE, Known, chat, connect, look
from faults.recorded_disk import Act, Disk, Left, Replay, failed, recording

_STEPS = 14
_CHATS = 3
_ENOUGH = 6
"""Messages after which a session is marked to be learnt from."""
_LEASE = timedelta(minutes=1)
_AFTER = 4
_CUTS = 12
_MOST_PRINTED = 20
_JUMPS = (timedelta(days=-400), timedelta(days=-1), timedelta(hours=-1), timedelta(days=400), timedelta(days=36_500))


class Fault(StrEnum):
    """What goes wrong."""

    WRITE = "write"
    SYNC = "sync"
    FULL = "full"
    CLOCK = "clock"


class Mutant(StrEnum):
    """A bug on purpose."""

    UNTRUE = "untrue"
    """A commit that the disk did not confirm is said to have written nothing."""
    TRUSTING = "trusting"
    """After a sync that failed, the log is trusted and written on."""
    WAITS = "waits"
    """A job waits for the time of a clock that was ahead."""


@dataclass(slots=True)
class Ailment:
    """Makes some acts fail, from the moment it begins to when it is over."""

    fault: Fault
    dice: Random
    ill: bool = False
    hits: int = 0

    def __call__(self, act: Act, name: str) -> None:
        """Raise what the disk says, if it is ill."""
        del name
        hit = self.ill and act is (Act.SYNC if self.fault is Fault.SYNC else Act.WRITE)
        if not hit or self.dice.random() < 0.3:
            return
        self.hits += 1
        if self.fault is Fault.FULL:
            raise apsw.FullError("the disk is full")
        raise failed(apsw.SQLITE_IOERR_FSYNC if act is Act.SYNC else apsw.SQLITE_IOERR_WRITE)


@dataclass(slots=True)
class Jumping:
    """A clock that goes on from wherever it was set."""

    by: timedelta = timedelta()

    def __call__(self) -> datetime:
        """Return what it shows."""
        return system_clock() + self.by


@dataclass(slots=True)
class Course:
    """How a campaign goes."""

    dice: Random
    rounds: Counter[Fault] = field(default_factory=Counter[Fault])
    told: Counter[str] = field(default_factory=Counter[str])
    hits: int = 0
    cuts: int = 0
    violations: list[str] = field(default_factory=list[str])


@contextlib.contextmanager
def mutated(mutant: Mutant | None) -> Generator[None]:
    """Put a bug in."""
    with contextlib.ExitStack() as stack:
        if mutant is Mutant.UNTRUE:
            stack.enter_context(patch.object(sqlite, "OutcomeUnknownError", DatabaseUnavailableError))
        if mutant is Mutant.TRUSTING:
            stack.enter_context(patch.object(checkpoint.Checkpointer, "restore_log"))
        if mutant is Mutant.WAITS:
            query = queries(Dialect.SQLITE)["queue_job"]
            text = re.sub(r"AND jobs.due_at <= .*", "", query.text)
            stack.enter_context(patch.dict(queries(Dialect.SQLITE), queue_job=replace(query, text=text)))
        yield


@dataclass(slots=True)
class Round:
    """One memory, open all the while; something goes wrong in the middle, and ends."""

    course: Course
    disk: Disk
    ailment: Ailment
    name: str
    clock: Jumping = field(default_factory=Jumping)
    _sent: int = 0
    _heard_late: int = 0

    async def run(self, *, wal: bool) -> None:
        """Go through it."""
        dice = self.course.dice
        async with connect(self.disk.folder / FILE, wal=wal, clock=self.clock) as memory:
            await self._use(memory, dice.randint(1, 4))
            self.ailment.ill = self.ailment.fault is not Fault.CLOCK
            for _ in range(_STEPS):
                if self.ailment.fault is Fault.CLOCK:
                    self.clock.by = dice.choice(_JUMPS)
                await self._use(memory, 1)
            self.ailment.ill = False
            if self.ailment.fault is Fault.CLOCK:
                self.clock.by = timedelta()
            await self._use(memory, _AFTER)
            if self.ailment.fault is Fault.CLOCK:
                await self._claimable(memory)

    async def _claimable(self, memory: bethink.Memory) -> None:
        """Hold every session that has something to learn from against the jobs that a worker would get now."""
        for number in range(_CHATS):
            for _ in range(_ENOUGH):
                self._sent += 1
                await self._append(memory, f"{self.name}-{self._sent}", number)
        database = memory.backend.local().database
        count = await database.transact(_lease_in_turn)
        if count != _CHATS:
            self.course.violations.append(f"round {self.name}: {count} of {_CHATS} sessions can be learnt from")

    async def _use(self, memory: bethink.Memory, steps: int) -> None:
        for _ in range(steps):
            number = self.course.dice.randrange(_CHATS)
            self._sent += 1
            key = f"{self.name}-{self._sent}"
            try:
                await memory.space(SPACE).sessions.list()  # read beside the writer, and recorded without a sync
            except (DatabaseUnavailableError, OutcomeUnknownError, DatabaseBusyError) as error:
                self._heard("a read", error)
            await self._append(memory, key, number)

    async def _append(self, memory: bethink.Memory, key: str, number: int) -> None:
        tell, text = self.disk.tell, f"message {key} said"
        tell("sent", key, text, number)
        try:
            session = await memory.space(SPACE).session(chat(number))
            [at] = await session.append([bethink.Message(role="user", content=text, idempotency_key=key)])
        except OutcomeUnknownError as error:
            self._heard(key, error)
        except (DatabaseUnavailableError, DatabaseBusyError) as error:
            tell("refused", key)
            self._heard(key, error)
        except BethinkError as error:
            self.course.violations.append(f"{key}: {type(error).__name__}: {error}")
        else:
            tell("stored", key, session.id, at)
            self.course.told["stored"] += 1

    def _heard(self, what: str, error: BethinkError) -> None:
        self.course.told["unknown" if isinstance(error, OutcomeUnknownError) else "refused"] += 1
        late, self._heard_late = self.disk.heard_late > self._heard_late, self.disk.heard_late
        if not self.ailment.ill and not late:
            self.course.violations.append(f"{what} on a disk that is well: {type(error).__name__}: {error}")


def _round(course: Course, fault: Fault, number: int) -> None:
    course.rounds[fault] += 1
    folder = Path(tempfile.mkdtemp(prefix="bethink-disk-")).resolve()
    try:
        ailment = Ailment(fault, course.dice)
        disk = Disk(folder, failing=ailment)
        each = Round(course, disk, ailment, name=str(number))
        with recording(disk), folding_early():
            anyio.run(_run, each, number % 3 != 0)
        course.hits += ailment.hits
        known = Known()
        known.hear(event.told for event in disk.events if event.act is Act.TELL)
        where = f"round {number}, {fault}"
        course.violations += [f"{where}: {problem}" for problem in look(folder / FILE, known).problems]
        _cut(course, disk, where)
    finally:
        shutil.rmtree(folder)


async def _run(each: Round, wal: bool) -> None:  # noqa: FBT001 - anyio passes places only
    try:
        await each.run(wal=wal)
    except BethinkError as error:
        each.course.violations.append(f"round {each.name}: {type(error).__name__}: {error}")


def _cut(course: Course, disk: Disk, where: str) -> None:
    replay, known, heard = Replay(disk, course.dice), Known(), 0
    for moment in moments(disk, _CUTS, course.dice):
        replay.go(moment)
        known.hear(replay.told[heard:])
        heard = len(replay.told)
        left = course.dice.choice(list(Left))
        with tempfile.TemporaryDirectory() as made:
            put(replay.cut(left, course.dice), Path(made), course.dice)
            found = look(Path(made) / FILE, known)
        course.cuts += 1
        course.violations += [f"{where}, then cut at {moment}, {left}: {problem}" for problem in found.problems]


def campaign(faults: int, seed: int, mutant: Mutant | None = None) -> tuple[str, Verdict]:
    """Let so many things go wrong."""
    course, began, number = Course(Random(seed)), time.monotonic(), 0
    with mutated(mutant):
        while number < faults and not (mutant and course.violations):
            _round(course, list(Fault)[number % len(Fault)], number)
            number += 1
    kinds = ", ".join(f"{count} of {fault}" for fault, count in course.rounds.items())
    told = ", ".join(f"{course.told[each]} {each}" for each in ("stored", "refused", "unknown"))
    figures = f"{course.hits} acts failed, messages {told}, {course.cuts} power cuts on top"
    return f"{number} faults ({kinds}), {time.monotonic() - began:.0f} s", Verdict(
        figures=figures, violations=course.violations
    )


def _lease_in_turn(tx: Tx) -> int:
    """Lease the sessions of the space one after the other, and return their number. They are due after the lease."""
    count = 0
    while leases := jobs.lease_jobs(tx, kind=JobKind.EXTRACT, limit=1, duration=_LEASE, worker="faults"):
        count += 1
        jobs.finish(tx, leases[0], status=JobStatus.QUEUED, outcome=None, due=tx.now + _LEASE, attempts=0)
    return count


def main() -> int:
    """Run the campaign as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, required=True, help="how many times something goes wrong")
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    parser.add_argument("--mutant", choices=list(Mutant), default=None, help="a bug on purpose: this run must fail")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    done, verdict = campaign(options.faults, seed, None if options.mutant is None else Mutant(options.mutant))
    for violation in verdict.violations[:_MOST_PRINTED]:
        print(f"sqlite: {violation}")
    print(f"sqlite: {done}, {verdict.figures}, {len(verdict.violations)} violations (seed {seed})")
    return 1 if verdict.violations else 0


if __name__ == "__main__":
    sys.exit(main())
