"""The commands for what changed, and for webhooks."""

import pytest

from tests.doors.cli_kit import ok, run


@pytest.fixture
def on(target: str) -> list[str]:
    return ["--database", target, "--space", "alice"]


def test_changes_are_listed_the_newest_without_a_number_and_on_from_one(on: list[str]) -> None:
    ok("add", "I drink tea.", *on)
    ok("consolidate", "--yes", *on)

    found = ok("changes", "--after", "0", *on)

    assert found[0]["kind"] == "session.learnt"
    assert [each["number"] for each in found] == list(range(1, len(found) + 1))
    assert ok("changes", "--limit", "1", *on) == found[-1:]
    paged = run("changes", "--after", "0", "--limit", "1", *on)
    assert "session.learnt" in paged.out
    assert "continue with --after 1" in paged.err
    assert ok("changes", "--after", str(len(found)), "--wait", "0.01", *on) == []


def test_a_webhook_is_made_listed_and_deleted(on: list[str]) -> None:
    made = ok("webhooks", "create", "https://93.184.215.14/hook", "--for-space", "alice", *on[:2])
    name = made["info"]["id"]
    assert made["secret"].startswith("whsec_")

    [listed] = ok("webhooks", "list", *on[:2])
    assert (listed["id"], listed["space"], listed["disabled_at"]) == (name, "alice", None)
    assert made["secret"] not in run("webhooks", "list", *on[:2]).out
    assert ok("webhooks", "deliveries", name, "--of-space", "alice", *on[:2]) == []
    assert "would delete" in run("webhooks", "delete", name, "--dry-run", *on[:2]).out
    ok("webhooks", "delete", name, "--yes", *on[:2])
    assert ok("webhooks", "list", *on[:2]) == []
    assert run("webhooks", "delete", name, "--yes", *on[:2]).code == 3
    assert run("webhooks", "create", "http://127.0.0.1/", *on[:2]).code != 0
