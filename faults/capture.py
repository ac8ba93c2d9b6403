"""Many processes append at once (--messages), or are killed while they do (--kills): nothing acknowledged is lost."""

import argparse
import os
import random
import secrets
import signal
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import anyio

import bethink
from bethink.errors import DatabaseBusyError
from bethink.model.records import conversation_key
from faults.ledger import Ledger, Verdict, check
from faults.places import AsItIs, chosen, fork, place

PROCESSES = 8
SHARED = 2
"""So many sessions are written by every process; each process has one of its own besides."""


_BLOCK = 10
_LOADED_LATE = ("bethink.host.build", "bethink.memory.log.service", "bethink.store.engines.postgres")
"""What `connect` and the first append would load: a process that is killed while it imports shows nothing."""
"""Seconds a process lives at most before it is killed: connecting to a server takes longer than opening a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """What one run does to one database."""

    database: str
    target: str
    ledger: Path
    seed: int
    acknowledge_first: bool = False
    """A seeded bug: say yes before the message is stored. The campaign must notice."""


def _chat(number: int) -> str:
    return conversation_key(channel="faults", chat=str(number))


async def _sessions(memory: bethink.Memory, process: int) -> list[bethink.Session]:
    chats = [*range(SHARED), SHARED + process]
    return [await memory.space("faults").session(_chat(chat)) for chat in chats]


async def _append_until(campaign: Campaign, process: int, last: int, batch: Callable[[], int]) -> None:
    """Append messages with keys `process-1`, `process-2`, … up to `last`, going on where the ledger ends."""
    ledger = Ledger(campaign.ledger, process)
    async with bethink.connect(campaign.target, redactor=AsItIs(), postgres_pool_size=2, learn=False) as memory:
        sessions = await _sessions(memory, process)
        while ledger.acknowledged < last:
            first = ledger.acknowledged + 1
            # A key's block decides its session, so a process that was killed retries where it tried before.
            block = first // _BLOCK
            count = min(batch(), last + 1 - first, (block + 1) * _BLOCK - first)
            session = sessions[block % len(sessions)]
            keys = [f"{process}-{number}" for number in range(first, first + count)]
            messages = [bethink.Message(role="user", content=f"message {key}", idempotency_key=key) for key in keys]
            if campaign.acknowledge_first:
                ledger.acknowledge(session.id, dict.fromkeys(keys, 0))
            try:
                numbers = await session.append(messages)
            except DatabaseBusyError:
                continue  # nothing was written; the same keys again
            if not campaign.acknowledge_first:
                ledger.acknowledge(session.id, dict(zip(keys, numbers, strict=True)))


def crowd(campaign: Campaign, messages: int) -> Verdict:
    """Let eight processes append at once, to sessions of their own and to shared ones."""
    share = messages // PROCESSES
    children: list[int] = []
    for process in range(PROCESSES):
        dice = random.Random(f"{campaign.seed}/{process}")
        children.append(
            fork(lambda process=process, dice=dice: anyio.run(
                _append_until, campaign, process, share, lambda: dice.choice((1, 1, 2, 5, 10))
            ))
        )  # fmt: skip
    failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
    return check(campaign.target, campaign.ledger, failed_processes=failed, expected=share * PROCESSES)


def kill(campaign: Campaign, kills: int) -> Verdict:
    """Kill an appending process again and again, at a random moment, and let the next go on with the same keys."""
    dice = random.Random(campaign.seed)
    # Once in a process that lives, for the schema; and all imports come before the first fork, so that kills meet work.
    for name in _LOADED_LATE:
        import_module(name)
    anyio.run(anyio.sleep, 0)
    failed = 0
    whole = 0.0
    for last in (1, 2):  # the first makes the schema; the second shows how long opening and one append take here
        started = time.monotonic()
        child = fork(lambda last=last: anyio.run(_append_until, campaign, 0, last, lambda: 1))
        failed += os.waitpid(child, 0)[1] != 0
        whole = time.monotonic() - started
    for round_ in range(kills):
        process = round_ % PROCESSES
        child = fork(
            lambda process=process: anyio.run(_append_until, campaign, process, 10**9, lambda: random.choice((1, 1, 3)))
        )
        # From before the database is open to well into the appends.
        time.sleep(dice.uniform(0.0, 2 * whole))
        os.kill(child, signal.SIGKILL)
        failed += os.WIFEXITED(os.waitpid(child, 0)[1])  # it must have lived until it was killed
        if (round_ + 1) % 100 == 0:
            print(f"  {campaign.database}: {round_ + 1} of {kills} kills", file=sys.stderr, flush=True)
    for process in range(min(PROCESSES, kills)):  # the client's last retry: one more message than was acknowledged
        goal = Ledger(campaign.ledger, process).acknowledged + 1
        child = fork(lambda process=process, goal=goal: anyio.run(_append_until, campaign, process, goal, lambda: 1))
        failed += os.waitpid(child, 0)[1] != 0
    return check(campaign.target, campaign.ledger, failed_processes=failed, expected=None)


@contextmanager
def _campaign(database: str, seed: int, *, acknowledge_first: bool) -> Generator[Campaign]:
    with place(database) as where:
        yield Campaign(
            database=database,
            target=where.target,
            ledger=where.ledger,
            seed=seed,
            acknowledge_first=acknowledge_first,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--messages", type=int, help="how many messages eight processes append, 20000 for a release")
    what.add_argument("--kills", type=int, help="how many processes are killed, 1000 for a release")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    parser.add_argument("--mutant", action="store_true", help="acknowledge before storing: this run must fail")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    verdicts: list[tuple[str, Verdict]] = []
    for database in chosen(options.database):
        with _campaign(database, seed, acknowledge_first=options.mutant) as campaign:
            verdict = kill(campaign, options.kills) if options.kills else crowd(campaign, options.messages)
            verdicts.append((database, verdict))
    for database, verdict in verdicts:
        for violation in verdict.violations[:20]:
            print(f"{database}: {violation}")
    done = f"{options.kills} kills" if options.kills else f"{PROCESSES} processes"
    for database, verdict in verdicts:
        print(f"{database}: {done}, {verdict.figures}, {len(verdict.violations)} violations (seed {seed})")
    return 1 if any(verdict.violations for _, verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
