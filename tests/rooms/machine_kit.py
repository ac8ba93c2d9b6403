"""Helpers for the state machines: how long they run, and how a query gets a seeded bug."""

import pytest
from hypothesis import HealthCheck, Phase, settings

from bethink.store import sql
from tests.length import often

RUNS, STEPS = 300, 40
_EVERY_CHECK = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]

THOROUGH = settings(
    max_examples=often(10, long=RUNS),
    stateful_step_count=STEPS,
    print_blob=True,
    suppress_health_check=_EVERY_CHECK,
)
"""For what must hold."""

QUICK = settings(
    max_examples=RUNS,
    stateful_step_count=STEPS,
    phases=[Phase.generate],
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=_EVERY_CHECK,
)
"""For bugs that must be found, which mostly takes a few runs: nothing is made smaller."""


def spoil(patch: pytest.MonkeyPatch, dialect: sql.Dialect, name: str, old: str, new: str) -> None:
    """Make one query wrong for the rest of a test."""
    known = sql.queries(dialect)
    text = " ".join(known[name].text.split())
    assert old in text
    wrong = sql.Query(name=name, text=text.replace(old, new), parameters=known[name].parameters)
    patch.setitem(known, name, wrong)
