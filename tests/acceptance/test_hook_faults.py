"""The hook fault campaign detects seeded bugs."""

import pytest

from faults.hooks import Mutant, campaign
from faults.places import place


@pytest.mark.slow
@pytest.mark.parametrize("mutant", Mutant)
def test_seeded_bug_is_detected(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")  # the campaign sets its own
    with place("sqlite") as where:
        _, verdict = campaign(where, 60, 7, mutant)

    assert verdict.violations
