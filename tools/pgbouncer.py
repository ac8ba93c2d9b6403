"""Run a private PgBouncer in transaction mode in front of a PostgreSQL server, for tests and faults."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from psycopg.conninfo import conninfo_to_dict

from tools.postgres import APP_ROLE, drop_root

_PORT = 6432
_START = 20.0


def program() -> str | None:
    """Return the path of PgBouncer, or None. Debian installs it in a folder that is only on root's path."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


@dataclass(slots=True)
class Pooler:
    """A PgBouncer that can be stopped and restarted while clients use it."""

    root: Path
    as_user: str | None
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Start the pooler and wait until it accepts connections."""
        command = [program() or "pgbouncer", str(self.root / "pgbouncer.ini")]
        with (self.root / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, user=self.as_user, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        until = time.monotonic() + _START
        while not (self.root / f".s.PGSQL.{_PORT}").exists():
            if self.process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"pgbouncer did not start: {(self.root / 'log').read_text()}")
            time.sleep(0.01)

    def stop(self) -> None:
        """Kill the pooler. All its connections are lost."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None
        for file in (self.root / f".s.PGSQL.{_PORT}", self.root / f".s.PGSQL.{_PORT}.lock", self.root / "pid"):
            file.unlink(missing_ok=True)

    def through(self, dsn: str) -> str:
        """Return the address of the same database and role through this pooler."""
        parts = urlsplit(dsn)
        user = parts.netloc.rpartition("@")[0].partition(":")[0]
        parameters = {name: value for name, value in parse_qsl(parts.query) if name not in ("host", "port")}
        query = urlencode({**parameters, "host": str(self.root), "port": str(_PORT)})
        return urlunsplit(parts._replace(netloc=f"{user}@", query=query))


@contextlib.contextmanager
def pooling(dsn: str, *, servers: int = 4, settings: str = "") -> Generator[Pooler]:
    """Start a pooler in front of a server, with `servers` connections for each database."""
    root = Path(tempfile.mkdtemp(prefix="bethink-pgb-"))
    connection = conninfo_to_dict(dsn)
    host, port = connection.get("host") or "127.0.0.1", connection.get("port") or 5432
    (root / "users").write_text(f'"{APP_ROLE}" ""\n"postgres" ""\n')
    (root / "pgbouncer.ini").write_text(
        f"""[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr =
listen_port = {_PORT}
unix_socket_dir = {root}
auth_type = trust
auth_file = {root / "users"}
pool_mode = transaction
default_pool_size = {servers}
max_client_conn = 500
server_lifetime = 3600
{settings}
"""
    )
    pooler = Pooler(root, drop_root(root))
    try:
        pooler.start()
        yield pooler
    finally:
        pooler.stop()
        shutil.rmtree(root, ignore_errors=True)
