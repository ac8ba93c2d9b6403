"""`bethink doctor --postgres`: every property that an operator relies on is checked."""

import uuid
from pathlib import Path

import psycopg
import pytest

from tests.doors.cli_kit import run
from tools import pgbouncer, postgres

NAMES = ["version", "pooler", "roles", "row-level security", "locale", "timeouts", "deadlines"]


@pytest.fixture
def owner(superuser_dsn: str) -> str:
    """The address of a database for the role that owns it."""
    return postgres.create_database(superuser_dsn, f"doctor_{uuid.uuid4().hex[:12]}")


@pytest.fixture
def runner(superuser_dsn: str, owner: str) -> str:
    """The same for a role that owns nothing."""
    name = f"runner_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(superuser_dsn, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN NOSUPERUSER NOBYPASSRLS".encode())
    done = run("data", "migrate", "--app-role", name, "--database", owner)
    assert (done.code, done.out.splitlines()[-1]) == (0, f"role {name} has access"), done.err
    return postgres.in_database(owner, owner.partition("@/")[2].partition("?")[0], user=name)


def checks(*words: str) -> dict[str, dict[str, object]]:
    found = run("doctor", "--postgres", "--json", *words).envelope["data"]["checks"]
    return {each["name"]: each for each in found}


def test_a_server_with_two_roles_passes_every_check(runner: str) -> None:
    found = checks("--database", runner)

    assert {name: found[name]["ok"] for name in NAMES} == dict.fromkeys(NAMES, True)
    assert found["pooler"]["detail"] == "none"
    assert "tested with 0.5 s: it ended after" in str(found["deadlines"]["detail"])


def test_a_role_that_owns_the_tables_is_named_with_what_to_do(owner: str) -> None:
    found = checks("--database", owner)

    assert [name for name in NAMES if not found[name]["ok"]] == ["roles"]
    assert "--app-role" in str(found["roles"]["fix"])


@pytest.mark.skipif(pgbouncer.program() is None, reason="PgBouncer is not installed")
def test_a_pooler_is_named_and_deadlines_hold_behind_it(owner: str) -> None:
    with pgbouncer.pooling(owner) as pooler:
        found = checks("--database", pooler.through(owner))

    assert str(found["pooler"]["detail"]).startswith("a pooler")
    assert (found["timeouts"]["ok"], found["deadlines"]["ok"]) == (True, True)


def test_doctor_postgres_fails_for_a_file(tmp_path: Path) -> None:
    file = str(tmp_path / "memory.db")
    assert run("add", "x", "--space", "a", "--database", file).code == 0

    assert checks("--database", file)["postgres"]["ok"] is False
