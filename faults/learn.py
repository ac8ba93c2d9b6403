"""Workers are killed and stopped while they learn from what another process appends: no effect is lost or doubled."""

import os
import random
import sys
import time
from functools import partial

import anyio

from faults import learners
from faults.command import command
from faults.crew import Crew, Work, disturb, in_child
from faults.learn_check import WATCHED, check
from faults.ledger import Verdict
from faults.logs import log_of
from faults.mutants import Mutant
from faults.places import Place, fork
from faults.raw import Raw, drain
from faults.signs import Signs

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


def campaign(where: Place, faults: int, seed: int, mutant: Mutant | None) -> tuple[str, Verdict]:
    """Disturb, let the rest be learnt in peace, and check; return what was done and what came of it."""
    in_child(lambda: anyio.run(learners.append, where, random.Random(seed), None, 1))
    watcher = fork(lambda: _watch(where))
    signs = Signs(learners.WORKERS)

    def hire(slot: int, number: int) -> Work:
        dice = random.Random(f"{seed}/{number}")
        if slot == signs.feeder:
            return partial(learners.append, where, dice, mutant, signs=signs)
        return partial(learners.learn, where, dice, signs, slot, mutant)

    crew = Crew(where, signs, hire, learners.LEASE)
    crew.start_all()
    done = disturb(crew, faults, random.Random(seed))
    crew.kill(signs.feeder)
    crew.failed += not in_child(lambda: anyio.run(learners.finish, where))
    patience = _DRAIN if mutant is None else _DRAIN_OF_MUTANTS
    drained = in_child(lambda: drain(where.raw, _LEFT, patience))
    crew.kill_workers()
    crew.end(watcher)
    # Only now, after the last fork: a child must not inherit a connection.
    verdict = check(where.raw, where.ledger, failed_processes=crew.failed, log=log_of(where))
    late = [] if drained else [f"not everything was learnt within {patience:g} seconds of peace"]
    return done, Verdict(figures=verdict.figures, violations=late + verdict.violations)


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


if __name__ == "__main__":
    sys.exit(command(__doc__, "--kills", Mutant, campaign))
