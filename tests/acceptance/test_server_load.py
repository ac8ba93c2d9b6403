"""The server under load and under faults: short runs, their output, and proof that they detect seeded bugs."""

import re
import subprocess
import sys
from multiprocessing import Pipe

import pytest

from benchmarks.server import Measured, Side, quantile, verdict
from benchmarks.server_bare import Bare
from benchmarks.server_world import BEFORE, World, connected, fill

FIGURE = re.compile(r"p50 over HTTP against bare: \d+\.\d\d times \(goal: at most 3\.0\): (?:NOT )?reached")


def run(module: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=115)


@pytest.mark.slow
def test_a_short_load_has_no_errors_and_ends_with_the_ratio() -> None:
    done = run("benchmarks.server", "--short", "--seconds", "6", "--clients", "10", "--spaces", "20")

    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.splitlines()
    assert FIGURE.fullmatch(said[-1])
    assert re.search(r"^errors: 0 of \d{2,} requests", done.stdout, re.MULTILINE)
    for side in ("bare", "http"):
        assert re.search(
            rf"^{side}  both +p50 +\d+\.\d\d +p95 +\d+\.\d\d +p99 +\d+\.\d\d ms", done.stdout, re.MULTILINE
        )
    assert "memory of the server: " in done.stdout


def side(name: str, *took: float, failed: int = 0) -> Side:
    return Side(name=name, pipe=Pipe()[0], took={"remember": list(took), "recall": []}, seconds=1.0, failed=failed)


@pytest.mark.parametrize(
    ("http", "rss", "failed", "short", "code"),
    [
        (0.03, 100.0, 0, False, 0),
        (0.0301, 100.0, 0, False, 1),
        (0.0301, 100.0, 0, True, 0),
        (0.03, 111.0, 0, False, 1),
        (0.03, 100.0, 1, True, 1),
    ],
)
def test_a_full_run_fails_beyond_a_goal_and_any_run_on_an_error(
    http: float, rss: float, failed: int, short: bool, code: int
) -> None:
    found = Measured(http=side("http", http, failed=failed), bare=side("bare", 0.01), rss=(100.0, rss), cpu=1.0)

    assert verdict(found, short=short) == code


def test_quantile_is_the_value_at_its_rank() -> None:
    assert [quantile([3.0, 1.0, 2.0, 4.0], part) for part in (0.0, 0.5, 0.99)] == [1.0, 3.0, 4.0]


async def test_bare_statements_store_and_find_what_the_operations_would(fresh_dsn: str) -> None:
    world = World(seed=3, spaces=2)
    await fill(fresh_dsn, world)
    bare = Bare(fresh_dsn, world, clients=2)
    await bare._trace(world.dice("trace"))

    told = bare.run(1.0, 1)
    bare.close()

    assert told.errors == []
    assert min(map(len, told.took.values())) > 0
    async with connected(fresh_dsn) as memory:
        stored = 0
        for space in world.names():
            [entry] = await memory.space(space).sessions.list()
            session = await memory.space(space).sessions.get(entry.session.id)
            records = await session.messages()
            assert [record.number for record in records] == list(range(1, len(records) + 1))
            assert entry.session.last_number == entry.session.invalidated_at == len(records)
            stored += len(records) - BEFORE
    assert stored == len(told.took["remember"])


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_a_server_that_is_stopped_and_killed_keeps_every_message_once(database: str) -> None:
    done = run("faults.server", "--rounds", "3", "--seed", "5", "--database", database)

    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"{database}: 2 stops and 1 kills under load, ")
    assert last.endswith(" acknowledged, 0 violations (seed 5)")


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutant", "rounds", "noticed"),
    [
        ("early", "2", "is lost"),
        ("keyless", "2", r"key \S+ has 2 rows"),
        ("hasty", "1", "was under way and not answered"),
    ],
)
def test_campaign_detects_a_server_bug(mutant: str, rounds: str, noticed: str) -> None:
    done = run("faults.server", "--rounds", rounds, "--database", "sqlite", "--mutant", mutant)

    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(noticed, done.stdout)
