"""The commands of cells."""

import uuid

import pytest

from tests.doors.cli_kit import run
from tools import postgres


@pytest.fixture(scope="module")
def addresses(superuser_dsn: str) -> dict[str, str]:
    """A directory and the addresses of two cells."""
    end = uuid.uuid4().hex[:12]
    made = {name: postgres.create_database(superuser_dsn, f"{name}_{end}") for name in ("directory", "a", "b")}
    return {**made, "cells": "cells" + made["directory"].removeprefix("postgresql")}


def test_cells_are_added_listed_and_drained_and_a_space_moves(addresses: dict[str, str]) -> None:
    at = ("--database", addresses["cells"])
    assert run("cells", "list", *at).code == 0
    assert run("cells", "add", "a", addresses["a"], *at).out == "added a with 0 spaces\n"
    assert run("cells", "add", "b", addresses["b"], "--weight", "2", *at).code == 0
    assert run("add", "I live in Bergen.", "--space", "ida", *at).code == 0
    assert run("spaces", *at).out.split()[-1] == "ida"
    assert "Bergen" in run("recall", "Where do I live?", "--space", "ida", *at).out

    moved = run("cells", "move", "ida", "--to", "a", "--json", *at).data
    assert (moved["source"], moved["target"]) == ("b", "a")
    assert "ida is in a" in run("cells", "move", "ida", "--to", "a", *at).out
    assert "Bergen" in run("recall", "Where do I live?", "--space", "ida", *at).out

    assert "1 space moved" in run("cells", "drain", "a", "--yes", *at).out
    listed = run("cells", "list", "--json", *at).data
    assert [(each["name"], each["state"], each["spaces"], each["weight"]) for each in listed["cells"]] == [
        ("a", "draining", 0, 1),
        ("b", "open", 1, 2),
    ]
    assert listed["moves"] == []


def test_wrong_use_of_cells_is_told(addresses: dict[str, str]) -> None:
    at = ("--database", addresses["cells"])
    alone = run("cells", "list", "--database", addresses["a"])
    assert (alone.code, "cells://" in alone.err) == (2, True)
    assert run("cells", "add", "c", "memory.db", *at).code == 2
    assert run("cells", "move", "nobody", "--to", "a", *at).code == 3
    assert run("cells", "drain", "nowhere", "--yes", *at).code == 3
    migrate = run("migrate", "--check", *at)
    assert (migrate.code, "one cell" in migrate.err) == (4, True)
    backup = run("backup", "all.backup", *at)
    assert (backup.code, "each cell" in backup.err) == (4, True)
