"""Steering on the command line: pins, feedback, expiry, custom kinds, and partly approved change sets."""

import pytest

import bethink
import bethink.sync
import bethink.types
from bethink import Fact
from tests.doors.cli_kit import items, ok, run

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def fact(target: str) -> str:
    """The ref of a fact that a person stated."""
    with bethink.sync.connect(target, learn_in_background=False) as memory:
        memory.space("mira").facts.save(Fact(id="f1", text="Mira lives in Oslo.", origin=bethink.types.Origin("user")))
    return "fact:f1:1"


@pytest.fixture
def on(target: str) -> list[str]:
    return ["--database", target, "--space", "mira"]


def test_a_pin_is_shown_by_every_command_that_shows_the_fact(on: list[str], fact: str) -> None:
    assert "Pinned fact:f1:1: Mira lives in Oslo." in run("fact", "pin", fact, *on).out

    assert "Mira lives in Oslo. (pinned)" in run("fact", "list", *on).out
    assert "## Pinned" in run("context", *on).out
    assert "  pinned  " in run("show", fact, *on).out
    assert [each["id"] for each in items("fact", "list", "--pinned", *on)] == ["f1"]
    assert ok("fact", "unpin", fact, *on)["pinned_at"] is None
    assert items("fact", "list", "--pinned", *on) == []


def test_feedback_is_counted_where_the_fact_is_shown(on: list[str], fact: str) -> None:
    ok("fact", "rate", fact, "useful", *on)
    ok("fact", "rate", fact, "useful", "--actor", "Tom", "--note", "just what I needed", *on)

    shown = run("show", fact, *on).out

    assert "  ratings  2 useful" in shown
    assert "useful by Tom: just what I needed" in shown


def test_fact_marked_wrong_is_pending_until_approved(on: list[str], fact: str) -> None:
    said = ok("fact", "rate", fact, "wrong", "--note", "she moved", *on)

    assert items("fact", "list", *on) == []
    assert f"{said['review_id']}" in run("review", *on).out
    assert "reported_wrong: she moved" in run("review", "show", said["review_id"], *on).out
    assert ok("review", "approve", said["review_id"], *on) == [{"id": said["review_id"], "fact_id": "f1"}]
    assert [each["text"] for each in items("fact", "list", *on)] == ["Mira lives in Oslo."]


def test_a_correction_says_when_a_fact_expires(on: list[str], fact: str) -> None:
    ok("fact", "correct", fact, "Mira lives in Oslo.", "--expires-at", "2020-01-01", "--yes", *on)

    assert ok("recall", "Oslo", "--kind", "fact", *on)["items"] == []
    assert "  expires  " in run("show", "fact:f1:2", *on).out
    assert ok("recall", "Oslo", "--kind", "fact", "--as-of", "2019-12-31", *on)["items"] == []


def test_rules_accept_custom_kinds_and_expiry(on: list[str]) -> None:
    ok(
        "learn",
        "rules",
        "set",
        "--kind",
        "recipe=how she cooks",
        "--expires",
        "recipe=30",
        "--review-kind",
        "recipe",
        *on,
    )

    shown = run("learn", "rules", *on).out
    assert "kind recipe      how she cooks" in shown
    assert "expires recipe   after 30 days" in shown
    for words in (
        ["--expires", "recipe=soon"],
        ["--expires", "event=3"],
        ["--review-kind", "cake"],
        ["--kind", "Note=x"],
    ):
        assert run("learn", "rules", "set", *words, *on).code == 2
    assert ok("learn", "rules", "set", "--expires", "", *on)["expires_after"] == {}


def test_invalid_verdict_or_ref_is_rejected(on: list[str], fact: str) -> None:
    assert run("fact", "rate", fact, "great", *on).code == 2
    assert run("fact", "rate", "document:d:1", "wrong", *on).code == 2
    assert run("fact", "pin", "fact:none:1", *on).code == 3
    assert run("review", "approve", "rev_1", "--path", "~/memory/tea", *on).code == 2
