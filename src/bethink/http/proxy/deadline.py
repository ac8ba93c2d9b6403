"""Wait for memory up to a deadline. A model call continues without it."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from anyio.abc import TaskGroup

T = TypeVar("T")
_MAX_PENDING = 64
"""Maximum pending requests of a space to memory. Above it, new requests fail immediately."""


class DeadlineRunner:
    """Runs requests in a separate task group: a transaction cannot be canceled, but the caller can stop waiting."""

    def __init__(self, tasks: TaskGroup, *, seconds: float) -> None:
        self._tasks = tasks
        self._seconds = seconds
        self._pending = Counter[str]()

    async def __call__(self, call: Callable[[], Awaitable[T]], *, space: str = "", spent: float = 0.0) -> T:
        """Return the result of a request. Raises `TimeoutError` after the deadline, or the error of the request.

        `spent` are the seconds of the deadline that have passed.
        """
        if self._pending[space] >= _MAX_PENDING:
            raise TimeoutError
        done, results, failed = anyio.Event(), list[T](), list[Exception]()

        async def carry_out() -> None:
            self._pending[space] += 1
            try:
                results.append(await call())
            except Exception as error:  # noqa: BLE001 - raised below, where it does not cancel other requests
                failed.append(error)
            finally:
                self._pending[space] -= 1
                if not self._pending[space]:
                    del self._pending[space]
                done.set()

        self._tasks.start_soon(carry_out)
        with anyio.move_on_after(self._seconds - spent):
            await done.wait()
        if failed:
            raise failed[0]
        if not results:
            raise TimeoutError
        return results[0]
