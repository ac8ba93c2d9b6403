"""A space moves between two PostgreSQL servers under writes while its movers are killed, each at another step.

Writers note what was acknowledged; one of them is slow to commit, so that it is always in the middle of a transaction.
Some messages have no idempotency key: they are sent again only where the error says that nothing was written. Some with
a key are sent again much later, in another shard. In the end everything is in one shard, once.
"""

import argparse
import contextlib
import os
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import anyio

import bethink
from bethink.errors import DatabaseUnavailableError, OutcomeUnknownError
from bethink.store import archived, chain
from bethink.store.engines import postgres as engine
from bethink_shards import marks
from bethink_shards.backend import Shards
from bethink_shards.moving import SpaceMove
from bethink_shards.operating import add_shard
from bethink_shards.steps import MoveStep
from faults.ledger import Verdict
from faults.places import AsItIs, fork
from faults.raw import Raw
from tools import postgres

SPACE = "moving"
_WRITERS = 3
_SLOW = 0.1
"""Seconds that the first writer takes to commit."""
_LIMIT = 2.0
"""Seconds that a writer may be kept waiting."""
_SESSIONS = 20
_BATCH = 500
_MOST_PRINTED = 20


class Mutant(StrEnum):
    """A bug on purpose."""

    NO_FENCE = "no-fence"
    """Writers do not look whether their space moves."""
    NO_WAIT = "no-wait"
    """The mover does not wait for transactions that began before its fence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """A directory and two shards on two servers, a superuser's way into each, and a ledger."""

    target: str
    shards: dict[str, str]
    raw: dict[str, str]
    ledger: Path


@contextlib.contextmanager
def fleet() -> Generator[Fleet]:
    """Start two servers: the directory is on the first."""
    with (
        tempfile.TemporaryDirectory() as folder,
        postgres.running(durable=True) as first,
        postgres.running(durable=True) as second,
    ):
        directory = postgres.create_database(first, "directory")
        servers = {"a": first, "b": second}
        yield Fleet(
            target="shards" + directory.removeprefix("postgresql"),
            shards={name: postgres.create_database(server, "shard") for name, server in servers.items()},
            raw={name: postgres.in_database(server, "shard") for name, server in servers.items()},
            ledger=Path(folder),
        )


def _connect(where: Fleet) -> tuple[bethink.Memory, Shards]:
    memory = bethink.connect(where.target, learn=False, redactor=AsItIs(), postgres_pool_size=3)
    backend = memory.backend
    assert isinstance(backend, Shards)
    return memory, backend


