"""Webhooks: every change arrives, in order per space, with a verifiable sender."""

import json
from collections.abc import Iterator
from datetime import timedelta

import anyio
import pytest

from bethink import Memory, verify_webhook
from bethink.config.groups import WebhookSettings
from bethink.config.settings import Settings
from bethink.errors import InvalidRequestError, NotFoundError
from bethink.features.webhooks import deliver
from bethink.features.webhooks import queries as webhooks
from bethink.features.webhooks.deliver import Deliverer, DeliveryOptions
from bethink.features.webhooks.worker import Notifier
from bethink.jobs.tasks import PruneChanges, TaskParts
from bethink.store.db import Database
from tests.conftest import FakeClock, Quiet, memory_on
from tests.rooms.learn_kit import worker
from tests.rooms.webhook_kit import Receiver, hook, receiving, save, tell

OPTIONS = DeliveryOptions(allow_private=True, timeout=10.0)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


@pytest.fixture
def memory(database: Database) -> Memory:
    return memory_on(database, settings=Settings(webhooks=WebhookSettings(allow_private=True)))


async def test_a_change_arrives_signed_and_without_a_word_of_it(
    memory: Memory, database: Database, receiver: Receiver
) -> None:
    made = await hook(memory, receiver)
    await save(memory, "tea")

    await tell(database)

    [(path, headers, body)] = receiver.got
    verify_webhook(made.secret, headers, body, now=float(headers["webhook-timestamp"]))
    [change] = await memory.space("alice").admin.changes.list()
    assert (path, headers["content-type"]) == ("/hook", "application/json")
    assert json.loads(body) == {
        "type": "fact.added",
        "timestamp": change.at.isoformat(),
        "data": {"space": "alice", "number": 1, "ref": "fact:tea:1", "session_id": None},
    }
    [noted] = await memory.admin.webhooks.deliveries(made.info.id)
    assert (noted.space, noted.number, noted.kind, noted.status, noted.attempts) == ("alice", 1, "fact.added", 204, 1)
    assert noted.delivered_at is not None


async def test_webhook_sends_only_later_changes(memory: Memory, database: Database, receiver: Receiver) -> None:
    await save(memory, "before")
    await hook(memory, receiver)
    await save(memory, "after")

    await tell(database)

    assert receiver.told == [("alice", 2, "fact.added")]


async def test_a_later_change_waits_for_an_earlier_one_and_other_spaces_do_not(
    memory: Memory, database: Database, receiver: Receiver, clock: FakeClock
) -> None:
    await hook(memory, receiver)
    receiver.answers = [500, 204]
    await save(memory, "one")
    await tell(database)
    await save(memory, "two")
    await save(memory, "other", space="bob")
    await tell(database)
    assert receiver.told == [("alice", 1, "fact.added"), ("bob", 1, "fact.added")]

    clock.time += timedelta(minutes=1)
    await tell(database)

    assert receiver.told[2:] == [("alice", 1, "fact.added"), ("alice", 2, "fact.added")]
    ids = [headers["webhook-id"] for _, headers, _ in receiver.got]
    assert ids[0] == ids[2]
    assert len(set(ids)) == 3


async def test_webhook_backoff_grows_and_resets_after_success(
    memory: Memory, database: Database, receiver: Receiver, clock: FakeClock
) -> None:
    await hook(memory, receiver)
    receiver.answers = [503]
    await save(memory, "one")
    pauses: list[timedelta] = []
    for _ in range(4):
        await tell(database)
        began = clock.time
        while not await database.transact(webhooks.list_due, read_only=True):
            clock.time += timedelta(seconds=0.5)
        pauses.append(clock.time - began)

    assert pauses == sorted(pauses)
    assert pauses[3] > 3 * pauses[0]


async def test_webhook_waits_for_the_retry_after_of_the_receiver(
    memory: Memory, database: Database, clock: FakeClock, receiver: Receiver
) -> None:
    await hook(memory, receiver)
    receiver.answers, receiver.retry_after = [429], "600"
    await save(memory, "one")

    await tell(database)
    clock.time += timedelta(seconds=599)
    await tell(database)
    early = len(receiver.got)
    clock.time += timedelta(seconds=122)  # jitter adds at most a fifth
    await tell(database)

    assert (early, len(receiver.got)) == (1, 2)


async def test_a_redirect_is_a_failure_and_is_not_followed(
    memory: Memory, database: Database, receiver: Receiver
) -> None:
    made = await hook(memory, receiver)
    receiver.answers = [302]
    await save(memory, "one")

    await tell(database)

    assert [path for path, _, _ in receiver.got] == ["/hook"]
    [noted] = await memory.admin.webhooks.deliveries(made.info.id)
    assert (noted.status, noted.error, noted.delivered_at) == (302, "HTTP 302", None)


async def test_webhook_is_disabled_after_status_410(
    memory: Memory, database: Database, receiver: Receiver, clock: FakeClock
) -> None:
    await hook(memory, receiver)
    receiver.answers = [410, 204]
    await save(memory, "one")
    await tell(database)
    await save(memory, "two")
    clock.time += timedelta(days=1)

    await tell(database)

    assert len(receiver.got) == 1
    [info] = await memory.admin.webhooks.list()
    assert info.disabled_at is not None
    assert "410" in str(info.disable_reason)


async def test_a_receiver_that_fails_for_days_is_disabled(
    memory: Memory, database: Database, receiver: Receiver, clock: FakeClock
) -> None:
    await hook(memory, receiver)
    receiver.answers = [500]
    await save(memory, "one")
    for _ in range(2):
        await tell(database, give_up_days=3)
        assert (await memory.admin.webhooks.list())[0].disabled_at is None
        clock.time += timedelta(days=2)

    await tell(database, give_up_days=3)

    assert (await memory.admin.webhooks.list())[0].disable_reason == "failed for 3 days; last error: HTTP 500"


