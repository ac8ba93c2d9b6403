"""PostgreSQL stopped at once, frozen and cut off under load, straight, through a proxy and through PgBouncer.

Every call ends by its deadline, frozen server or not. Whatever callers were told agrees with what is stored: once, not
at all, or unknown. And as soon as the server is back nobody hears an error, whether or not their pool was idle.
"""

import argparse
import contextlib
import secrets
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from random import Random
from unittest.mock import patch

import anyio
import psycopg
from anyio import to_thread

import bethink
from bethink.errors import BethinkError, DatabaseUnavailableError, OutcomeUnknownError
from bethink.store.engines import postgres as engine
from bethink.store.engines.deadlines import Deadline
from faults.ledger import Verdict
from faults.raw import Raw
from tools import pgbouncer
from tools.cutting_proxy import CuttingProxy, cutting_proxy
from tools.pgbouncer import Pooler
from tools.postgres import Server, create_database, in_database, serving

_DEADLINE = 1.0
_CONNECT = 2.0
"""The least that libpq waits for a connection, in seconds."""
_SLACK = 4.0
"""What a busy machine may add to a deadline."""
_TASKS = 3
_MOST_PRINTED = 20
_POOLER = "server_login_retry = 1"


class Fault(StrEnum):
    """What happens."""

    STOP = "stop"
    FREEZE = "freeze"
    CUT = "cut"
    POOLER = "pooler"


class Mutant(StrEnum):
    """A bug on purpose."""

    UNTRUE = "untrue"
    """A lost commit is said to have written nothing."""
    NO_DEADLINE = "no-deadline"
    """Nobody cuts a connection that is not answered."""
    NO_REPEAT = "no-repeat"
    """A connection that died in the pool is an error to the next caller."""


def _once(attempt: Callable[[], object], *, retry_on: object) -> object:
    del retry_on
    return attempt()


@contextlib.contextmanager
def mutated(mutant: Mutant | None) -> Generator[None]:
    """Put a bug into the engine."""
    outcome = engine._outcome

    def untrue(*given: object, committing: bool, repeatable: bool) -> Exception:
        del committing, repeatable
        return outcome(*given, committing=False, repeatable=False)  # pyright: ignore[reportArgumentType]

    with contextlib.ExitStack() as stack:
        if mutant is Mutant.UNTRUE:
            stack.enter_context(patch.object(engine, "_outcome", untrue))
        if mutant is Mutant.NO_DEADLINE:
            stack.enter_context(patch.object(Deadline, "enforce"))
        if mutant is Mutant.NO_REPEAT:
            stack.enter_context(patch.object(engine, "with_retries", _once))
        yield


@dataclass(slots=True)
class Course:
    """How a campaign goes: what callers were told, and what was broken on the way."""

    told: dict[str, str] = field(default_factory=dict[str, str])
    violations: list[str] = field(default_factory=list[str])
    longest: float = 0.0
    running: int = 0
    resting: bool = False
    """Whether callers are to begin nothing."""
    over: bool = False
    recovered: bool = False
    """Whether everything works, so that an error would be one too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The server, and what stands before it."""

    server: Server
    proxy: CuttingProxy
    pooler: Pooler | None
    roads: dict[str, str]


