"""What the blocking API stands on: an event loop on a thread of its own, and the handles that run there."""

import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from functools import partial
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar, cast

import anyio
from anyio.from_thread import BlockingPortal

from bethink.errors import Unavailable

T = TypeVar("T")
InnerT = TypeVar("InnerT")


class Loop:
    """A private event loop on a thread of its own. Start it after a fork, never before."""

    def __init__(self) -> None:
        self._portal: BlockingPortal | None = None
        self._process = 0

    def start(self, opening: Callable[[], Awaitable[None]]) -> None:
        """Start the thread and run `opening` on it. A loop that runs already is left alone.

        Raises:
            Unavailable: if no event loop can be made.
        """
        if self._portal is not None and self._process == os.getpid():
            return
        ready = threading.Event()
        # A daemon: a memory that was never closed must not keep the interpreter from ending.
        self._thread = threading.Thread(target=self._live, args=(ready,), name="bethink-loop", daemon=True)
        self._thread.start()
        ready.wait()
        if self._portal is None:
            raise Unavailable("the event loop could not be started.", hint="Is the limit of open files reached?")
        try:
            self.run(opening)
        except BaseException:
            self._end()
            raise

    def stop(self, closing: Callable[[], Awaitable[None]]) -> None:
        """Run `closing` and end the thread. A loop that does not run is left alone."""
        if self._process != os.getpid():
            self._portal = None  # the loop stayed behind in the process that opened it
        if self._portal is not None:
            try:
                self.run(closing)
            finally:
                self._end()

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run a call to its end and return its result.

        Raises:
            Unavailable: if the loop does not run, or runs in another process.
        """
        return self._open_portal().call(call)

    def context(self, inner: AbstractAsyncContextManager[T]) -> AbstractContextManager[T]:
        """Return a context manager that enters and leaves an async one on the loop.

        Raises:
            Unavailable: as `run` does.
        """
        return self._open_portal().wrap_async_context_manager(inner)

    def _open_portal(self) -> BlockingPortal:
        if self._portal is None:
            raise Unavailable("the memory is not open.", hint="Use it inside a with block.")
        if self._process != os.getpid():
            raise Unavailable("the memory was opened before a fork.", hint="Open it in the process that uses it.")
        return self._portal

    def _live(self, ready: threading.Event) -> None:
        try:
            anyio.run(self._serve, ready)
        finally:
            ready.set()

    async def _serve(self, ready: threading.Event) -> None:
        async with BlockingPortal() as portal:
            self._portal, self._process = portal, os.getpid()
            ready.set()
            await portal.sleep_until_stopped()

    def _end(self) -> None:
        portal, self._portal = self._portal, None
        if portal is not None:
            portal.call(partial(portal.stop, cancel_remaining=True))  # what is still open has lost its database
            self._thread.join()


class Blocking(Generic[InnerT]):
    """A blocking handle: it runs the methods of an async one on a loop."""

    def __init__(self, inner: InnerT, loop: Loop) -> None:
        self._inner = inner
        self._loop = loop

    def _run(self, call: Callable[[], Awaitable[T]]) -> T:
        return self._loop.run(call)

    def _each(self, found: AsyncIterator[T]) -> Iterator[T]:
        while True:
            try:
                yield self._loop.run(found.__anext__)
            except StopAsyncIteration:
                return

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blocking) and self._inner == cast("Blocking[object]", other)._inner

    def __hash__(self) -> int:
        return hash(self._inner)

    def __repr__(self) -> str:
        return repr(self._inner)


ContextT = TypeVar("ContextT", bound=AbstractAsyncContextManager[object])


class BlockingContext(Blocking[ContextT]):
    """A blocking handle that is used in a `with` block."""

    def __enter__(self) -> Self:
        """Enter the async handle."""
        self._context = self._loop.context(self._inner)
        self._context.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the async handle."""
        self._context.__exit__(kind, error, trace)


class Openable(Protocol):
    """What is opened before it is used, and closed after."""

    async def open(self) -> None:
        """Open it."""

    async def close(self) -> None:
        """Close it."""


OpenableT = TypeVar("OpenableT", bound=Openable)


class BlockingOwner(Blocking[OpenableT]):
    """A blocking handle that has the loop for itself, from `open` to `close`."""

    def open(self) -> None:
        """Start the thread and open what it serves. Entering a `with` block does this."""
        self._loop.start(self._inner.open)

    def close(self) -> None:
        """Close what the thread serves and end it. Leaving a `with` block does this."""
        self._loop.stop(self._inner.close)

    def __enter__(self) -> Self:
        """Open it."""
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()
