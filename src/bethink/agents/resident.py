"""The resident process: one per user, started by the first hook, and stopped when idle."""

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
from bethink.agents.context import AgentContext
from bethink.agents.copies import Copies
from bethink.agents.folder import AgentFolder, free_port
from bethink.agents.payloads import END, PROMPT, START, STOP, HookEvent, event_from, read_payload
from bethink.api.connect import Memory
from bethink.base.logs import logger
from bethink.errors import BethinkError
from bethink.model.access import Caller, Interface, caller

IDLE = 7_200.0
"""Seconds without a hook after which the process stops, if no session is open."""
_SESSION_TIMEOUT = 12 * 3_600.0
"""Seconds after which a session without a hook no longer counts as open."""
_START_TIMEOUT = 3.0
"""Maximum seconds that a session start waits for earlier messages to be stored and learned from."""
_PROMPT_TIMEOUT = 0.7
"""Maximum seconds that a prompt waits for matches."""
_BYTES = 16_000_000
_HOSTS = ("localhost", "127.0.0.1")
_log = logger("agents")


class Resident:
    """Handles hook events: writes each to the spool, answers immediately, and stores the transcripts afterward."""

    def __init__(self, memory: Memory, folder: AgentFolder, *, learns_freely: bool = False) -> None:
        self._memory = memory
        self._folder = folder
        self._capture = Capture(memory, folder, learns_freely=learns_freely)
        self._context = AgentContext(memory)
        self._copies = Copies(memory, folder, self._context)
        self._wake = anyio.Event()
        self._working = anyio.Lock()
        self._caught_up = anyio.Event()
        self._start_event: HookEvent | None = None
        self._should_look_back = False
        self._to_learn: set[str] = set()
        self._last = time.monotonic()
        self._last_seen: dict[tuple[str, str], float] = {}

    async def hook(self, agent: str, event: str, body: bytes) -> str:
        """Return the answer to a hook: JSON with context for a session start or a prompt, or an empty string."""
        caller.set(Caller(interface=Interface.HOOK))  # each hook runs in its own task
        self._last = time.monotonic()
        hook_event = read_payload(agent, event, body)
        if hook_event is None:
            return ""
        self._track_session(hook_event)
        if hook_event.transcript is None and (hook_event.prompt or hook_event.answer):
            async with self._working:  # only the payload has its texts
                await self._handle_event(hook_event)
        if hook_event.event != START:
            self._folder.note(hook_event.note())
            try:
                return await self._prompt(hook_event) if hook_event.event == PROMPT else ""
            finally:
                self._wake.set()  # the person waits for the answer, but not for the transcript
        return await self._start(hook_event)

    async def _prompt(self, event: HookEvent) -> str:
        with anyio.move_on_after(_PROMPT_TIMEOUT):
            scope = self._capture.scope(event.cwd)
            return await self._context.prompt(scope, event.prompt, agent=event.agent, session=event.session)
        return ""

    async def _start(self, event: HookEvent) -> str:
        self._caught_up, self._start_event, self._should_look_back = anyio.Event(), event, True
        self._wake.set()
        with anyio.move_on_after(_START_TIMEOUT):
            await self._caught_up.wait()
        async with self._working:
            await self._handle_event(event)
        scope = self._capture.scope(event.cwd)
        answer = await self._context.start(scope, agent=event.agent, session=event.session)
        self._copies.add(event.cwd, scope)
        return answer

    def _track_session(self, event: HookEvent) -> None:
        key = (event.agent, event.session)
        self._last_seen.pop(key, None)
        if event.event != END:
            self._last_seen[key] = time.monotonic()

    @property
    def idle_for(self) -> float:
        """Seconds since the last hook; 0 while a session is open."""
        now = time.monotonic()
        return (
            0.0 if any(now - seen_at < _SESSION_TIMEOUT for seen_at in self._last_seen.values()) else now - self._last
        )

    async def run(self) -> None:
        """Store leftovers of earlier processes, then new transcript lines, until canceled."""
        caller.set(Caller(interface=Interface.HOOK))
        self._should_look_back = True
        while True:
            self._wake = anyio.Event()
            try:
                await self._pass()
            except Exception as error:  # noqa: BLE001 - it serves every session, so no single one may end it
                _log.warning("Storing hook events failed: %s", type(error).__name__)
            if not self._wake.is_set():
                self._caught_up.set()
            with anyio.move_on_after(60):  # retry failed notes
                await self._wake.wait()

    async def _pass(self) -> None:
        await self.process_spool()
        if self._should_look_back:
            start_event, self._start_event, self._should_look_back = self._start_event, None, False
            await self._import_missed(start_event)
        while self._to_learn:
            await self._capture.learn(self._to_learn.pop())
            self._copies.is_outdated = True
        await self._copies.write()

    async def process_spool(self) -> None:
        """Store the transcripts that spool notes point to. Finished notes are deleted."""
        for path, note in self._folder.notes():
            event = event_from(note.get("agent", ""), note.get("event", ""), note)
            if event is not None and event.copied:
                self._context.mark_started(event.agent, event.session)
                self._copies.add(event.cwd, self._capture.scope(event.cwd))
            async with self._working:
                if event is None or await self._handle_event(event):
                    path.unlink(missing_ok=True)

    async def _import_missed(self, start_event: HookEvent | None) -> None:
        """Store lines without a hook event, after a crash or while hooks were off."""
        since = self._folder.settings.get("since")
        async with self._working:
            await self._capture.catch_up()
            if start_event is not None and isinstance(since, (int, float)):
                await self._capture.import_unseen_sessions(start_event, since=since)

    async def _handle_event(self, event: HookEvent) -> bool:
        """Store the transcript of an event. Returns False if it should be retried."""
        try:
            state = await self._capture.handle_event(event)
        except (BethinkError, OSError) as error:
            _log.warning("A hook event will be retried: %s", type(error).__name__)
            return False
        except Exception as error:  # noqa: BLE001 - one bad session must not block all others
            _log.warning("A hook event was skipped: %s", type(error).__name__)
            return True
        if state.space is not None and event.event in (STOP, END):
            self._to_learn.add(state.space)
        return True


