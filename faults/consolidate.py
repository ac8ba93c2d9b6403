"""Consolidators are killed and stopped while spaces are made dirty: one run at a time, and no space is left behind."""

import os
import random
import sys
import time
from functools import partial

import anyio

from faults import consolidators
from faults.command import command
from faults.consolidate_check import WATCHED, check
from faults.consolidate_mutants import ConsolidateMutant
from faults.crew import Crew, Work, disturb, in_child
from faults.ledger import Verdict
from faults.logs import log_of
from faults.places import Place, fork
from faults.raw import Raw, drain
from faults.signs import Signs

_DRAIN = 60.0
_DRAIN_OF_MUTANTS = 10.0
"""What is broken on purpose may never come to an end."""
_JOBS = "SELECT space_id, token, COALESCE(success_watermark, 0) FROM jobs WHERE kind = 'consolidate'"
_FLAGS = "SELECT space_id, session_id, selected_source_updated_at FROM session_summaries WHERE selected = 1"
_LEFT = "SELECT count(*) FROM jobs WHERE kind = 'consolidate' AND status IN ('queued', 'running', 'failed')"


def campaign(where: Place, faults: int, seed: int, mutant: ConsolidateMutant | None) -> tuple[str, Verdict]:
    """Disturb, let the rest be settled in peace, and check; return what was done and what came of it."""
    in_child(lambda: anyio.run(consolidators.feed, where, random.Random(seed), 1))
    watcher = fork(lambda: _watch(where))
    signs = Signs(consolidators.WORKERS)

    def hire(slot: int, number: int) -> Work:
        dice = random.Random(f"{seed}/{number}")
        if slot == signs.feeder:
            return partial(consolidators.feed, where, dice, signs=signs)
        return partial(consolidators.consolidate, where, dice, signs, slot, mutant)

    crew = Crew(where, signs, hire, consolidators.LEASE, stops=0.6)
    crew.start_all()
    done = disturb(crew, faults, random.Random(seed))
    crew.kill(signs.feeder)
    patience = _DRAIN if mutant is None else _DRAIN_OF_MUTANTS
    drained = in_child(lambda: drain(where.raw, _LEFT, patience))
    crew.kill_workers()
    crew.end(watcher)
    # Only now, after the last fork: a child must not inherit a connection.
    verdict = check(where.raw, where.ledger, failed_processes=crew.failed, log=log_of(where))
    late = [] if drained else [f"not every space was settled within {patience:g} seconds of peace"]
    return done, Verdict(figures=verdict.figures, violations=late + verdict.violations)


def _watch(where: Place) -> None:
    """Write down tokens, watermarks and flags whenever they change, until killed."""
    seen: set[tuple[str, str, int]] = set()
    jobs: dict[str, tuple[int, int]] = {}
    file = os.open(where.ledger / WATCHED, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    with Raw(where.raw) as raw:
        while True:
            for space, token, success in raw.rows(_JOBS):
                if jobs.get(space) != (token, success):
                    jobs[space] = (token, success)
                    os.write(file, f"job {space} {token} {success} {time.time_ns() // 1_000}\n".encode())
            for space, session, moment in raw.rows(_FLAGS):
                if (space, session, moment) not in seen:
                    seen.add((space, session, moment))
                    os.write(file, f"flag {space} {session} {moment} {time.time_ns() // 1_000}\n".encode())
            time.sleep(0.005)


if __name__ == "__main__":
    sys.exit(command(__doc__, "--faults", ConsolidateMutant, campaign))
