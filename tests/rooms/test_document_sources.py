"""A document cites everything it may repeat: deleted data is in no version of it."""

from dataclasses import replace

import pytest

from bethink import Memory, Session
from bethink.memory.learning.documents.pages import EDIT
from bethink.model.consolidation import ChangeStatus
from bethink.model.documents import Document
from bethink.model.records import conversation_key
from bethink.store.db import Database
from tests.conftest import FakeClock, said, whole_tree
from tests.rooms.learn_kit import a_fact, consolidator
from tests.rooms.stored_kit import stored
from tests.rooms.test_consolidate import DAY, Life
from tests.rooms.test_scribe import run
from tests.rooms.test_writer import consolidated, likes_tea, page, read, turn, write

CAT = "Zanzibar"
PAGE = "~/memory/user"


def retouched(path: str, *sources: str, **given: str) -> dict[str, object]:
    """A write that keeps what the document says, but for what is given."""
    return {**write(path, "", *sources), "title": None, "description": None, "body": None, **given}


async def told(memory: Memory, chat: str, text: str) -> Session:
    session = await memory.space("alice").session(conversation_key(channel="c", chat=chat))
    await session.append(said(text))
    await session.checkpoint(force=True)
    return session


async def versions(memory: Memory, path: str) -> list[Document]:
    found = await memory.space("alice").documents.find(path)
    assert found is not None
    return await memory.space("alice").documents.versions(found.id)


async def test_forget_clears_every_version_derived_from_a_session(
    database: Database, memory: Memory, target: str, superuser_dsn: str
) -> None:
    first = await told(memory, "a", "My cat has a name.")
    await run(database, turn(read("~/memory")), turn(write(PAGE, f"A cat, {CAT}.", f"{first.id}:1"), done=True))
    for chat, given in (
        ("b", {"description": "Again."}),
        ("c", {"title": "The user"}),
        ("d", {"description": "Anew."}),
    ):
        later = await told(memory, chat, "I like tea.")
        await run(
            database,
            turn(read("~/memory"), read(PAGE)),
            turn(retouched(PAGE, f"{later.id}:1", **given), done=True),
        )
    assert [CAT in each.body for each in await versions(memory, PAGE)] == [True] * 4

    gone = await memory.space("alice").forget(session_id=first.id)

    assert gone.documents == 4
    assert [each.body for each in await versions(memory, PAGE)] == [""] * 4
    assert CAT not in stored(target, superuser_dsn)


async def test_page_edited_by_a_user_keeps_its_sources(
    database: Database, memory: Memory, target: str, superuser_dsn: str
) -> None:
    first = await told(memory, "a", "My cat has a name.")
    await run(database, turn(read("~/memory")), turn(write(PAGE, f"A cat, {CAT}.", f"{first.id}:1"), done=True))
    documents = memory.space("alice").documents
    learnt = (await versions(memory, PAGE))[-1]

    changed = await documents.update(
        learnt.id, replace(learnt.draft(), body=f"One cat, {CAT}."), if_version=learnt.version
    )
    assert changed is not None
    assert (changed.version, changed.origin) == (learnt.version + 1, learnt.origin)
    assert await documents.sources(learnt.id, changed.version) == await documents.sources(learnt.id, learnt.version)
    await memory.space("alice").forget(session_id=first.id)

    assert CAT not in stored(target, superuser_dsn)


async def test_document_cites_pages_read_while_writing(
    database: Database, memory: Memory, target: str, superuser_dsn: str
) -> None:
    first = await told(memory, "a", "My cat has a name.")
    await run(database, turn(read("~/memory")), turn(write("~/memory/cats", f"{CAT}.", f"{first.id}:1"), done=True))
    later = await told(memory, "b", "I like animals.")
    await run(
        database,
        turn(read("~/memory"), read("~/memory/cats")),
        turn(write("~/memory/pets", f"One is {CAT}.", f"{later.id}:1"), done=True),
    )

    await memory.space("alice").forget(session_id=first.id)

    assert [each.body for each in await versions(memory, "~/memory/pets")] == [""]
    assert CAT not in stored(target, superuser_dsn)


