"""Retention: old and expired items are deleted with receipts, rule by rule; a killed sweep is finished."""

import json
from datetime import timedelta

import pytest

import bethink
from bethink.config.settings import Settings, load_settings
from bethink.errors import ConfigurationError, ErasedKeyError, InvalidRequestError, NotFoundError
from bethink.features.retention import service as sweeping
from bethink.features.retention.records import RetentionKind, RetentionRule
from bethink.features.retention.service import RetentionOptions, RetentionService
from bethink.memory.deletion.settling import Settler, finish_open
from bethink.memory.documents import tree
from bethink.model.documents import DocumentDraft, DocumentSource, Provenance, SourceKind
from bethink.model.facts import Fact
from bethink.model.records import Message, Origin
from bethink.store.db import Database
from tests.conftest import FakeClock, Quiet, memory_on, said

DAY = timedelta(days=1)
MESSAGE, FACT = RetentionKind.MESSAGE, RetentionKind.FACT


def keeper(database: Database, **options: int) -> RetentionService:
    """What a worker sweeps with."""
    return RetentionService(database, redactor=Quiet(), options=RetentionOptions(**options))


async def texts(space: bethink.Space, conversation: str = "notes") -> list[str]:
    session = await space.session(conversation)
    return [each.message.content for each in await session.messages()]


async def test_a_rule_erases_what_is_older_and_leaves_what_is_not(memory: bethink.Memory, clock: FakeClock) -> None:
    alice = memory.space("alice")
    await alice.remember("I like tea.")
    clock.time += 10 * DAY
    await alice.remember("I like mate.")

    rule = await alice.admin.retention.set(MESSAGE, 5)
    assert (rule.kind, rule.older_than, rule.origin) == (MESSAGE, 5, None)
    swept = await alice.admin.retention.run()

    assert await texts(alice) == ["I like mate."]
    assert swept.deletion.messages == 1
    [erasure] = await alice.admin.erasures.list()
    assert swept.erasures == (erasure.id,)
    assert (erasure.requested_by, erasure.reason) == ("retention", "retention: message older than 5 days")
    assert erasure.settled_at is not None
    receipt = json.loads(erasure.receipt)["receipt"]
    assert receipt["counts"]["messages"] == 1
    assert len(receipt["digests"]["message"]) == 1
    assert (await alice.admin.retention.run()).erasures == (), "nothing is due any more"
    assert len(await alice.admin.erasures.list()) == 1


async def test_retention_age_counts_from_when_a_message_was_said(memory: bethink.Memory, clock: FakeClock) -> None:
    alice = memory.space("alice")
    await alice.remember([Message(role="user", content="old news", said_at=clock.time - 9 * DAY), *said("new")])
    await alice.admin.retention.set(MESSAGE, 5)
    await alice.admin.retention.run()
    assert await texts(alice) == ["new"]


async def test_retention_rule_applies_to_one_origin_or_all_tools(memory: bethink.Memory, clock: FakeClock) -> None:
    alice = memory.space("alice")
    for origin in ("user", "tool:web", "tool:mail"):
        fact = Fact(id=origin.replace(":", "-"), text=f"from {origin}", origin=Origin(origin), created_at=clock.time)
        await alice.facts.save(fact)
    clock.time += 3 * DAY

    await alice.admin.retention.set(FACT, 1, origin="tool:web")
    await alice.admin.retention.run()
    assert {fact.text for fact in await alice.facts.list()} == {"from user", "from tool:mail"}

    await alice.admin.retention.set(FACT, 1, origin="tool")
    await alice.admin.retention.run()
    assert {fact.text for fact in await alice.facts.list()} == {"from user"}
    assert [each.reason for each in await alice.admin.erasures.list()] == [
        "retention: fact from tool older than 1 day",
        "retention: fact from tool:web older than 1 day",
    ]


