"""The campaign on a PostgreSQL that stops, freezes or is disconnected detects seeded bugs."""

import pytest

from faults.postgres import Mutant, campaign
from tests.conftest import DATABASES


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.skipif("postgres" not in DATABASES, reason="it is about PostgreSQL alone")
@pytest.mark.parametrize("mutant", Mutant)
def test_seeded_bug_is_detected(mutant: Mutant) -> None:
    _, verdict = campaign(14, 7, mutant)

    assert verdict.violations