async def test_later_version_does_not_cite_deleted_sources(database: Database, memory: Memory) -> None:
    first = await told(memory, "a", "My cat has a name.")
    await run(database, turn(read("~/memory")), turn(write(PAGE, f"A cat, {CAT}.", f"{first.id}:1"), done=True))
    await memory.space("alice").forget(session_id=first.id)
    later = await told(memory, "b", "I like tea.")

    await run(
        database,
        turn(read("~/memory"), read(PAGE)),
        turn(write(PAGE, "Likes tea.", f"{later.id}:1"), done=True),
    )

    [_, now] = await versions(memory, PAGE)
    assert now.body == "Likes tea."
    assert {each.id for each in await memory.space("alice").documents.sources(now.id, 2)} == {later.id}


async def test_editing_a_page_keeps_sources_of_other_paragraphs(
    database: Database, memory: Memory, clock: FakeClock, target: str, superuser_dsn: str
) -> None:
    life = Life(database, memory)
    first = await life.tell(f"My cat is {CAT}.", a_fact(f"The cat is {CAT}", 1, about="cat"))
    await consolidated(life, turn({**page(PAGE, f"The cat is {CAT}."), "title": "Cat"}, done=True))
    for operation in ("sleeps", "eats", "plays"):
        clock.time += DAY
        await life.tell(f"The cat {operation}.", a_fact(f"The cat {operation}", 1, about="cat"))
        added = {**page(PAGE, f"The cat {operation}."), "tool": EDIT, "title": None}
        await consolidated(life, turn(added, done=True))
    found = await versions(memory, PAGE)
    assert [CAT in each.body for each in found] == [True] * 4
    assert [len(await life.docs.sources(each.id, each.version)) for each in found] == [1, 2, 3, 4]

    await memory.space("alice").forget(session_id=first.id)

    assert [each.body for each in await versions(memory, PAGE)] == [""] * 4
    assert CAT not in stored(target, superuser_dsn)


async def test_document_version_cites_its_own_sources_after_restore(life: Life) -> None:
    await likes_tea(life)
    await consolidated(life, turn(page("~/memory/tea", "Likes tea."), done=True))
    second = await life.tell("I love tea.", a_fact("User loves tea", 1, about="Tea"))
    await consolidated(life, turn(page("~/memory/tea", "Loves and likes tea. [f2]"), done=True))
    tea = await life.docs.find("~/memory/tea")
    assert tea is not None
    await life.docs.restore(tea.id, 1, if_version=2)
    await life.docs.restore(tea.id, 2, if_version=3)

    rests = [len(await life.docs.sources(tea.id, number)) for number in (1, 2, 3, 4)]

    assert rests == [1, 2, 1, 2]
    await life.memory.space("alice").forget(session_id=second.id)
    assert [each.body for each in await life.docs.versions(tea.id)] == ["Likes tea.", "", "Likes tea.", ""]


async def test_pending_change_set_survives_later_writes(database: Database, memory: Memory, session: Session) -> None:
    life = Life(database, memory)
    await life.tell("I like tea.")
    await life.consolidate(consolidator(database, review=True))
    await session.append(said("I like rain."))
    await session.checkpoint(force=True)

    await run(database, turn(read("~/memory")), turn(write("~/memory/rain", "Yes.", f"{session.id}:1"), done=True))

    statuses = {each.status: each for each in await life.docs.changes.list()}
    assert set(statuses) == {ChangeStatus.PENDING, ChangeStatus.APPLIED}
    await life.docs.changes.approve(statuses[ChangeStatus.PENDING].run)
    assert "~/memory/consolidated/MEMORY.md" in await whole_tree(life.docs)


@pytest.fixture
def life(database: Database, memory: Memory) -> Life:
    return Life(database, memory)