async def test_documents_threads_and_session_summaries_have_rules_of_their_own(
    memory: bethink.Memory, database: Database, clock: FakeClock
) -> None:
    alice = memory.space("alice")
    draft = DocumentDraft(slug="town", title="Town", body="Bergen.")
    old = await alice.documents.create(draft)
    thread = await alice.threads.open()
    clock.time += 3 * DAY
    await database.transact(
        lambda tx: tree.create(
            tx, DocumentDraft(slug="new", title="New", body="Oslo."), space="alice", provenance=Provenance()
        ),
        space="alice",
    )
    for kind in (RetentionKind.DOCUMENT, RetentionKind.THREAD, RetentionKind.SESSION_SUMMARY):
        await alice.admin.retention.set(kind, 2)

    would = await alice.admin.retention.run(dry_run=True)
    assert (would.deletion.documents, would.deletion.threads, would.erasures) == (1, 1, ())
    assert (await alice.documents.get(old.id)).body == "Bergen.", "a dry run removes nothing"
    swept = await alice.admin.retention.run()

    assert (swept.deletion.documents, swept.deletion.threads) == (1, 1)
    assert (await alice.documents.get(old.id)).body == ""
    assert {each.title for each in await alice.documents.list()} >= {"New"}
    with pytest.raises(NotFoundError):
        await alice.threads.get(thread.id)


async def test_a_document_that_was_written_again_is_as_old_as_its_newest_version(
    memory: bethink.Memory, clock: FakeClock
) -> None:
    alice = memory.space("alice")
    made = await alice.documents.create(DocumentDraft(slug="town", title="Town", body="Bergen."))
    clock.time += 10 * DAY
    await alice.correct(f"document:{made.id}:1", "Oslo.")
    await alice.admin.retention.set(RetentionKind.DOCUMENT, 5)

    assert (await alice.admin.retention.run()).erasures == ()


async def test_rules_are_listed_replaced_and_removed_each_in_its_space(memory: bethink.Memory) -> None:
    alice, bob = memory.space("alice"), memory.space("bob")
    await alice.admin.retention.set(FACT, 30, origin="tool")
    await alice.admin.retention.set(MESSAGE, 365)
    await alice.admin.retention.set(MESSAGE, 100)

    found = await alice.admin.retention.list()
    assert [(each.kind, each.origin, each.older_than) for each in found] == [(MESSAGE, None, 100), (FACT, "tool", 30)]
    assert await bob.admin.retention.list() == []
    with pytest.raises(NotFoundError, match="no retention rule"):
        await bob.admin.retention.remove(MESSAGE)
    with pytest.raises(NotFoundError):
        await alice.admin.retention.remove(FACT)
    await alice.admin.retention.remove(FACT, origin="tool")
    await alice.admin.retention.remove(MESSAGE)
    assert await alice.admin.retention.list() == []


@pytest.mark.parametrize(
    ("kind", "days", "origin"),
    [("gossip", 3, None), ("message", 0, None), ("message", 40_000, None), ("thread", 3, "user"), ("message", 3, "")],
)
async def test_invalid_retention_rule_is_rejected(
    memory: bethink.Memory, kind: str, days: int, origin: str | None
) -> None:
    with pytest.raises(InvalidRequestError):
        await memory.space("alice").admin.retention.set(kind, days, origin=origin)  # pyright: ignore[reportArgumentType]


async def test_retention_setting_applies_to_spaces_without_a_rule(database: Database, clock: FakeClock) -> None:
    settings = load_settings(environ={}, message_retention_days=5)
    memory = memory_on(database, settings=settings)
    for name in ("alice", "bob"):
        await memory.space(name).remember("I like tea.")
    await memory.space("bob").admin.retention.set(MESSAGE, 100)
    clock.time += 10 * DAY

    assert [str(each) for each in await memory.space("alice").admin.retention.list()] == ["message older than 5 days"]
    assert [each.older_than for each in await memory.space("bob").admin.retention.list()] == [100]
    await keeper(database, message_days=5).sweep_next()

    assert await texts(memory.space("alice")) == []
    assert await texts(memory.space("bob")) == ["I like tea."]


