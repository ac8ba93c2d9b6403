"""Legal holds: while one is active, nothing in the space can be deleted, and the reports say so."""

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

import bethink
from bethink.errors import LegalHoldError, NotFoundError
from bethink.features.retention.records import RetentionKind
from bethink.features.retention.service import RetentionOptions, RetentionService
from bethink.memory.deletion.settling import Settler, finish_open
from bethink.model.documents import DocumentDraft
from bethink.model.erasures import Tombstone
from bethink.model.facts import Fact
from bethink.model.records import Origin
from bethink.store import erasures
from bethink.store.db import Database, Tx
from tests.conftest import FakeClock, Quiet, database_at, memory_on, said

DAY = timedelta(days=1)
WORD = "kavurimote"


async def furnished(memory: bethink.Memory, name: str = "alice") -> bethink.Session:
    """Put one of everything into a space, all of it due."""
    space = memory.space(name)
    session = await space.session("desk")
    await session.append(said(f"My therapist is {WORD}.", "I like tea."))
    fact = Fact(id="f1", text=f"{WORD} is a therapist.", origin=Origin("user"))
    await space.facts.save(fact)
    await space.documents.create(DocumentDraft(slug="people", title="People", body=WORD), document_id="doc_people")
    await space.threads.open("thread_desk")
    for kind in RetentionKind:
        await space.admin.retention.set(kind, 1)
    return session


async def held(memory: bethink.Memory, database: Database) -> str:
    """Everything that a space holds, as a text that changes with any of it."""
    space = memory.space("alice")
    stored = {
        "messages": [each.message.content for each in await (await space.session("desk")).messages()],
        "facts": [each.text for each in await space.facts.list()],
        "documents": [(await space.documents.get(each.id)).body for each in await space.documents.list()],
        "threads": [each.id for each in await space.threads.list()],
        "tombstones": len(
            await database.transact(lambda tx: erasures.tombstones(tx, space="alice"), space="alice", read_only=True)
        ),
    }
    return json.dumps(stored)


ERASES: dict[str, Callable[[bethink.Space, bethink.Session], Awaitable[object]]] = {
    "everything": lambda space, _: space.forget(everything=True),
    "a message": lambda space, session: space.forget(f"message:{session.id}:1"),
    "a session": lambda _, session: session.forget(),
    "a conversation": lambda space, _: space.forget(conversation="desk"),
    "a fact": lambda space, _: space.forget("fact:f1:1"),
    "a document": lambda space, _: space.forget("document:doc_people:1"),
    "a thread": lambda space, _: space.forget(thread_id="thread_desk"),
    "a filter": lambda space, _: space.forget(origin=["user"]),
    "before": lambda space, _: space.forget(before="2999-01-01"),
    "a dry run": lambda space, _: space.forget(everything=True, dry_run=True),
    "a sweep": lambda space, _: space.admin.retention.run(),
    "the dry run of a sweep": lambda space, _: space.admin.retention.run(dry_run=True),
    "a thread by its handle": lambda space, _: space.threads.engine().delete_thread("thread_desk"),
}


@pytest.mark.parametrize("how", ERASES)
async def test_legal_hold_blocks_every_deletion(
    memory: bethink.Memory, database: Database, clock: FakeClock, how: str
) -> None:
    session = await furnished(memory)
    await memory.space("alice").admin.holds.place("case 12", actor="kari")
    clock.time += 10 * DAY
    before = await held(memory, database)

    with pytest.raises(
        LegalHoldError, match=r"'alice' has been under a legal hold since 2023-11-14, placed by kari: case 12"
    ):
        await ERASES[how](memory.space("alice"), session)

    assert await held(memory, database) == before
    assert await memory.space("alice").admin.erasures.list() == [], "nothing is recorded as asked, either"


async def test_sweep_skips_a_space_under_legal_hold(
    memory: bethink.Memory, database: Database, clock: FakeClock
) -> None:
    await furnished(memory)
    await memory.space("bob").remember("b")
    await memory.space("bob").admin.retention.set(RetentionKind.MESSAGE, 1)
    hold = await memory.space("alice").admin.holds.place("case 12")
    clock.time += 10 * DAY
    before = await held(memory, database)
    worker = RetentionService(database, redactor=Quiet(), options=RetentionOptions(message_days=1, expired_days=0))

    await worker.sweep_if_due()
    assert await held(memory, database) == before
    assert len(await memory.space("bob").admin.erasures.list()) == 1

    await memory.admin.holds.lift("alice", hold.id, "closed")
    assert (await memory.space("alice").admin.retention.run()).deletion.messages == 2


