"""Nobody waits for a migration, and a migration that makes them wait is noticed."""

import pytest

from faults.upgrade import BEFORE_RELEASE, Migration, campaign

_REWRITES: Migration = (
    9001,
    "rewrites",
    "ALTER TABLE messages ADD COLUMN tried text NOT NULL DEFAULT clock_timestamp()::text",
)
_ADDS: Migration = (9002, "adds", "ALTER TABLE messages ADD COLUMN tried_too text")
_SHARE = 0.5
"""Of what a migration that writes every row anew makes others wait: a share, as machines differ."""


@pytest.mark.slow
def test_no_migration_after_the_first_release_makes_others_wait_like_one_that_writes_a_table_anew() -> None:
    measured = campaign(200_000, (_REWRITES, _ADDS))

    rewriting = next(each for each in measured if each.version == _REWRITES[0])
    held = [each for each in measured if each.version > BEFORE_RELEASE and each is not rewriting]
    assert _ADDS[0] in {each.version for each in held}
    assert {each.version: each.longest for each in held if each.longest > _SHARE * rewriting.longest} == {}