def _fill(where: Fleet, messages: int) -> None:
    """Make the shards, and store so many messages in one space."""

    async def work() -> None:
        memory, backend = _connect(where)
        async with memory:
            for name, dsn in where.shards.items():
                await add_shard(backend, name, dsn)
            sessions = [await memory.space(SPACE).session(f"old {number}") for number in range(_SESSIONS)]
            for begin in range(0, messages, _BATCH):
                batch = [f"old-{number}" for number in range(begin, min(begin + _BATCH, messages))]
                said = [{"role": "user", "content": f"{name}: we spoke about tea and the garden"} for name in batch]
                await sessions[(begin // _BATCH) % _SESSIONS].append(said)

    anyio.run(work)


@contextlib.contextmanager
def _as_writer(mutant: Mutant | None, *, slow: bool) -> Generator[None]:
    with contextlib.ExitStack() as stack:
        if mutant is Mutant.NO_FENCE:
            stack.enter_context(patch.object(engine, "check_not_moved"))
        if slow:
            commit: Any = engine._commit

            def late(connection: Any) -> None:
                time.sleep(_SLOW)
                commit(connection)

            stack.enter_context(patch.object(engine, "_commit", late))
        yield


class _Writer:
    """Writes at a rate until it is told to end, and notes what was acknowledged and how long it took."""

    def __init__(self, where: Fleet, number: int, rate: float) -> None:
        self._where, self._number, self._every = where, number, 1 / rate
        self._notes = os.open(where.ledger / f"writer{number}", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        self._keyed: list[str] = []

    async def run(self) -> None:
        memory, _ = _connect(self._where)
        async with memory:
            session = await memory.space(SPACE).session(f"writer {self._number}")
            await session.append([{"role": "user", "content": f"first-{self._number}"}])
            (self._where.ledger / f"ready{self._number}").touch()
            began = time.monotonic()
            for count in range(sys.maxsize):
                if (self._where.ledger / "end").exists():
                    return
                keyed = count % 2 == 0
                name = f"w{self._number}-{count}"
                if keyed and self._keyed and count % 20 == 0:
                    name = self._keyed[count % len(self._keyed)]  # again, much later
                await self._send(session, name, keyed=keyed)
                await anyio.sleep(max(0.0, began + (count + 1) * self._every - time.monotonic()))

    async def _send(self, session: bethink.Session, name: str, *, keyed: bool) -> None:
        began = time.monotonic()
        while True:
            said: dict[str, str] = {"role": "user", "content": name}
            try:
                await session.append([said], idempotency_key=name if keyed else None)
            except DatabaseUnavailableError:
                continue
            except OutcomeUnknownError:
                if keyed:
                    continue
                self._note("unknown", name, began)
                return
            if keyed and name not in self._keyed:
                self._keyed.append(name)
            self._note("stored", name, began)
            return

    def _note(self, what: str, name: str, began: float) -> None:
        os.write(self._notes, f"{what} {name} {time.monotonic() - began:.3f}\n".encode())


def _write(where: Fleet, number: int, rate: float, mutant: Mutant | None) -> None:
    with _as_writer(mutant, slow=number == 0):
        anyio.run(_Writer(where, number, rate).run)


def _move(where: Fleet, to: str, kill_at: MoveStep | None, mutant: Mutant | None) -> None:
    """Move the space, and die at a step."""

    async def at(step: MoveStep) -> None:
        if step == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    async def work() -> None:
        memory, backend = _connect(where)
        async with memory:
            began = time.monotonic()
            report = await SpaceMove(backend.directory, backend.database, at=at).run(SPACE, to)
            line = f"{report.paused:.3f} {time.monotonic() - began:.1f} {report.rows}\n"
            with (where.ledger / "moves").open("a") as file:
                file.write(line)

    with (
        patch.object(marks, "writers", return_value=set[str]())
        if mutant is Mutant.NO_WAIT
        else contextlib.nullcontext()
    ):
        anyio.run(work)


def _deck(kills: int, dice: Random) -> list[MoveStep]:
    """Return at which steps movers are killed: each as often as any other, those around the fence first."""
    first = [MoveStep.QUIET, MoveStep.DECIDED, MoveStep.EQUAL, MoveStep.OPENED, MoveStep.FENCED]
    rest = [step for step in MoveStep if step not in first and step is not MoveStep.ENDED]
    deck: list[MoveStep] = []
    while len(deck) < kills:
        deck += [*first, *dice.sample(rest, len(rest))]
    return deck[:kills]


def campaign(
    messages: int, rate: float, kills: int, seed: int, mutant: Mutant | None, *, longest: float = _LIMIT
) -> tuple[str, Verdict]:
    """Move the space to and fro, a kill and a second run each time, and hold what is stored against the ledger."""
    with fleet() as where:
        child = fork(partial(_fill, where, messages))
        if os.waitpid(child, 0)[1]:
            raise SystemExit("the space could not be filled")
        writers = [fork(partial(_write, where, number, rate / _WRITERS, mutant)) for number in range(_WRITERS)]
        while not all((where.ledger / f"ready{number}").exists() for number in range(_WRITERS)):
            time.sleep(0.05)
        with Raw(where.raw["a"]) as raw:
            at = "a" if raw.rows("SELECT 1 FROM messages LIMIT 1") else "b"
        failed = 0
        for step in [*_deck(kills, Random(seed)), None]:
            to = "b" if at == "a" else "a"
            killed = os.waitpid(fork(partial(_move, where, to, step, mutant)), 0)[1]
            failed += (killed != signal.SIGKILL) if step else killed != 0
            if step:
                failed += os.waitpid(fork(partial(_move, where, to, None, mutant)), 0)[1] != 0
            at = to
        time.sleep(0.5)
        (where.ledger / "end").touch()
        failed += sum(os.waitpid(writer, 0)[1] != 0 for writer in writers)
        return f"{messages} messages, {kills} kills, {rate:g} writes/s", _judged(where, at, messages, failed, longest)


def _judged(where: Fleet, at: str, messages: int, failed: int, limit: float) -> Verdict:
    other = "b" if at == "a" else "a"
    with Raw(where.raw[at]) as raw, Raw(where.raw[other]) as left:
        stored = Counter(str(content).partition(":")[0] for (content,) in raw.rows("SELECT content FROM messages"))
        gaps = raw.rows(
            "SELECT s.id FROM sessions s WHERE s.last_number <> (SELECT count(*) FROM messages m "
            "WHERE m.space_id = s.space_id AND m.session_id = s.id)"
        )
        unmarked = raw.rows(
            "SELECT id FROM sessions s WHERE invalidated_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM jobs j "
            "WHERE j.space_id = s.space_id AND j.key = s.id AND j.status = 'queued')"
        )
        buried = raw.rows("SELECT 1 FROM tombstones LIMIT 1") + left.rows("SELECT 1 FROM tombstones LIMIT 1")
        behind = [
            table.name
            for table in archived.tables(include_moved=True)
            if left.rows(f"SELECT 1 FROM {table.name} WHERE space_id = '{SPACE}' LIMIT 1")
        ]
    told = [line.split() for path in where.ledger.glob("writer*") for line in path.read_text().splitlines()]
    sent = {name for what, name, _ in told if what == "stored"} | {f"old-{number}" for number in range(messages)}
    pauses = sorted((float(seconds) for _, _, seconds in told), reverse=True)
    lost, doubled = sorted(sent - set(stored)), [name for name, count in stored.items() if count > 1]
    violations = [f"{failed} processes ended otherwise than they should"] if failed else []
    violations += [f"{name} was acknowledged and is lost" for name in lost]
    violations += [f"{name} is there {stored[name]} times" for name in doubled]
    violations += [f"session {row[0]} has gaps" for row in gaps]
    violations += [f"session {row[0]} is marked and not queued" for row in unmarked]
    violations += ["something was buried"] if buried else []
    violations += [f"rows of {name} are still in the old shard" for name in behind]
    violations += [f"chain: {why}" for why in anyio.run(_broken, where, at)]
    longest = pauses[0] if pauses else 0.0
    violations += [f"a writer waited for {longest:.2f} s"] if longest > limit else []
    done = [line.split() for line in (where.ledger / "moves").read_text().splitlines()] if not failed else []
    fences = max((float(each[0]) for each in done), default=0.0)
    figures = (
        f"{len(pauses)} written meanwhile, {len(lost)} lost, {len(doubled)} doubled, longest wait of a writer "
        f"{longest:.2f} s (limit {limit:g} s, of which {_SLOW:g} s is its own), longest fence {fences:.2f} s, longest "
        f"move {max((float(each[1]) for each in done), default=0.0):.0f} s"
    )
    return Verdict(figures=figures, violations=violations)


async def _broken(where: Fleet, at: str) -> list[str]:
    memory, backend = _connect(where)
    async with memory:
        database = (await backend.shard(at)).database
        report = await database.transact(lambda tx: chain.check(tx, space=SPACE), space=SPACE, read_only=True)
        return [why for _, why in report.broken] + ([f"{report.unsealed} unsealed"] if report.unsealed else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, required=True, help="how many the space holds before it moves")
    parser.add_argument("--rate", type=float, default=50.0, help="writes per second meanwhile")
    parser.add_argument("--kills", type=int, default=len(MoveStep) - 1, help="how many movers are killed, one a move")
    parser.add_argument("--longest", type=float, default=_LIMIT, help="seconds that a writer may be kept waiting")
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    parser.add_argument("--mutant", choices=list(Mutant), default=None, help="a bug on purpose: this run must fail")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    mutant = None if options.mutant is None else Mutant(options.mutant)
    done, verdict = campaign(
        options.messages, options.rate, options.kills, seed, mutant, longest=options.longest
    )  # fmt: skip
    for violation in verdict.violations[:_MOST_PRINTED]:
        print(violation)
    print(f"shards: {done}, {verdict.figures}, {len(verdict.violations)} violations (seed {seed})")
    return 1 if verdict.violations else 0


if __name__ == "__main__":
    sys.exit(main())
