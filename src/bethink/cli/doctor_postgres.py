"""The checks of 'bethink doctor --postgres': each one tests the server instead of reading a setting."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

from bethink.cli.checks import Check
from bethink.errors import BethinkError, DatabaseUnavailableError

if TYPE_CHECKING:
    from bethink.store.db import Row
    from bethink.store.engines.postgres import PostgresDatabase

_OLDEST, _NEWEST = 15, 18
_TEST_DEADLINE = 500
"""Milliseconds of the deadline that is tested."""
_MAX_SECONDS = 10.0


async def postgres_checks(database: "PostgresDatabase") -> AsyncIterator[Check]:
    """Test the server. The database is open."""
    server = await database.transact(lambda tx: tx.first("describe_server"), read_only=True)
    role = await database.transact(lambda tx: tx.first("describe_roles", role=""), read_only=True)
    assert server is not None  # noqa: S101 - a server always describes itself
    assert role is not None  # noqa: S101
    major = int(server["version"]) // 10_000
    yield Check(
        name="version",
        ok=_OLDEST <= major <= _NEWEST,
        detail=f"PostgreSQL {major}",
        fix=f"Use PostgreSQL {_OLDEST} to {_NEWEST}.",
    )
    pooled = "a pooler: no prepared statements, no session state" if database.is_pooled else "none"
    yield Check(name="pooler", ok=True, detail=pooled)
    yield Check(
        name="roles",
        ok=not role["owns"],
        detail=f"{role['name']} {'owns the tables' if role['owns'] else 'owns nothing'}",
        fix="Create a second role, run 'bethink data migrate --app-role ROLE' as the owner, and connect as that role.",
    )
    yield Check(
        name="row-level security",
        ok=server["seen"] == 0,
        detail=f"{server['seen']} messages are visible without a space",
        fix="Connect as a role created with NOSUPERUSER NOBYPASSRLS.",
    )
    yield Check(
        name="locale",
        ok=server["encoding"] == "UTF8",
        detail=f"{server['locale']}, {server['encoding']}; Bethink folds and sorts words itself",
        fix="Create the database with ENCODING 'UTF8'; any locale will do.",
    )
    yield _timeouts(server)
    yield await _deadline(database)
    yield await _replica(database)


def _timeouts(server: "Row") -> Check:
    values = {name: server[name] for name in ("statement_timeout", "lock_timeout", "idle_timeout")}
    return Check(
        name="timeouts",
        ok="0" not in values.values(),
        detail=", ".join(f"{name} {value}" for name, value in values.items()),
        fix="Set postgres_statement_timeout, postgres_lock_timeout and postgres_idle_timeout above 0.",
    )


async def _deadline(database: "PostgresDatabase") -> Check:
    """Run a statement that takes longer than a short deadline: it must end."""
    from bethink.store.engines.postgres import PostgresDatabase  # noqa: PLC0415 - the driver is an extra

    short = PostgresDatabase(replace(database.options, deadline=_TEST_DEADLINE, pool_size=1))
    began, outcome = time.monotonic(), "it did not end"
    try:
        await short.run_unopened(lambda tx: tx.script(f"SELECT pg_sleep({_MAX_SECONDS})"))
    except DatabaseUnavailableError:
        outcome = f"it ended after {time.monotonic() - began:.1f} s"
    except BethinkError as error:
        outcome = Exception.__str__(error)
    ok = outcome.startswith("it ended") and time.monotonic() - began < _MAX_SECONDS
    detail = f"{database.options.deadline / 1000:g} s; tested with {_TEST_DEADLINE / 1000:g} s: {outcome}"
    return Check(name="deadlines", ok=ok, detail=detail, fix="Report this: a frozen server would freeze callers.")


async def _replica(database: "PostgresDatabase") -> Check:
    """Check that the standby, if there is one, follows the server."""
    from bethink.store.engines.postgres_replica import ReplicatedDatabase  # noqa: PLC0415 - the driver is an extra

    if not isinstance(database, ReplicatedDatabase):
        return Check(name="replica", ok=True, detail="none")
    error = await database.check_replica()
    if error is not None:
        fix = error.hint or "Start the standby, or leave postgres_replica_dsn out."
        return Check(name="replica", ok=False, detail=Exception.__str__(error), fix=fix)
    return Check(name="replica", ok=True, detail="a standby" + (", behind right now" if database.replica_lag else ""))
