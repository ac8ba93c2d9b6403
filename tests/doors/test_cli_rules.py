"""`bethink learn rules`: options change their own values and nothing else, on both databases."""

import pytest

from tests.doors.cli_kit import ok, run

pytestmark = pytest.mark.usefixtures("home")


def test_rules_are_set_one_by_one_and_shown(on: list[str]) -> None:
    assert "no instructions" in run("learn", "rules", *on).out
    ok(
        "learn",
        "rules",
        "set",
        "--instructions",
        "-",
        "--owner",
        "Mira",
        "--review-kind",
        "goal",
        *on,
        stdin="Never addresses.\n",
    )
    ok("learn", "rules", "set", "--time-zone", "Europe/Oslo", "--slot", "mood=how she feels", "--review-flag", "", *on)

    found = ok("learn", "rules", *on)
    assert found == {
        "instructions": "Never addresses.",
        "owner": "Mira",
        "time_zone": "Europe/Oslo",
        "slots": {"mood": "how she feels"},
        "kinds": {},
        "review_kinds": ["goal"],
        "expires_after": {},
        "review_flags": [],
        "forget_requests": "ask",
    }
    assert ok("learn", "rules", "--agent", "coach", *on) == found
    shown = run("learn", "rules", "show", *on).out
    assert "Never addresses." in shown
    assert "Europe/Oslo" in shown
    assert ok("learn", "rules", "set", "--owner", "", *on)["owner"] is None


@pytest.mark.parametrize("wrong", [[], ["--time-zone", "Oslo"], ["--review-kind", "gossip"], ["--slot", "mood"]])
def test_rules_that_cannot_be_used_are_refused(on: list[str], wrong: list[str]) -> None:
    assert run("learn", "rules", "set", *wrong, *on).code == 2
