"""The campaign on webhooks finds what it looks for."""

import pytest

from faults import webhooks
from faults.places import place
from faults.webhooks import Mutant, campaign


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize("mutant", Mutant)
def test_a_bug_on_purpose_is_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "_STUCK", 3.0)
    with place("sqlite") as where:
        _, verdict = campaign(where, 120, 7, mutant)

    assert verdict.violations
