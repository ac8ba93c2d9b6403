"""Retention: what is old is erased with receipts, rule by rule; what expired goes, too; a killed sweep is finished."""

import json
from datetime import timedelta

import pytest

import bethink
from bethink.config.settings import Settings, load_settings
from bethink.errors import ErasedKey, Invalid, Misconfigured, NotFound
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
    return [each.message.content for each in await session.read()]


async def test_a_rule_erases_what_is_older_and_leaves_what_is_not(memory: bethink.Memory, clock: FakeClock) -> None:
    alice = memory.space("alice")
    await alice.remember("I like tea.")
    clock.time += 10 * DAY
    await alice.remember("I like mate.")

    rule = await alice.retention.set(MESSAGE, 5)
    assert (rule.kind, rule.older_than, rule.origin) == (MESSAGE, 5, None)
    swept = await alice.retention.sweep()

    assert await texts(alice) == ["I like mate."]
    assert swept.went.messages == 1
    [erasure] = await alice.erasures()
    assert swept.erasures == (erasure.id,)
    assert (erasure.asked_by, erasure.reason) == ("retention", "retention: message older than 5 days")
    assert erasure.settled_at is not None
    receipt = json.loads(erasure.receipt)["receipt"]
    assert receipt["went"]["messages"] == 1
    assert len(receipt["digests"]["message"]) == 1
    assert (await alice.retention.sweep()).erasures == (), "nothing is due any more"
    assert len(await alice.erasures()) == 1


async def test_age_counts_from_when_something_was_said_not_from_when_it_was_stored(
    memory: bethink.Memory, clock: FakeClock
) -> None:
    alice = memory.space("alice")
    await alice.remember([Message(role="user", content="old news", said_at=clock.time - 9 * DAY), *said("new")])
    await alice.retention.set(MESSAGE, 5)
    await alice.retention.sweep()
    assert await texts(alice) == ["new"]


async def test_a_rule_may_be_for_one_origin_and_tool_stands_for_every_tool(
    memory: bethink.Memory, clock: FakeClock
) -> None:
    alice = memory.space("alice")
    for origin in ("user", "tool:web", "tool:mail"):
        fact = Fact(id=origin.replace(":", "-"), content=f"from {origin}", origin=Origin(origin), created_at=clock.time)
        await alice.facts.save(fact)
    clock.time += 3 * DAY

    await alice.retention.set(FACT, 1, origin="tool:web")
    await alice.retention.sweep()
    assert {fact.content for fact in await alice.facts.all()} == {"from user", "from tool:mail"}

    await alice.retention.set(FACT, 1, origin="tool")
    await alice.retention.sweep()
    assert {fact.content for fact in await alice.facts.all()} == {"from user"}
    assert [each.reason for each in await alice.erasures()] == [
        "retention: fact from tool older than 1 day",
        "retention: fact from tool:web older than 1 day",
    ]


async def test_documents_threads_and_session_memories_have_rules_of_their_own(
    memory: bethink.Memory, database: Database, clock: FakeClock
) -> None:
    alice = memory.space("alice")
    draft = DocumentDraft(slug="town", title="Town", body="Bergen.")
    old = await alice.documents.create(draft)
    thread = await alice.threads.open()
    clock.time += 3 * DAY
    await database.transact(
        lambda tx: tree.create(
            tx, DocumentDraft(slug="new", title="New", body="Oslo."), space="alice", by=Provenance()
        ),
        space="alice",
    )
    for kind in (RetentionKind.DOCUMENT, RetentionKind.THREAD, RetentionKind.SESSION_MEMORY):
        await alice.retention.set(kind, 2)

    would = await alice.retention.sweep(dry_run=True)
    assert (would.went.documents, would.went.threads, would.erasures) == (1, 1, ())
    assert (await alice.documents.get(old.id)).body == "Bergen.", "a dry run removes nothing"
    swept = await alice.retention.sweep()

    assert (swept.went.documents, swept.went.threads) == (1, 1)
    assert (await alice.documents.get(old.id)).body == ""
    assert {each.title for each in (await alice.documents.tree()).values()} >= {"New"}
    with pytest.raises(NotFound):
        await alice.threads.get(thread.id)


async def test_a_document_that_was_written_again_is_as_old_as_its_newest_version(
    memory: bethink.Memory, clock: FakeClock
) -> None:
    alice = memory.space("alice")
    made = await alice.documents.create(DocumentDraft(slug="town", title="Town", body="Bergen."))
    clock.time += 10 * DAY
    await alice.correct(f"document:{made.id}:1", "Oslo.")
    await alice.retention.set(RetentionKind.DOCUMENT, 5)

    assert (await alice.retention.sweep()).erasures == ()


