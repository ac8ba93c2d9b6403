"""Base of the blocking API: an event loop on its own thread, and the handles that use it."""

import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from functools import partial
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar, cast, overload

import anyio
from anyio.from_thread import BlockingPortal

from bethink.errors import DatabaseUnavailableError
from bethink.model.paging import Page as AsyncPage

T = TypeVar("T")
InnerT = TypeVar("InnerT")


class Loop:
    """A private event loop on its own thread. Start it after a fork, never before."""

    def __init__(self) -> None:
        self._portal: BlockingPortal | None = None
        self._process = 0

    def start(self, opening: Callable[[], Awaitable[None]]) -> None:
        """Start the thread and run `opening` on it. Do nothing if the loop is already running.

        Raises:
            DatabaseUnavailableError: if the event loop cannot be started.
        """
        if self._portal is not None and self._process == os.getpid():
            return
        ready = threading.Event()
        # A daemon, so that a memory that was not closed does not keep the interpreter running.
        self._thread = threading.Thread(target=self._run_thread, args=(ready,), name="bethink-loop", daemon=True)
        self._thread.start()
        ready.wait()
        if self._portal is None:
            raise DatabaseUnavailableError(
                "The event loop could not be started.", hint="Check the open-file limit (`ulimit -n`)."
            )
        try:
            self.run(opening)
        except BaseException:
            self._end()
            raise

    def stop(self, closing: Callable[[], Awaitable[None]]) -> None:
        """Run `closing` and stop the thread. Do nothing if the loop is not running."""
        if self._process != os.getpid():
            self._portal = None  # the loop belongs to the parent process
        if self._portal is not None:
            try:
                self.run(closing)
            finally:
                self._end()

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run a call and return its result.

        Raises:
            DatabaseUnavailableError: if the loop is not running in this process.
        """
        return self._open_portal().call(call)

    def context(self, inner: AbstractAsyncContextManager[T]) -> AbstractContextManager[T]:
        """Return a context manager that enters and leaves an async one on the loop.

        Raises:
            DatabaseUnavailableError: like `run`.
        """
        return self._open_portal().wrap_async_context_manager(inner)

    def _open_portal(self) -> BlockingPortal:
        if self._portal is None:
            raise DatabaseUnavailableError("The memory is not open.", hint="Use it inside a `with` block.")
        if self._process != os.getpid():
            raise DatabaseUnavailableError("The memory was opened before a fork.", hint="Open it in this process.")
        return self._portal

    def _run_thread(self, ready: threading.Event) -> None:
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
            portal.call(partial(portal.stop, cancel_remaining=True))  # the database is already closed
            self._thread.join()


class Blocking(Generic[InnerT]):
    """A blocking handle that runs the methods of an async handle on a loop."""

    def __init__(self, inner: InnerT, loop: Loop) -> None:
        self._inner = inner
        self._loop = loop

    def _run(self, call: Callable[[], Awaitable[T]]) -> T:
        return self._loop.run(call)

    def _iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        return iterate(self._loop, items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blocking) and self._inner == cast("Blocking[object]", other)._inner

    def __hash__(self) -> int:
        return hash(self._inner)

    def __repr__(self) -> str:
        return repr(self._inner)


class Page(Sequence[T]):
    """A page of a list. Loop over it for its items, or over `iterate()` for those of all pages from this one on."""

    def __init__(self, inner: AsyncPage[T], loop: Loop) -> None:
        self._inner = inner
        self._loop = loop

    @property
    def items(self) -> tuple[T, ...]:
        """The items of this page."""
        return self._inner.items

    @property
    def next(self) -> str:
        """Cursor of the next page: pass it as `after`. Empty on the last page."""
        return self._inner.next

    def iterate(self) -> Iterator[T]:
        """Yield the items of this page and of every page after it."""
        return iterate(self._loop, self._inner.iterate())

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._inner[index]

    def __len__(self) -> int:
        return len(self._inner)

    def __eq__(self, other: object) -> bool:
        return self._inner == (cast("Page[object]", other)._inner if isinstance(other, Page) else other)

    def __hash__(self) -> int:
        return hash(self._inner)

    def __repr__(self) -> str:
        return repr(self._inner)


def iterate(loop: Loop, items: AsyncIterator[T]) -> Iterator[T]:
    """Yield the items of an async iterator."""
    while True:
        try:
            yield loop.run(items.__anext__)
        except StopAsyncIteration:
            return


ContextT = TypeVar("ContextT", bound=AbstractAsyncContextManager[object])


class BlockingContext(Blocking[ContextT]):
    """A blocking handle for a `with` block."""

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
    """An object that is opened before use and closed afterward."""

    async def open(self) -> None:
        """Open it."""

    async def close(self) -> None:
        """Close it."""


OpenableT = TypeVar("OpenableT", bound=Openable)


class BlockingOwner(Blocking[OpenableT]):
    """A blocking handle that owns the loop, from `open` to `close`."""

    def open(self) -> None:
        """Start the thread and open the async handle. Entering a `with` block does this."""
        self._loop.start(self._inner.open)

    def close(self) -> None:
        """Close the async handle and stop the thread. Leaving a `with` block does this."""
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
