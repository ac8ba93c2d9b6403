"""A person's data on the command line and through a server: found, exported and deleted, with stated limits."""

import json
from pathlib import Path

import pytest

from tests.doors.cli_kit import ok, run
from tests.doors.server_kit import serving

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def on(target: str) -> list[str]:
    """What names the database: a person is looked for in all its spaces."""
    return ["--database", target]


def told(on: list[str]) -> None:
    ok("add", "Kari Moe is allergic to nuts.", "--space", "team", *on)
    ok("add", "The seals know Kari.", "--space", "zoo", *on)
    ok("add", "Karin likes tea.", "--space", "other", *on)


def test_person_find_shows_counts_without_texts(on: list[str]) -> None:
    told(on)

    found = ok("admin", "person", "find", "Kari Moe", "--alias", "Kari", *on)
    assert [(each["space"], each["messages"]) for each in found["spaces"]] == [("team", 1), ("zoo", 1)]
    shown = run("admin", "person", "find", "kari", *on)
    assert "zoo: 1 messages" in shown.out
    assert "seals" not in shown.out
    assert "other" not in shown.out
    assert "not searched, and may remain: pronouns" in shown.err
    assert "searched by speaker, text, entity in 3 spaces" in shown.err
    assert run("admin", "person", "find", "nobody", *on).out == "No match.\n"
    assert ok("admin", "person", "find", "Kari", "--space", "zoo", *on)["messages"] == 1


def test_an_export_is_written_once_and_named_in_later_receipts(on: list[str], tmp_path: Path) -> None:
    told(on)
    file = tmp_path / "kari.json"

    assert ok("admin", "person", "export", "Kari", "--output", str(file), *on)["items"] >= 2
    assert "seals know Kari" in file.read_text(encoding="utf-8")
    assert "Karin" not in file.read_text(encoding="utf-8")
    assert file.stat().st_mode & 0o777 == 0o600
    assert run("admin", "person", "export", "Kari", "--output", str(file), *on).code == 2, "it is not written over"
    assert len(ok("admin", "person", "export", "Kari", *on)["items"]) >= 2

    gone = ok("forget", "--all", "--yes", "--space", "zoo", *on)
    assert str(file) in gone["receipt"]


def test_a_person_is_forgotten_with_a_receipt_for_each_space(on: list[str], tmp_path: Path) -> None:
    told(on)
    assert run("admin", "person", "forget", "Kari", *on).code == 2, "it asks first"
    assert run("admin", "person", "forget", "Kari", "--space", "zoo", "--yes", *on).code == 2
    would = ok("admin", "person", "forget", "Kari", "--dry-run", *on)
    assert [each["space"] for each in would["spaces"]] == ["team", "zoo"]

    done = run("admin", "person", "forget", "Kari", "--yes", "--receipts", str(tmp_path / "receipts"), *on)

    assert "team: Deleted 1 message" in done.out
    assert "paraphrases" in done.err
    receipts = [json.loads(each.read_text())["receipt"] for each in (tmp_path / "receipts").iterdir()]
    assert {each["space"] for each in receipts} == {"team", "zoo"}
    assert ok("admin", "person", "find", "Kari", *on)["spaces"] == []
    assert ok("admin", "person", "find", "Karin", *on)["spaces"][0]["space"] == "other"


def test_person_forget_names_data_that_a_legal_hold_keeps(on: list[str]) -> None:
    told(on)
    ok("admin", "hold", "place", "--reason", "case 12", "--space", "zoo", *on)

    assert run("admin", "person", "forget", "Kari", "--dry-run", *on).code == 5
    done = run("admin", "person", "forget", "Kari", "--yes", *on)

    assert done.code == 5
    assert "team: Deleted 1 message" in done.out
    assert "zoo: Nothing deleted" in done.out
    assert "'Kari' remains in zoo" in done.err
    assert [each["space"] for each in ok("admin", "person", "find", "Kari", *on)["spaces"]] == ["zoo"]


async def test_through_a_server_a_key_reaches_its_own_spaces_only(target: str) -> None:
    async with serving(target) as served:
        for space in ("team", "zoo"):
            await served.memory.space(space).remember("Kari was here.")
        zoo = await served.key_for("read", "erase", spaces=["zoo"])
        reader = await served.key_for("read")

        found = (await served("POST", "/v1/people/find", {"name": "Kari"}, key=zoo)).json()
        assert [each["space"] for each in found["spaces"]] == ["zoo"]
        assert found["spaces_searched"] == 1
        assert (await served("POST", "/v1/spaces/team/people/find", {"name": "Kari"}, key=zoo)).status == 404
        assert (await served("POST", "/v1/people/forget", {"name": "Kari"}, key=reader)).status == 403
        gone = (await served("POST", "/v1/people/forget", {"name": "Kari"}, key=zoo)).json()
        assert [each["space"] for each in gone["spaces"]] == ["zoo"]
        left = (await served("POST", "/v1/people/find", {"name": "Kari"}, key=reader)).json()
        assert [each["space"] for each in left["spaces"]] == ["team"]
        texts = (await served("POST", "/v1/people/export", {"name": "Kari"}, key=reader)).json()
        assert [each["text"] for each in texts["items"]] == ["Kari was here."]
