"""Workers of a fleet on a real Temporal server are killed and stopped: every session is learnt from, each once.

Temporal keeps nothing of what was said. In the same run, sessions are drained by the database's own claims as well.
"""

import argparse
import random
import secrets
import sys
import time
from collections.abc import Callable
from functools import partial
from mmap import mmap
from pathlib import Path

import anyio

from faults import temporal_crew
from faults.crew import Crew, Work, in_child
from faults.learn_check import check
from faults.ledger import Verdict
from faults.logs import log_of
from faults.places import Place, fork, place
from faults.raw import Raw
from faults.signs import Signs
from faults.temporal_crew import WORKERS, Mutant
from tools.temporal import TemporalServer, temporal

_MOST_PRINTED = 20
_BESIDE, _MOST_BESIDE = 10, 500
"""One session in so many, and at most so many, are drained in each way for the comparison."""
_STALLED, _STALLED_MUTANT = 300.0, 40.0
"""Seconds without any session learnt after which the rest counts as lost."""
_STOPS = 0.25
"""How many of the faults are stops, and not kills."""
_CANARY = b"note1x"
_LEFT = "SELECT count(*) FROM jobs WHERE kind = 'extract' AND status IN ('queued', 'running', 'failed')"


class Watch:
    """How many sessions are left, as a child sees it: the parent forks, so it must not hold a connection."""

    def __init__(self, where: Place) -> None:
        self._seen = mmap(-1, 8)
        self._seen[:] = (2**62).to_bytes(8, "little")
        self.child = fork(lambda: self._look(where))

    @property
    def left(self) -> int:
        return int.from_bytes(self._seen[:], "little")

    def until(self, most: int, *, patience: float, meanwhile: Callable[[], object] = lambda: None) -> bool:
        """Wait until at most so many are left; return False if for too long none is learnt."""
        lowest, since = self.left, time.monotonic()
        while (left := self.left) > most:
            if left < lowest:
                lowest, since = left, time.monotonic()
            if time.monotonic() - since > patience:
                return False
            meanwhile()
            time.sleep(0.01)
        return True

    def _look(self, where: Place) -> None:
        with Raw(where.raw) as raw:
            while True:
                self._seen[:] = int(raw.rows(_LEFT)[0][0]).to_bytes(8, "little")
                time.sleep(0.05)


class Campaign:
    """One run: a place, a server, three workers at a time."""

    def __init__(self, where: Place, server: TemporalServer, seed: int, mutant: Mutant | None) -> None:
        self._where = where
        self._server = server
        self._seed = seed
        self._mutant = mutant
        self._dice = random.Random(seed)
        self._patience = _STALLED if mutant is None else _STALLED_MUTANT
        self._appended = 0
        self.lost: list[str] = []
        self.failed = self.kills = self.stops = 0

    def append(self, count: int) -> None:
        first, self._appended = self._appended, self._appended + count
        self.failed += not in_child(lambda: anyio.run(temporal_crew.append, self._where, first, self._appended))

    def crew(self, *, fleet: bool) -> Crew:
        signs = Signs(WORKERS)

        def hire(slot: int, number: int) -> Work:
            dice = random.Random(f"{self._seed}/{number}")
            if not fleet:
                return partial(temporal_crew.work_alone, self._where, dice, signs, slot)
            work = partial(temporal_crew.work_in_fleet, address=self._server.address, mutant=self._mutant)
            return partial(work, self._where, dice, signs, slot)

        return Crew(self._where, signs, hire, temporal_crew.LEASE)

    def drain(self, count: int, *, fleet: bool, faults: int = 0) -> float:
        """Append sessions, let them be learnt under faults, and return how many were in a second."""
        self.append(count)
        crew = self.crew(fleet=fleet)
        watch = Watch(self._where)
        began = time.monotonic()
        for slot in range(WORKERS):
            crew.start(slot)
        going = True
        for fault in range(faults):
            # Spread over the work, not over time: however slow the machine is, none falls after the end.
            most = count - (fault + 1) * count // (faults + 1)
            going = going and watch.until(most, patience=self._patience, meanwhile=crew.wake)
            if going:
                self._disturb(crew)
                print(f"  fault {fault + 1} of {faults}, {watch.left} sessions left", file=sys.stderr, flush=True)
        if not (going and watch.until(0, patience=self._patience, meanwhile=crew.wake)):
            self.lost.append(f"{watch.left} sessions were not learnt from, and nobody went on")
        rate = count / (time.monotonic() - began)
        crew.wake(everyone=True)
        crew.kill_workers()
        crew.end(watch.child)
        self.failed += crew.failed
        return rate

    def _disturb(self, crew: Crew) -> None:
        slot = self._dice.choice([slot for slot in range(WORKERS) if slot not in crew.stopped])
        deadline = time.monotonic() + 0.3
        while not crew.signs.busy(slot) and time.monotonic() < deadline:
            time.sleep(0.001)
        if len(crew.stopped) < WORKERS - 1 and self._dice.random() < _STOPS:
            crew.stop(slot, crew.lease + self._dice.uniform(0.05, 0.5))
            self.stops += 1
        else:
            crew.kill(slot)
            crew.start(slot)
            self.kills += 1


def leaks(folder: Path, canary: bytes = _CANARY, *, named: str = "bethink/extract/") -> list[str]:
    """Search all that Temporal has written for what was said. The names of workflows must be found there."""
    kept = b"".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())
    found = [f"Temporal keeps {canary.decode()!r}, which was said"] if canary in kept else []
    return found + ([] if named.encode() in kept else ["Temporal's file does not show what it was told"])


def campaign(where: Place, sessions: int, faults: int, seed: int, mutant: Mutant | None) -> tuple[str, Verdict]:
    """Drain in both ways, then under faults, and check it all."""
    beside = min(_MOST_BESIDE, max(1, sessions // _BESIDE))
    with temporal() as server:
        run = Campaign(where, server, seed, mutant)
        # The first session is one of the fleet's, so that the word looked for was in its hands.
        fleet = run.drain(beside, fleet=True)
        own = run.drain(beside, fleet=False)
        disturbed = run.drain(sessions - 2 * beside, fleet=True, faults=faults)
        leaked = leaks(server.folder)
    verdict = check(where.raw, where.ledger, failed_processes=run.failed, log=log_of(where))
    done = (
        f"{sessions} sessions, {run.kills} kills and {run.stops} stops of {WORKERS} workers; {fleet:.1f} sessions a "
        f"second by Temporal beside {own:.1f} by the database's own claims (ratio {fleet / own:.2f}), "
        f"{disturbed:.1f} under faults"
    )
    return done, Verdict(figures=verdict.figures, violations=run.lost + leaked + verdict.violations)


def main() -> int:
    """Run as the command line says, and return what to exit with: 1 if any promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=60, help="how many sessions are learnt from")
    parser.add_argument("--kills", type=int, default=6, help="how many faults, kills and stops together")
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="postgres")
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    parser.add_argument("--mutant", choices=list(Mutant), default=None, help="a bug on purpose: this run must fail")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    mutant = None if options.mutant is None else Mutant(options.mutant)
    with place(options.database) as where:
        done, verdict = campaign(where, options.sessions, options.kills, seed, mutant)
    for violation in verdict.violations[:_MOST_PRINTED]:
        print(f"{options.database}: {violation}")
    print(f"{options.database}: {done}; {verdict.figures}, {len(verdict.violations)} violations (seed {seed})")
    return 1 if verdict.violations else 0


if __name__ == "__main__":
    sys.exit(main())
