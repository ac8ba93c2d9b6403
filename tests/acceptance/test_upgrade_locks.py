"""Migrations block no writers, and the campaign detects one that does."""

import pytest

from faults.upgrade import ADDS, REWRITES, campaign

_SHARE = 0.5
"""Share of the wait that a rewritten table causes: a share, as machines differ."""


@pytest.mark.slow
def test_only_a_rewritten_table_makes_others_wait() -> None:
    measured = campaign(200_000)

    waits = {result.version: result.longest for result in measured}
    limit = _SHARE * waits.pop(REWRITES[0])
    assert ADDS[0] in waits
    assert {version: wait for version, wait in waits.items() if wait > limit} == {}
