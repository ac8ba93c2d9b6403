"""The commands for the change feed and for webhooks."""

import pytest

from tests.doors.cli_kit import items, ok, run


@pytest.fixture
def on(target: str) -> list[str]:
    return ["--database", target, "--space", "alice"]


def test_changes_are_listed_the_newest_without_a_number_and_on_from_one(on: list[str]) -> None:
    ok("add", "I drink tea.", *on)
    ok("doc", "update", "--yes", *on)

    found = items("admin", "changes", "--after", "0", *on)

    assert found[0]["kind"] == "session.learned"
    assert [each["number"] for each in found] == list(range(1, len(found) + 1))
    assert items("admin", "changes", "--limit", "1", *on) == found[-1:]
    paged = run("admin", "changes", "--after", "0", "--limit", "1", *on)
    assert "session.learned" in paged.out
    assert "continue with --after 1" in paged.err
    assert items("admin", "changes", "--after", str(len(found)), "--wait", "0.01", *on) == []


def test_a_webhook_is_made_listed_and_deleted(on: list[str]) -> None:
    made = ok("admin", "webhooks", "create", "https://93.184.215.14/hook", "--space", "alice", *on[:2])
    name = made["info"]["id"]
    assert made["secret"].startswith("whsec_")

    [listed] = items("admin", "webhooks", "list", *on[:2])
    assert (listed["id"], listed["space"], listed["disabled_at"]) == (name, "alice", None)
    assert made["secret"] not in run("admin", "webhooks", "list", *on[:2]).out
    assert items("admin", "webhooks", "deliveries", name, "--space", "alice", *on[:2]) == []
    assert "would delete" in run("admin", "webhooks", "delete", name, "--dry-run", *on[:2]).out
    ok("admin", "webhooks", "delete", name, "--yes", *on[:2])
    assert items("admin", "webhooks", "list", *on[:2]) == []
    assert run("admin", "webhooks", "delete", name, "--yes", *on[:2]).code == 3
    assert run("admin", "webhooks", "create", "http://127.0.0.1/", *on[:2]).code != 0
