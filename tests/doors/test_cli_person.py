"""A person from a terminal and through a server: found, exported and forgotten, and what is not claimed is said."""

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


def test_a_person_is_found_without_texts_and_what_is_not_claimed_is_said(on: list[str]) -> None:
    told(on)

    found = ok("person", "find", "Kari Moe", "--alias", "Kari", *on)
    assert [(each["space"], each["messages"]) for each in found["spaces"]] == [("team", 1), ("zoo", 1)]
    shown = run("person", "find", "kari", *on)
    assert "zoo: 1 messages" in shown.out
    assert "seals" not in shown.out
    assert "other" not in shown.out
    assert "not looked for, and may be left: pronouns" in shown.err
    assert "looked by speaker, words, entities in 3 spaces" in shown.err
    assert run("person", "find", "nobody", *on).out == "nothing was found\n"
    assert ok("person", "find", "Kari", "--space", "zoo", *on)["messages"] == 1


def test_an_export_is_written_once_and_named_in_later_receipts(on: list[str], tmp_path: Path) -> None:
    told(on)
    file = tmp_path / "kari.json"

    assert ok("person", "export", "Kari", "--output", str(file), *on)["items"] >= 2
    assert "seals know Kari" in file.read_text(encoding="utf-8")
    assert "Karin" not in file.read_text(encoding="utf-8")
    assert file.stat().st_mode & 0o777 == 0o600
    assert run("person", "export", "Kari", "--output", str(file), *on).code == 2, "it is not written over"
    assert len(ok("person", "export", "Kari", *on)["items"]) >= 2

    gone = ok("forget", "--everything", "--yes", "--space", "zoo", *on)
    assert str(file) in gone["receipt"]


def test_a_person_is_forgotten_with_a_receipt_for_each_space(on: list[str], tmp_path: Path) -> None:
    told(on)
    assert run("person", "forget", "Kari", *on).code == 2, "it asks first"
    assert run("person", "forget", "Kari", "--space", "zoo", "--yes", *on).code == 2
    would = ok("person", "forget", "Kari", "--dry-run", *on)
    assert [each["space"] for each in would["spaces"]] == ["team", "zoo"]

    done = run("person", "forget", "Kari", "--yes", "--receipts", str(tmp_path / "receipts"), *on)

    assert "team: forgotten: 1 message" in done.out
    assert "paraphrases" in done.err
    receipts = [json.loads(each.read_text())["receipt"] for each in (tmp_path / "receipts").iterdir()]
    assert {each["space"] for each in receipts} == {"team", "zoo"}
    assert ok("person", "find", "Kari", *on)["spaces"] == []
    assert ok("person", "find", "Karin", *on)["spaces"][0]["space"] == "other"


def test_what_a_legal_hold_keeps_of_a_person_is_named_and_the_command_has_done_its_work_in_part(on: list[str]) -> None:
    told(on)
    ok("retention", "hold", "--reason", "case 12", "--space", "zoo", *on)

    assert run("person", "forget", "Kari", "--dry-run", *on).code == 5
    done = run("person", "forget", "Kari", "--yes", *on)

    assert done.code == 5
    assert "team: forgotten: 1 message" in done.out
    assert "zoo: not forgotten" in done.out
    assert "'Kari' is left in zoo" in done.err
    assert [each["space"] for each in ok("person", "find", "Kari", *on)["spaces"]] == ["zoo"]


async def test_through_a_server_a_key_reaches_its_own_spaces_only(target: str) -> None:
    async with serving(target) as served:
        for space in ("team", "zoo"):
            await served.memory.space(space).remember("Kari was here.")
        zoo = await served.key_for("read", "erase", spaces=["zoo"])
        reader = await served.key_for("read")

        found = (await served("POST", "/v1/person/find", {"name": "Kari"}, key=zoo)).json()
        assert [each["space"] for each in found["spaces"]] == ["zoo"]
        assert found["spaces_searched"] == 1
        assert (await served("POST", "/v1/spaces/team/person/find", {"name": "Kari"}, key=zoo)).status == 404
        assert (await served("POST", "/v1/person/forget", {"name": "Kari"}, key=reader)).status == 403
        gone = (await served("POST", "/v1/person/forget", {"name": "Kari"}, key=zoo)).json()
        assert [each["space"] for each in gone["spaces"]] == ["zoo"]
        left = (await served("POST", "/v1/person/find", {"name": "Kari"}, key=reader)).json()
        assert [each["space"] for each in left["spaces"]] == ["team"]
        texts = (await served("POST", "/v1/person/export", {"name": "Kari"}, key=reader)).json()
        assert [each["text"] for each in texts["items"]] == ["Kari was here."]
