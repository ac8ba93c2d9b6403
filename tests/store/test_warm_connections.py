"""A connection that one test passes to the next carries no state."""

from collections.abc import Iterator

import psycopg
import pytest

from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from tests.warm_connections import WarmConnection

_LEFT = """SELECT current_setting('statement_timeout') AS waits,
(SELECT count(*) FROM pg_listening_channels()) AS heard,
(SELECT count(*) FROM pg_prepared_statements) AS prepared, to_regclass('left_over') IS NOT NULL AS tables,
(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks"""


@pytest.fixture
def database(clean_dsn: str, warm: None) -> Iterator[PostgresDatabase]:
    database = PostgresDatabase(PostgresOptions(dsn=clean_dsn))
    yield database
    WarmConnection.end()
    database._watcher.close()


def test_reused_connection_keeps_no_settings_locks_or_tables(database: PostgresDatabase) -> None:
    first = database._connector.connect()
    before = first.execute(_LEFT).fetchone()
    for left in ("SET statement_timeout = 77000", "LISTEN news", "SELECT pg_advisory_lock(7)", "PREPARE p AS SELECT 1"):
        first.execute(left.encode())
    first.execute("CREATE TEMP TABLE left_over (id INTEGER)")
    backend = first.info.backend_pid
    first.close()

    second = database._connector.connect()

    assert first.closed
    assert second.info.backend_pid == backend
    assert second.execute(_LEFT).fetchone() == before
    second.close()


def test_lost_or_busy_connection_is_not_reused(database: PostgresDatabase) -> None:
    open_one, lost = database._connector.connect(), database._connector.connect()
    open_one.execute("BEGIN")
    gone = {open_one.info.backend_pid, lost.info.backend_pid}
    with pytest.raises(psycopg.OperationalError):
        lost.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    for each in (open_one, lost):
        each.close()

    with database._connector.connect() as other:
        assert other.info.backend_pid not in gone
