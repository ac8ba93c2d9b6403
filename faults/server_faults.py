"""What the campaign of servers does to them: locks that hold requests up, and servers with a bug on purpose."""

import asyncio  # noqa: TID251 - a task that outlives its request, which is the bug
import os
import random
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from typing import Any

import apsw
import psycopg

from bethink.cli.app import main as command
from bethink.memory import Memory
from bethink.model.records import Message, Session, message_from
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


_append, _remember = Memory.append, Memory.remember
_kept: set[asyncio.Task[Any]] = set()


async def _append_later(
    self: Memory, session: Session, messages: Iterable[Message | Mapping[str, object]]
) -> list[int]:
    listed = list(messages)

    async def later() -> None:
        await asyncio.sleep(random.uniform(0.0, 0.3))
        await _append(self, session, listed)

    task = asyncio.create_task(later())
    _kept.add(task)
    task.add_done_callback(_kept.discard)
    return [0] * len(listed)


def _keyless(messages: Iterable[Message | Mapping[str, object]]) -> list[Message]:
    return [replace(message_from(each), idempotency_key=None) for each in messages]


async def _append_keyless(
    self: Memory, session: Session, messages: Iterable[Message | Mapping[str, object]]
) -> list[int]:
    numbers = await _append(self, session, _keyless(messages))
    await asyncio.sleep(0.2)
    return numbers


async def _remember_keyless(self: Memory, what: Any, **given: Any) -> Any:
    return await _remember(self, _keyless(what), **given)


def _leave(*_: object) -> None:
    os._exit(0)


def main() -> int:
    """Serve with a bug."""
    mutant = Mutant(sys.argv.pop())
    changed: Any = Memory
    if mutant is Mutant.EARLY:
        changed.append = _append_later
    elif mutant is Mutant.KEYLESS:
        changed.append, changed.remember = _append_keyless, _remember_keyless
    else:
        import uvicorn  # noqa: PLC0415 - this bug is in how it is run

        server: Any = uvicorn.Server
        server.handle_exit = _leave
    sys.argv = ["bethink", "serve"]
    return command()


if __name__ == "__main__":
    sys.exit(main())
