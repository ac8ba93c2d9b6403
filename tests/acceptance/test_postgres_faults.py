"""The campaign on a PostgreSQL that stops, freezes and is cut off finds what it looks for."""

import pytest

from faults.postgres import Mutant, campaign
from tests.conftest import DATABASES


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.skipif("postgres" not in DATABASES, reason="it is about PostgreSQL alone")
@pytest.mark.parametrize("mutant", Mutant)
def test_a_bug_on_purpose_is_found(mutant: Mutant) -> None:
    _, verdict = campaign(14, 7, mutant)

    assert verdict.violations
