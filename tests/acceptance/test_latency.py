"""The recall latency benchmark: a short run on both databases, and tests of its parts."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.latency import verdict
from benchmarks.latency_bare import BareSqlite, noted
from benchmarks.latency_data import World, fill_sqlite, index_world
from benchmarks.latency_measure import Figure
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions, SqliteTx
from tests.conftest import memory_on

FIGURE = re.compile(r"(PostgreSQL|SQLite), recall .*: \d+\.\d\d times \(goal: at most (1\.[23])\): (?:NOT )?reached")


def short(*more: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.latency", "--short", *more],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--vectors",)], ids=["words", "vectors"])
def test_a_short_run_ends_with_its_figures_and_their_goals(more: Sequence[str]) -> None:
    said = short(*more)

    assert said[0] == "seed 1"
    figures = [match.groups() for line in said[-3:] if (match := FIGURE.fullmatch(line))]
    assert figures == [("PostgreSQL", "1.3"), ("PostgreSQL", "1.2"), ("SQLite", "1.3")]
    assert "fails on errors only" in said[-4]
    sides = [line.split(",")[0] for line in said if " CPU p50 " in line]
    assert sides == ["recall", "bare"] * 3


def test_a_figure_above_its_goal_fails_a_full_run_but_no_short_one(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = Figure(text="a", ratio=1.304, goal=1.3), Figure(text="b", ratio=1.31, goal=1.3)

    assert verdict([good], short=False) == 0
    assert verdict([good, bad], short=False) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "b: 1.31 times (goal: at most 1.3): NOT reached"
    assert verdict([good, bad], short=True) == 0


def test_a_space_has_the_same_facts_in_a_small_world_as_in_a_large_one() -> None:
    small, large = World(seed=7, spaces=3, size=25), World(seed=7, spaces=9, size=25)
    told = [{fact for fact in world.told() if fact.space == "space-000002"} for world in (small, large)]

    assert len(told[0]) == 25
    assert told[0] == told[1]
    assert told[0].isdisjoint(World(seed=8, spaces=3, size=25).told())
    assert len({fact.id for fact in large.told()}) == large.facts


def test_question_shares_two_to_four_words_with_its_fact() -> None:
    world = World(seed=7, spaces=5, size=20)
    facts = {fact.id: fact for fact in world.told()}

    questions = world.questions(12)

    assert {question.space for question in questions} == {fact.space for fact in facts.values()}
    for question in questions:
        about = facts[question.about]
        assert about.space == question.space
        assert 2 <= len(set(question.text.rstrip("?").split()) & set(about.content.split())) <= 4


async def test_recall_statements_return_the_same_rows_when_run_bare(tmp_path: Path) -> None:
    path, world = str(tmp_path / "bare.db"), World(seed=7, spaces=4, size=30)
    question = world.questions(1)[0]
    database = SqliteDatabase(SqliteOptions(path=path))
    async with memory_on(database) as memory:
        fill_sqlite(path, world, index=None)
        await index_world(database, world)
        await memory.space(question.space).recall(question.text)
        with noted(SqliteTx) as seen:
            found = await memory.space(question.space).recall(question.text)
        with noted(SqliteTx) as other:
            pass
    assert question.about in {item.ref.id for item in found.items}
    [transaction] = seen
    assert other == []
    assert "match_facts" in {statement.name for statement in transaction.statements}
    bare = BareSqlite(path)
    assert bare.issue(seen) == sum(statement.rows for statement in transaction.statements) > 1
    bare.close()


@pytest.mark.slow
def test_a_short_run_of_one_space_ends_with_its_figures() -> None:
    said = short("--space")

    goals = [line.rsplit("goal: at most ", 1)[1].split(")")[0] for line in said[-6:]]
    assert goals == ["3.0", "1.5", "1.2"] * 2
    assert all(" messages" in line and " times " in line for line in said[-6:])
