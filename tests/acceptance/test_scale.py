"""The growth benchmark: a short run, and proof that copied spaces equal those that the product writes."""

import random
import re
import subprocess
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path

import psycopg
import pytest

from benchmarks import scale
from benchmarks.scale import Stage, figures_of, measured, stages_of
from benchmarks.scale_fill import LARGE, TEMPLATES, Filled
from benchmarks.scale_measure import OPERATIONS, RECALL_LARGE, Cost
from benchmarks.scale_template import SESSION, Rewording, _ranks, talk

FIGURE = re.compile(r"(\w+) (?:at|in a space of) .*: \d+\.\d\d times \(goal: at most (1\.3|3\.0)\): (?:NOT )?reached")


@pytest.mark.slow
def test_a_short_run_ends_with_its_figures_and_their_goals(tmp_path: Path) -> None:
    written = tmp_path / "costs.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", "--short", "--json", str(written)],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()

    assert said[0] == "seed 1"
    figures = [match.groups() for line in said[-5:] if (match := FIGURE.fullmatch(line))]
    assert figures == [*((name, "1.3") for name in OPERATIONS), ("recall", "3.0")]
    assert any("match_messages, 1 times" in line for line in said), "statements have names"
    assert "their chains hold" in done.stderr
    simulated = subprocess.run(
        [sys.executable, "-m", "benchmarks.shards", "--costs", str(written)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "load of a shard" in simulated.stdout


@pytest.fixture(scope="module")
def filled(superuser_dsn: str) -> Filled:
    made = Filled(superuser_dsn, seed=3, size=SESSION, name=f"scale_{uuid.uuid4().hex[:12]}")
    made.begin()
    made.grow(TEMPLATES * 2, large=SESSION * 3)
    return made


def test_a_copied_space_has_as_many_rows_as_the_one_that_the_product_wrote(filled: Filled) -> None:
    tables = [*filled._tables]

    assert {"messages", "facts", "fact_sources", "fact_quotes", "terms", "jobs", "changes", "answers"} <= set(tables)
    with psycopg.connect(filled.superuser) as connection:
        for table in tables:
            query = f"SELECT space_id, count(*) FROM {table} GROUP BY space_id"
            counts = dict(connection.execute(query.encode()).fetchall())
            assert counts[f"space-{TEMPLATES:06}"] == counts["template-000000"], table
        assert filled.messages == SESSION * (TEMPLATES * 2 + 3)
        row = connection.execute("SELECT count(DISTINCT content), count(*) FROM messages WHERE space_id = 'large'")
        assert row.fetchone() == (SESSION * 3, SESSION * 3)


def test_copy_under_another_key_is_detected(filled: Filled) -> None:
    filled.check()
    with psycopg.connect(filled.superuser, autocommit=True) as connection:
        name = f"space-{TEMPLATES:06}"
        key = connection.execute("SELECT key FROM spaces WHERE id = %s", [name]).fetchone()
        connection.execute("UPDATE spaces SET key = %s WHERE id = %s", [bytes(16), name])
        with pytest.raises(SystemExit, match="does not answer"):
            filled.check()
        connection.execute("UPDATE spaces SET key = %s WHERE id = %s", [*(key or ()), name])
    filled.check()


def test_other_words_are_about_as_frequent_and_leave_ids_alone() -> None:
    ranks, _, bands = _ranks()
    text = next(talk("some", 1))
    one, same, other = (Rewording(random.Random(seed)).text(text) for seed in (1, 1, 2))

    assert one == same
    assert one != other
    for was, is_now in zip(text.split(), one.split(), strict=True):
        assert bands[ranks[was]] == bands[ranks[is_now]]
    assert Rewording(random.Random(1)).text("ses_01m7k78753ewzr59adpx2k1hw7") == "ses_01m7k78753ewzr59adpx2k1hw7"


def test_the_large_space_is_not_one_of_the_others(filled: Filled) -> None:
    assert LARGE not in filled.names
    assert filled.texts(LARGE) != filled.texts(filled.names[0])


@pytest.mark.parametrize(
    ("messages", "stages"),
    [
        (6_000, [3_000, 6_000]),
        (50_000, [10_000, 50_000]),
        (10_000_000, [10_000, 100_000, 1_000_000, 10_000_000]),
    ],
)
def test_a_run_stops_at_every_power_of_ten(messages: int, stages: list[int]) -> None:
    assert stages_of(messages) == stages


def stage(messages: int, cpu: float, bare: float, large: float = 1.0) -> Stage:
    def cost(value: float) -> Cost:
        return Cost(cpu=value, server=value / 2, wall=value, bare=bare, bare_wall=bare, first=value)

    costs: Mapping[str, Cost] = {name: cost(cpu) for name in OPERATIONS} | {RECALL_LARGE: cost(large)}
    return Stage(messages=messages, costs=costs, profiles={}, sizes={"messages": 3_000, "of terms: words": 500})


def test_cost_is_compared_over_that_of_a_bare_statement() -> None:
    slower = [stage(1, cpu=2.0, bare=0.1), stage(10, cpu=4.0, bare=0.2, large=12.4)]

    figures = figures_of(slower)

    assert [round(figure.ratio, 6) for figure in figures] == [1.0, 1.0, 1.0, 1.0, 3.1]
    assert [figure.reached for figure in figures] == [True, True, True, True, False]
    assert scale.verdict(figures, short=False) == 1
    assert "append     1.00 (1.00), 1.00 (1.00)" in scale.summary(slower)
    assert measured(slower[1]) == {"append": 2.0, "recall": 2.0, "learn": 2.0, "forget": 2.0, "bytes": 300}
