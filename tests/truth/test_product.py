"""The same facts are true on each day, in whatever order memory met what was said: the product against the reference.

A failure prints the seed; `BETHINK_TEST_SEED=7` runs the history of that seed alone. The long run tries 2,000.
"""

import os
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bethink.features.relearning import compare
from bethink.memory.facts import reconcile
from bethink.memory.recall import lineage
from bethink.model.facts import Fact
from bethink.model.recall import Lineage
from bethink.model.reviews import ClaimChange, ClaimedFact
from bethink.store import statements
from bethink.store.db import Row, Tx
from tests.conftest import empty
from tests.length import LONG, often
from tests.truth.histories import History, live, random_history, random_order
from tests.truth.reference import Reference, Statement
from tests.truth.runs import Run, sample

SEED = os.environ.get("BETHINK_TEST_SEED")
FIRST = random.SystemRandom().randrange(10**6) * 10_000 if LONG else 0
"""A push tries the same histories each time. The long run looks for new ones."""


def seeds(count: int) -> Iterable[int]:
    return [int(SEED)] if SEED else range(FIRST, FIRST + count)


async def problems_of(seed: int, target: str, folder: Path, emptied: Callable[[], None] = lambda: None) -> list[str]:
    """Return where the product and the reference differ, for the history of a seed in two orders."""
    history, problems = random_history(seed), list[str]()
    rng = random.Random(f"orders of {seed}")
    for steps in (live(history) if rng.random() < 0.3 else random_order(history, rng), random_order(history, rng)):
        emptied()
        try:
            differences = await _compared(Run(history, steps, target, folder), rng)
        except AssertionError as error:
            differences = [str(error)]
        problems += [f"{problem}\n    after {', '.join(map(str, steps))}" for problem in differences]
    return problems


async def _compared(run: Run, rng: random.Random) -> list[str]:
    """Return where the product and the reference differ now, on three days, and twice in what was known."""
    async with run:
        days = sample([at + timedelta(minutes=1) for at in run.history.moments], 3, rng.sample)
        checkpoints = sample(run.checkpoints, 2, rng.sample)
        views: list[tuple[datetime | None, datetime | None]] = [(None, None)]
        views += [(day, None) for day in days] + [(None, at) for at in checkpoints]
        views += list(zip(days, checkpoints, strict=False))
        return await run.differences(views) + await run.leaks(days[0])


async def test_facts_of_each_day_do_not_depend_on_the_order_of_learning(
    target: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    on_server = target.startswith("postgresql:")
    above = request.getfixturevalue("above") if on_server else None
    for seed in seeds(often(8, long=100) if on_server else often(100, long=2_000)):
        problems = await problems_of(
            seed, target if on_server else ":memory:", tmp_path, lambda: empty(above) if above else None
        )
        assert not problems, "\n".join([f"seed {seed}", *problems])


# --- mutants of the product ----------------------------------------------------------------------------------------


def learned_in_recording_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """MUTANT: a statement counts from when it was recorded, not from when it was said."""

    def key_of(row: Row) -> statements.Key:
        return row["recorded_at"], row["session_id"], row["number"], row["position"]

    monkeypatch.setattr(statements, "_key_of", key_of)


def correction_treated_as_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """MUTANT: what corrects a fact replaces it."""
    add = statements.add

    def add_as_change(*args: Any, change: ClaimChange, **options: Any) -> None:
        add(*args, change=ClaimChange.REPLACES if change is ClaimChange.CORRECTS else change, **options)

    monkeypatch.setattr(statements, "add", add_as_change)
    monkeypatch.setitem(statements.LINK_OF_CHANGE, ClaimChange.CORRECTS, statements.LinkKind.REPLACES)


def settled_quotes_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """MUTANT: learning again makes facts of words that a person settled."""

    def nothing(_tx: Tx, _claimed: ClaimedFact, **_: object) -> None:
        return None

    monkeypatch.setattr(reconcile, "find_decision", nothing)
    monkeypatch.setattr(compare, "find_decision", nothing)


def future_shown_in_lineage(monkeypatch: pytest.MonkeyPatch) -> None:
    """MUTANT: an explanation as of a day shows the fact and its history of today."""

    def now(_tx: Tx, facts: Sequence[Fact], **_: object) -> list[Fact]:
        return list(facts)

    def unchanged(_tx: Tx, _space: str, result: Lineage, _view: object) -> Lineage:
        return result

    monkeypatch.setattr(lineage, "in_view", now)
    monkeypatch.setattr(lineage, "_without_future", unchanged)


@pytest.mark.parametrize(
    "mutant",
    [learned_in_recording_order, correction_treated_as_change, settled_quotes_ignored, future_shown_in_lineage],
    ids=lambda mutant: mutant.__name__,
)
async def test_property_catches_mutants(
    mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The first history that fails with the mutant passes without it."""
    for seed in range(100):
        with monkeypatch.context() as patch:
            mutant(patch)
            is_caught = bool(await problems_of(seed, ":memory:", tmp_path))
        if is_caught and not await problems_of(seed, ":memory:", tmp_path):
            return
    pytest.fail("the property holds with the mutant: the histories do not tell them apart")


# --- mutants of the reference: the histories can tell them apart ------------------------------------------------------


def _recorded(reference: Reference) -> None:
    _change(reference, lambda statement: replace(statement, said_at=statement.learned_at))


def _replaced(reference: Reference) -> None:
    _change(reference, lambda statement: replace(statement, op=statement.op.replace("corrects", "replaces")))


def _undecided(reference: Reference) -> None:
    reference.decisions.clear()


def _change(reference: Reference, changed: Callable[[Statement], Statement]) -> None:
    for name, statement in reference.statements.items():
        reference.statements[name] = changed(statement)


def _learned(history: History, rng: random.Random) -> Reference:
    """Return a reference that met the talks of a history late and in some order, and a person's correction."""
    reference, at = Reference(), history.moments[-1] + timedelta(days=100)
    for talk in rng.sample(history.talks, len(history.talks)):
        reference.learn(talk, at)
        at += timedelta(hours=1)
    texts = [claim.text for talk in history.talks for claim in talk.claims if claim.id == history.corrected_id]
    for text in texts:
        reference.correct(text, history.correction, at)
    return reference


@pytest.mark.parametrize("mutant", [_recorded, _replaced, _undecided, None])
def test_histories_tell_wrong_semantics_apart(mutant: Callable[[Reference], None] | None) -> None:
    """At least one history in twenty differs on some day. Without a mutant, none does in another order."""
    differing = 0
    for seed in range(200):
        history, rng = random_history(seed), random.Random(seed)
        right, wrong = _learned(history, rng), _learned(history, rng)
        now = history.moments[-1] + timedelta(days=200)
        if mutant:
            mutant(wrong)
        days = [None, *(at + timedelta(minutes=1) for at in history.moments)]
        views = [(right.view(at=now, as_of=at), wrong.view(at=now, as_of=at)) for at in days]
        differing += any(set(one.entries()) != set(other.entries()) for one, other in views)
    assert differing >= 10 if mutant else differing == 0


def test_future_is_needed_to_tell_histories_apart() -> None:
    """In most histories the view of a day differs from the present: showing the future cannot go unnoticed."""
    differing = 0
    for seed in range(100):
        history, reference = random_history(seed), Reference()
        for talk in history.talks:
            reference.learn(talk, history.moments[0])
        now = history.moments[-1] + timedelta(days=1)
        early = reference.view(at=now, as_of=history.moments[0] + timedelta(minutes=1))
        differing += early.listed() != reference.view(at=now).listed()
    assert differing > 90
