"""The resident process: one for each person, started by the first hook that needs it, ending by itself."""

import hmac
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal

from bethink.agents.capture import Capture
from bethink.agents.context import start_context
from bethink.agents.folder import AgentFolder, free_port
from bethink.agents.payloads import END, START, STOP, HookEvent, event_from, read_payload
from bethink.api.connect import Memory
from bethink.base.logs import logger
from bethink.errors import BethinkError
from bethink.model.access import Caller, Door, caller

IDLE = 7_200.0
"""Seconds without a hook after which the process ends, if no session is open."""
_OPEN = 12 * 3_600.0
"""Seconds after which a session without a hook no longer counts as open."""
_LATEST = 3.0
"""Seconds that a session's start waits for what was said before to be stored and learnt from."""
_BYTES = 16_000_000
_HOSTS = ("localhost", "127.0.0.1")
_log = logger("agents")


class Resident:
    """Takes the events of hooks: notes each in the spool, answers at once, and stores what they point to afterwards."""

    def __init__(self, memory: Memory, folder: AgentFolder, *, learns_freely: bool = False) -> None:
        self._memory = memory
        self._folder = folder
        self._capture = Capture(memory, folder, learns_freely=learns_freely)
        self._wake = anyio.Event()
        self._working = anyio.Lock()
        self._rested = anyio.Event()
        self._begun: HookEvent | None = None
        self._looks_back = False
        self._to_learn: set[str] = set()
        self._last = time.monotonic()
        self._heard: dict[tuple[str, str], float] = {}

    async def hook(self, agent: str, event: str, body: bytes) -> str:
        """Return the answer to a hook: JSON for a session's start where there is something to show, else nothing."""
        caller.set(Caller(door=Door.HOOK))  # each hook has a task of its own
        self._last = time.monotonic()
        told = read_payload(agent, event, body)
        if told is None:
            return ""
        self._hear(told)
        if told.transcript is None and (told.prompt or told.answer):
            async with self._working:  # its texts are nowhere else
                await self._take(told)
        if told.event != START:
            self._folder.note(told.note())
            self._wake.set()
            return ""
        return await self._start(told)

    async def _start(self, told: HookEvent) -> str:
        self._rested, self._begun, self._looks_back = anyio.Event(), told, True
        self._wake.set()
        with anyio.move_on_after(_LATEST):
            await self._rested.wait()
        async with self._working:
            await self._take(told)
        text = await start_context(self._memory, self._capture.scope(told.cwd), agent=told.agent, session=told.session)
        if not text:
            return ""
        return json.dumps({"hookSpecificOutput": {"hookEventName": START, "additionalContext": text}})

    def _hear(self, told: HookEvent) -> None:
        key = (told.agent, told.session)
        self._heard.pop(key, None)
        if told.event != END:
            self._heard[key] = time.monotonic()

    @property
    def idle_for(self) -> float:
        """Seconds since the last hook; 0 while a session is open."""
        now = time.monotonic()
        return 0.0 if any(now - each < _OPEN for each in self._heard.values()) else now - self._last

    async def run(self) -> None:
        """Store what earlier processes left, then what hooks point to, until cancelled."""
        caller.set(Caller(door=Door.HOOK))
        self._looks_back = True
        while True:
            self._wake = anyio.Event()
            try:
                await self._pass()
            except Exception as error:  # noqa: BLE001 - it serves every session, so no single one may end it
                _log.warning("storing what hooks told failed: %s", type(error).__name__)
            if not self._wake.is_set():
                self._rested.set()
            with anyio.move_on_after(60):  # a note that failed is tried again
                await self._wake.wait()

    async def _pass(self) -> None:
        await self.work_off()
        if self._looks_back:
            begun, self._begun, self._looks_back = self._begun, None, False
            await self._look_back(begun)
        while self._to_learn:
            await self._capture.learn(self._to_learn.pop())

    async def work_off(self) -> None:
        """Store what the notes of the spool point to. A note goes when that is done."""
        for path, note in self._folder.notes():
            told = event_from(note.get("agent", ""), note.get("event", ""), note)
            async with self._working:
                if told is None or await self._take(told):
                    path.unlink(missing_ok=True)

    async def _look_back(self, begun: HookEvent | None) -> None:
        """Store what no hook told of: what a crash left, and sessions while hooks were off."""
        since = self._folder.settings.get("since")
        async with self._working:
            await self._capture.catch_up()
            if begun is not None and isinstance(since, (int, float)):
                await self._capture.missed(begun, since=since)

    async def _take(self, told: HookEvent) -> bool:
        """Store what an event points to; return False if that is to be tried again."""
        try:
            state = await self._capture.take(told)
        except (BethinkError, OSError) as error:
            _log.warning("a hook is tried again: %s", type(error).__name__)
            return False
        except Exception as error:  # noqa: BLE001 - one odd session must not keep all others from being stored
            _log.warning("a hook was passed over: %s", type(error).__name__)
            return True
        if state.space is not None and told.event in (STOP, END):
            self._to_learn.add(state.space)
        return True


