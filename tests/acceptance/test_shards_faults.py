"""The campaign on moving spaces detects seeded bugs."""

import pytest

from faults.shards import Mutant, campaign


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize("mutant", Mutant)
def test_seeded_bug_is_detected(mutant: Mutant) -> None:
    _, verdict = campaign(200, 50.0, 1, 7, mutant)

    assert any("lost" in violation for violation in verdict.violations)
