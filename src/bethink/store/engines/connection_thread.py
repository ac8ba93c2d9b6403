"""Threads that each own one connection and run transactions from a queue, with one thread switch per transaction."""

import math
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

import anyio
from anyio.lowlevel import current_token

from bethink.base.logs import logger
from bethink.errors import DatabaseUnavailableError

_log = logger("store")


class Closable(Protocol):
    """A connection that can be closed."""

    def close(self) -> None:
        """Close it."""
        ...


ConnectionT = TypeVar("ConnectionT", bound=Closable)
T = TypeVar("T")


class _Job(Generic[ConnectionT, T]):
    __slots__ = ("done", "error", "given_up", "result", "taken", "wake", "work")

    def __init__(self, work: "Callable[[ThreadConnection[ConnectionT]], T]") -> None:
        self.work = work
        self.done = anyio.Event()
        native: Any = current_token().native_token
        self.wake: Callable[[Callable[[], object]], object] = (
            getattr(native, "call_soon_threadsafe", None) or native.run_sync_soon
        )
        self.taken = self.given_up = False
        self.result: T | None = None
        self.error: BaseException | None = None


class ThreadConnection(Generic[ConnectionT]):
    """The connection of one thread: opened when first needed, and again after it was lost."""

    def __init__(self, connect: Callable[[], ConnectionT]) -> None:
        self._connect = connect
        self.current: ConnectionT | None = None

    def connection(self) -> ConnectionT:
        """Return the connection of this thread."""
        if self.current is None:
            self.current = self._connect()
        return self.current

    def drop(self) -> None:
        """Close the connection; the next transaction opens a new one."""
        connection, self.current = self.current, None
        if connection is not None:
            connection.close()


class ConnectionThread(Generic[ConnectionT]):
    """Up to `size` threads that share one queue. Work that has begun is never abandoned half-way."""

    def __init__(self, name: str, size: int, connect: Callable[[], ConnectionT]) -> None:
        self._name = name
        self._size = size
        self._connect = connect
        self._queue: SimpleQueue[_Job[ConnectionT, object] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._guard = threading.Lock()
        self._waiting = 0
        self._closed = False
        self._process: int | None = None

    async def run(self, work: Callable[[ThreadConnection[ConnectionT]], T], *, within: float = math.inf) -> T:
        """Run `work` on one of the threads. Canceling does not stop it: it commits or rolls back.

        Raises `DatabaseUnavailableError` if no thread is free `within` this many seconds.
        """
        job = _Job(work)
        with self._guard:
            self._check_usable()
            if self._waiting <= 0 and len(self._threads) < self._size:
                self._start_thread()
            else:
                self._waiting -= 1
            must_wait = self._waiting < 0
            self._queue.put(job)  # pyright: ignore[reportArgumentType]
        try:
            if must_wait and within < math.inf:
                with anyio.move_on_after(within):
                    await job.done.wait()
                self._abandon(job, within)
            await job.done.wait()
        except BaseException:  # canceled: wait for its outcome before raising
            with anyio.CancelScope(shield=True):
                await job.done.wait()
            raise
        if job.error is not None:
            raise job.error
        return job.result  # pyright: ignore[reportReturnType]

    async def close(self) -> None:
        """Finish queued calls, then close every connection."""
        with self._guard:
            self._closed = True
            threads, self._threads = self._threads, []
            for _ in threads:
                self._queue.put(None)
        with anyio.CancelScope(shield=True):
            for thread in threads:
                await anyio.to_thread.run_sync(thread.join)

    def _abandon(self, job: "_Job[ConnectionT, Any]", seconds: float) -> None:
        with self._guard:
            job.given_up = not job.taken
        if job.given_up:
            job.done.set()
            raise DatabaseUnavailableError(f"No connection was free within {seconds:g} seconds.")

    def _check_usable(self) -> None:
        if self._closed:
            raise DatabaseUnavailableError("The memory is closed.", hint="Open it again before using it.")
        if self._process not in (None, os.getpid()):
            raise DatabaseUnavailableError(
                "The memory was opened in the parent process, before a fork.",
                hint="Close it before forking, and open it in the process that uses it.",
            )

    def _start_thread(self) -> None:
        thread = threading.Thread(
            target=self._serve, name=f"bethink-{self._name}-{len(self._threads) + 1}", daemon=True
        )
        thread.start()
        self._threads.append(thread)
        self._process = os.getpid()

    def _serve(self) -> None:
        holder = ThreadConnection(self._connect)
        while (job := self._queue.get()) is not None:
            with self._guard:
                job.taken = not job.given_up
            try:
                if job.taken:
                    job.result = job.work(holder)
            except BaseException as error:  # noqa: BLE001 - raised again in the caller's task
                job.error = error
            with self._guard:
                self._waiting += 1
            with suppress(RuntimeError):  # the caller's event loop may be closed; the work is done anyway
                job.wake(job.done.set)
        try:
            holder.drop()
        except Exception as error:  # noqa: BLE001 - no caller waits for it anymore
            _log.warning("a connection did not close cleanly: %s", type(error).__name__)
