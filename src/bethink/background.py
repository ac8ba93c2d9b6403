"""Lets a worker run once in the background when a root session starts, without making the session wait."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

from bethink.errors import BethinkError, Misconfigured
from bethink.logs import logger

if TYPE_CHECKING:  # loaded when there is a session to start
    from bethink.worker import Worker

_WATCH = 0.05
_log = logger("worker")


class Background:
    """Owns a thread with an event loop of its own, so that it serves blocking and async callers alike."""

    def __init__(self, make: "Callable[[], Worker]") -> None:
        self._make = make
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._told = False

    def begin(self) -> None:
        """Start a run, unless one is going on: that one will find what this one would have found."""
        with self._guard:
            if self._stopping.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._serve, name="bethink-startup", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Wait for a run that is going on."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def end(self) -> None:
        """Stop a run that is going on and hand back what it claimed; it will be done by the next."""
        with self._guard:
            self._stopping.set()
        self.wait()
        self._stopping.clear()

    def _serve(self) -> None:
        try:
            anyio.run(self._run)
        except* Misconfigured as errors:
            # It stays so until somebody mends it: the next session need not say it again.
            if not self._told:
                _log.warning("what is marked waits to be learnt: %s", errors.exceptions[0])
            self._told = True
        except* BethinkError as errors:
            _log.error("the run at the start of a session failed: %s", type(errors.exceptions[0]).__name__)

    async def _run(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, tasks.cancel_scope)
            await self._make().run_once()
            tasks.cancel_scope.cancel()

    async def _watch(self, scope: "anyio.CancelScope") -> None:
        while not self._stopping.is_set():  # noqa: ASYNC110 - it is set by another thread
            await anyio.sleep(_WATCH)
        scope.cancel()
