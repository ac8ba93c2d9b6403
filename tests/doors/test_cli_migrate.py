# pyright: reportUnknownMemberType=false
"""The command migrate."""

from pathlib import Path

import apsw
import pytest

from bethink.store.migrate import migrations, newest_version
from bethink.store.migration_plan import locks, statements
from bethink.store.sql import Dialect
from tests.doors.cli_kit import run

NEWEST = newest_version(Dialect.SQLITE)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A memory with one message."""
    path = tmp_path / "memory.db"
    assert run("add", "I live in Bergen.", "--space", "ida", "--database", str(path)).code == 0
    return path


def changed(file: Path, statement: str) -> None:
    connection = apsw.Connection(str(file))
    connection.execute(statement)
    connection.close()


def test_a_schema_that_is_current_passes_the_check(file: Path) -> None:
    done = run("migrate", "--check", "--database", str(file), "--json")

    assert done.data == {"version": NEWEST, "newest": NEWEST, "missing": [], "altered": []}
    assert "nothing to do" in run("migrate", "--database", str(file)).out


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (f"DELETE FROM schema_version WHERE version = {NEWEST}", "behind by 1 migration"),
        ("INSERT INTO schema_version (version, name, applied_at) VALUES (9999, 'x', 0)", "newer than this version"),
        ("UPDATE schema_version SET checksum = 'x' WHERE version = 17", "migration 17 was altered"),
    ],
)
def test_a_schema_that_is_behind_ahead_or_altered_fails_the_check_and_stays(file: Path, change: str, told: str) -> None:
    changed(file, change)

    for _ in range(2):
        done = run("migrate", "--check", "--database", str(file))
        assert done.code == 1
        assert (done.err + done.out).count(told) == 1


def test_a_plan_has_every_statement_of_the_missing_migrations_and_applies_none(file: Path) -> None:
    changed(file, f"DELETE FROM schema_version WHERE version = {NEWEST}")

    planned = run("migrate", "--plan", "--database", str(file), "--json").data["statements"]

    [text] = [text for number, _, text in migrations(Dialect.SQLITE) if number == NEWEST]
    assert [step["statement"] for step in planned] == list(statements(text))
    assert {step["locks"] for step in planned} == {"the file: writers wait, readers do not"}
    assert run("migrate", "--check", "--database", str(file)).code == 1


def test_the_locks_of_statements_are_named() -> None:
    said = {
        "ALTER TABLE facts ADD COLUMN x text": "ACCESS EXCLUSIVE on facts: readers and writers wait",
        "CREATE UNIQUE INDEX i ON facts (x)": "SHARE on facts: writers wait",
        "CREATE TABLE x (y text REFERENCES spaces (id))": "SHARE ROW EXCLUSIVE on spaces: writers wait",
        "CREATE TABLE x (y text)": "none that others wait for",
        "DO $$ BEGIN END $$": "those of what it executes",
    }
    assert {statement: locks(statement, Dialect.POSTGRES) for statement in said} == said


def test_no_statement_is_cut_in_two_by_a_semicolon_inside_of_it() -> None:
    text = """-- First; a comment.
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM 1; RETURN NULL; END $$;
CREATE TRIGGER t AFTER DELETE ON a BEGIN
    DELETE FROM b; DELETE FROM c;
END;
INSERT INTO a VALUES ('x;y')"""

    assert [statement[:14] for statement in statements(text)] == ["CREATE FUNCTIO", "CREATE TRIGGER", "INSERT INTO a "]


def test_two_questions_at_once_are_refused(file: Path) -> None:
    assert run("migrate", "--check", "--plan", "--database", str(file)).code == 2
