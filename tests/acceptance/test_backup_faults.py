"""The backup fault campaign detects seeded bugs."""

import pytest

from faults.backup import Mutant, campaign
from faults.places import place


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize("mutant", Mutant)
def test_seeded_bug_is_detected(mutant: Mutant) -> None:
    with place("sqlite") as where:
        _, verdict = campaign(where, 4, 7, mutant)

    assert verdict.violations
