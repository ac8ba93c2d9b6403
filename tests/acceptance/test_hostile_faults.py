"""The campaign of hostile requests detects a seeded bug."""

import pytest

from faults import hostile
from faults.hostile import Mutant, campaign
from faults.hostile_requests import kinds
from faults.places import place


@pytest.mark.slow
@pytest.mark.mutant
@pytest.mark.parametrize("mutant", Mutant)
def test_seeded_bug_is_detected(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile, "kinds", lambda: [kind for kind in kinds() if kind.name == "remember triggers"])
    with place("sqlite") as where:
        _, verdict = campaign(where, 20, 7, mutant)

    assert verdict.violations
