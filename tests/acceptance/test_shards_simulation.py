"""The simulation of many shards."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.shards import HORIZON, MONTH, Costs, Plan, dealt, money, passed, report, said, simulated, work

COSTS = Costs(append=2.0, recall=10.0, learn=30.0, forget=20.0, bytes=3_000)
PLAN = Plan(users=1_000_000, shards=8, cores=4)


def test_the_same_seed_gives_the_same_outcome() -> None:
    assert simulated(PLAN, COSTS, 7) == simulated(PLAN, COSTS, 7)
    assert simulated(PLAN, COSTS, 7) != simulated(PLAN, COSTS, 8)


@pytest.mark.parametrize("exponent", [0.8, 1.0, 1.2])
def test_messages_of_all_spaces_match_messages_of_all_users(exponent: float) -> None:
    plan = replace(PLAN, exponent=exponent, most=50_000.0)
    head, tail = said(plan)

    assert math.fsum(head) + tail == pytest.approx(plan.users * plan.messages, rel=0.001)
    assert head == sorted(head, reverse=True)
    assert head[0] == 50_000.0
    assert math.fsum(shard.rate for shard in dealt(plan, 1)) == pytest.approx(plan.rate, rel=0.001)


def test_the_load_of_all_shards_is_the_work_of_all_messages() -> None:
    outcome = simulated(PLAN, COSTS, 1)

    each = sum(work(COSTS))
    assert each == pytest.approx((2.0 / 2 + 10.0 / 2 + 30.0 / 30 + 20.0 / 10_000) / 1e3)
    assert math.fsum(outcome.loads) * PLAN.cores == pytest.approx(PLAN.rate * each, rel=0.001)
    assert outcome.holds


def test_lost_shard_recovers_after_failover_and_later_under_load() -> None:
    busy = replace(PLAN, users=4_000_000)
    quiet_one, busy_one = (simulated(plan, COSTS, 1).lost for plan in (PLAN, busy))

    assert PLAN.failover <= quiet_one.waiting <= quiet_one.behind
    assert quiet_one.behind < busy_one.behind < HORIZON
    assert simulated(replace(PLAN, failover=120.0), COSTS, 1).lost.behind > quiet_one.behind + 59


def test_a_shard_with_more_to_do_than_its_server_can_does_not_recover() -> None:
    rate = 1.1 * PLAN.cores / sum(work(COSTS))

    recovery = passed(COSTS, PLAN.cores, lambda _: rate, lambda _: False, random.Random(1))

    assert not recovery.is_over
    assert "does not recover" in str(recovery)


def test_callers_wait_less_than_learning_does() -> None:
    rate = 0.9 * PLAN.cores / sum(work(COSTS))

    recovery = passed(COSTS, PLAN.cores, lambda _: rate, lambda now: now < 60, random.Random(1))

    assert 60 <= recovery.waiting < recovery.behind < HORIZON


def test_a_hot_space_delays_its_shard_until_it_is_moved_away() -> None:
    plan = replace(PLAN, users=4_000_000, most=100_000.0, hot=10_000.0)
    outcome = simulated(plan, COSTS, 1)

    assert outcome.hot_load > 1
    assert outcome.hot_most < plan.hot
    moved = plan.notice + plan.most * 12 / plan.move
    assert outcome.hot.waiting > moved
    assert simulated(replace(plan, hot=1.0), COSTS, 1).hot.waiting == 0


def test_the_report_ends_with_a_verdict(tmp_path: Path) -> None:
    path = tmp_path / "costs.json"
    path.write_text(json.dumps({"append": 2, "recall": 10, "learn": 30, "forget": 20, "bytes": 3000, "more": 1}))

    assert Costs.read(path) == COSTS
    assert report(PLAN, COSTS, simulated(PLAN, COSTS, 1))[-1].startswith("holds")
    full = replace(PLAN, users=40_000_000)
    assert report(full, COSTS, simulated(full, COSTS, 1))[-1] == "does NOT hold"
    assert PLAN.rate == pytest.approx(1_000_000 * 100 / MONTH * 3)


def test_money_is_a_sum_of_its_parts() -> None:
    plan = Plan(users=1_000_000, embed=0.0, core_price=1.0, disk_price=0.0, shards=2, cores=3, copies=1)
    lines = money(plan, Costs(append=1, recall=1, learn=1, forget=1, bytes=1_000))
    tokens = plan.said / 1e6 * (plan.input_tokens * plan.input_price + plan.output_tokens * plan.output_price)
    assert f"learning ${tokens:,.0f}, servers $6 (6 cores), disks $0" in lines[1]