async def test_rules_are_listed_replaced_and_removed_each_in_its_space(memory: bethink.Memory) -> None:
    alice, bob = memory.space("alice"), memory.space("bob")
    await alice.retention.set(FACT, 30, origin="tool")
    await alice.retention.set(MESSAGE, 365)
    await alice.retention.set(MESSAGE, 100)

    found = await alice.retention.all()
    assert [(each.kind, each.origin, each.older_than) for each in found] == [(MESSAGE, None, 100), (FACT, "tool", 30)]
    assert await bob.retention.all() == []
    with pytest.raises(NotFound, match="no retention rule"):
        await bob.retention.remove(MESSAGE)
    with pytest.raises(NotFound):
        await alice.retention.remove(FACT)
    await alice.retention.remove(FACT, origin="tool")
    await alice.retention.remove(MESSAGE)
    assert await alice.retention.all() == []


@pytest.mark.parametrize(
    ("kind", "days", "origin"),
    [("gossip", 3, None), ("message", 0, None), ("message", 40_000, None), ("thread", 3, "user"), ("message", 3, "")],
)
async def test_a_rule_that_cannot_be_kept_is_refused(
    memory: bethink.Memory, kind: str, days: int, origin: str | None
) -> None:
    with pytest.raises(Invalid):
        await memory.space("alice").retention.set(kind, days, origin=origin)  # pyright: ignore[reportArgumentType]


async def test_the_settings_make_a_rule_for_messages_of_all_spaces_that_have_none(
    database: Database, clock: FakeClock
) -> None:
    settings = load_settings(environ={}, retention_message_days=5)
    memory = memory_on(database, settings=settings)
    for name in ("alice", "bob"):
        await memory.space(name).remember("I like tea.")
    await memory.space("bob").retention.set(MESSAGE, 100)
    clock.time += 10 * DAY

    assert [str(each) for each in await memory.space("alice").retention.all()] == ["message older than 5 days"]
    assert [each.older_than for each in await memory.space("bob").retention.all()] == [100]
    await keeper(database, message_days=5).sweep_next()

    assert await texts(memory.space("alice")) == []
    assert await texts(memory.space("bob")) == ["I like tea."]


@pytest.mark.parametrize("name", ["retention_message_days", "retention_expired_days", "retention_key_days"])
def test_days_that_are_no_days_are_refused_in_the_settings(name: str) -> None:
    for wrong in (-1, 40_000):
        with pytest.raises(Misconfigured, match=name):
            load_settings(environ={}, **{name: wrong})  # pyright: ignore[reportArgumentType]
    assert Settings().retention.key_days == 30


async def test_an_expired_fact_is_erased_once_it_has_been_so_for_as_long_as_the_settings_say(
    memory: bethink.Memory, database: Database, clock: FakeClock
) -> None:
    alice = memory.space("alice")
    ends = Fact(id="f1", content="The sauna code is 4711.", origin=Origin("user"), expires_at=clock.time + DAY)
    await alice.facts.save(ends)
    await alice.facts.save(Fact(id="f2", content="I like tea.", origin=Origin("user")))
    renewed = Fact(id="f3", content="The bus is late.", origin=Origin("user"), expires_at=clock.time + DAY)
    await alice.facts.save(renewed)
    clock.time += 20 * DAY
    await alice.correct("fact:f3:1", "The bus is late.", expires_at=clock.time + 100 * DAY)
    assert await keeper(database).sweep_next() == 0, "it can still be asked as of before"

    clock.time += 20 * DAY
    assert await keeper(database).sweep_next() == 1

    with pytest.raises(NotFound):
        await alice.facts.get("f1")
    assert {each.id for each in await alice.facts.all()} == {"f2", "f3"}
    [erasure] = await alice.erasures()
    assert erasure.reason == "retention: facts that have expired"
    assert json.loads(erasure.receipt)["receipt"]["went"]["facts"] == 1


async def test_a_sweep_works_in_batches_each_with_a_receipt_and_goes_on_where_it_stopped(
    memory: bethink.Memory, database: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "_AT_ONCE", 2)
    monkeypatch.setattr(sweeping, "_MOST", 2)
    alice = memory.space("alice")
    await alice.remember(said(*"abcdefg"))
    await memory.space("bob").remember("b")
    for name in ("alice", "bob"):
        await memory.space(name).retention.set(MESSAGE, 1)
    clock.time += 2 * DAY
    await alice.remember("new")

    first = await alice.retention.sweep()
    assert (first.went.messages, len(first.erasures), first.more) == (4, 2, True)
    worker = keeper(database)
    assert await worker.sweep_next() == 2
    assert await worker.sweep_next() == 1, "alice has nothing left, so bob's turn has come"
    assert await texts(alice) == ["new"]
    assert await texts(memory.space("bob")) == []


