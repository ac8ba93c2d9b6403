"""Dumps and restores PostgreSQL databases with PostgreSQL's own tools, as one state, past row-level security."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError, CorruptDatabaseError, DatabaseBusyError, DatabaseError
from bethink.model.backups import Counts
from bethink.store.engines.postgres import RESTORING
from bethink.store.engines.postgres_connections import PostgresOptions
from bethink.store.engines.postgres_errors import translate_error
from bethink.store.migrate import schema
from bethink.store.sql import Dialect

_ROLE = """Create a role for backups as a superuser: CREATE ROLE bethink_backup LOGIN BYPASSRLS; \
GRANT pg_read_all_data TO bethink_backup; then pass --database postgresql://bethink_backup@host/database."""
_COUNTS = """SELECT (SELECT count(*) FROM spaces) AS spaces, (SELECT count(*) FROM sessions) AS sessions,
    (SELECT count(*) FROM messages) AS messages, (SELECT max(version) FROM schema_version) AS schema_version"""
_CREATES = re.compile(r"\bCREATE (TABLE|VIEW|FUNCTION) (\w+)")
_SKIPPED_ENTRIES = re.compile(r"^;|; \d+ \d+ (?:EXTENSION|SCHEMA|COMMENT - (?:EXTENSION|SCHEMA)|ACL|DEFAULT ACL) ")
_CHUNK = 1 << 20
_CLOSING = 5.0
"""Seconds to wait until a server that was stopped has closed its connections."""


@frozen
class Tools:
    """Location of PostgreSQL's tools: a folder, or empty to search the PATH."""

    folder: str = ""

    def find(self, name: str, *, server: int) -> str:
        """Return the path of a tool that works with a server version. Raises `ConfigurationError` if there is none."""
        path = shutil.which(name, path=self.folder or None)
        hint = f"Install the client tools of PostgreSQL {server}, or pass their folder with --pg-bin DIR."
        if path is None:
            raise ConfigurationError(f"Cannot find {name}.", hint=hint)
        output = _run([path, "--version"], os.environ)
        version = re.search(r"\) (\d+)", output)
        if version is None or int(version[1]) < server:
            own = "unknown" if version is None else version[1]
            raise ConfigurationError(f"{path} is version {own}, but the server is version {server}.", hint=hint)
        return path


@contextmanager
def _connect(dsn: str) -> Generator[psycopg.Connection[dict[str, Any]]]:
    try:
        options = PostgresOptions(dsn=dsn, statement_timeout=0, idle_timeout=0).parameters()
        with psycopg.Connection[dict[str, Any]].connect(dsn, row_factory=dict_row, **options) as connection:
            yield connection
    except psycopg.OperationalError as error:
        raise translate_error(error, disconnected=True) from error
    except psycopg.Error as error:
        raise translate_error(error, disconnected=False) from error


def _without_password(dsn: str) -> tuple[str, Mapping[str, str]]:
    """Return an address without its password, and an environment with it: all users see the arguments of a process."""
    parameters = conninfo_to_dict(dsn)
    password = parameters.pop("password", None)
    return make_conninfo("", **parameters), {
        **os.environ,
        **({} if password is None else {"PGPASSWORD": str(password)}),
    }


def dump(dsn: str, into: Path, *, tools: Tools) -> Counts:
    """Dump a database to a file, and count its rows in the same snapshot."""
    with _connect(dsn) as connection:
        server = connection.info.server_version // 10_000
        program = tools.find("pg_dump", server=server)
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        _check_role(connection)
        exported = connection.execute("SELECT pg_export_snapshot() AS snapshot").fetchone()
        counts = _count_rows(connection, server)
        address, environment = _without_password(dsn)
        snapshot = str(exported["snapshot"] if exported else "")
        into.touch(mode=0o600)
        _run([program, "--format=custom", f"--snapshot={snapshot}", f"--file={into}", address], environment)
    with into.open("rb") as file:
        os.fsync(file.fileno())
    return counts


