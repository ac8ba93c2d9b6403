"""A simulation of 64 shards: the load of each, how a lost shard recovers, and what a hot space does to its neighbors.

What an operation takes of a server comes from `python -m benchmarks.scale --json FILE`; without `--costs FILE` it is
what the documented run gave. Everything else is a plan that can be changed: how many users, how much they say, how many
cores a server has. Spaces are as active as a Zipf law says, and are dealt to shards as the directory deals them: to the
one that has fewest. Time passes in steps of a second; what a server cannot do in one waits for the next.
"""

import argparse
import json
import math
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

MONTH = 30 * 86_400
HORIZON = 48 * 3_600
"""After how many seconds a shard that still has a backlog counts as one that does not recover."""

_HEAD = 200_000
"""How many spaces are dealt one by one; the millions after them are so quiet that every shard gets the same of them."""
_ROUNDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Milliseconds of the database's server for each operation, and bytes on disk for a message."""

    append: float
    recall: float
    learn: float
    forget: float
    bytes: float

    @classmethod
    def read(cls, path: Path) -> "Costs":
        """Read what `benchmarks.scale --json` wrote."""
        found = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{each.name: float(found[each.name]) for each in fields(cls)})


DOCUMENTED = Costs(append=2.6, recall=22.3, learn=37.0, forget=34.2, bytes=2_980)
"""Of the run of 100,000 messages that `docs/explanation/scale.md` names, on a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Who uses it, how much, and what it runs on."""

    users: int = 100_000_000
    messages: float = 100.0
    """A user's messages in a month."""
    peak: float = 3.0
    """The load of the busiest hour over the mean."""
    shards: int = 64
    cores: int = 16
    """Of the server of each shard."""
    exponent: float = 0.8
    """Of the Zipf law: a space is as active as its rank to the minus this."""
    most: float = 1_000_000.0
    """What the most active spaces say in a month: a law without an end gives the first more than anybody can say."""
    failover: float = 60.0
    """Seconds until a standby has taken over."""
    restore: float = 400.0
    """Megabytes a second that a restore from a backup writes."""
    notice: float = 300.0
    """Seconds until somebody moves a hot space away."""
    move: float = 500.0
    """Messages a second that a move copies."""
    hot: float = 300.0
    """How many times as much as before a hot space says."""

    vector_bytes: float = 1_220.0
    """Of a vector of 512 dimensions on disk, with its key (`benchmarks.vector_indexes`)."""
    embed: float = 5.0
    """Milliseconds of CPU that a worker takes to embed a message with `bethink[local]`."""
    input_tokens: float = 180.0
    """Tokens of prompts for each message that is learned from (`benchmarks.learning`)."""
    output_tokens: float = 94.0
    input_price: float = 0.25
    """Dollars for a million tokens, of a small model."""
    output_price: float = 2.0
    core_price: float = 20.0
    """Dollars for a core and month, with its memory."""
    disk_price: float = 80.0
    """Dollars for a terabyte and month."""
    copies: int = 3
    """Of all data: a primary and two replicas."""

    @property
    def said(self) -> float:
        """Messages in a month."""
        return self.users * self.messages

    @property
    def rate(self) -> float:
        """Messages a second in all shards, in the busiest hour."""
        return self.said / MONTH * self.peak


APPENDS, RECALLS, LEARNT, FORGOTTEN = 1 / 2, 1 / 2, 1 / 30, 1 / 10_000
"""Operations for each message: turns of two messages, a recall for each turn, sessions of thirty."""