@pytest.mark.parametrize("name", ["message_retention_days", "retention_expired_days", "retention_key_days"])
def test_invalid_retention_days_are_rejected(name: str) -> None:
    for wrong in (-1, 40_000):
        with pytest.raises(ConfigurationError, match=name):
            load_settings(environ={}, **{name: wrong})  # pyright: ignore[reportArgumentType]
    assert Settings().retention.key_days == 30


async def test_expired_fact_is_deleted_after_the_configured_days(
    memory: bethink.Memory, database: Database, clock: FakeClock
) -> None:
    alice = memory.space("alice")
    ends = Fact(id="f1", text="The sauna code is 4711.", origin=Origin("user"), expires_at=clock.time + DAY)
    await alice.facts.save(ends)
    await alice.facts.save(Fact(id="f2", text="I like tea.", origin=Origin("user")))
    renewed = Fact(id="f3", text="The bus is late.", origin=Origin("user"), expires_at=clock.time + DAY)
    await alice.facts.save(renewed)
    clock.time += 20 * DAY
    await alice.correct("fact:f3:1", "The bus is late.", expires_at=clock.time + 100 * DAY)
    assert await keeper(database).sweep_next() == 0, "it can still be asked as of before"

    clock.time += 20 * DAY
    assert await keeper(database).sweep_next() == 1

    with pytest.raises(NotFoundError):
        await alice.facts.get("f1")
    assert {each.id for each in await alice.facts.list()} == {"f2", "f3"}
    [erasure] = await alice.admin.erasures.list()
    assert erasure.reason == "retention: facts that have expired"
    assert json.loads(erasure.receipt)["receipt"]["counts"]["facts"] == 1


async def test_sweep_works_in_batches_with_receipts_and_resumes(
    memory: bethink.Memory, database: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "_BATCH", 2)
    monkeypatch.setattr(sweeping, "_MAX_ERASURES", 2)
    alice = memory.space("alice")
    await alice.remember(said(*"abcdefg"))
    await memory.space("bob").remember("b")
    for name in ("alice", "bob"):
        await memory.space(name).admin.retention.set(MESSAGE, 1)
    clock.time += 2 * DAY
    await alice.remember("new")

    first = await alice.admin.retention.run()
    assert (first.deletion.messages, len(first.erasures), first.more) == (4, 2, True)
    worker = keeper(database)
    assert await worker.sweep_next() == 2
    assert await worker.sweep_next() == 1, "alice has nothing left, so bob's turn has come"
    assert await texts(alice) == ["new"]
    assert await texts(memory.space("bob")) == []


