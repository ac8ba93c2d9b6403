"""Runs a worker once in the background when a root session starts, without making the session wait."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

from bethink.errors import BethinkError, Misconfigured
from bethink.logs import logger

if TYPE_CHECKING:  # loaded when the first session starts
    from bethink.worker import Worker

_WATCH = 0.05
_log = logger("worker")


class Background:
    """Owns a thread with its own event loop, so that it serves blocking and async callers alike."""

    def __init__(self, make: "Callable[[], Worker]") -> None:
        self._make = make
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._told = False

    def begin(self) -> None:
        """Start a run, unless one is in progress: that one will find the same work."""
        with self._guard:
            if self._stopping.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._serve, name="bethink-startup", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Wait for a run in progress."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def end(self) -> None:
        """Stop a run in progress and release its claims; the next run does the work."""
        with self._guard:
            self._stopping.set()
        self.wait()
        self._stopping.clear()

    def _serve(self) -> None:
        try:
            anyio.run(self._run)
        except* Misconfigured as errors:
            # It stays this way until someone fixes it: do not log it again for the next session.
            if not self._told:
                _log.warning("marked sessions are not learnt from: %s", errors.exceptions[0])
            self._told = True
        except* BethinkError as errors:
            _log.error("learning at the start of a session failed: %s", type(errors.exceptions[0]).__name__)

    async def _run(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, tasks.cancel_scope)
            await self._make().run_once()
            tasks.cancel_scope.cancel()

    async def _watch(self, scope: "anyio.CancelScope") -> None:
        while not self._stopping.is_set():  # noqa: ASYNC110 - it is set by another thread
            await anyio.sleep(_WATCH)
        scope.cancel()
