"""The campaign on moving spaces finds what it looks for."""

import pytest

from faults.shards import Mutant, campaign


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize("mutant", Mutant)
def test_a_bug_on_purpose_is_found(mutant: Mutant) -> None:
    _, verdict = campaign(200, 50.0, 1, 7, mutant)

    assert any("lost" in violation for violation in verdict.violations)