def work(costs: Costs) -> tuple[float, float]:
    """Return the server's seconds for each message: what a caller waits for, and what can wait."""
    waited = costs.append * APPENDS + costs.recall * RECALLS + costs.forget * FORGOTTEN
    return waited / 1e3, costs.learn * LEARNT / 1e3


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A shard: its messages a second, and those of its most active space."""

    rate: float
    most_active: float


def said(plan: Plan) -> tuple[list[float], float]:
    """Return what each of the most active spaces says in a month, and what all others say together."""
    head = [rank**-plan.exponent for rank in range(1, min(_HEAD, plan.users) + 1)]
    past = 1 - plan.exponent
    tail = (plan.users**past - len(head) ** past) / past if past else math.log(plan.users / len(head))
    total, factor = plan.said, 0.0
    capped = 0
    for _ in range(_ROUNDS):  # what the most active may not say, the others do
        factor = (total - capped * plan.most) / (math.fsum(head[capped:]) + tail)
        capped = sum(factor * weight > plan.most for weight in head)
    return [min(plan.most, factor * weight) for weight in head], factor * tail


def dealt(plan: Plan, seed: int) -> list[Shard]:
    """Deal spaces to shards in the order they come, each to the one with fewest."""
    head, tail = said(plan)
    random.Random(f"{seed}/spaces").shuffle(head)
    busy = plan.peak / MONTH
    hands = [head[shard :: plan.shards] for shard in range(plan.shards)]
    others = tail / plan.shards
    return [Shard(rate=(math.fsum(hand) + others) * busy, most_active=max(hand) * busy) for hand in hands]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """How long callers and background work waited for a shard to come back to what it was."""

    waiting: float
    """Seconds from the fault until callers wait no longer than before."""
    behind: float
    """Seconds from the fault until sessions are learnt from as soon as before."""
    backlog: float
    """The most work that waited, in seconds of the whole server."""

    @property
    def is_over(self) -> bool:
        """Whether it recovered at all."""
        return self.behind < HORIZON

    def __str__(self) -> str:
        if not self.is_over:
            return f"does not recover within {HORIZON / 3600:.0f} hours"
        return f"callers {_spelt(self.waiting)}, learning {_spelt(self.behind)}; most backlog {_spelt(self.backlog)}"


def _spelt(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def passed(
    costs: Costs, cores: int, rate: Callable[[int], float], away: Callable[[int], bool], chance: random.Random
) -> Recovery:
    """Let time pass in one shard from a fault on, until nothing waits and nothing more is to come of it.

    `rate` gives the messages of a second; while the server is `away` it does nothing, recalls fail, and what was said
    is sent again. Callers come first, learning gets what is left.
    """
    waited, learning = work(costs)
    sent_again = (costs.append * APPENDS + costs.forget * FORGOTTEN) / 1e3
    first = second = backlog = 0.0
    waiting = behind = 0.0
    for now in range(HORIZON):
        mean = rate(now)
        come = max(0.0, chance.gauss(mean, math.sqrt(mean)))
        is_away = away(now)
        first += come * (sent_again if is_away else waited)
        second += come * learning
        room = 0.0 if is_away else float(cores)
        done = min(first, room)
        first -= done
        second -= min(second, room - done)
        backlog = max(backlog, (first + second) / cores)
        waiting = now + 1.0 if first > 0 or is_away else waiting
        behind = now + 1.0 if second > 0 or is_away else behind
        if now > max(waiting, behind) + 600:
            break
    return Recovery(waiting=waiting, behind=max(waiting, behind), backlog=backlog)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the simulation found."""

    loads: Sequence[float]
    """The share of its server that each shard needs."""
    lost: Recovery
    restored: Recovery
    restore_seconds: float
    hot: Recovery
    hot_alone: float
    """The share of a server that the hot space needs by itself."""
    hot_load: float
    hot_most: float
    """How many times as much a space may say until its shard is full."""

    @property
    def holds(self) -> bool:
        """Whether every shard has room, and every fault ends."""
        return max(self.loads) < 1 and all(each.is_over for each in (self.lost, self.restored, self.hot))


