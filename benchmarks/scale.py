"""Whether an operation costs the same however much a database holds: append, recall, learn and forget while it grows.

Spaces of one size are added until there are as many messages as asked for; a tenth of them are in one large space. At
each size the same operations are measured in spaces of equal size, each beside a bare statement. `--long` is the run
that the figures in the documentation come from: 10,000,000 messages, 1,000,000 facts, 10,000 spaces.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.latency import verdict
from benchmarks.latency_measure import Figure
from benchmarks.scale_fill import TEMPLATES, Filled, served, told
from benchmarks.scale_measure import OPERATIONS, RECALL_LARGE, Cost, Measurement, Profile

GROWTH_GOAL = 1.3
LARGE_GOAL = 3.0
STAGES = (10_000, 100_000, 1_000_000)
LONG = 10_000_000
_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What was measured at one size of the database."""

    messages: int
    costs: Mapping[str, Cost]
    profiles: Mapping[str, Profile]
    sizes: Mapping[str, int]

    @property
    def bytes_each(self) -> float:
        """Bytes on disk for a message, with all that was made of it."""
        return sum(size for name, size in self.sizes.items() if ":" not in name) / self.messages


def stages_of(messages: int) -> list[int]:
    """Return the sizes to stop at."""
    least = min(STAGES[0], messages // 2)
    return sorted({least, *(each for each in STAGES if least < each < messages), messages})


def grown(options: argparse.Namespace) -> list[Stage]:
    """Grow a database, and measure it at each size."""
    found: list[Stage] = []
    with served() as superuser:
        filled = Filled(superuser, seed=options.seed, size=options.size)
        filled.begin()
        for target in stages_of(options.messages):
            large = target // 10 if target == options.messages else 0
            filled.grow(max(TEMPLATES * 2, (target - large) // filled.size), large)
            if not found:
                filled.check()
            sizes = filled.sizes()
            started = time.monotonic()
            measurement = Measurement(filled, seed=options.seed, spaces=options.spaces)
            costs = measurement.costs(options.rounds)
            stage = Stage(messages=filled.messages, costs=costs, profiles=measurement.profile(), sizes=sizes)
            told(f"measured in {time.monotonic() - started:.0f} s")
            found.append(stage)
            show(stage)
    return found


def show(stage: Stage) -> None:
    """Print what was measured at one size."""
    print(f"\n{stage.messages:,} messages, {stage.bytes_each:,.0f} bytes each", flush=True)
    for name, cost in stage.costs.items():
        print(
            f"  {name:26} CPU {cost.cpu:7.2f} ms ({cost.server:.2f} of the server), {cost.ratio:6.1f} bare statements"
            f" of {cost.bare:.3f} ms (the first in a space {cost.first_ratio:.1f}); wall {cost.wall:.1f} ms,"
            f" {cost.wall_ratio:.1f}"
        )
        profile = stage.profiles[name]
        print(
            f"      {profile.blocks:.0f} blocks, {profile.transactions:.1f} transactions that write,"
            f" {profile.log:,.0f} bytes of log"
        )
        for issued in profile.issued[:_SHOWN]:
            print(f"      {issued}")
    largest = ", ".join(f"{name} {size / stage.messages:,.0f}" for name, size in [*stage.sizes.items()][:8])
    print(f"  bytes for each message: {largest}", flush=True)


def figures_of(stages: Sequence[Stage]) -> list[Figure]:
    """Compare the last size with the first, and the large space with the others."""
    first, last = stages[0], stages[-1]
    figures = [
        Figure(
            text=f"{name} at {last.messages:,} messages against {first.messages:,}",
            ratio=last.costs[name].ratio / first.costs[name].ratio, goal=GROWTH_GOAL,
        )
        for name in OPERATIONS
    ]  # fmt: skip
    large, others = last.costs[RECALL_LARGE], last.costs["recall"]
    text = f"recall in a space of {last.messages // 10:,} messages against the others"
    return [*figures, Figure(text=text, ratio=large.cpu / others.cpu, goal=LARGE_GOAL)]


def measured(stage: Stage) -> dict[str, float]:
    """Return what a simulation needs: milliseconds of the server for each operation, and bytes for a message."""
    return {name: round(stage.costs[name].server, 3) for name in OPERATIONS} | {"bytes": round(stage.bytes_each)}


def summary(stages: Sequence[Stage]) -> str:
    """Return one line for each operation: its cost at every size over that at the first."""
    lines = ["", "cost over that at the first size, CPU (time): " + ", ".join(f"{each.messages:,}" for each in stages)]
    for name in OPERATIONS:
        costs = [each.costs[name] for each in stages]
        grew = [f"{cost.ratio / costs[0].ratio:.2f} ({cost.wall_ratio / costs[0].wall_ratio:.2f})" for cost in costs]
        lines.append(f"  {name:10} {', '.join(grew)}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=50_000, help="messages in the database at the end")
    parser.add_argument("--long", action="store_true", help=f"{LONG:,} messages")
    parser.add_argument("--size", type=int, default=900, help="messages in each space but the large one")
    parser.add_argument("--spaces", type=int, default=10, help="in how many spaces operations are measured")
    parser.add_argument("--rounds", type=int, default=10, help="how often each operation is measured in each space")
    parser.add_argument("--json", type=Path, help="also write the costs into this file, for benchmarks.shards")
    parser.add_argument("--short", action="store_true", help="6,000 messages and one round; only errors fail")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not os.access("/proc/self/schedstat", os.R_OK):
        raise SystemExit("what the server's process spends is read from /proc/<pid>/schedstat, which only Linux has")
    if options.long:
        options.messages = LONG
    if options.short:
        options.messages, options.size, options.spaces, options.rounds = 6_000, 90, 3, 1
    print(f"seed {options.seed}", flush=True)
    stages = grown(options)
    print(summary(stages))
    if options.json:
        options.json.write_text(json.dumps(measured(stages[-1]), indent=1) + "\n", encoding="utf-8")
    return verdict(figures_of(stages), short=options.short)


if __name__ == "__main__":
    sys.exit(main())
