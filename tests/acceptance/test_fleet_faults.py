"""The campaign on fleets of two versions detects seeded bugs."""

import pytest

from faults.fleet import Mutant, campaign, mutants_of
from faults.places import DATABASES, place


@pytest.mark.mutant
@pytest.mark.slow
@pytest.mark.parametrize(("database", "mutant"), [(each, mutant) for each in DATABASES for mutant in mutants_of(each)])
def test_seeded_bug_is_detected(database: str, mutant: Mutant) -> None:
    with place(database) as where:
        _, verdict = campaign(where, 3, 7, mutant)

    assert verdict.violations