async def test_killed_sweep_is_finished_once(
    memory: bethink.Memory, database: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = memory.space("alice")
    await alice.remember(said("a", "b"))
    await alice.admin.retention.set(MESSAGE, 1)
    clock.time += 2 * DAY

    async def dies(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Settler, "remove", dies)
    with pytest.raises(KeyboardInterrupt):
        await alice.admin.retention.run()
    monkeypatch.undo()
    assert await texts(alice) == ["a", "b"]

    assert (await alice.admin.retention.run()).erasures == (), "what is recorded is finished first"
    await finish_open(database)
    assert await texts(alice) == []
    [erasure] = await alice.admin.erasures.list()
    assert json.loads(erasure.receipt)["receipt"]["counts"]["messages"] == 2


async def test_worker_sweeps_only_when_due(
    memory: bethink.Memory, database: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = memory.space("alice")
    await alice.remember("a")
    await alice.admin.retention.set(MESSAGE, 1)
    clock.time += 2 * DAY
    worker = keeper(database)
    await worker.sweep_if_due()
    assert await texts(alice) == []

    passes: list[int] = []
    monkeypatch.setattr(worker, "sweep_next", lambda: passes.append(1))
    await worker.sweep_if_due()
    assert passes == [], "the next pass begins later"


async def test_retention_deletes_derived_data(memory: bethink.Memory, clock: FakeClock) -> None:
    alice = memory.space("alice")
    session = await alice.session("desk")
    await session.append(said("I live in Bergen."))
    source = DocumentSource(kind=SourceKind.SESSION_SUMMARY, id=session.id)
    draft = DocumentDraft(slug="town", title="Town", body="Bergen.")
    await alice.documents.create(draft, provenance=Provenance(sources=(source,)))
    await alice.admin.retention.set(MESSAGE, 1)
    clock.time += 2 * DAY

    swept = await alice.admin.retention.run()

    assert (swept.deletion.messages, swept.deletion.documents) == (1, 1)


async def test_forget_before_deletes_everything_said_earlier(memory: bethink.Memory, clock: FakeClock) -> None:
    alice = memory.space("alice")
    await alice.remember("old", conversation="a")
    await alice.remember("old too", conversation="b", agent="scout")
    clock.time += DAY
    moment = clock.time
    clock.time += DAY
    await alice.remember("new", conversation="a")

    assert (await alice.forget(before=moment, conversation="a", dry_run=True)).messages == 1
    assert (await alice.forget(before=moment, agent="scout", dry_run=True)).messages == 1
    assert (await alice.forget(before=moment, agent="nobody", dry_run=True)).messages == 0
    gone = await alice.forget(before=moment)

    assert gone.messages == 2
    assert gone.receipt
    assert await texts(alice, "a") == ["new"]
    with pytest.raises(InvalidRequestError, match=r"takes one target, got 0. `agent` alone is not a target"):
        await alice.forget(agent="scout")
    with pytest.raises(InvalidRequestError, match="takes one target"):
        await alice.forget(before=moment, everything=True)


async def test_forget_before_excludes_the_moment_itself(memory: bethink.Memory, clock: FakeClock) -> None:
    alice = memory.space("alice")
    at = clock.time
    await alice.remember([Message(role="user", content="then", said_at=at)])

    assert (await alice.forget(before=at)).messages == 0
    assert (await alice.forget(before=at + timedelta(microseconds=1))).messages == 1


async def test_late_retry_of_a_deleted_message_fails_until_key_expires(
    memory: bethink.Memory, clock: FakeClock
) -> None:
    alice = memory.space("alice")
    await alice.remember("I like tea.", idempotency_key="req-1")
    await alice.remember("I like tea.", idempotency_key="req-1")
    await alice.forget(conversation="notes")

    for _ in range(2):
        with pytest.raises(ErasedKeyError, match="was erased on"):
            await alice.remember("I like tea.", idempotency_key="req-1")
    with pytest.raises(ErasedKeyError):
        await (await alice.session("other")).append("I like tea.", idempotency_key="req-1")
    assert await texts(alice) == []
    await alice.remember("I like mate.", idempotency_key="req-2")
    await memory.space("bob").remember("I like tea.", idempotency_key="req-1")
    assert await texts(alice) == ["I like mate."]

    clock.time += 31 * DAY
    await alice.remember("I like tea.", idempotency_key="req-1")
    assert await texts(alice) == ["I like mate.", "I like tea."]


async def test_late_retry_fails_after_the_space_was_deleted(memory: bethink.Memory) -> None:
    alice = memory.space("alice")
    await alice.remember("I like tea.", idempotency_key="req-1")
    await alice.forget(everything=True)

    with pytest.raises(ErasedKeyError):
        await alice.remember("I like tea.", idempotency_key="req-1")
    assert "alice" not in [space.name for space in await memory.spaces.list()], (
        "the refused retry has not made the space again"
    )


async def test_a_rule_reads_as_a_sentence() -> None:
    assert str(RetentionRule(kind=RetentionKind.SESSION_SUMMARY, older_than=1)) == "session summary older than 1 day"