class _Handler(BaseHTTPRequestHandler):
    """POST /hooks/AGENT/EVENT. It answers 200 to whatever a hook sends: an agent must not stumble over memory."""

    timeout = 10
    server_version, sys_version = "bethink", ""

    def do_POST(self) -> None:
        server: Any = self.server
        size = self.headers.get("content-length", "")
        if not server.admits(self.headers):
            self._answer(401, "")
            return
        body = self.rfile.read(int(size)) if size.isdigit() and int(size) <= _BYTES else b""
        parts = self.path.strip("/").split("/")
        answer = ""
        if len(parts) == 3 and parts[0] == "hooks":
            try:
                answer = server.portal.call(server.resident.hook, parts[1], parts[2], body)
            except Exception as error:  # noqa: BLE001 - see above
                _log.warning("a hook failed: %s", type(error).__name__)
        self._answer(200, answer)

    def do_GET(self) -> None:
        server: Any = self.server
        admitted = server.admits(self.headers)
        self._answer(
            200 if admitted else 401,
            json.dumps({"pid": os.getpid(), "version": version("bethink")}) if admitted else "",
        )

    def _answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: the path and the headers of a request are not for a log."""

    def address_string(self) -> str:
        return ""


class _Server:
    portal: BlockingPortal
    resident: Resident
    token = ""
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a hook that did not wait for its answer: it has left a note of its own."""

    def admits(self, headers: Any) -> bool:
        """Return whether a request may be answered: by the token, and not from a web page."""
        if headers.get("origin") is not None or headers.get("host", "").partition(":")[0] not in _HOSTS:
            return False
        given = headers.get("authorization", "").removeprefix("Bearer ")
        return not self.token or hmac.compare_digest(given.encode(), self.token.encode())


class _Socket(_Server, ThreadingMixIn, UnixStreamServer):
    """Listens on a socket file, which only its owner can use."""


class _Loopback(_Server, ThreadingHTTPServer):
    """Listens on a port of this machine, for hooks that are HTTP requests."""

    allow_reuse_address = True


def serve(
    memory: Memory,
    folder: AgentFolder,
    *,
    learns_freely: bool,
    idle: float = IDLE,
    ready: Callable[[], None] | None = None,
) -> bool:
    """Serve hooks until there were none for a while. Returns False at once if another process already does."""
    folder.make()
    with (folder.path / "lock").open("a+") as lock:
        if not _locked(lock):
            return False
        anyio.run(partial(_serve, memory, folder, learns_freely=learns_freely, idle=idle, ready=ready))
    return True


async def _serve(
    memory: Memory, folder: AgentFolder, *, learns_freely: bool, idle: float, ready: Callable[[], None] | None
) -> None:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(memory)
        portal = await stack.enter_async_context(BlockingPortal())
        resident = Resident(memory, folder, learns_freely=learns_freely)
        servers = _listening(folder)
        for server in servers:
            server.portal, server.resident = portal, resident
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.5}, daemon=True).start()
        try:
            if ready is not None:
                ready()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(resident.run)
                while resident.idle_for < idle:  # noqa: ASYNC110 - nothing happens when a process becomes idle
                    await anyio.sleep(min(5.0, idle))
                tasks.cancel_scope.cancel()
        finally:
            for server in servers:
                await anyio.to_thread.run_sync(server.shutdown)
                server.server_close()
            (folder.path / "socket").unlink(missing_ok=True)


def _listening(folder: AgentFolder) -> list[Any]:
    servers: list[Any] = []
    with suppress(OSError):  # the port was taken: the socket still serves, and doctor says so
        loopback = _Loopback(("127.0.0.1", folder.port or free_port()), _Handler)
        loopback.token = folder.token or secrets.token_urlsafe(32)
        folder.write(folder.path / "port", str(loopback.server_port))
        folder.write(folder.path / "token", loopback.token)
        servers.append(loopback)
    # The socket comes last: where it is, everything listens.
    if hasattr(socket, "AF_UNIX"):
        os.chdir(folder.path)  # the path of a socket may have about 100 characters
        Path("socket").unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            servers.append(_Socket("socket", _Handler))
        finally:
            os.umask(before)
    return servers


def _locked(lock: Any) -> bool:
    try:
        import fcntl  # noqa: PLC0415 - Windows has another
    except ImportError:
        import msvcrt  # noqa: PLC0415

        locks: Any = msvcrt
        try:
            locks.locking(lock.fileno(), locks.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
