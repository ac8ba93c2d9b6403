"""Slow webhooks: none delays another one, or loses its lease while it may still answer."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta

import anyio
import pytest

from bethink import Memory, verify_webhook
from bethink.config.groups import WebhookSettings
from bethink.config.settings import Settings
from bethink.errors import PermissionDeniedError
from bethink.features.webhooks.deliver import Deliverer, DeliveryOptions
from bethink.features.webhooks.worker import Notifier
from bethink.store.db import Database
from tests.conftest import FakeClock, memory_on
from tests.rooms.webhook_kit import Receiver, hook, receiving, save, tell

QUEUES = 3


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


@pytest.fixture
def memory(database: Database) -> Memory:
    return memory_on(database, settings=Settings(webhooks=WebhookSettings(allow_private=True)))


def is_signed(secret: str, headers: dict[str, str], body: bytes) -> bool:
    with suppress(PermissionDeniedError):
        verify_webhook(secret, headers, body, now=float(headers["webhook-timestamp"]))
        return True
    return False


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(8):
        while not condition():  # noqa: ASYNC110 - another thread receives
            await anyio.sleep(0.01)


async def test_slow_webhook_delays_no_other_webhook(memory: Memory, database: Database, receiver: Receiver) -> None:
    """The slow one waits for answers in as many spaces as it may, when the other one gets its first change."""
    options = DeliveryOptions(allow_private=True, queues=QUEUES)
    await memory.admin.webhooks.create(receiver.url.replace("hook", "slow"))
    await hook(memory, receiver, space="bob")
    for number in range(QUEUES + 1):
        await save(memory, "one", space=f"space {number}")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Notifier(database, Deliverer(database, options)).run)
        await until(lambda: len(receiver.got) == QUEUES)
        await save(memory, "other", space="bob")
        await until(lambda: receiver.got[-1][0] == "/hook")
        receiver.gate.set()
        await until(lambda: len(receiver.got) == QUEUES + 3)
        tasks.cancel_scope.cancel()


async def test_busy_webhooks_take_turns(memory: Memory, database: Database, receiver: Receiver) -> None:
    first, second = await hook(memory, receiver), await hook(memory, receiver)
    for number in range(4):
        await save(memory, "one", space=f"space {number}")

    await tell(database, webhooks=1, queues=1)

    for made in (first, second):
        assert len(await memory.admin.webhooks.deliveries(made.info.id)) == 4
    secrets = [first.secret, second.secret]
    turns = [next(i for i, secret in enumerate(secrets) if is_signed(secret, *got[1:])) for got in receiver.got]
    assert turns in ([0, 1] * 4, [1, 0] * 4)


async def test_lease_outlasts_the_timeout(
    memory: Memory, database: Database, receiver: Receiver, clock: FakeClock
) -> None:
    await memory.admin.webhooks.create(receiver.url.replace("hook", "slow"))
    await save(memory, "one")
    options = DeliveryOptions(allow_private=True, timeout=100.0, lease=60.0)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Deliverer(database, options).run_once)
        await until(lambda: bool(receiver.got))
        clock.time += timedelta(seconds=90)
        assert await Deliverer(database, options).run_once() == 0
        receiver.gate.set()

    assert receiver.told == [("alice", 1, "fact.added")]
