# pyright: reportUnknownMemberType=false
"""Erasures: recorded first, confirmed by every sink, settled with a receipt, and finished after a crash."""

import json
from pathlib import Path

import anyio
import apsw
import pytest

import bethink
from bethink.errors import InvalidRequestError, NotFoundError
from bethink.memory.deletion import settling, sinks
from bethink.memory.deletion.receipts import verify_receipt
from bethink.memory.deletion.replay import replay
from bethink.memory.deletion.settling import Settler
from bethink.memory.documents.files import folder_of
from bethink.model.documents import DocumentDraft, DocumentSource, Provenance, SourceKind
from bethink.model.erasures import Tombstone
from bethink.store import erasures
from bethink.store.db import Database, Tx
from bethink.store.sql import Dialect
from tests.conftest import KEY, said
from tests.rooms.stored_kit import stored

WORD = "kavurimote"


async def test_receipt_lists_deletions_by_digest_and_unreached_sinks(memory: bethink.Memory) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said(f"My therapist is {WORD}.", "I like tea."))

    gone = await space.forget(f"message:{session.id}:1", actor="kari", reason="request 12")

    receipt = json.loads(gone.receipt)["receipt"]
    assert receipt["requested_by"] == "kari"
    assert receipt["reason"] == "request 12"
    assert receipt["counts"]["messages"] == 1
    assert len(receipt["digests"]["message"]) == 1
    assert receipt["settled_at"] is not None
    assert gone.pending == ()
    assert None not in receipt["sinks"].values()
    assert {*sinks.INSIDE, sinks.FILES, sinks.EXPORTS} <= set(receipt["sinks"])
    assert "backups" in {each["what"] for each in receipt["out_of_reach"]}
    assert WORD not in gone.receipt
    assert session.id not in json.dumps(receipt["digests"])


async def test_a_signature_holds_until_a_letter_is_changed(memory: bethink.Memory) -> None:
    await memory.space("alice").remember("I like tea.")
    gone = await memory.space("alice").forget(everything=True)
    key = await memory.admin.erasures.public_key()

    assert verify_receipt(gone.receipt).receipt["erasure"] == gone.erasure_id
    assert verify_receipt(gone.receipt, public_key=key).public_key == key
    with pytest.raises(InvalidRequestError, match="has been altered"):
        verify_receipt(gone.receipt.replace('"messages": 1', '"messages": 2'))
    with pytest.raises(InvalidRequestError, match="another key"):
        verify_receipt(gone.receipt, public_key="A" * 43)
    with pytest.raises(InvalidRequestError, match="not signed"):
        verify_receipt(json.dumps({"receipt": {}, "signature": None}))
    with pytest.raises(InvalidRequestError, match="not valid JSON"):
        verify_receipt("tea")


async def test_erasures_name_their_actor_after_the_space_is_deleted(memory: bethink.Memory) -> None:
    space = memory.space("alice")
    await space.remember(f"My therapist is {WORD}.")
    await space.forget(everything=True, actor="kari")

    [found] = await space.admin.erasures.list()

    assert (found.requested_by, found.key_prefix, found.open_sinks) == ("kari", None, ())
    assert found.settled_at is not None
    assert await memory.space("bob").admin.erasures.list() == []


async def test_forget_of_a_missing_item_records_no_erasure(memory: bethink.Memory) -> None:
    await memory.space("alice").remember("I like tea.")
    with pytest.raises(NotFoundError):
        await memory.space("alice").forget("fact:fct_none:1")
    with pytest.raises(NotFoundError):
        await memory.space("nobody").forget(everything=True)

    assert await memory.space("alice").admin.erasures.list() == []
    assert await memory.space("nobody").admin.erasures.list() == []


async def test_a_dry_run_names_messages_and_pages_and_records_nothing(memory: bethink.Memory) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said("I live in Bergen.", "I like tea."))
    source = DocumentSource(kind=SourceKind.SESSION_SUMMARY, id=session.id)
    draft = DocumentDraft(slug="town", title="Town", body="Bergen.")
    await space.documents.create(draft, provenance=Provenance(sources=(source,)))

    gone = await space.forget(conversation=KEY, dry_run=True)

    assert {f"message:{session.id}:1", f"message:{session.id}:2", f"session_summary:{session.id}:0"} <= set(gone.refs)
    assert gone.document_paths == ("~/town",)
    assert await space.admin.erasures.list() == []
    assert len(await session.messages()) == 2


async def test_recorded_erasure_is_finished_at_next_open(
    memory: bethink.Memory, database: Database, monkeypatch: pytest.MonkeyPatch, target: str, superuser_dsn: str
) -> None:
    await memory.space("alice").remember(f"My therapist is {WORD}.")

    async def dies(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Settler, "remove", dies)
    with pytest.raises(KeyboardInterrupt):
        await memory.space("alice").forget(everything=True)
    monkeypatch.undo()
    assert WORD in stored(target, superuser_dsn)

    await database.close()
    await database.open()
    assert database.has_open_erasures
    await settling.finish_open(database)

    assert WORD not in stored(target, superuser_dsn)
    [found] = await memory.space("alice").admin.erasures.list()
    assert found.settled_at is not None
    assert json.loads(found.receipt)["receipt"]["counts"]["messages"] == 1


