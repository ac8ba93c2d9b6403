"""The campaign on hooks finds what it looks for."""

import pytest

from faults.hooks import Mutant, campaign
from faults.places import place


@pytest.mark.slow
@pytest.mark.parametrize("mutant", Mutant)
def test_a_bug_on_purpose_is_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")  # the campaign sets its own
    with place("sqlite") as where:
        _, verdict = campaign(where, 60, 7, mutant)

    assert verdict.violations
