"""Waits for memory, but not for long: a call to a model goes on without it."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from anyio.abc import TaskGroup

T = TypeVar("T")
_MOST = 64
"""Requests to memory that may be under way; while there are more, it is too slow to be asked."""


class InTime:
    """Carries requests out in a task group of its own: a transaction cannot be broken off, but it can be left alone."""

    def __init__(self, tasks: TaskGroup, *, seconds: float) -> None:
        self._tasks = tasks
        self._seconds = seconds
        self._under_way = 0

    async def __call__(self, call: Callable[[], Awaitable[T]]) -> T:
        """Return what comes of a request. Raises `TimeoutError` if that takes too long; else as the request does."""
        if self._under_way >= _MOST:
            raise TimeoutError
        done, found, failed = anyio.Event(), list[T](), list[Exception]()

        async def carry_out() -> None:
            self._under_way += 1
            try:
                found.append(await call())
            except Exception as error:  # noqa: BLE001 - raised below, where it does not end the others
                failed.append(error)
            finally:
                self._under_way -= 1
                done.set()

        self._tasks.start_soon(carry_out)
        with anyio.move_on_after(self._seconds):
            await done.wait()
        if failed:
            raise failed[0]
        if not found:
            raise TimeoutError
        return found[0]