async def test_an_expired_fact_stays_under_a_hold(memory: bethink.Memory, database: Database, clock: FakeClock) -> None:
    await memory.space("alice").facts.save(Fact(id="f1", text="tea", expires_at=clock.time + DAY))
    await memory.space("alice").admin.holds.place("case 12")
    clock.time += 100 * DAY

    await RetentionService(database, redactor=Quiet(), options=RetentionOptions()).sweep_next()

    assert (await memory.space("alice").facts.get("f1")).text == "tea"


async def test_every_hold_must_be_lifted_and_all_stay_listed(memory: bethink.Memory) -> None:
    await furnished(memory)
    alice = memory.space("alice")
    first = await alice.admin.holds.place("case 12", actor="kari")
    second = await alice.admin.holds.place("case 13", actor="ole")
    assert [each.reason for each in await memory.admin.holds.list()] == ["case 13", "case 12"]

    lifted = await memory.admin.holds.lift("alice", first.id, "closed", actor="ole")
    assert (lifted.lifted_by, lifted.lift_reason) == ("ole", "closed")
    assert lifted.lifted_at is not None
    assert await memory.admin.holds.lift("alice", first.id, "again", actor="kari") == lifted, (
        "a second time changes nothing"
    )
    with pytest.raises(LegalHoldError, match="case 13"):
        await alice.forget(everything=True)
    await memory.admin.holds.lift("alice", second.id, "closed")
    assert await memory.admin.holds.list() == []
    await alice.forget(everything=True)

    assert [each.id for each in await alice.admin.holds.list()] == [second.id, first.id]
    assert await memory.space("bob").admin.holds.list() == []
    with pytest.raises(NotFoundError):
        await memory.admin.holds.lift("bob", first.id, "closed")


async def test_legal_hold_needs_an_existing_space(memory: bethink.Memory) -> None:
    with pytest.raises(NotFoundError, match="No space 'alic'"):
        await memory.space("alic").admin.holds.place("case 12")


async def test_erasure_recorded_before_a_legal_hold_waits_for_its_end(
    memory: bethink.Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await furnished(memory)
    alice = memory.space("alice")

    async def dies(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Settler, "remove", dies)
    with pytest.raises(KeyboardInterrupt):
        await alice.forget(conversation="desk")
    monkeypatch.undo()
    hold = await alice.admin.holds.place("case 12")
    before = await held(memory, database)

    await finish_open(database)
    assert await held(memory, database) == before
    [waiting] = await memory.admin.erasures.list()
    assert "rows" in waiting.sinks

    await memory.admin.holds.lift("alice", hold.id, "closed")
    assert await (await alice.session("desk")).messages() == []
    assert await memory.admin.erasures.list() == []


async def test_legal_hold_stops_running_deletion_before_commit(
    memory: bethink.Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await furnished(memory)
    alice = memory.space("alice")
    remove = Settler.remove

    async def meanwhile(self: Settler, space: str, erasure_id: str) -> object:
        await alice.admin.holds.place("case 12")
        return await remove(self, space, erasure_id)

    monkeypatch.setattr(Settler, "remove", meanwhile)
    before = await held(memory, database)
    with pytest.raises(LegalHoldError):
        await alice.forget(conversation="desk")

    assert await held(memory, database) == before
    assert await alice.admin.erasures.list() == [], "the request was refused, and its tombstones are gone"


async def test_sync_keeps_data_under_a_legal_hold(memory: bethink.Memory, database: Database, tmp_path: Path) -> None:
    session = await furnished(memory)
    other_database = database_at(str(tmp_path / "other.db"))
    await other_database.open()
    other = memory_on(other_database)
    await memory.admin.sync(other, "alice")
    await other.space("alice").forget(f"message:{session.id}:1")
    hold = await memory.space("alice").admin.holds.place("case 12")
    before = await held(memory, database)

    with pytest.raises(LegalHoldError):
        await memory.admin.sync(other, "alice")
    with pytest.raises(LegalHoldError):
        await other.admin.sync(memory, "alice")
    assert await held(memory, database) == before

    await memory.admin.holds.lift("alice", hold.id, "closed")
    await memory.admin.sync(other, "alice")
    assert WORD not in json.dumps([each.message.content for each in await session.messages()])
    await other_database.close()


async def test_remote_tombstones_do_not_reach_a_space_under_legal_hold(
    memory: bethink.Memory, database: Database
) -> None:
    session = await furnished(memory)
    await memory.space("alice").admin.holds.place("case 12")

    def elsewhere(tx: Tx) -> None:
        from bethink.memory.deletion.replay import replay  # noqa: PLC0415

        digest = erasures.digests(tx).digest("alice", "message", f"{session.id}:1")
        stone = Tombstone(
            kind="message", key_id=erasures.digests(tx).key_id, digest=digest, erasure_id="era_1", at=tx.now
        )
        erasures.put(tx, [stone], keys=(), space="alice")
        replay(tx, space="alice", back=False)

    with pytest.raises(LegalHoldError):
        await database.transact(elsewhere, space="alice")
    assert len(await session.messages()) == 2