async def test_unreachable_receiver_is_retried(memory: Memory, database: Database, clock: FakeClock) -> None:
    made = await memory.admin.webhooks.create("http://127.0.0.1:9/hook")
    await save(memory, "one")
    await tell(database)
    clock.time += timedelta(minutes=1)
    await tell(database)

    [noted] = await memory.admin.webhooks.deliveries(made.info.id)
    assert (noted.attempts, noted.status, noted.delivered_at) == (2, 0, None)
    assert noted.error == "ConnectError"


async def test_a_webhook_of_a_space_hears_of_no_other(memory: Memory, database: Database, receiver: Receiver) -> None:
    await hook(memory, receiver, space="alice")
    await save(memory, "one")
    await save(memory, "other", space="bob")

    await tell(database)

    assert receiver.told == [("alice", 1, "fact.added")]


async def test_space_deletion_is_the_last_change_sent_for_it(
    memory: Memory, database: Database, receiver: Receiver
) -> None:
    made = await hook(memory, receiver)
    await save(memory, "one")
    await tell(database)
    await save(memory, "never told")
    await memory.space("alice").forget(everything=True)

    await tell(database)

    assert receiver.told == [("alice", 1, "fact.added"), ("alice", 3, "space.forgotten")]
    assert [each.number for each in await memory.admin.webhooks.deliveries(made.info.id)] == [3]


async def test_pruned_changes_are_skipped_by_webhooks(
    memory: Memory, database: Database, receiver: Receiver, clock: FakeClock
) -> None:
    await hook(memory, receiver)
    receiver.answers = [500, 204]
    await save(memory, "one")
    await save(memory, "two")
    await tell(database)
    clock.time += timedelta(days=31)
    settings = TaskParts(database=database, settings=Settings(), redactor=Quiet())
    assert await PruneChanges(settings).prune() == 1

    await tell(database, give_up_days=100)
    await tell(database)

    assert receiver.told == [("alice", 1, "fact.added"), ("alice", 2, "fact.added")]


async def test_delivery_with_a_lost_lease_records_nothing(
    memory: Memory, database: Database, receiver: Receiver, clock: FakeClock
) -> None:
    made = await hook(memory, receiver)
    await save(memory, "one")
    lease = timedelta(seconds=60)

    async def claim() -> list[webhooks.LeasedQueue]:
        return await database.transact(
            lambda tx: webhooks.lease_queues(tx, webhook_id=made.info.id, lease=lease, limit=9)
        )  # fmt: skip

    [first] = await claim()
    assert await claim() == []
    clock.time += timedelta(minutes=2)
    [second] = await claim()
    [change] = await memory.space("alice").admin.changes.list()

    done = await database.transact(lambda tx: webhooks.advance(tx, first, change, status=204, lease=lease))
    await database.transact(lambda tx: webhooks.delay(tx, first, change, status=500, error="HTTP 500", seconds=9))

    assert not done
    assert second.token > first.token
    assert await memory.admin.webhooks.deliveries(made.info.id) == []
    assert await database.transact(lambda tx: webhooks.advance(tx, second, change, status=204, lease=lease))


async def test_private_address_is_rejected_at_creation_and_delivery(
    memory: Memory, database: Database, receiver: Receiver, clock: FakeClock
) -> None:
    with pytest.raises(InvalidRequestError, match="private network"):
        await memory_on(database).admin.webhooks.create(receiver.url)
    made = await hook(memory, receiver)
    await save(memory, "one")

    deliverer = Deliverer(database, DeliveryOptions())  # as if the name had led elsewhere when it was made
    await deliverer.run_once()

    assert receiver.got == []
    [noted] = await memory.admin.webhooks.deliveries(made.info.id)
    assert noted.error == "the URL resolves to a private network"


async def test_a_secret_is_shown_once_and_stored_nowhere(
    memory: Memory, database: Database, receiver: Receiver
) -> None:
    made, other = await hook(memory, receiver), await hook(memory, receiver)

    rows = await database.transact(lambda tx: tx.all("list_webhooks"))

    assert made.secret != other.secret
    assert made.secret not in repr(made) + str(rows) + str(await memory.admin.webhooks.list())


async def test_deleted_webhook_sends_nothing_and_has_no_log(
    memory: Memory, database: Database, receiver: Receiver
) -> None:
    made = await hook(memory, receiver)
    await save(memory, "one")

    await memory.admin.webhooks.delete(made.info.id)
    await tell(database)

    assert receiver.got == []
    for call in (memory.admin.webhooks.delete, memory.admin.webhooks.deliveries):
        with pytest.raises(NotFoundError):
            await call(made.info.id)


async def test_worker_sends_webhooks_until_stopped(memory: Memory, database: Database, receiver: Receiver) -> None:
    await hook(memory, receiver)
    work = worker(database, None)
    work._tasks = [Notifier(database, Deliverer(database, OPTIONS))]

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work.run)
            await save(memory, "one")
            while not receiver.got:
                await anyio.wait_all_tasks_blocked()
            work.stop()

    assert receiver.told == [("alice", 1, "fact.added")]


async def test_a_receiver_that_never_ends_its_answer_is_cut_off(
    memory: Memory, database: Database, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await hook(memory, receiver)
    await save(memory, "one")

    async def forever(_: object) -> None:
        await anyio.sleep_forever()

    monkeypatch.setattr(deliver, "_drain", forever)
    await Deliverer(database, DeliveryOptions(allow_private=True, timeout=0.2)).run_once()

    [noted] = await memory.admin.webhooks.deliveries(made.info.id)
    assert noted.error == "timeout"
