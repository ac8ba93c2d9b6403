"""Months of memory in minutes: what is updated, contradicted, asked in vain, forgotten, planted and echoed.

Half of the histories of what changes, is contradicted and forgotten are imported after their last day and learned in
random order.
"""

import argparse
import json
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio

from benchmarks.lifecycle_forgetting import forgetting
from benchmarks.lifecycle_hostile import chatter, poisoning
from benchmarks.lifecycle_lives import abstention, contradictions, updates
from benchmarks.lifecycle_stage import Goal, Stage, Tally, staged
from tools import postgres

Trial = Callable[[Stage, int], Awaitable[list[Tally]]]
TRIALS: dict[str, tuple[Trial, int, int]] = {
    "updates": (updates, 50, 2),
    "contradictions": (contradictions, 10, 56),
    "abstention": (abstention, 100, 1),
    "forgetting": (forgetting, 25, 4),
    "poisoning": (poisoning, 5, 10),
    "chatter": (chatter, 1, 2),
}
"""What is tried, one case for so many sessions, and at least so many cases."""

_MOST_PRINTED = 20
_GOALS = {Goal.ALL: "all", Goal.NONE: "none", Goal.SHOWN: ""}


async def tried(name: str, target: str, *, sessions: int, seed: int) -> list[Tally]:
    """Run one trial on an empty database, and return what it came to."""
    trial, for_each, least = TRIALS[name]
    async with staged(target, random.Random(f"{name} {seed}")) as stage:
        return await trial(stage, max(least, sessions // for_each))


@contextmanager
def targets(database: str) -> Generator[Callable[[str], str]]:
    """Give every trial an empty database of a kind, and remove them afterwards."""
    if database == "postgres":
        with postgres.running() as superuser:
            yield lambda name: postgres.create_database(superuser, name)
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield lambda name: str(Path(folder) / f"{name}.db")


def measured(database: str, *, sessions: int, seed: int) -> tuple[list[Tally], float]:
    """Run every trial, and say how long that took."""
    start = time.perf_counter()
    tallies: list[Tally] = []
    with targets(database) as target:
        for name in TRIALS:
            tallies += anyio.run(lambda name=name: tried(name, target(name), sessions=sessions, seed=seed))
    return tallies, time.perf_counter() - start


def table(database: str, tallies: Sequence[Tally]) -> str:
    """Write the figures down, the failures first."""
    failures = [failure for tally in tallies for failure in tally.failures[:_MOST_PRINTED]]
    rows = [
        f"{tally.name:<50} {tally.count:>6} of {tally.of:>6} {tally.share:>7.1f} %  {_GOALS[tally.goal]:<5}"
        f"{'' if tally.met else 'MISSED'}".rstrip()
        for tally in tallies
    ]
    return "\n".join([*failures, f"{database:<50} {'':>16} {'':>9}  goal", *rows])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1000, help="how many sessions of chatter; the rest is in scale")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--seed", type=int, default=None, help="repeat the random choices of an earlier run")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    options = parser.parse_args()
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    figures: dict[str, object] = {"seed": seed, "sessions": options.sessions}
    verdicts: list[str] = []
    missed = 0
    for database in ("sqlite", "postgres") if options.database == "both" else (options.database,):
        tallies, seconds = measured(database, sessions=options.sessions, seed=seed)
        goals = [tally for tally in tallies if tally.goal is not Goal.SHOWN]
        met = sum(tally.met for tally in goals)
        missed += len(goals) - met
        figures[database] = {
            "seconds": round(seconds, 1),
            "figures": [
                {"name": each.name, "count": each.count, "of": each.of, "goal": each.goal, "met": each.met}
                for each in tallies
            ],
            "failures": [failure for tally in tallies for failure in tally.failures],
        }
        verdicts.append(
            f"{database}: {options.sessions} sessions of chatter and all else in {seconds:.0f} s (seed {seed}), "
            f"goals met: {met} of {len(goals)}"
        )
        if not options.json:
            print(table(database, tallies), flush=True)
    print(json.dumps(figures, indent=2) if options.json else "\n".join(verdicts))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