class _Handler(BaseHTTPRequestHandler):
    """POST /hooks/AGENT/EVENT. Always answers 200 to authorized hooks, so that memory never disturbs an agent."""

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
                _log.warning("A hook failed: %s", type(error).__name__)
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
        """Log nothing: request paths and headers are private."""

    def address_string(self) -> str:
        return ""


class _Server:
    portal: BlockingPortal
    resident: Resident
    token = ""
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore hooks that did not wait for the answer: they left a note in the spool."""

    def admits(self, headers: Any) -> bool:
        """Return whether a request has the token and does not come from a web page."""
        if headers.get("origin") is not None or headers.get("host", "").partition(":")[0] not in _HOSTS:
            return False
        token = headers.get("authorization", "").removeprefix("Bearer ")
        return not self.token or hmac.compare_digest(token.encode(), self.token.encode())


class _Socket(_Server, ThreadingMixIn, UnixStreamServer):
    """Listens on a socket file that only its owner can use."""


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
    """Serve hooks until idle. Returns False immediately if another process already serves them."""
    folder.make()
    with (folder.path / "lock").open("a+") as lock:
        if not _try_lock(lock):
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
        servers = _start_servers(folder)
        for server in servers:
            server.portal, server.resident = portal, resident
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.5}, daemon=True).start()
        try:
            if ready is not None:
                ready()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(resident.run)
                while resident.idle_for < idle:  # noqa: ASYNC110 - there is no event for becoming idle
                    await anyio.sleep(min(5.0, idle))
                tasks.cancel_scope.cancel()
        finally:
            for server in servers:
                await anyio.to_thread.run_sync(server.shutdown)
                server.server_close()
            (folder.path / "socket").unlink(missing_ok=True)


def _start_servers(folder: AgentFolder) -> list[Any]:
    servers: list[Any] = []
    with suppress(OSError):  # the port is in use: the socket still works, and doctor reports it
        loopback = _Loopback(("127.0.0.1", folder.port or free_port()), _Handler)
        loopback.token = folder.token or secrets.token_urlsafe(32)
        folder.write(folder.path / "port", str(loopback.server_port))
        folder.write(folder.path / "token", loopback.token)
        servers.append(loopback)
    # The socket comes last: when it exists, all servers listen.
    if hasattr(socket, "AF_UNIX"):
        os.chdir(folder.path)  # socket paths are limited to about 100 characters
        Path("socket").unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            servers.append(_Socket("socket", _Handler))
        finally:
            os.umask(before)
    return servers


def _try_lock(lock: Any) -> bool:
    try:
        import fcntl  # noqa: PLC0415 - not on Windows
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
