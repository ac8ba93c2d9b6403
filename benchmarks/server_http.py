"""A light crowd of HTTP clients: one keep-alive connection each, and little between socket and clock."""

import asyncio  # noqa: TID251 - a load generator has the sockets to itself; every layer would be measured, too
import json
import time
from random import Random
from urllib.parse import urlsplit

from benchmarks.server_bare import Told
from benchmarks.server_world import World, question, sentence

_LINE = b"\r\n"
_END = b"\r\n\r\n"


class _Connection(asyncio.Protocol):
    """Sends one request at a time and wakes who waits for its answer."""

    def __init__(self) -> None:
        self._buffer = b""
        self._wanted = -1
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # pyright: ignore[reportAttributeAccessIssue]

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionError("closed"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._wanted < 0:
            end = self._buffer.find(_END)
            if end < 0:
                return
            head = self._buffer[:end].lower()
            at = head.find(b"content-length:")
            self._wanted = end + len(_END) + int(head[at + 15 : (head + _LINE).find(_LINE, at)])
        if len(self._buffer) >= self._wanted and self._answer is not None:
            self._answer.set_result((int(self._buffer[9:12]), self._buffer))

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Send a request and return the status and all of its answer."""
        assert self.transport is not None
        self._buffer, self._wanted = b"", -1
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await self._answer


class Crowd:
    """So many clients of one server, remembering and recalling in turn."""

    def __init__(self, url: str, key: str, world: World, clients: int) -> None:
        parts = urlsplit(url)
        self._host, self._port = str(parts.hostname), int(parts.port or 80)
        self._key = key
        self._world = world
        self._clients = clients

    def run(self, seconds: float, number: int) -> Told:
        """Ask until the time is over, and tell what became of it."""
        began = time.process_time()
        told = asyncio.run(self._all(seconds, number))
        return Told(took=told.took, errors=told.errors, cpu=time.process_time() - began)

    async def _all(self, seconds: float, number: int) -> Told:
        told = Told()
        until = time.perf_counter() + seconds
        await asyncio.gather(*(self._client(each, number, until, told) for each in range(self._clients)))
        return told

    async def _client(self, client: int, number: int, until: float, told: Told) -> None:
        loop = asyncio.get_running_loop()
        transport, connection = await loop.create_connection(_Connection, self._host, self._port)
        dice = self._world.dice("http", number, client)
        spaces = self._world.names()
        turn = client
        try:
            while time.perf_counter() < until:
                turn += 1
                operation = "remember" if turn % 2 else "recall"
                request = self._request(operation, dice.choice(spaces), dice)
                started = time.perf_counter()
                status, answer = await connection.ask(request)
                took = time.perf_counter() - started
                if status in {200, 201}:
                    told.took[operation].append(took)
                else:
                    told.errors.append(f"{operation}: {status} {answer[-200:]!r}")
        except OSError as error:
            told.errors.append(f"the connection of client {client} was lost: {error}")
        finally:
            transport.close()

    def _request(self, operation: str, space: str, dice: Random) -> bytes:
        if operation == "remember":
            key = f"idempotency-key: http-{dice.getrandbits(64):x}\r\n"
            body = json.dumps({"messages": sentence(dice)}).encode()
        else:
            key = ""
            body = json.dumps({"question": question(dice)}).encode()
        head = (
            f"POST /v1/spaces/{space}/{operation} HTTP/1.1\r\nhost: {self._host}\r\n"
            f"authorization: Bearer {self._key}\r\ncontent-type: application/json\r\n"
            f"{key}content-length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body