async def test_an_erasure_whose_files_were_left_is_finished(
    memory: bethink.Memory, database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await memory.space("alice").remember(f"My therapist is {WORD}.")
    folder = tmp_path / folder_of("alice")
    folder.mkdir()
    (folder / "MEMORY.md").write_text(WORD)
    await database.transact(
        lambda tx: erasures.note_written(tx, space="alice", host=sinks.this_host(), path=str(folder), kind="artifacts"),
        space="alice",
    )

    async def dies(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Settler, "settle", dies)
    with pytest.raises(KeyboardInterrupt):
        await memory.space("alice").forget(everything=True)
    monkeypatch.undo()
    assert (folder / "MEMORY.md").exists()

    assert await memory.admin.erasures.list() == []
    assert not folder.exists()


async def test_files_that_a_worker_is_writing_keep_an_erasure_open(
    memory: bethink.Memory, database: Database, tmp_path: Path
) -> None:
    await memory.space("alice").remember("I like tea.")
    named = {"space": "alice", "host": sinks.this_host(), "path": str(tmp_path / "x")}
    await database.transact(lambda tx: erasures.note_written(tx, **named, kind="writing"), space="alice")

    gone = await memory.space("alice").forget(everything=True)
    assert gone.pending == ("files",)
    assert [each.sinks for each in await memory.admin.erasures.list()] == [("files",)]

    await database.transact(lambda tx: erasures.note_written(tx, **named, kind="artifacts"), space="alice")
    assert await memory.admin.erasures.list() == []


async def test_open_reader_delays_log_erasure_until_it_ends(
    memory: bethink.Memory, database: Database, target: str
) -> None:
    if database.dialect is not Dialect.SQLITE:
        pytest.skip("PostgreSQL's log is out of our reach")
    await memory.space("alice").remember(f"My therapist is {WORD}.")
    reader = apsw.Connection(target)
    reader.execute("BEGIN; SELECT count(*) FROM messages")

    gone = await memory.space("alice").forget(everything=True)
    assert gone.pending == ("log",)
    assert WORD.encode() in Path(f"{target}-wal").read_bytes()

    reader.execute("ROLLBACK")
    reader.close()
    assert await memory.admin.erasures.list() == []
    assert WORD.encode() not in Path(f"{target}-wal").read_bytes()


async def test_tombstones_forget_again_what_a_restore_brings_back(memory: bethink.Memory, database: Database) -> None:
    space = memory.space("alice")
    session = await space.session(KEY)
    await session.append(said(f"My therapist is {WORD}.", "I like tea."))
    kept = await database.transact(lambda tx: _stones_of(tx, [("message", f"{session.id}:1")]), space="alice")

    def restored(tx: Tx) -> None:
        erasures.put(tx, kept, keys=(), space="alice")
        replay(tx, space="alice")

    await database.transact(restored, space="alice")

    assert [each.message.content for each in await session.messages()] == ["I like tea."]
    assert await database.transact(lambda tx: replay(tx, space="alice"), space="alice") is None


def _stones_of(tx: Tx, names: list[tuple[str, str]]) -> list[Tombstone]:
    made = erasures.digests(tx)
    return [
        Tombstone(kind=kind, key_id=made.key_id, digest=made.digest("alice", kind, name), erasure_id="era_x", at=tx.now)
        for kind, name in names
    ]


async def test_messages_after_full_deletion_are_not_erased(memory: bethink.Memory, database: Database) -> None:
    space = memory.space("alice")
    await space.remember(f"My therapist is {WORD}.")
    await space.forget(everything=True)
    await space.remember("I like tea.")

    assert await database.transact(lambda tx: replay(tx, space="alice"), space="alice") is None
    assert (await space.recall("tea")).items


async def test_erasure_names_sessions_shown_it_and_deletes_echoes(memory: bethink.Memory) -> None:
    space = memory.space("alice")
    told, asks = await space.session("a"), await space.session("b")
    await told.append(said(f"My therapist is {WORD} in Oslo."))
    found = await space.recall("Who is my therapist?", session_id=asks.id)
    assert found.items
    await asks.append([bethink.Message(role="assistant", content=f"Your therapist is {WORD}, in Oslo.")])
    await asks.append(said("Thank you, and what about tea?"))

    dry = await space.forget(session_id=told.id, dry_run=True)
    assert dry.exposed_sessions == (asks.id,)
    gone = await space.forget(session_id=told.id, include_repeats=True)

    assert gone.messages == 2
    assert [each.message.content for each in await asks.messages()] == ["Thank you, and what about tea?"]
    assert json.loads(gone.receipt)["receipt"]["shown_to"] in ([], [asks.id])


async def test_two_erasures_at_once_are_both_settled(memory: bethink.Memory) -> None:
    sessions = [await memory.space("alice").session(str(each)) for each in range(4)]
    for each in sessions:
        await each.append(said(f"My therapist is {WORD}."))

    async with anyio.create_task_group() as tasks:
        for each in sessions:
            tasks.start_soon(lambda each=each: memory.space("alice").forget(session_id=each.id))
        tasks.start_soon(memory.admin.erasures.list)

    found = await memory.space("alice").admin.erasures.list()
    assert len(found) == 4
    assert all(each.settled_at is not None for each in found)
    assert all(json.loads(each.receipt)["receipt"]["counts"]["messages"] == 1 for each in found)
