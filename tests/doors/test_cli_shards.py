"""The shard commands."""

import uuid

import pytest

from tests.doors.cli_kit import run
from tools import postgres


@pytest.fixture(scope="module")
def addresses(superuser_dsn: str) -> dict[str, str]:
    """A directory and the addresses of two shards."""
    end = uuid.uuid4().hex[:12]
    made = {name: postgres.create_database(superuser_dsn, f"{name}_{end}") for name in ("directory", "a", "b")}
    return {**made, "shards": "shards" + made["directory"].removeprefix("postgresql")}


def test_shards_are_added_listed_and_drained_and_a_space_moves(addresses: dict[str, str]) -> None:
    at = ("--database", addresses["shards"])
    assert run("admin", "shards", "list", *at).code == 0
    assert run("admin", "shards", "add", "a", addresses["a"], *at).out == "Added a with 0 spaces.\n"
    assert run("admin", "shards", "add", "b", addresses["b"], "--capacity", "2", *at).code == 0
    assert run("add", "I live in Bergen.", "--space", "ida", *at).code == 0
    assert run("admin", "spaces", *at).out.split()[-1] == "ida"
    assert "Bergen" in run("recall", "Where do I live?", "--space", "ida", *at).out

    moved = run("admin", "shards", "move", "ida", "--to", "a", "--json", *at).data
    assert (moved["source"], moved["target"]) == ("b", "a")
    assert "ida is in a" in run("admin", "shards", "move", "ida", "--to", "a", *at).out
    assert "Bergen" in run("recall", "Where do I live?", "--space", "ida", *at).out

    assert "1 space moved" in run("admin", "shards", "drain", "a", "--yes", *at).out
    listed = run("admin", "shards", "list", "--json", *at).data
    assert [(each["name"], each["state"], each["spaces"], each["capacity"]) for each in listed["shards"]] == [
        ("a", "draining", 0, 1),
        ("b", "open", 1, 2),
    ]
    assert listed["moves"] == []


def test_wrong_use_of_shards_is_reported(addresses: dict[str, str]) -> None:
    at = ("--database", addresses["shards"])
    alone = run("admin", "shards", "list", "--database", addresses["a"])
    assert (alone.code, "shards://" in alone.err) == (2, True)
    assert run("admin", "shards", "add", "c", "memory.db", *at).code == 2
    assert run("admin", "shards", "move", "nobody", "--to", "a", *at).code == 3
    assert run("admin", "shards", "drain", "nowhere", "--yes", *at).code == 3
    migrate = run("data", "migrate", "--check", *at)
    assert (migrate.code, "has several" in migrate.err) == (4, True)
    backup = run("data", "backup", "all.backup", *at)
    assert (backup.code, "does not support backups" in backup.err) == (4, True)
