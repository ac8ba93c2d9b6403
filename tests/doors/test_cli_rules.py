"""Rules on the command line: what is given is set, and the rest stays, on both databases."""

import pytest

from tests.doors.cli_kit import ok, run

pytestmark = pytest.mark.usefixtures("home")


def test_rules_are_set_one_by_one_and_shown(on: list[str]) -> None:
    assert "no instructions" in run("rules", *on).out
    ok("rules", "set", "--instructions", "-", "--owner", "Mira", "--hold", "goal", *on, stdin="Never addresses.\n")
    ok("rules", "set", "--time-zone", "Europe/Oslo", "--slot", "mood=how she feels", "--held-flag", "", *on)

    found = ok("rules", *on)
    assert found == {
        "instructions": "Never addresses.",
        "owner": "Mira",
        "time_zone": "Europe/Oslo",
        "slots": {"mood": "how she feels"},
        "kinds": {},
        "hold_kinds": ["goal"],
        "expires_after": {},
        "held_flags": [],
    }
    assert ok("rules", "--agent", "coach", *on) == found
    shown = run("rules", "show", *on).out
    assert "Never addresses." in shown
    assert "Europe/Oslo" in shown
    assert ok("rules", "set", "--owner", "", *on)["owner"] is None


@pytest.mark.parametrize("wrong", [[], ["--time-zone", "Oslo"], ["--hold", "gossip"], ["--slot", "mood"]])
def test_rules_that_cannot_be_used_are_refused(on: list[str], wrong: list[str]) -> None:
    assert run("rules", "set", *wrong, *on).code == 2
