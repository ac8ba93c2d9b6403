"""A directory and two shards for tests, and moves that are killed or overtaken."""

import uuid
from collections.abc import AsyncIterator

import pytest

import bethink
from bethink.host.backend import LocalBackend
from bethink.store.db import Tx
from bethink_shards import backend as backend_module
from bethink_shards import marks, moving, space_rows
from bethink_shards.backend import Shards
from bethink_shards.operating import add_shard
from bethink_shards.steps import MoveStep, OnStep
from tools import postgres

Fleet = tuple[bethink.Memory, Shards]
STEPS = [step for step in MoveStep if step is not MoveStep.ENDED]


class Killed(BaseException):
    """The mover ends here, as by SIGKILL."""


@pytest.fixture(scope="module")
def dsns(superuser_dsn: str) -> dict[str, str]:
    """Three databases for all tests of this file: a directory and two shards."""
    end = uuid.uuid4().hex[:12]
    return {name: postgres.create_database(superuser_dsn, f"{name}_{end}") for name in ("directory", "a", "b")}


def address(dsns: dict[str, str]) -> str:
    return "shards" + dsns["directory"].removeprefix("postgresql")


def connected(dsns: dict[str, str]) -> tuple[bethink.Memory, Shards]:
    memory = bethink.connect(address(dsns), learn=False, redact=False, postgres_pool_size=3)
    assert isinstance(memory.backend, Shards)
    return memory, memory.backend


@pytest.fixture
async def fleet(dsns: dict[str, str]) -> AsyncIterator[Fleet]:
    """A memory in two shards."""
    memory, shards = connected(dsns)
    async with memory:
        if not await shards.directory.shards():
            for name in ("a", "b"):
                await add_shard(shards, name, dsns[name])
        yield memory, shards


@pytest.fixture
def name() -> str:
    """A space that no other test uses."""
    return f"space-{uuid.uuid4().hex[:12]}"


async def other_than(shards: Shards, space: str) -> str:
    place = await shards.directory.find(space, refresh=True)
    assert place is not None
    return "b" if place.shard == "a" else "a"


async def texts(memory: bethink.Memory, space: str) -> list[str]:
    session = await memory.space(space).session("chat")
    return [record.message.content for record in await session.messages(limit=1_000)]


async def rows_left(local: LocalBackend, space: str) -> list[str]:
    """The tables of a shard that hold anything of a space, past the mark that says it is gone."""
    database = local.database
    mark = await database.transact(lambda tx: marks.find(tx, space=space), read_only=True)
    assert mark is not None

    def look(tx: Tx) -> list[str]:
        return [name for name, stand in space_rows.table_states(tx, space=space).items() if stand.rows]

    database.move = mark.token  # pyright: ignore[reportAttributeAccessIssue]
    try:
        return await database.transact(look, space=space, read_only=True)
    finally:
        database.move = ""  # pyright: ignore[reportAttributeAccessIssue]


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a mover that ends leave everything as it is, as a process does that is killed."""

    async def nothing(self: object) -> None:
        del self

    monkeypatch.setattr(moving._Run, "_lift_own", nothing)
    monkeypatch.setattr(moving, "FENCE", 0.1)
    monkeypatch.setattr(backend_module, "_GRACE", 0.0)


def killing(at: MoveStep) -> OnStep:
    async def told(step: MoveStep) -> None:
        if step is at:
            raise Killed

    return told
