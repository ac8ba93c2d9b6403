"""Memory tests after a deletion: those made from the deleted item are deleted, others are named."""

from pathlib import Path
from typing import Any

import pytest

from bethink import Memory
from bethink.model.documents import DocumentDraft, DocumentSource, Provenance, SourceKind
from bethink.model.facts import SourceMessage
from bethink.store import documents
from bethink.store.db import Database
from bethink.types import MemoryTest
from tests.conftest import said
from tests.rooms.recall_kit import learnt, message, tell, written
from tests.rooms.stored_kit import stored

FLOWER = "kavurimote"
WHICH = "Which flower do I like?"


async def about(memory: Memory, ref: str) -> MemoryTest:
    """Keep a test as a correction makes it."""
    return await memory.space("alice").admin.tests.add(
        WHICH, must=[f"I like {FLOWER}"], must_not=[f"I hate {FLOWER}"], about=ref
    )


async def by_hand(memory: Memory) -> MemoryTest:
    return await memory.space("alice").admin.tests.add(
        WHICH, must=["I  LIKE"], note="written by hand", test_id="by hand"
    )


def assert_no_byte_left(target: str, superuser: str) -> None:
    assert FLOWER not in stored(target, superuser)
    if not target.startswith("postgresql:"):
        for file in Path(target).parent.glob(f"{Path(target).name}*"):
            assert FLOWER.encode() not in file.read_bytes(), file.name


@pytest.mark.parametrize("forgotten", ["fact", "message", "session"])
async def test_memory_test_made_from_a_fact_is_deleted_with_its_text(
    memory: Memory, database: Database, target: str, superuser_dsn: str, forgotten: str
) -> None:
    alice = memory.space("alice")
    session = await tell(memory, f"Note that I like {FLOWER}." if forgotten != "fact" else "I like flowers.")
    await learnt(database, "f1", f"I like {FLOWER}", SourceMessage(session.id, 1))
    await alice.admin.tests.add("What else?", must=["tea"], test_id="other")
    await about(memory, "fact:f1:1")
    kept = await by_hand(memory)
    what: dict[str, dict[str, Any]] = {
        "fact": {"ref": "fact:f1:1"},
        "message": {"ref": message(session, 1)},
        "session": {"session_id": session.id},
    }

    would = await alice.forget(**what[forgotten], dry_run=True)
    assert len(await alice.admin.tests.list()) == 3
    gone = await alice.forget(**what[forgotten])

    assert (would.tests, would.mentioning_tests) == (gone.tests, gone.mentioning_tests) == (1, (kept.id,))
    assert gone.facts == 1
    assert [test.id for test in await alice.admin.tests.list()] == ["by hand", "other"]
    assert_no_byte_left(target, superuser_dsn)


async def test_a_test_stays_while_its_fact_does(memory: Memory, database: Database) -> None:
    session = await tell(memory, "I like tea.", "The harbour is wide.")
    await learnt(database, "f1", "I like tea", SourceMessage(session.id, 1))
    kept = await about(memory, "fact:f1:1")
    other = await about(memory, "fact:of-another-memory:1")

    gone = await memory.space("alice").forget(message(session, 2))

    assert (gone.tests, gone.mentioning_tests) == (0, ())
    assert {test.id for test in await memory.space("alice").admin.tests.list()} == {kept.id, other.id}


async def test_manual_test_is_named_for_facts_learned_from_the_message(memory: Memory, database: Database) -> None:
    session = await tell(memory, "Tulips, always tulips.")
    await learnt(database, "f1", "I like tulips", SourceMessage(session.id, 1))
    kept = await by_hand(memory)

    gone = await memory.space("alice").forget(message(session, 1))

    assert (gone.facts, gone.mentioning_tests) == (1, (kept.id,))


async def test_a_filter_names_each_test_once(memory: Memory) -> None:
    for _ in range(2):
        await memory.space("alice").remember(said("I like tea.", "I like the harbour."), tags=["gone"])
    kept = await by_hand(memory)

    gone = await memory.space("alice").forget(tags=["gone"])

    assert (gone.messages, gone.tests, gone.mentioning_tests) == (4, 0, (kept.id,))


@pytest.mark.parametrize("forgotten", ["document", "version", "source"])
async def test_memory_test_from_a_document_is_deleted_with_its_text(
    memory: Memory, target: str, superuser_dsn: str, forgotten: str
) -> None:
    alice = memory.space("alice")
    session = await tell(memory, "Take a note about flowers.")
    source = DocumentSource(kind=SourceKind.MESSAGE, id=session.id, number=1)
    made = await written(memory, "flowers", f"I hate {FLOWER}", by=Provenance(sources=(source,)))
    new = DocumentDraft(slug="flowers", title="Flowers", body="I like tulips")
    await alice.documents.update(made.id, new, if_version=1, provenance=Provenance(sources=(source,)))
    await alice.admin.tests.add(
        WHICH, must=["I like tulips"], must_not=[f"I hate {FLOWER}"], about=f"document:{made.id}:2"
    )
    await alice.admin.tests.add(WHICH, must=["tea"], about=f"document:{made.id}:7", test_id="later")
    kept = await by_hand(memory)

    if forgotten == "source":
        gone = await alice.forget(message(session, 1))
    else:
        whole = forgotten == "document"
        gone = await alice.forget(f"document:{made.id}:{2 if whole else 1}", version_only=not whole)

    assert gone.tests == 1
    assert gone.mentioning_tests == ((kept.id,) if forgotten == "document" else ())
    assert [test.id for test in await alice.admin.tests.list()] == ["by hand", "later"]
    assert_no_byte_left(target, superuser_dsn)


async def test_a_version_that_is_thinned_out_is_not_forgotten(memory: Memory, database: Database) -> None:
    alice = memory.space("alice")
    made = await written(memory, "flowers", "I hate tulips")
    await alice.documents.update(
        made.id, DocumentDraft(slug="flowers", title="Flowers", body="I like them"), if_version=1
    )
    kept = await about(memory, f"document:{made.id}:2")
    await database.transact(lambda tx: tx.script("UPDATE documents SET author_kind = 'job'"), space="alice")

    thinned = await database.transact(
        lambda tx: documents.thin(tx, space="alice", document_id=made.id, version=1), space="alice"
    )

    assert thinned == 1
    assert await alice.admin.tests.list() == [kept]


async def test_a_space_that_is_forgotten_has_no_tests_left(memory: Memory, target: str, superuser_dsn: str) -> None:
    alice, bob = memory.space("alice"), memory.space("bob")
    await tell(memory, "tea")
    await about(memory, "fact:f1:1")
    hers = await bob.admin.tests.add(WHICH, must=["tea"])

    assert (await alice.forget(everything=True, dry_run=True)).tests == 1
    assert (await alice.forget(everything=True)).tests == 1

    assert await alice.admin.tests.list() == []
    assert await bob.admin.tests.list() == [hers]
    assert_no_byte_left(target, superuser_dsn)


async def test_a_test_that_is_replaced_or_removed_leaves_no_byte(
    memory: Memory, target: str, superuser_dsn: str
) -> None:
    tests = memory.space("alice").admin.tests
    await tests.add(WHICH, must=[FLOWER], test_id="a")
    await tests.add(WHICH, must=["tea"], test_id="a")
    assert_no_byte_left(target, superuser_dsn)

    await tests.add(WHICH, must=[FLOWER], test_id="b")
    await tests.remove("b")
    assert_no_byte_left(target, superuser_dsn)
