"""Workers are killed and stopped while they learn from what another process appends: no effect is lost or doubled."""

import argparse
import os
import random
import secrets
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import anyio

from faults import learners
from faults.learn_check import WATCHED, check
from faults.ledger import Verdict
from faults.mutants import Mutant
from faults.places import Place, chosen, fork, place
from faults.raw import Raw
from faults.signs import APPENDER, SLOTS, Signs

_STOP = 0.45
_MOST_STOPPED = 2
_PAUSE = (0.0, 0.12)
_AIMED = 0.75
_PATIENCE = 0.3
"""Seconds that a fault waits at most for its moment."""
_DRAIN = 60.0
_DRAIN_OF_MUTANTS = 10.0
"""What is broken on purpose may never come to an end."""
_PROGRESS = """SELECT s.id, COALESCE(s.processed_until, 0), j.token
FROM sessions s JOIN jobs j ON j.space_id = s.space_id AND j.kind = 'extract' AND j.key = s.id
ORDER BY s.created_at DESC LIMIT 50"""
_LEFT = """SELECT count(*) FROM sessions s LEFT JOIN jobs j
ON j.space_id = s.space_id AND j.kind = 'extract' AND j.key = s.id
WHERE s.invalidated_at IS NOT NULL OR COALESCE(s.processed_until, 0) <> s.last_number
   OR j.status IN ('queued', 'running', 'failed')"""


@dataclass(slots=True)
class Crew:
    """The four processes, each in a slot; whoever dies is replaced."""

    place: Place
    seed: int
    mutant: Mutant | None
    running: dict[int, int] = field(default_factory=dict[int, int])
    stopped: dict[int, float] = field(default_factory=dict[int, float])
    signs: Signs = field(default_factory=Signs)
    started: int = 0
    failed: int = 0

    def start(self, slot: int) -> None:
        self.started += 1
        dice = random.Random(f"{self.seed}/{self.started}")
        self.signs.clear(slot)
        if slot == APPENDER:
            work = partial(learners.append, self.place, dice, self.mutant, signs=self.signs)
        else:
            work = partial(learners.learn, self.place, dice, self.signs, slot, self.mutant)
        self.running[slot] = fork(lambda: anyio.run(work))

    def kill(self, slot: int) -> None:
        """End one as a power cut would; it must have lived until then."""
        child = self.running.pop(slot)
        os.kill(child, signal.SIGKILL)
        self.failed += os.WIFEXITED(os.waitpid(child, 0)[1])

    def stop(self, slot: int, seconds: float) -> None:
        """Let a worker sleep until its lease is over and others have its jobs."""
        os.kill(self.running[slot], signal.SIGSTOP)
        self.stopped[slot] = time.monotonic() + seconds

    def wake(self, *, everyone: bool = False) -> None:
        """Let those go on whose time has come, as if nothing had happened."""
        for slot, until in list(self.stopped.items()):
            if everyone or time.monotonic() >= until:
                os.kill(self.running[slot], signal.SIGCONT)
                del self.stopped[slot]


def disturb(crew: Crew, faults: int, dice: random.Random) -> tuple[int, int]:
    """Kill and stop at random moments, and return how often each was done."""
    kills = stops = 0
    while kills + stops < faults:
        time.sleep(dice.uniform(*_PAUSE))
        crew.wake()
        slot = dice.randrange(SLOTS)
        if slot in crew.stopped:
            continue  # to be killed in its sleep would spoil what it is stopped for
        aimed = dice.random() < _AIMED
        if slot != APPENDER and len(crew.stopped) < _MOST_STOPPED and dice.random() < _STOP:
            _await(partial(crew.signs.busy, slot), aimed=aimed)
            crew.stop(slot, learners.LEASE + dice.uniform(0.05, 0.5))
            stops += 1
        else:
            # An append is over soon; what a worker does goes on for a while after it was first asked something.
            sign, longest = (crew.signs.busy, 0.005) if slot == APPENDER else (crew.signs.worked, 0.05)
            _await(partial(sign, slot), aimed=aimed)
            time.sleep(dice.uniform(0.0, longest))
            crew.kill(slot)
            crew.start(slot)
            kills += 1
        if (kills + stops) % 100 == 0:
            print(f"  {crew.place.database}: {kills + stops} of {faults} faults", file=sys.stderr, flush=True)
    crew.wake(everyone=True)
    return kills, stops