def simulated(plan: Plan, costs: Costs, seed: int) -> Outcome:
    """Deal the spaces, lose the fullest shard, and let the most active space of it become hot."""
    shards = dealt(plan, seed)
    each = sum(work(costs))
    fullest = max(shards, key=lambda shard: shard.rate)
    restore = (costs.bytes + plan.vector_bytes) * plan.said * 12 / plan.shards / (plan.restore * 1e6)
    hot = fullest.most_active * plan.hot
    moved = plan.notice + fullest.most_active / plan.peak * MONTH * 12 / plan.move
    grown = fullest.rate - fullest.most_active + hot

    def chance(name: str) -> random.Random:
        return random.Random(f"{seed}/{name}")

    def steady(_: int) -> float:
        return fullest.rate

    return Outcome(
        loads=sorted(shard.rate * each / plan.cores for shard in shards),
        lost=passed(costs, plan.cores, steady, lambda now: now < plan.failover, chance("lost")),
        restored=passed(costs, plan.cores, steady, lambda now: now < restore, chance("restored")),
        restore_seconds=restore,
        hot=passed(
            costs, plan.cores, lambda now: grown if now < moved else fullest.rate - fullest.most_active,
            lambda _: False, chance("hot"),
        ),
        hot_alone=hot * each / plan.cores,
        hot_load=grown * each / plan.cores,
        hot_most=1 + (plan.cores / each - fullest.rate) / fullest.most_active,
    )  # fmt: skip


def report(plan: Plan, costs: Costs, outcome: Outcome) -> list[str]:
    """Say it in lines, the verdict last."""
    loads = outcome.loads
    return [
        f"{plan.users:,} users, {plan.rate:,.0f} messages a second in the busiest hour, {plan.shards} shards of"
        f" {plan.cores} cores; {1e3 * sum(work(costs)):.2f} ms of a server for each message",
        f"load of a shard: least {loads[0]:.0%}, median {statistics.median(loads):.0%}, most {loads[-1]:.0%};"
        f" the fullest has {loads[-1] / statistics.fmean(loads):.2f} times the mean",
        f"a shard is lost, and a standby takes over after {plan.failover:.0f} s: {outcome.lost}",
        f"a shard is lost with its standbys, and a year of it is restored in {_spelt(outcome.restore_seconds)}:"
        f" {outcome.restored}",
        f"one space of the fullest shard says {plan.hot:.0f} times as much, which is {outcome.hot_alone:.0%} of a"
        f" server (its shard: {outcome.hot_load:.0%}, which is full at {outcome.hot_most:,.0f} times), and is moved"
        f" away: {outcome.hot}",
        "holds: every shard has room, and every fault ends" if outcome.holds else "does NOT hold",
    ]


def money(plan: Plan, costs: Costs) -> list[str]:
    """Return lines about what a month costs after a year: disks hold twelve months, learning is for one."""
    disk = plan.said * 12 * (costs.bytes + plan.vector_bytes) * plan.copies / 1e12
    embedding = plan.rate * plan.embed / 1e3
    cores = plan.shards * plan.cores * plan.copies + embedding
    learning = plan.said / 1e6 * (plan.input_tokens * plan.input_price + plan.output_tokens * plan.output_price)
    servers, disks = cores * plan.core_price, disk * plan.disk_price
    total = learning + servers + disks
    return [
        f"vectors: {plan.said * plan.vector_bytes / 1e12:,.1f} TB a month and copy, {embedding:,.0f} cores to embed"
        " in the busiest hour",
        f"a month: learning ${learning:,.0f}, servers ${servers:,.0f} ({cores:,.0f} cores), disks ${disks:,.0f}"
        f" ({disk:,.0f} TB in {plan.copies} copies after a year); ${total / plan.users:.3f} a user, of which learning"
        f" is {learning / total:.0%}",
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--costs", type=Path, help="what `python -m benchmarks.scale --json FILE` wrote")
    for each in fields(Plan):
        kind = int if isinstance(each.default, int) else float
        parser.add_argument(f"--{each.name}", type=kind, default=each.default)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    plan = Plan(**{each.name: getattr(options, each.name) for each in fields(Plan)})
    costs = Costs.read(options.costs) if options.costs else DOCUMENTED
    print(f"seed {options.seed}")
    outcome = simulated(plan, costs, options.seed)
    print("\n".join([*money(plan, costs), *report(plan, costs, outcome)]))
    return 0 if outcome.holds else 1


if __name__ == "__main__":
    sys.exit(main())
