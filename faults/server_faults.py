"""What the campaign of servers does to them: locks that hold requests up, and servers with a bug on purpose."""

import asyncio  # noqa: TID251 - a task that outlives its request, which is the bug
import os
import random
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from typing import Any

import apsw
import psycopg

from bethink.cli.app import main as command
from bethink.host.local import Local
from bethink.model.operations.base import Operation
from bethink.model.operations.memory import REMEMBER
from bethink.model.operations.sessions import APPEND
from faults.places import Place


class Mutant(StrEnum):
    """A bug on purpose."""

    EARLY = "early"
    """It acknowledges messages before they are stored."""

    KEYLESS = "keyless"
    """It ignores idempotency keys, and takes its time between storing and answering."""

    HASTY = "hasty"
    """Told to stop, it does so at once."""


@contextmanager
def held(place: Place) -> Generator[None]:
    """Let nobody write to the database for a while: requests that want to are under way and wait."""
    if place.database == "sqlite":
        connection: Any = apsw.Connection(place.raw)
        connection.set_busy_timeout(10_000)
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")
            connection.close()
        return
    with psycopg.connect(place.raw) as server, server.transaction(force_rollback=True):
        server.execute("LOCK TABLE sessions IN EXCLUSIVE MODE")
        yield


_run = Local.run
_kept: set[asyncio.Task[Any]] = set()


async def _early(self: Local, operation: Operation[Any, Any], space: str, request: Any) -> Any:
    if operation is not APPEND:
        return await _run(self, operation, space, request)

    async def later() -> None:
        await asyncio.sleep(random.uniform(0.0, 0.3))
        await _run(self, operation, space, request)

    task = asyncio.create_task(later())
    _kept.add(task)
    task.add_done_callback(_kept.discard)
    return [0] * len(request.messages)


async def _keyless(self: Local, operation: Operation[Any, Any], space: str, request: Any) -> Any:
    if operation not in (APPEND, REMEMBER):
        return await _run(self, operation, space, request)
    messages = tuple(replace(each, idempotency_key=None) for each in request.messages)
    result = await _run(self, operation, space, replace(request, messages=messages, idempotency_key=None))
    if operation is APPEND:
        await asyncio.sleep(0.2)
    return result


def _leave(*_: object) -> None:
    os._exit(0)


def main() -> int:
    """Serve with a bug."""
    mutant = Mutant(sys.argv.pop())
    changed: Any = Local
    if mutant is Mutant.EARLY:
        changed.run = _early
    elif mutant is Mutant.KEYLESS:
        changed.run = _keyless
    else:
        import uvicorn  # noqa: PLC0415 - this bug is in how it is run

        server: Any = uvicorn.Server
        server.handle_exit = _leave
    sys.argv = ["bethink", "serve"]
    return command()


if __name__ == "__main__":
    sys.exit(main())