@contextlib.contextmanager
def staged() -> Generator[Stage]:
    """Start all of it; without PgBouncer where it is not installed."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(serving())
        dsn = create_database(server.dsn, "faults")
        proxy = stack.enter_context(cutting_proxy(dsn))
        roads = {"straight": dsn, "proxy": proxy.dsn}
        pooler = None
        if pgbouncer.program() is not None:
            pooler = stack.enter_context(pgbouncer.pooling(dsn, settings=_POOLER))
            roads["pooler"] = pooler.through(dsn)
        yield Stage(server=server, proxy=proxy, pooler=pooler, roads=roads)


async def _call(course: Course, session: bethink.Session, name: str, *, keyed: bool) -> None:
    began, recovered = time.monotonic(), course.recovered
    message = {"role": "user", "content": name} | ({"idempotency_key": name} if keyed else {})
    course.running += 1
    try:
        await session.append([message])
        course.told[name] = "stored"
    except OutcomeUnknownError as error:
        course.told[name] = "unknown"
        _after_recovery(course, name, error, recovered=recovered)
    except DatabaseUnavailableError as error:
        course.told[name] = "nothing"
        _after_recovery(course, name, error, recovered=recovered)
    except BethinkError as error:
        course.told[name] = "unknown"
        course.violations.append(f"{name}: {type(error).__name__}: {error}")
    finally:
        course.running -= 1
    took = time.monotonic() - began
    course.longest = max(course.longest, took)
    if took > _DEADLINE + _CONNECT + _SLACK:
        course.violations.append(f"{name} took {took:.1f} s, and its deadline is {_DEADLINE} s")


def _after_recovery(course: Course, name: str, error: BethinkError, *, recovered: bool) -> None:
    if recovered and course.recovered:
        course.violations.append(f"{name}, after everything was back: {error}")


async def _write(course: Course, session: bethink.Session, name: str) -> None:
    number = 0
    while not course.over:
        if course.resting:
            await anyio.sleep(0.005)
            continue
        number += 1
        await _call(course, session, f"{name}-{number}", keyed=number % 3 != 0)


async def _rest(course: Course, *, within: float) -> None:
    """Let callers end what they began; it is a violation if that takes too long, and then it is waited for anyway."""
    course.resting = True
    with anyio.move_on_after(within):
        while course.running:  # noqa: ASYNC110 - calls count themselves
            await anyio.sleep(0.005)
        return
    course.violations.append(f"{course.running} calls did not end within {within:.1f} s")


async def _strike(course: Course, stage: Stage, fault: Fault, dice: Random) -> None:
    """Do one thing, and return once all of it is back; callers rest then."""
    match fault:
        case Fault.STOP:
            await to_thread.run_sync(stage.server.stop)
            await anyio.sleep(dice.uniform(0, 0.2))
            await to_thread.run_sync(stage.server.start)
        case Fault.FREEZE:
            await to_thread.run_sync(stage.server.freeze)
            try:  # all who wait end before it goes on
                await anyio.sleep(0.05)
                await _rest(course, within=2 * (_DEADLINE + _CONNECT) + _SLACK)
            finally:
                await to_thread.run_sync(stage.server.thaw)
        case Fault.CUT:
            await to_thread.run_sync(stage.proxy.cut_all)
        case Fault.POOLER:
            if stage.pooler is not None:
                await to_thread.run_sync(stage.pooler.stop)
                await to_thread.run_sync(stage.pooler.start)
    await _rest(course, within=2 * (_DEADLINE + _CONNECT) + _SLACK)
    for dsn in stage.roads.values():
        await to_thread.run_sync(_answers, dsn)


def _answers(dsn: str) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with (
            contextlib.suppress(psycopg.Error),
            psycopg.connect(dsn, connect_timeout=5, prepare_threshold=None) as connection,
        ):
            connection.execute("SELECT 1")
            return
    raise SystemExit(f"nothing answers at {dsn}")


@contextlib.asynccontextmanager
async def _callers(stage: Stage) -> AsyncGenerator[list[tuple[str, bethink.Session]]]:
    async with contextlib.AsyncExitStack() as stack:
        found: list[tuple[str, bethink.Session]] = []
        for road, dsn in stage.roads.items():
            memory = bethink.connect(
                dsn, learn=False, redact=False, postgres_pool_size=_TASKS - 1,
                postgres_deadline=float(_DEADLINE), postgres_connect_timeout=1.0,
            )  # fmt: skip
            await stack.enter_async_context(memory)
            for number in range(_TASKS):
                name = f"{road}{number}"
                found.append((name, await memory.space(name).session("faults")))
        yield found


async def _run(stage: Stage, course: Course, rounds: int, dice: Random) -> Counter[str]:
    struck: Counter[str] = Counter()
    async with _callers(stage) as callers, anyio.create_task_group() as tasks:
        for name, session in callers:
            tasks.start_soon(_write, course, session, name)
        for number, (fault, idle) in enumerate(_deck(rounds, dice)):
            course.resting = False
            await anyio.sleep(dice.uniform(0.05, 0.3))
            if idle:
                await _rest(course, within=_DEADLINE + _CONNECT + _SLACK)
            course.recovered = False
            await _strike(course, stage, fault, dice)
            struck[f"{fault}{' of an idle pool' if idle else ''}"] += 1
            course.recovered = True
            await _probe(course, callers, number)
        course.over = True
    return struck


def _deck(rounds: int, dice: Random) -> list[tuple[Fault, bool]]:
    """Return which fault comes when, and whether pools are idle then: each as often as any other."""
    every = [(fault, idle) for fault in Fault for idle in (False, True) if (fault, idle) != (Fault.FREEZE, True)]
    deck: list[tuple[Fault, bool]] = []
    while len(deck) < rounds:
        deck += dice.sample(every, len(every))
    return deck[:rounds]


async def _probe(course: Course, callers: list[tuple[str, bethink.Session]], number: int) -> None:
    """Let each make one call, now that everything is back."""
    async with anyio.create_task_group() as tasks:
        for name, session in callers:
            tasks.start_soon(partial(_call, course, session, f"{name}-r{number}", keyed=False))


def campaign(rounds: int, seed: int, mutant: Mutant | None) -> tuple[str, Verdict]:
    """Strike so many times, then hold what callers were told against what is stored."""
    course = Course()
    with staged() as stage, mutated(mutant):
        struck = anyio.run(_run, stage, course, rounds, Random(seed))
        with Raw(in_database(stage.server.dsn, "faults")) as raw:
            stored = Counter(str(content) for (content,) in raw.rows("SELECT content FROM messages"))
    doubled = [name for name, count in stored.items() if count > 1]
    lost = [name for name, what in course.told.items() if what == "stored" and name not in stored]
    untrue = [name for name, what in course.told.items() if what == "nothing" and name in stored]
    violations = course.violations + [f"{name} is there {stored[name]} times" for name in doubled]
    violations += [f"{name} was acknowledged and is lost" for name in lost]
    violations += [f"{name} was said not to be written, and is" for name in untrue]
    said = Counter(course.told.values())
    roads = "straight, proxy" + (", PgBouncer" if stage.pooler else "")
    figures = (
        f"{said['stored']} stored, {said['nothing']} not, {said['unknown']} unknown; {len(lost)} lost, {len(doubled)} "
        f"doubled, {len(untrue)} untrue; longest call {course.longest:.1f} s with a deadline of {_DEADLINE:g} s"
    )
    done = ", ".join(f"{count} x {what}" for what, count in sorted(struck.items()))
    return f"{rounds} rounds ({done}) by {roads}", Verdict(figures=figures, violations=violations)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, required=True, help="how many stops, freezes, cuts and restarts together")
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    parser.add_argument("--mutant", choices=list(Mutant), default=None, help="a bug on purpose: this run must fail")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    done, verdict = campaign(options.rounds, seed, None if options.mutant is None else Mutant(options.mutant))
    for violation in verdict.violations[:_MOST_PRINTED]:
        print(violation)
    print(f"postgres: {done}, {verdict.figures}, {len(verdict.violations)} violations (seed {seed})")
    return 1 if verdict.violations else 0


if __name__ == "__main__":
    sys.exit(main())