def _await(sign: Callable[[], bool], *, aimed: bool) -> None:
    """Wait for a sign of life where a fault is aimed at work; the others meet whatever there is, starts included."""
    deadline = time.monotonic() + _PATIENCE
    while aimed and not sign() and time.monotonic() < deadline:
        time.sleep(0.001)


def campaign(where: Place, faults: int, seed: int, mutant: Mutant | None) -> tuple[str, Verdict]:
    """Disturb, let the rest be learnt in peace, and check; return what was done and what came of it."""
    _in_child(lambda: anyio.run(learners.append, where, random.Random(seed), None, 1))
    watcher = fork(lambda: _watch(where))
    crew = Crew(where, seed, mutant)
    for slot in range(SLOTS):
        crew.start(slot)
    began = time.monotonic()
    kills, stops = disturb(crew, faults, random.Random(seed))
    took = time.monotonic() - began
    crew.kill(APPENDER)
    crew.failed += _in_child(lambda: anyio.run(learners.finish, where)) != 0
    patience = _DRAIN if mutant is None else _DRAIN_OF_MUTANTS
    drained = _in_child(lambda: _drain(where, patience)) == 0
    for slot in range(APPENDER):
        crew.kill(slot)
    os.kill(watcher, signal.SIGKILL)
    crew.failed += os.WIFEXITED(os.waitpid(watcher, 0)[1])
    # Only now, after the last fork: a child must not inherit a connection.
    verdict = check(where.raw, where.ledger, failed_processes=crew.failed, log=where.ledger.parent / learners.LOG)
    late = [] if drained else [f"not everything was learnt within {patience:g} seconds of peace"]
    done = f"{kills} kills and {stops} stops ({faults / took:.1f} a second)"
    return done, Verdict(figures=verdict.figures, violations=late + verdict.violations)


def _in_child(work: Callable[[], None]) -> int:
    return os.waitpid(fork(work), 0)[1]


def _watch(where: Place) -> None:
    """Write down how far each session has come whenever that changes, until killed."""
    seen: dict[str, tuple[int, int]] = {}
    file = os.open(where.ledger / WATCHED, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    with Raw(where.raw) as raw:
        while True:
            for session, until, token in raw.rows(_PROGRESS):
                if seen.get(session) != (until, token):
                    seen[session] = (until, token)
                    os.write(file, f"{session} {until} {token} {time.time_ns() // 1_000}\n".encode())
            time.sleep(0.005)


def _drain(where: Place, patience: float) -> None:
    """Return once everything is learnt; fail if that takes too long."""
    deadline = time.monotonic() + patience
    with Raw(where.raw) as raw:
        while raw.rows(_LEFT)[0][0]:
            if time.monotonic() > deadline:
                os._exit(1)
            time.sleep(0.02)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, required=True, help="how many faults, kills and stops together")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    parser.add_argument("--mutant", choices=list(Mutant), default=None, help="a bug on purpose: this run must fail")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    mutant = None if options.mutant is None else Mutant(options.mutant)
    ended: list[tuple[str, str, Verdict]] = []
    for database in chosen(options.database):
        with place(database) as where:
            ended.append((database, *campaign(where, options.kills, seed, mutant)))
    for database, _, verdict in ended:
        for violation in verdict.violations[:20]:
            print(f"{database}: {violation}")
    for database, done, verdict in ended:
        print(f"{database}: {done}, {verdict.figures}, {len(verdict.violations)} violations (seed {seed})")
    return 1 if any(verdict.violations for _, _, verdict in ended) else 0


if __name__ == "__main__":
    sys.exit(main())
