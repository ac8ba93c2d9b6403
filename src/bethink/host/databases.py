"""Makes the databases that settings describe; none is open yet."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bethink.base.folders import data_folder
from bethink.base.installed import BACKENDS, SCHEMES, not_installed, registered
from bethink.config.settings import Settings
from bethink.errors import Misconfigured
from bethink.store.db import Clock, Database, system_clock

if TYPE_CHECKING:
    from bethink.host.backend import Backend
    from bethink.store.engines.postgres import PostgresOptions


def database_from(settings: Settings, clock: Clock = system_clock) -> Database:
    """Return the database that the settings describe, not yet open.

    Raises:
        Misconfigured: if they name an unknown module, or lack what theirs needs.
    """
    if settings.module == "memory.sqlite" and not settings.database_path:
        settings = replace(settings, data_dir=str(data_folder()))
    open_database = MODULES.get(settings.module)
    if open_database is None:
        backend_factory(settings.module)  # raises for an unknown module
        raise Misconfigured(
            f"This needs one database, and `{settings.module}` has several.",
            hint="Pass the address of one of them.",
        )
    database = open_database(settings, clock)
    database.tombstones_path = settings.tombstones_path
    database.keys_refused = timedelta(days=settings.retention.key_days)
    return database


def sqlite_file(path: str, settings: Settings, clock: Clock = system_clock) -> Database:
    """Return the database in a SQLite file, not yet open."""
    from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions  # noqa: PLC0415 - a client needs no driver

    return SqliteDatabase(
        SqliteOptions(
            path=path,
            wal=settings.sqlite.wal,
            synchronous=settings.sqlite.synchronous,
            busy_timeout=settings.sqlite.busy_timeout,
            readers=settings.sqlite.readers,
        ),
        clock=clock,
    )


def _open_sqlite(settings: Settings, clock: Clock) -> Database:
    return sqlite_file(settings.database_path, settings, clock)


def _open_postgres(settings: Settings, clock: Clock) -> Database:
    options = postgres_options(settings)
    from bethink.store.engines.postgres import PostgresDatabase  # noqa: PLC0415 - loaded by the options

    given = settings.postgres
    if not given.replica_dsn:
        return PostgresDatabase(options, clock=clock)
    from bethink.store.engines.postgres_replica import ReplicatedDatabase  # noqa: PLC0415 - few have one

    replica = replace(options, dsn=given.replica_dsn, deadline=given.replica_deadline)
    return ReplicatedDatabase(options, replica=replica, lag=given.replica_lag / 1000, clock=clock)


def backend_factory(module: str) -> Callable[[Any], "Backend"]:
    """Return what an installed distribution registers for a module such as `memory.shards`.

    Raises:
        Misconfigured: for an unknown module, or one whose distribution is not installed.
    """
    scheme = module.removeprefix("memory.")
    factory = registered(BACKENDS, scheme)
    if factory is not None:
        return factory
    if scheme in SCHEMES:
        raise not_installed(scheme)
    raise Misconfigured(f"unknown module {module!r}.", hint=f"Use one of {', '.join(MODULES)}.")


def postgres_options(settings: Settings) -> "PostgresOptions":
    """Return how to connect to the PostgreSQL server of the settings.

    Raises:
        Misconfigured: without an address, or without a driver.
    """
    if not settings.postgres.dsn:
        raise Misconfigured(f"{settings.module} has no address.", hint="Set postgres_dsn, or pass the address.")
    # Imported here: psycopg is an extra, and its import alone costs more than a hook on a prompt may take.
    try:
        from bethink.store.engines.postgres import PostgresOptions  # noqa: PLC0415
    except ImportError as error:
        raise Misconfigured(
            "PostgreSQL needs a driver.", hint="pip install 'bethink[postgres]', or '.[postgres]' from a clone."
        ) from error

    return PostgresOptions(
        dsn=settings.postgres.dsn,
        pool_size=settings.postgres.pool_size,
        connect_timeout=settings.postgres.connect_timeout,
        statement_timeout=settings.postgres.statement_timeout,
        lock_timeout=settings.postgres.lock_timeout,
        idle_timeout=settings.postgres.idle_timeout,
        tcp_timeout=settings.postgres.tcp_timeout,
        deadline=settings.postgres.deadline,
        pooler=settings.postgres.pooler,
    )


MODULES: dict[str, Callable[[Settings, Clock], Database]] = {
    "memory.sqlite": _open_sqlite,
    "memory.postgres": _open_postgres,
}
