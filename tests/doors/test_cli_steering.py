"""Steering by command line: pins, feedback, expiry, kinds of one's own, and change sets in part."""

import pytest

import bethink
import bethink.sync
from bethink import Fact
from tests.doors.cli_kit import ok, run

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def fact(target: str) -> str:
    """The ref of a fact that a person stated."""
    with bethink.sync.connect(target, learn_in_background=False) as memory:
        memory.space("mira").facts.save(Fact(id="f1", content="Mira lives in Oslo.", origin=bethink.Origin("user")))
    return "fact:f1:1"


@pytest.fixture
def on(target: str) -> list[str]:
    return ["--database", target, "--space", "mira"]


def test_a_pin_is_shown_by_every_command_that_shows_the_fact(on: list[str], fact: str) -> None:
    assert "pinned fact:f1:1: Mira lives in Oslo." in run("pin", fact, *on).out

    assert "Mira lives in Oslo. (pinned)" in run("facts", *on).out
    assert "## Pinned" in run("context", *on).out
    assert "  pinned  " in run("show", fact, *on).out
    assert [each["id"] for each in ok("pins", *on)] == ["f1"]
    assert ok("unpin", fact, *on)["pinned_at"] is None
    assert ok("pins", *on) == []


def test_feedback_is_counted_where_the_fact_is_shown(on: list[str], fact: str) -> None:
    ok("feedback", fact, "useful", *on)
    ok("feedback", fact, "useful", "--by", "Tom", "--note", "just what I needed", *on)

    shown = run("show", fact, *on).out

    assert "  feedback  2 useful" in shown
    assert "useful by Tom: just what I needed" in shown


def test_a_wrong_fact_waits_in_the_inbox_and_comes_back_when_approved(on: list[str], fact: str) -> None:
    said = ok("feedback", fact, "wrong", "--note", "she moved", *on)

    assert ok("facts", *on) == []
    assert f"{said['review_id']}" in run("review", *on).out
    assert "reported_wrong: she moved" in run("review", "show", said["review_id"], *on).out
    assert ok("review", "approve", said["review_id"], *on) == [{"id": said["review_id"], "fact_id": "f1"}]
    assert [each["content"] for each in ok("facts", *on)] == ["Mira lives in Oslo."]


def test_a_correction_says_when_a_fact_expires(on: list[str], fact: str) -> None:
    ok("correct", fact, "Mira lives in Oslo.", "--expires", "2020-01-01", "--yes", *on)

    assert ok("recall", "Oslo", "--kind", "fact", *on)["items"] == []
    assert "  expires  " in run("show", "fact:f1:2", *on).out
    assert ok("recall", "Oslo", "--kind", "fact", "--as-of", "2019-12-31", *on)["items"] == []


def test_rules_take_kinds_of_ones_own_and_when_they_expire(on: list[str]) -> None:
    ok("rules", "set", "--kind", "recipe=how she cooks", "--expires", "recipe=30", "--hold", "recipe", *on)

    shown = run("rules", *on).out
    assert "kind recipe     how she cooks" in shown
    assert "expires recipe  after 30 days" in shown
    for words in (["--expires", "recipe=soon"], ["--expires", "event=3"], ["--hold", "cake"], ["--kind", "Note=x"]):
        assert run("rules", "set", *words, *on).code == 2
    assert ok("rules", "set", "--expires", "", *on)["expires_after"] == {}


def test_what_is_no_verdict_or_no_fact_is_refused(on: list[str], fact: str) -> None:
    assert run("feedback", fact, "great", *on).code == 2
    assert run("feedback", "document:d:1", "wrong", *on).code == 2
    assert run("pin", "fact:none:1", *on).code == 3
    assert run("review", "approve", "rev_1", "--path", "~/memory/tea", *on).code == 2
