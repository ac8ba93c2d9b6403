"""Wait for memory up to a deadline. A model call continues without it."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from anyio.abc import TaskGroup

T = TypeVar("T")
_MAX_PENDING = 64
"""Maximum pending requests to memory. Above it, new requests fail immediately."""


class DeadlineRunner:
    """Runs requests in a separate task group: a transaction cannot be canceled, but the caller can stop waiting."""

    def __init__(self, tasks: TaskGroup, *, seconds: float) -> None:
        self._tasks = tasks
        self._seconds = seconds
        self._pending = 0

    async def __call__(self, call: Callable[[], Awaitable[T]]) -> T:
        """Return the result of a request. Raises `TimeoutError` after the deadline, or the error of the request."""
        if self._pending >= _MAX_PENDING:
            raise TimeoutError
        done, results, failed = anyio.Event(), list[T](), list[Exception]()

        async def carry_out() -> None:
            self._pending += 1
            try:
                results.append(await call())
            except Exception as error:  # noqa: BLE001 - raised below, where it does not cancel other requests
                failed.append(error)
            finally:
                self._pending -= 1
                done.set()

        self._tasks.start_soon(carry_out)
        with anyio.move_on_after(self._seconds):
            await done.wait()
        if failed:
            raise failed[0]
        if not results:
            raise TimeoutError
        return results[0]
