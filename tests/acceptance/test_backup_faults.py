"""The campaign on backups finds what it looks for."""

import pytest

from faults.backup import Mutant, campaign
from faults.places import place


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize("mutant", Mutant)
def test_a_bug_on_purpose_is_found(mutant: Mutant) -> None:
    with place("sqlite") as where:
        _, verdict = campaign(where, 4, 7, mutant)

    assert verdict.violations