async def test_a_sweep_that_was_killed_is_finished_and_no_other_takes_the_same_up(
    memory: bethink.Memory, database: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = memory.space("alice")
    await alice.remember(said("a", "b"))
    await alice.retention.set(MESSAGE, 1)
    clock.time += 2 * DAY

    async def dies(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Settler, "remove", dies)
    with pytest.raises(KeyboardInterrupt):
        await alice.retention.sweep()
    monkeypatch.undo()
    assert await texts(alice) == ["a", "b"]

    assert (await alice.retention.sweep()).erasures == (), "what is recorded is finished first"
    await finish_open(database)
    assert await texts(alice) == []
    [erasure] = await alice.erasures()
    assert json.loads(erasure.receipt)["receipt"]["went"]["messages"] == 2


async def test_a_worker_sweeps_by_itself_and_no_more_often_than_it_must(
    memory: bethink.Memory, database: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = memory.space("alice")
    await alice.remember("a")
    await alice.retention.set(MESSAGE, 1)
    clock.time += 2 * DAY
    worker = keeper(database)
    await worker.sweep_if_due()
    assert await texts(alice) == []

    passes: list[int] = []
    monkeypatch.setattr(worker, "sweep_next", lambda: passes.append(1))
    await worker.sweep_if_due()
    assert passes == [], "the next pass begins later"


async def test_what_was_made_of_a_message_goes_with_it(memory: bethink.Memory, clock: FakeClock) -> None:
    alice = memory.space("alice")
    session = await alice.session("desk")
    await session.append(said("I live in Bergen."))
    source = DocumentSource(kind=SourceKind.SESSION_MEMORY, id=session.id)
    draft = DocumentDraft(slug="town", title="Town", body="Bergen.")
    await alice.documents.create(draft, by=Provenance(sources=(source,)))
    await alice.retention.set(MESSAGE, 1)
    clock.time += 2 * DAY

    swept = await alice.retention.sweep()

    assert (swept.went.messages, swept.went.documents) == (1, 1)


async def test_forget_before_takes_everything_that_was_said_before_a_moment(
    memory: bethink.Memory, clock: FakeClock
) -> None:
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
    with pytest.raises(Invalid, match="exactly one target"):
        await alice.forget(agent="scout")
    with pytest.raises(Invalid, match="exactly one target"):
        await alice.forget(before=moment, everything=True)


async def test_before_leaves_what_was_said_at_that_moment(memory: bethink.Memory, clock: FakeClock) -> None:
    alice = memory.space("alice")
    at = clock.time
    await alice.remember([Message(role="user", content="then", said_at=at)])

    assert (await alice.forget(before=at)).messages == 0
    assert (await alice.forget(before=at + timedelta(microseconds=1))).messages == 1


async def test_a_late_retry_of_an_erased_message_is_refused_until_its_key_is_free(
    memory: bethink.Memory, clock: FakeClock
) -> None:
    alice = memory.space("alice")
    await alice.remember("I like tea.", idempotency_key="req-1")
    await alice.remember("I like tea.", idempotency_key="req-1")
    await alice.forget(conversation="notes")

    for _ in range(2):
        with pytest.raises(ErasedKey, match="was erased on"):
            await alice.remember("I like tea.", idempotency_key="req-1")
    with pytest.raises(ErasedKey):
        await (await alice.session("other")).append("I like tea.", idempotency_key="req-1")
    assert await texts(alice) == []
    await alice.remember("I like mate.", idempotency_key="req-2")
    await memory.space("bob").remember("I like tea.", idempotency_key="req-1")
    assert await texts(alice) == ["I like mate."]

    clock.time += 31 * DAY
    await alice.remember("I like tea.", idempotency_key="req-1")
    assert await texts(alice) == ["I like mate.", "I like tea."]


async def test_a_late_retry_is_refused_after_the_whole_space_was_forgotten(memory: bethink.Memory) -> None:
    alice = memory.space("alice")
    await alice.remember("I like tea.", idempotency_key="req-1")
    await alice.forget(everything=True)

    with pytest.raises(ErasedKey):
        await alice.remember("I like tea.", idempotency_key="req-1")
    assert "alice" not in await memory.list_spaces(), "the refused retry has not made the space again"


async def test_a_rule_reads_as_a_sentence() -> None:
    assert str(RetentionRule(kind=RetentionKind.SESSION_MEMORY, older_than=1)) == "session memory older than 1 day"
