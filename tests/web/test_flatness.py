"""Each page of the web UI in a small and in a large memory: rows read and time taken."""

import gc
import random
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import AsyncExitStack

import psycopg
import pytest

import bethink
from benchmarks.latency_data import settle
from benchmarks.latency_space import talk
from tests.length import LONG, often
from tests.page_kit import Cost, counting
from tests.web.kit import SPACE, Story, Window, furnish, operate, pages_of, windowed
from tools import postgres

SIZES = (10_000, 1_000_000) if LONG else (10_000, 50_000)
"""Messages of the space that is looked at, and spaces of the database."""
_TALK = 40
"""Messages of a session: few, so that a list of sessions, and the strip of time with its 200, are longer in both."""
_ROUNDS = 15
_TIMES = 4
_OTHERS = """
    INSERT INTO spaces (id, shard, created_at) SELECT 'many-' || n, n % 8, n FROM generate_series(1, {count}) n;
    INSERT INTO jobs (space_id, kind, key, queued_at, status, input_watermark)
    SELECT 'many-' || n, 'extract', 'ses_' || n, n, 'done', 1 FROM generate_series(1, {count}) n;
    UPDATE jobs SET status = 'abandoned' WHERE space_id IN (SELECT 'many-' || n FROM generate_series(1, 100) n);
    UPDATE jobs SET status = 'queued', due_at = 1
    WHERE space_id IN (SELECT 'many-' || n FROM generate_series(101, 200) n)
"""
"""Every space was learnt from. What waits or was given up is a hundred of each, however many spaces there are."""

_GOAL = 1.2
_FEW_ROWS = 50
_BOUNDED = {
    **dict.fromkeys(("recall", "recall-as-of", "recall-tool", "tests"), (8_000, 3.0)),
    **dict.fromkeys(("recall-empty", "sessions"), (5_000, _GOAL)),
    "overview": (20_000, _GOAL),
    "erasure-everything": (2 * SIZES[-1], 100.0),
}
"""Pages that read up to a limit which a small space does not reach, with that limit, and how much longer they may take.
Recall has a goal of its own. To say what goes with a whole space, all of it is counted: no guess stands before that."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(often(600, long=7_200))]


class _Side:
    """A window of a database of one size."""

    def __init__(self, window: Window, story: Story) -> None:
        self.window = window
        self.paths = pages_of(story)
        self.costs: dict[str, Cost] = {}
        self.times: dict[str, list[float]] = {}

    async def count(self, patch: pytest.MonkeyPatch) -> None:
        for name, path in self.paths.items():
            await self.window.page(path)
            with counting(patch) as self.costs[name]:
                await self.window.page(path)

    async def time(self, name: str) -> None:
        begun = time.perf_counter()
        await self.window.page(self.paths[name])
        self.times[name].append(time.perf_counter() - begun)


async def _filled(superuser: str, road: Callable[[str], str], stack: AsyncExitStack, size: int) -> _Side:
    name = f"pages{size}"
    dsn = road(postgres.create_database(superuser, name))
    window = await stack.enter_async_context(windowed(dsn))
    told = talk(SPACE, size)
    for first in range(0, size, _TALK):
        session = await window.memory.space(SPACE).session(f"chat:{SPACE}:{first}")
        await session.append([bethink.Message(role="user", content=next(told)) for _ in range(_TALK)])
    story = await furnish(window.memory)
    await operate(window.memory)
    within = postgres.in_database(superuser, name)
    with psycopg.connect(within, autocommit=True) as above:
        for each in _OTHERS.format(count=size).split(";"):
            above.execute(each.encode())
    settle(within)
    return _Side(window, story)


async def test_a_page_costs_the_same_however_much_there_is(
    superuser_dsn: str, road: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with AsyncExitStack() as stack:
        small, large = [await _filled(superuser_dsn, road, stack, size) for size in SIZES]
        for side in (small, large):
            await side.count(monkeypatch)
        sys.stderr.write("both are filled, and are measured now\n")
        slow = names = list(small.paths)
        # What seems slow is measured again: a neighbour on the machine slows down one of the times, not each of them.
        for _ in range(_TIMES):
            await _time(small, large, slow)
            slow = [name for name in slow if _ratio(small, large, name) > _limits(small, name)[1]]
    wrong: list[str] = []
    for name in names:
        of, to = small.costs[name], large.costs[name]
        ratio = _ratio(small, large, name)
        line = f"{name}: {of.statements} and {to.statements} statements, {of.rows:,} and {to.rows:,} rows, {ratio:.2f}"
        sys.stdout.write(f"{line}\n")
        rows, slower = _limits(small, name)
        if of.statements != to.statements or to.rows > rows or ratio > slower:
            wrong.append(line)
    assert wrong == []


async def _time(small: _Side, large: _Side, names: list[str]) -> None:
    gc.collect()
    for side in (small, large):
        side.times |= {name: [] for name in names}
    for number in range(_ROUNDS):
        for name in random.Random(number).sample(names, k=len(names)):
            for side in (small, large) if number % 2 else (large, small):
                await side.time(name)


def _ratio(small: _Side, large: _Side, name: str) -> float:
    return _quick(large.times[name]) / _quick(small.times[name])


def _quick(times: list[float]) -> float:
    """Return what a page takes when little else runs: a quarter of the rounds was quicker."""
    return statistics.quantiles(times, n=4)[0]


def _limits(small: _Side, name: str) -> tuple[float, float]:
    return _BOUNDED.get(name, (_GOAL * small.costs[name].rows + _FEW_ROWS, _GOAL))
