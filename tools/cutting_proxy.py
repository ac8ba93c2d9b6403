"""A loopback proxy for PostgreSQL that cuts connections before a commit, or between it and its answer."""

import contextlib
import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Generator
from enum import Enum

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_COMMIT = b"Q\x00\x00\x00\x0bCOMMIT\x00"
_COMMITTED = b"COMMIT\x00"


class Cut(Enum):
    """Treatment of a commit by the proxy."""

    PASS = "it is answered"
    BEFORE = "the server never sees it"
    AFTER = "the server carries it out, and the answer is lost"
    LAST = "as AFTER, and from then on nobody can connect"


class CuttingProxy:
    """Forwards bytes in both directions. `cuts` lists the treatment of the next commits; later ones pass."""

    def __init__(self, dsn: str) -> None:
        self._upstream = conninfo_to_dict(dsn)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self._servers: list[socket.socket] = []
        self.cuts: deque[Cut] = deque()
        port = self._listener.getsockname()[1]
        self.dsn = make_conninfo(dsn, host="127.0.0.1", port=port, sslmode="disable", gssencmode="disable")
        self._acceptor = threading.Thread(target=self._accept)
        self._acceptor.start()

    def refuse(self) -> None:
        """Stop accepting connections."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)

    def cut_all(self) -> None:
        """Reset every connection, and return when all are closed."""
        threads, self._threads = self._threads, []
        servers, self._servers = self._servers, []
        for server in servers:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()

    def close(self) -> None:
        """Close the proxy and all connections."""
        self.refuse()
        self._acceptor.join()
        self.cut_all()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = self._connect()
            except OSError:  # no server: the client is disconnected immediately
                client.close()
                continue
            thread = threading.Thread(target=self._relay, args=(client, server))
            self._servers.append(server)
            self._threads.append(thread)
            thread.start()

    def _connect(self) -> socket.socket:
        host, port = str(self._upstream.get("host", "")), int(str(self._upstream.get("port") or 5432))
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server

    def _relay(self, client: socket.socket, server: socket.socket) -> None:
        with client, server, contextlib.suppress(OSError):
            # Closed with a reset, as by a network that lost its state.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            while True:
                ready, _, _ = select.select([client, server], [], [])
                if server in ready and not _forward(server, client):
                    return
                if client in ready and not self._forward_request(client, server):
                    return

    def _forward_request(self, client: socket.socket, server: socket.socket) -> bool:
        data = client.recv(65536)
        cut = self.cuts.popleft() if data == _COMMIT and self.cuts else Cut.PASS
        if not data or cut is Cut.BEFORE:
            return False
        server.sendall(data)
        if cut is not Cut.PASS:
            answer = b""
            while _COMMITTED not in answer:
                answer += server.recv(65536)
        if cut is Cut.LAST:
            self.refuse()
        return cut is Cut.PASS


def _forward(source: socket.socket, target: socket.socket) -> bool:
    data = source.recv(65536)
    target.sendall(data)
    return bool(data)


@contextlib.contextmanager
def cutting_proxy(dsn: str) -> Generator[CuttingProxy]:
    """Start a proxy to the server of a DSN."""
    proxy = CuttingProxy(dsn)
    try:
        yield proxy
    finally:
        proxy.close()
