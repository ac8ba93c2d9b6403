"""Imports from mem0: metadata, expiry, users, updates and rejected memories."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests import exports_kit as exports
from tests.doors.cli_kit import items, ok, run

pytestmark = pytest.mark.usefixtures("home")


def memory(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"m{number}",
        "memory": f"Owns bicycle {number}",
        "created_at": "2026-01-05T09:00:00+00:00",
        "updated_at": "2026-01-06T09:00:00+00:00",
        "user_id": "ada",
        **fields,
    }


def written(path: Path, *memories: Any) -> str:
    path.write_text(json.dumps({"results": memories}))
    return str(path)


def facts(*on: str) -> dict[str, Any]:
    return {fact["id"]: fact for fact in items("fact", "list", *on)}


def test_metadata_keeps_its_types_and_categories_become_tags(home: Path, on: list[str]) -> None:
    about = {"priority": 2, "vip": True, "origin": {"app": "crm"}, "team": "red", "empty": None}
    file = written(home / "m.json", memory(1, metadata=about, categories=["travel"]), memory(2))

    ok("import", "mem0", file, "--yes", *on)

    fact = facts(*on)["mem0:m1"]
    assert fact["tags"] == ["travel"]
    assert fact["metadata"] == {
        "priority": 2, "vip": True, "origin": {"app": "crm"}, "team": "red",
        "user_id": "ada", "updated_at": "2026-01-06T09:00:00+00:00",
    }  # fmt: skip
    high = ok("recall", "bicycle", "--where", "priority>=2", "--tag", "travel", *on)
    assert [match["ref"] for match in high["items"]] == ["fact:mem0:m1:1"]


def test_expired_memories_are_stored_and_not_recalled(home: Path, on: list[str]) -> None:
    file = written(
        home / "m.json", memory(1, expiration_date="2026-02-01"), memory(2, expiration_date="2999-02-01"), memory(3)
    )

    assert ok("import", "mem0", file, "--yes", *on)["stored"] == 3

    assert set(facts(*on)) == {"mem0:m2", "mem0:m3"}
    [expired] = [entry["fact"] for entry in items("fact", "list", "--all", *on) if entry["status"] == "ended"]
    assert (expired["id"], expired["expires_at"][:19]) == ("mem0:m1", "2026-02-01T23:59:59")
    refs = [match["ref"] for match in ok("recall", "bicycle", *on)["items"]]
    assert sorted(refs) == ["fact:mem0:m2:1", "fact:mem0:m3:1"]


@pytest.mark.parametrize("users", [("ada", "bob"), (7, 8)])
def test_memories_of_several_users_are_not_mixed(home: Path, users: tuple[Any, Any], on: list[str]) -> None:
    both = written(home / "both.json", *(memory(number, user_id=users[number % 2]) for number in range(10)))
    folder = home / "users"
    folder.mkdir()
    for number, user in enumerate(users):
        written(folder / f"{number}.json", memory(number, user_id=user))

    for path in (both, str(folder)):
        mixed = run("import", "mem0", path, "--yes", *on)
        assert mixed.code == 2
        assert f"has memories of 2 users: {users[0]} (" in mixed.err
        assert "--by-user" in mixed.err
    assert ok("import", "mem0", both, "--user", str(users[1]), "--yes", *on)["stored"] == 5
    assert {fact["metadata"]["user_id"] for fact in facts(*on).values()} == {str(users[1])}


def test_unknown_user_error_lists_the_users(home: Path) -> None:
    names = [f"user{number}" for number in range(12)]
    file = str(exports.mem0(home / "m.json", exports.spoken(24), *names))

    done = run("import", "mem0", file, "--user", "nobody", "--yes")

    assert done.code == 2
    assert "no memories of user 'nobody'" in done.err
    assert "user0 (2), user1 (2)" in done.err
    assert "and 2 others" in done.err


def test_by_user_fills_one_space_per_user(home: Path, target: str) -> None:
    where = ["--database", target]
    file = written(home / "m.json", memory(1), memory(2, user_id="bob@example.org"), memory(3, user_id=None))

    done = run("import", "mem0", file, "--by-user", "--yes", "--json", *where)

    assert done.code == 5, "a memory without a user has no space"
    data = done.envelope["data"]
    assert (data["stored"], data["spaces"]) == (2, ["ada", "bob@example.org"])
    assert "no `user_id`" in data["refusals"][0]
    assert list(facts("--space", "bob@example.org", *where)) == ["mem0:m2"]
    for other in (["--user", "ada"], ["--space", "ada"]):
        assert run("import", "mem0", file, "--by-user", *other, "--yes", *where).code == 2


def test_memories_without_a_user_are_noted(home: Path, on: list[str]) -> None:
    file = written(home / "m.json", memory(1), memory(2, user_id=None))

    assert "1 memory without a user_id is imported, too" in run("import", "mem0", file, "--dry-run", *on).err
    chosen = run("import", "mem0", file, "--user", "ada", "--yes", *on)
    assert "1 memory without a user_id is left out" in chosen.err
    assert list(facts(*on)) == ["mem0:m1"]


def test_second_import_updates_memories_that_changed_in_mem0(home: Path, on: list[str]) -> None:
    file = written(home / "m.json", *(memory(number) for number in range(4)))
    ok("import", "mem0", file, "--yes", *on)
    ok("fact", "correct", "fact:mem0:m2:1", "Sold bicycle 2", "--yes", *on)
    later = {"updated_at": "2026-03-01T09:00:00+00:00"}
    changed = [memory(number, memory=f"Owns red bicycle {number}", **later) for number in (1, 2)]
    written(home / "m.json", memory(0, memory="Owns no bicycle"), *changed)

    again = ok("import", "mem0", file, "--yes", *on)
    third = run("import", "mem0", file, "--yes", *on)

    assert (again["stored"], again["known"], again["updated"], again["corrected"]) == (0, 1, 1, 1)
    texts = {name: fact["text"] for name, fact in facts(*on).items()}
    assert texts == {
        "mem0:m0": "Owns bicycle 0",
        "mem0:m1": "Owns red bicycle 1",
        "mem0:m2": "Sold bicycle 2",
        "mem0:m3": "Owns bicycle 3",
    }
    assert [version["text"] for version in items("fact", "history", "mem0:m1", *on)] == [
        "Owns red bicycle 1", "Owns bicycle 1",
    ]  # fmt: skip
    assert "0 of 3 stored in space alice, 2 already stored, 1 not updated" in third.out


def test_memories_that_cannot_be_stored_are_rejected_with_reasons(home: Path, on: list[str]) -> None:
    file = written(
        home / "m.json",
        memory(1),
        memory(2, memory=""),
        memory(3, created_at="yesterday"),
        memory(4, expiration_date="never"),
        memory(1, memory="Owns a boat"),
        "a text",
        memory(1),
    )

    dry = run("import", "mem0", file, "--dry-run", "--json", *on)
    done = run("import", "mem0", file, "--yes", "--json", *on)

    assert (dry.code, done.code) == (5, 5)
    data = done.envelope["data"]
    assert (data["stored"], data["known"], data["refused"]) == (1, 1, 5)
    assert data["refusals"] == dry.envelope["data"]["refusals"]
    reasons = ("2: The memory has no text", "3: Cannot parse `created_at` 'yesterday'", "4: Cannot parse `expiration")
    assert all(f"m.json, memory {reason}" in " ".join(data["refusals"]) for reason in reasons)
    assert "m.json, memory 5: Another memory with this id is at m.json, memory 1." in data["refusals"]


def test_pages_of_get_all_are_imported_together(home: Path, on: list[str]) -> None:
    path = home / "pages.json"
    path.write_text(json.dumps([{"count": 2, "next": None, "results": [memory(number)]} for number in (1, 2)]))

    assert ok("import", "mem0", str(path), "--yes", *on)["stored"] == 2


def test_import_names_the_space(home: Path) -> None:
    file = written(home / "m.json", memory(1))

    planned = run("import", "mem0", file, "--space", "ada", "--dry-run")
    done = run("import", "mem0", file, "--space", "ada", "--yes")

    assert planned.out.startswith("1 of 1 can be stored in space ada, 0 rejected (dry run;")
    assert done.out == "1 of 1 stored in space ada, 0 already stored, 0 rejected\n"
    assert "s left" not in done.err
