"""Builds databases from settings, without opening them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bethink.base.folders import data_folder
from bethink.base.installed import BACKENDS, SCHEMES, install_hint, load_entry_point, not_installed
from bethink.config.settings import Settings
from bethink.config.units import milliseconds
from bethink.errors import ConfigurationError
from bethink.store.db import Clock, Database, system_clock

if TYPE_CHECKING:
    from bethink.host.backend import Backend
    from bethink.store.engines.postgres import PostgresOptions


def database_from(settings: Settings, clock: Clock = system_clock) -> Database:
    """Build the database of the settings, without opening it.

    Raises:
        ConfigurationError: if the module is unknown, or lacks a setting or package.
    """
    if settings.module == "memory.sqlite" and not settings.database_path:
        settings = replace(settings, data_dir=str(data_folder()))
    open_database = MODULES.get(settings.module)
    if open_database is None:
        backend_factory(settings.module)  # raises for an unknown module
        raise ConfigurationError(
            f"This operation needs a single database, but `{settings.module}` has several.",
            hint="Pass the address of one of them.",
        )
    database = open_database(settings, clock)
    database.tombstones_path = settings.tombstones_path
    database.copies_path = settings.copies_path
    database.key_rejection_period = timedelta(days=settings.retention.key_days)
    return database


def sqlite_file(path: str, settings: Settings, clock: Clock = system_clock) -> Database:
    """Build a SQLite database, without opening it."""
    from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions  # noqa: PLC0415 - a client needs no driver

    return SqliteDatabase(
        SqliteOptions(
            path=path,
            wal=settings.sqlite.wal,
            synchronous=settings.sqlite.synchronous,
            busy_timeout=milliseconds(settings.sqlite.busy_timeout),
            readers=settings.sqlite.readers,
        ),
        clock=clock,
    )


def _open_sqlite(settings: Settings, clock: Clock) -> Database:
    return sqlite_file(settings.database_path, settings, clock)


def _open_postgres(settings: Settings, clock: Clock) -> Database:
    options = postgres_options(settings)
    from bethink.store.engines.postgres import PostgresDatabase  # noqa: PLC0415 - loaded by the options

    postgres = settings.postgres
    if not postgres.replica_dsn:
        return PostgresDatabase(options, clock=clock)
    from bethink.store.engines.postgres_replica import ReplicatedDatabase  # noqa: PLC0415 - few programs need it

    replica = replace(options, dsn=postgres.replica_dsn, deadline=milliseconds(postgres.replica_deadline))
    return ReplicatedDatabase(options, replica=replica, lag=postgres.replica_lag, clock=clock)


def backend_factory(module: str) -> Callable[[Any], "Backend"]:
    """Return the backend factory that an installed package registers for a module such as `memory.shards`.

    Raises:
        ConfigurationError: for an unknown module, or if its package is not installed.
    """
    scheme = module.removeprefix("memory.")
    factory = load_entry_point(BACKENDS, scheme)
    if factory is not None:
        return factory
    if scheme in SCHEMES:
        raise not_installed(scheme)
    raise ConfigurationError(f"Unknown module {module!r}.", hint=f"Use one of {', '.join(MODULES)}.")


def postgres_options(settings: Settings) -> "PostgresOptions":
    """Return the connection options of the PostgreSQL server in the settings.

    Raises:
        ConfigurationError: without an address or driver.
    """
    if not settings.postgres.dsn:
        raise ConfigurationError(
            f"`{settings.module}` needs an address.", hint="Set `postgres_dsn`, or pass the address."
        )
    # Imported here, because psycopg is an extra and too slow to import in a prompt hook.
    try:
        from bethink.store.engines.postgres import PostgresOptions  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError("PostgreSQL needs a driver.", hint=install_hint("postgres")) from error

    return PostgresOptions(
        dsn=settings.postgres.dsn,
        pool_size=settings.postgres.pool_size,
        connect_timeout=milliseconds(settings.postgres.connect_timeout),
        statement_timeout=milliseconds(settings.postgres.statement_timeout),
        lock_timeout=milliseconds(settings.postgres.lock_timeout),
        idle_timeout=milliseconds(settings.postgres.idle_timeout),
        tcp_timeout=milliseconds(settings.postgres.tcp_timeout),
        deadline=milliseconds(settings.postgres.deadline),
        pooler=settings.postgres.pooler,
    )


MODULES: dict[str, Callable[[Settings, Clock], Database]] = {
    "memory.sqlite": _open_sqlite,
    "memory.postgres": _open_postgres,
}
