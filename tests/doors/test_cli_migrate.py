# pyright: reportUnknownMemberType=false
"""The command migrate."""

from pathlib import Path

import apsw
import pytest

from bethink.store.migrate import newest_version, schema
from bethink.store.migration_plan import locks, statements
from bethink.store.sql import Dialect
from tests.doors.cli_kit import run
from tests.store.migrations_kit import MARKS, WITHOUT_MARKS, using_migrations, write_migrations

NEWEST = newest_version(Dialect.SQLITE)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A memory with one message."""
    path = tmp_path / "memory.db"
    assert run("add", "I live in Bergen.", "--space", "ida", "--database", str(path)).code == 0
    return path


@pytest.fixture
def old_file(file: Path) -> Path:
    """A memory that lacks two migrations."""
    changed(file, WITHOUT_MARKS)
    return file


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """These migrations."""
    return write_migrations(tmp_path / "marks", MARKS)


def changed(file: Path, statement: str) -> None:
    connection = apsw.Connection(str(file))
    connection.execute(statement)
    connection.close()


def test_a_schema_that_is_current_passes_the_check(file: Path) -> None:
    done = run("data", "migrate", "--check", "--database", str(file), "--json")

    assert done.data == {"version": NEWEST, "newest": NEWEST, "missing": [], "altered": []}
    assert "nothing to do" in run("data", "migrate", "--database", str(file)).out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("INSERT INTO schema_version VALUES (9999, 'x', 0, '')", "newer than this version"),
        ("UPDATE schema_version SET checksum = 'x'", "migration 1 was altered"),
        ("UPDATE schema_version SET version = 33", "Schema 33: from before the first release"),
    ],
)
def test_check_fails_unless_the_schema_is_current(file: Path, change: str, message: str) -> None:
    changed(file, change)

    assert_check_fails(file, message)


def assert_check_fails(file: Path, message: str) -> None:
    """Check twice: the first check must not change what the second sees."""
    for _ in range(2):
        done = run("data", "migrate", "--check", "--database", str(file))
        assert done.code == 1
        assert (done.err + done.out).count(message) == 1


def test_migrate_applies_migrations_that_check_reports(old_file: Path, marks: Path) -> None:
    with using_migrations(marks):
        assert_check_fails(old_file, "behind by 2 migrations")

        done = run("data", "migrate", "--database", str(old_file), "--json")

        assert done.data == {"version": 3, "applied": [2, 3]}
        assert run("data", "migrate", "--check", "--database", str(old_file)).code == 0
        assert run("recall", "Where do I live?", "--space", "ida", "--database", str(old_file)).out.count("Bergen") == 1


def test_plan_lists_statements_without_applying_them(old_file: Path, marks: Path) -> None:
    with using_migrations(marks):
        planned = run("data", "migrate", "--plan", "--database", str(old_file), "--json").data["statements"]

        expected = [
            (number, statement)
            for number, texts in enumerate(MARKS.values(), 2)
            for statement in statements(texts[Dialect.SQLITE])
        ]
        assert [(step["version"], step["statement"]) for step in planned] == expected
        assert {step["locks"] for step in planned} == {"the file: writers wait, readers do not"}
        assert_check_fails(old_file, "behind by 2 migrations")


def test_plan_of_a_new_database_is_its_schema(tmp_path: Path) -> None:
    file = tmp_path / "empty.db"
    file.touch()

    planned = run("data", "migrate", "--plan", "--database", str(file), "--json").data["statements"]

    assert [step["statement"] for step in planned] == list(statements(schema(Dialect.SQLITE)))


def test_the_locks_of_statements_are_named() -> None:
    said = {
        "ALTER TABLE facts ADD COLUMN x text": "ACCESS EXCLUSIVE on facts: readers and writers wait",
        "CREATE UNIQUE INDEX i ON facts (x)": "SHARE on facts: writers wait",
        "CREATE TABLE x (y text REFERENCES spaces (id))": "SHARE ROW EXCLUSIVE on spaces: writers wait",
        "CREATE TABLE x (y text)": "none that block others",
        "DO $$ BEGIN END $$": "those of the statements it executes",
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
    assert run("data", "migrate", "--check", "--plan", "--database", str(file)).code == 2
