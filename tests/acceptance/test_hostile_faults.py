"""The campaign of hostile requests detects a seeded bug."""

import pytest

from faults import hostile
from faults.hostile import Mutant, campaign
from faults.places import place


@pytest.mark.slow
@pytest.mark.mutant
@pytest.mark.parametrize("mutant", Mutant)
def test_seeded_bug_is_detected(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile, "SHORT", ("remember triggers",))
    with place("sqlite") as where:
        _, verdict = campaign(where, 4, 7, mutant)

    assert verdict.violations
