"""Lanes: work on long texts runs in threads, one text at a time, and the spaces that wait take turns.

Python runs one thread at a time, so many long texts at once would slow down everything else in the process. Short texts
never wait behind long ones.
"""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import anyio
from anyio import to_thread
from anyio.lowlevel import current_token

from bethink.base.frozen import frozen

T = TypeVar("T")

SHORT = 2_000
"""Maximum characters that are processed in the caller's thread: passing them to another costs more than the work."""
LONG = 20_000
"""Characters above which a text uses the lane for long texts."""
_RECENTLY = 1.0
"""Seconds for which a space counts as active after its last transaction."""
_REST = 3.0
"""Seconds of rest for each second of work while other spaces are active: their requests then run as on an idle machine
for most of the time."""
_MAX_REST = 1.5
_BREATH = 0.0001
_MIN_PIECE = 0.002
"""Seconds of work between two rests."""


class LaneTurn(Protocol):
    """The right to process a text. Use it as a context manager around the work and the transaction that stores it."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

    async def run(self, work: Callable[[Callable[[], None]], T]) -> T:
        """Run `work` outside of the event loop if it is long. It should call its argument between two texts."""
        ...


class Lanes:
    """The lanes of one database. They may be used from several event loops."""

    def __init__(self, activity: "Lanes | None" = None) -> None:
        """Create lanes. With the `activity` of others, spaces that are active there make work here rest."""
        self._medium, self._long = _Lane(), _Lane()
        self._activity = activity or self
        self._last = self._other = ("", 0.0)

    def turn(self, space: str, size: int) -> LaneTurn:
        """Return the turn for a text of `size` characters. Short texts need none."""
        if size <= SHORT:
            return _AT_ONCE
        return _WaitingTurn(self._medium if size <= LONG else self._long, space, self)

    async def run(self, space: str, size: int, work: Callable[[], T]) -> T:
        """Process a text of `size` characters in its turn, and return the result."""
        async with self.turn(space, size) as turn:
            return await turn.run(lambda _: work())

    def note(self, space: str) -> None:
        """Note that a space is active."""
        if self._last[0] != space:
            self._other = self._last
        self._last = (space, time.monotonic())

    def latest(self) -> tuple[tuple[str, float], tuple[str, float]]:
        """Return the two spaces that were active last, each with the time."""
        return self._last, self._other

    def is_other_active(self, space: str) -> bool:
        """Return whether a space other than this one is active."""
        since = time.monotonic() - _RECENTLY
        return any(name != space and at > since for name, at in self._activity.latest())


class _AtOnce:
    """The turn of a short text."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        del kind, error, trace

    async def run(self, work: Callable[[Callable[[], None]], T]) -> T:
        return work(_no_rest)


def _no_rest() -> None:
    """Do not rest."""


_AT_ONCE = _AtOnce()


class _Ticket:
    """A place in a lane. The task that waits for it may be on any event loop."""

    __slots__ = ("_wake", "granted", "is_granted")

    def __init__(self) -> None:
        self.granted = anyio.Event()
        self.is_granted = False
        native: Any = current_token().native_token
        self._wake: Callable[[Callable[[], object]], object] = (
            getattr(native, "call_soon_threadsafe", None) or native.run_sync_soon
        )

    def grant(self) -> bool:
        """Wake the task. Returns False if its event loop is closed."""
        self.is_granted = True
        with suppress(RuntimeError):
            self._wake(self.granted.set)
            return True
        return False


class _Lane:
    """One text at a time. Spaces take turns, however many texts each has."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._is_taken = False
        self._waiting: OrderedDict[str, deque[_Ticket]] = OrderedDict()

    async def enter(self, space: str) -> None:
        """Wait for a turn."""
        with self._guard:
            if not self._is_taken:
                self._is_taken = True
                return
            ticket = _Ticket()
            self._waiting.setdefault(space, deque()).append(ticket)
        try:
            await ticket.granted.wait()
        except BaseException:  # canceled
            with self._guard:
                if not ticket.is_granted:
                    self._waiting[space].remove(ticket)
            if ticket.is_granted:
                self.leave()
            raise

    def leave(self) -> None:
        """Give the turn to the next space."""
        with self._guard:
            while self._waiting:
                space, tickets = self._waiting.popitem(last=False)
                ticket = tickets.popleft() if tickets else None
                if tickets:
                    self._waiting[space] = tickets  # behind the other spaces
                if ticket is not None and ticket.grant():
                    return
            self._is_taken = False


class _WaitingTurn:
    """A turn in a lane."""

    def __init__(self, lane: _Lane, space: str, lanes: Lanes) -> None:
        self._lane = lane
        self._space = space
        self._lanes = lanes
        self._since = 0.0
        """When the turn began, later by the time in `run`, which rests by itself."""

    async def __aenter__(self) -> Self:
        await self._lane.enter(self._space)
        self._since = time.monotonic()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        del kind, error, trace
        try:
            if self._lanes.is_other_active(self._space):  # whose transactions waited for those of this turn
                await anyio.sleep(min(time.monotonic() - self._since, _MAX_REST))
        finally:
            self._lane.leave()

    async def run(self, work: Callable[[Callable[[], None]], T]) -> T:
        # Its own limiter: the threads of the default one may all be busy with something else.
        began = time.monotonic()
        error: Exception | None = None
        try:
            result = await to_thread.run_sync(self._work, work, limiter=anyio.CapacityLimiter(1))
            if not isinstance(result, _Failure):
                return result
            error = result.error
            del result
            raise error
        finally:
            error = None  # as below
            self._since += time.monotonic() - began

    def _work(self, work: Callable[[Callable[[], None]], T]) -> "T | _Failure":
        # An error that a thread raises refers to itself through the frame that waits for it. Its traceback would hold
        # the texts until garbage is collected.
        resting = _Resting(partial(self._lanes.is_other_active, self._space))
        try:
            return work(resting)
        except Exception as error:  # noqa: BLE001 - raised again by the caller
            return _Failure(error=error)
        finally:
            resting()


@frozen
class _Failure:
    """The error of work that a thread has done."""

    error: Exception


class _Resting:
    """Pauses a thread in proportion to the processor time that it has used, while other spaces are active.

    Otherwise it pauses just long enough for another thread to run. Without it, a thread that keeps releasing Python's
    lock for a moment (as the search of the redactor does) would take it back each time before another one woke up.
    """

    def __init__(self, has_others: Callable[[], bool]) -> None:
        self._has_others = has_others
        self._since = time.thread_time()

    def __call__(self) -> None:
        used = time.thread_time() - self._since
        if used > _MIN_PIECE:
            time.sleep(min(_REST * used, _MAX_REST) if self._has_others() else _BREATH)
            self._since = time.thread_time()
