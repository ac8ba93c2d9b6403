"""What 'bethink doctor --postgres' proves about a server: each check tries it, rather than reading a setting."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

from bethink.cli.checks import Check
from bethink.errors import BethinkError, Unavailable

if TYPE_CHECKING:
    from bethink.store.db import Row
    from bethink.store.engines.postgres import PostgresDatabase

_OLDEST, _NEWEST = 15, 18
_PROOF = 500
"""Milliseconds of the deadline that is tried."""
_AT_MOST = 10.0


async def postgres_checks(database: "PostgresDatabase") -> AsyncIterator[Check]:
    """Try what an operator relies on; the database is open."""
    server = await database.transact(lambda tx: tx.one("describe_server"), read=True)
    role = await database.transact(lambda tx: tx.one("describe_roles", role=""), read=True)
    assert server is not None  # noqa: S101 - a server always describes itself
    assert role is not None  # noqa: S101
    major = int(server["version"]) // 10_000
    yield Check(
        name="version",
        ok=_OLDEST <= major <= _NEWEST,
        found=f"PostgreSQL {major}",
        fix=f"Use PostgreSQL {_OLDEST} to {_NEWEST}.",
    )
    pooled = "a pooler: nothing is prepared, nothing is left in a session" if database.pooled else "none"
    yield Check(name="pooler", ok=True, found=pooled)
    yield Check(
        name="roles",
        ok=not role["owns"],
        found=f"{role['name']} {'owns the tables' if role['owns'] else 'owns nothing'}",
        fix="Create a second role, run 'bethink migrate --runner ROLE' as the owner, and connect as that role.",
    )
    yield Check(
        name="row-level security",
        ok=server["seen"] == 0,
        found=f"{server['seen']} messages can be seen without naming a space",
        fix="Connect as a role created with NOSUPERUSER NOBYPASSRLS.",
    )
    yield Check(
        name="locale",
        ok=server["encoding"] == "UTF8",
        found=f"{server['locale']}, {server['encoding']}; Bethink folds and sorts words itself",
        fix="Create the database with ENCODING 'UTF8'; any locale will do.",
    )
    yield _timeouts(server)
    yield await _deadline(database)
    yield await _replica(database)


def _timeouts(server: "Row") -> Check:
    found = {name: server[name] for name in ("statement_timeout", "lock_timeout", "idle_timeout")}
    return Check(
        name="timeouts",
        ok="0" not in found.values(),
        found=", ".join(f"{name} {value}" for name, value in found.items()),
        fix="Set postgres_statement_timeout, postgres_lock_timeout and postgres_idle_timeout above 0.",
    )


async def _deadline(database: "PostgresDatabase") -> Check:
    """Ask for something that takes longer than a short deadline: it must end."""
    from bethink.store.engines.postgres import PostgresDatabase  # noqa: PLC0415 - the driver is an extra

    tried = PostgresDatabase(replace(database.options, deadline=_PROOF, pool_size=1))
    began, ended = time.monotonic(), "it did not"
    try:
        await tried.look(lambda tx: tx.script(f"SELECT pg_sleep({_AT_MOST})"))
    except Unavailable:
        ended = f"it ended after {time.monotonic() - began:.1f} s"
    except BethinkError as error:
        ended = Exception.__str__(error)
    ok = ended.startswith("it ended") and time.monotonic() - began < _AT_MOST
    what = f"{database.options.deadline / 1000:g} s; tried with {_PROOF / 1000:g} s: {ended}"
    return Check(name="deadlines", ok=ok, found=what, fix="Report this: a frozen server would freeze callers.")


async def _replica(database: "PostgresDatabase") -> Check:
    """Ask the standby, if there is one, whether it has what the server has."""
    from bethink.store.engines.postgres_replica import ReplicatedDatabase  # noqa: PLC0415 - the driver is an extra

    if not isinstance(database, ReplicatedDatabase):
        return Check(name="replica", ok=True, found="none")
    wrong = await database.look_at_replica()
    if wrong is not None:
        fix = wrong.hint or "Start the standby, or leave postgres_replica_dsn out."
        return Check(name="replica", ok=False, found=Exception.__str__(wrong), fix=fix)
    return Check(name="replica", ok=True, found="a standby" + (", behind right now" if database.behind else ""))