def _check_role(connection: psycopg.Connection[dict[str, Any]]) -> None:
    role = connection.execute(
        "SELECT rolname AS name, rolsuper OR rolbypassrls AS unbound FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    if role is None or not role["unbound"]:
        name = "" if role is None else role["name"]
        raise ConfigurationError(
            f"Row-level security applies to the role {name!r}: its backup would fail or be empty.", hint=_ROLE
        )


def _count_rows(connection: psycopg.Connection[dict[str, Any]], server: int) -> Counts:
    row = connection.execute(_COUNTS).fetchone()
    has_restores = connection.execute("SELECT to_regclass('restores') IS NOT NULL AS found").fetchone()
    epoch = None
    if has_restores is not None and has_restores["found"]:
        epoch = connection.execute("SELECT max(epoch) AS epoch FROM restores").fetchone()
    return Counts(**(row or {}), epoch=(epoch or {}).get("epoch") or 0, server=server)


def _run(command: Sequence[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(  # noqa: S603 - our own command
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode:
        raise DatabaseError(
            f"{Path(command[0]).name} failed: {_first_error(done.stderr)}.", hint="Nothing was changed."
        )
    return done.stdout.decode(errors="replace")


def _start(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - our own command
        command, env=environment, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE
    )


def _first_error(output: bytes) -> str:
    lines = [line for line in output.decode(errors="replace").splitlines() if "error" in line.lower()]
    # Only its first error line, because later lines may quote rows.
    return lines[0].rstrip(".") if lines else "unknown reason"


def check_dump(file: Path, *, tools: Tools) -> dict[str, int]:
    """Read a dump to its end, and count the rows of each table. Raises `CorruptDatabaseError` if it is damaged."""
    program = tools.find("pg_restore", server=0)
    rows: dict[str, int] = {}
    table = ""
    with _start([program, "--data-only", "-f", "-", str(file)], stdout=subprocess.PIPE) as reading:
        assert reading.stdout is not None and reading.stderr is not None  # noqa: S101, PT018 - both are pipes
        for line in reading.stdout:
            if table and line == b"\\.\n":
                table = ""
            elif table:
                rows[table] += 1
            elif line.startswith(b"COPY "):
                table = _root(line.split()[1].decode())
                rows.setdefault(table, 0)
        errors = reading.stderr.read()
    if reading.returncode:
        raise CorruptDatabaseError(
            f"Cannot read {file} to its end: {_first_error(errors)}.", hint="Use another backup."
        )
    return rows


def _root(name: str) -> str:
    """Return the table that a partition belongs to, without its schema."""
    return re.sub(r"^(messages|facts)_\d\d$", r"\1", name.rpartition(".")[2].strip('"'))


def _count_others(connection: psycopg.Connection[dict[str, Any]]) -> int:
    row = connection.execute(
        "SELECT count(*) AS count FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    ).fetchone()
    connection.rollback()  # within a transaction, the view stays the same
    return 0 if row is None else row["count"]


def replace_database(dsn: str, file: Path, *, tools: Tools, note: Mapping[str, object]) -> None:
    """Replace the contents of a database with a dump, in one transaction, and mark the restore as unfinished.

    Until the mark is removed, no process opens the database.
    """
    with _connect(dsn) as connection:
        server = connection.info.server_version // 10_000
        _check_alone(connection)
        reader, writer = (tools.find(name, server=server) for name in ("pg_restore", "psql"))
    address, environment = _without_password(dsn)
    with tempfile.TemporaryDirectory() as folder:
        listed, first, then = (Path(folder) / name for name in ("list", "first.sql", "then.sql"))
        entries = _run([reader, "--list", str(file)], environment).splitlines()
        listed.write_text("\n".join(line for line in entries if not _SKIPPED_ENTRIES.search(line)), encoding="utf-8")
        first.write_text(_drop_statements(), encoding="utf-8")
        then.write_text(_mark_unfinished(note), encoding="utf-8")
        reads = [reader, "--no-owner", "--no-privileges", "-L", str(listed), "-f", "-", str(file)]
        writes = [writer, "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1"]
        _pipe(reads, [*writes, "-f", str(first), "-f", "-", "-f", str(then), address], environment)


def _check_alone(connection: psycopg.Connection[dict[str, Any]]) -> None:
    """Raise `DatabaseBusyError` if others use the database. A server that was just stopped closes its connections."""
    until = time.monotonic() + _CLOSING
    while (others := _count_others(connection)) and time.monotonic() < until:
        time.sleep(_CLOSING / 50)
    if others:
        raise DatabaseBusyError(
            f"{others} other connections are open to this database.",
            hint="Stop servers, workers and programs that use it, then restore.",
        )


def _drop_statements() -> str:
    """Return statements that drop the objects of any version of Bethink, and nothing else."""
    objects = _CREATES.findall(schema(Dialect.POSTGRES))
    lines = [f"DROP {kind} IF EXISTS {name} CASCADE;" for kind, name in reversed(objects)]
    return "\n".join(["SET client_min_messages = warning;", *lines, ""])


def _mark_unfinished(note: Mapping[str, object]) -> str:
    text = json.dumps(note).replace("'", "''")
    # pg_restore empties the search path of its session.
    return (
        "SET search_path TO DEFAULT;\n"
        f"INSERT INTO deployment_keys (name, value) VALUES ('{RESTORING}', '{text}')"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value;\n"
    )


def _pipe(reads: list[str], writes: list[str], environment: Mapping[str, str]) -> None:
    with (
        _start(writes, environment, stdin=subprocess.PIPE) as writer,
        _start(reads, stdout=subprocess.PIPE) as reader,
    ):
        assert writer.stdin is not None and reader.stdout is not None and reader.stderr is not None  # noqa: S101, PT018
        try:
            while chunk := reader.stdout.read(_CHUNK):
                writer.stdin.write(chunk)
            errors = reader.stderr.read()
            if reader.wait():
                # Before its input ends, because it would commit the rows it has received.
                writer.kill()
                raise CorruptDatabaseError(
                    f"Cannot read the backup: {_first_error(errors)}.", hint="Nothing was changed."
                )
            writer.stdin.close()
        except BrokenPipeError:
            reader.kill()
        assert writer.stderr is not None  # noqa: S101 - a pipe
        writer_errors = writer.stderr.read()
        if writer.wait():
            hint = "Nothing was changed. If a type is missing, run CREATE EXTENSION vector as a superuser first."
            raise DatabaseError(f"psql failed: {_first_error(writer_errors)}.", hint=hint)
