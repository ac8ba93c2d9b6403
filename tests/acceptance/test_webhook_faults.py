"""The webhook fault campaign detects seeded bugs."""

import pytest

from faults import webhooks
from faults.places import place
from faults.webhooks import Mutant, campaign


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize("mutant", Mutant)
def test_seeded_bug_is_detected(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "_STUCK", 3.0)
    with place("sqlite") as where:
        _, verdict = campaign(where, 120, 7, mutant)

    assert verdict.violations
