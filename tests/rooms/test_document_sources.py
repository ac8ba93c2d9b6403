"""A document rests on everything it may repeat: what is forgotten is in no version of it, however often rewritten."""

from dataclasses import replace

import pytest

from bethink import Memory, Session, conversation_key
from bethink.memory.learning.documents.pages import EDIT
from bethink.model.documents import Document
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
    await session.idle()
    return session


async def versions(memory: Memory, path: str) -> list[Document]:
    found = await memory.space("alice").documents.find(path)
    assert found is not None
    return await memory.space("alice").documents.versions(found.id)


async def test_what_a_transcript_said_is_forgotten_from_every_rewriting_of_a_document(
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


async def test_a_page_that_a_user_has_changed_still_rests_on_what_it_was_made_of(
    database: Database, memory: Memory, target: str, superuser_dsn: str
) -> None:
    first = await told(memory, "a", "My cat has a name.")
    await run(database, turn(read("~/memory")), turn(write(PAGE, f"A cat, {CAT}.", f"{first.id}:1"), done=True))
    documents = memory.space("alice").documents
    learnt = (await versions(memory, PAGE))[-1]

    changed = await documents.update(
        learnt.id, replace(learnt.draft(), body=f"One cat, {CAT}."), expected=learnt.version
    )
    assert changed is not None
    assert (changed.version, changed.origin) == (learnt.version + 1, learnt.origin)
    assert await documents.sources(learnt.id, changed.version) == await documents.sources(learnt.id, learnt.version)
    await memory.space("alice").forget(session_id=first.id)

    assert CAT not in stored(target, superuser_dsn)


async def test_what_was_read_on_the_way_to_a_document_is_behind_it_too(
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


async def test_what_was_forgotten_weighs_on_no_later_version(database: Database, memory: Memory) -> None:
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


async def test_a_page_is_edited_without_losing_what_its_other_paragraphs_rest_on(
    database: Database, memory: Memory, clock: FakeClock, target: str, superuser_dsn: str
) -> None:
    life = Life(database, memory)
    first = await life.tell(f"My cat is {CAT}.", a_fact(f"The cat is {CAT}", 1, about="cat"))
    await consolidated(life, turn({**page(PAGE, f"The cat is {CAT}."), "title": "Cat"}, done=True))
    for verb in ("sleeps", "eats", "plays"):
        clock.time += DAY
        await life.tell(f"The cat {verb}.", a_fact(f"The cat {verb}", 1, about="cat"))
        added = {**page(PAGE, f"The cat {verb}."), "tool": EDIT, "title": None}
        await consolidated(life, turn(added, done=True))
    found = await versions(memory, PAGE)
    assert [CAT in each.body for each in found] == [True] * 4
    assert [len(await life.docs.sources(each.id, each.version)) for each in found] == [1, 2, 3, 4]

    await memory.space("alice").forget(session_id=first.id)

    assert [each.body for each in await versions(memory, PAGE)] == [""] * 4
    assert CAT not in stored(target, superuser_dsn)


async def test_a_version_rests_on_just_what_was_said_of_it_before_and_after_it_was_restored(life: Life) -> None:
    await likes_tea(life)
    await consolidated(life, turn(page("~/memory/tea", "Likes tea."), done=True))
    second = await life.tell("I love tea.", a_fact("User loves tea", 1, about="Tea"))
    await consolidated(life, turn(page("~/memory/tea", "Loves and likes tea. [f2]"), done=True))
    tea = await life.docs.find("~/memory/tea")
    assert tea is not None
    await life.docs.restore(tea.id, 1, expected=2)
    await life.docs.restore(tea.id, 2, expected=3)

    rests = [len(await life.docs.sources(tea.id, number)) for number in (1, 2, 3, 4)]

    assert rests == [1, 2, 1, 2]
    await life.memory.space("alice").forget(session_id=second.id)
    assert [each.body for each in await life.docs.versions(tea.id)] == ["Likes tea.", "", "Likes tea.", ""]


async def test_a_held_change_set_outlives_a_transcript_that_is_worked_in(
    database: Database, memory: Memory, session: Session
) -> None:
    life = Life(database, memory)
    await life.tell("I like tea.")
    await life.consolidate(consolidator(database, review=True))
    await session.append(said("I like rain."))
    await session.idle()

    await run(database, turn(read("~/memory")), turn(write("~/memory/rain", "Yes.", f"{session.id}:1"), done=True))

    statuses = {each.status: each for each in await life.docs.changes()}
    assert set(statuses) == {"held", "applied"}
    await life.docs.approve(statuses["held"].run)  # pyright: ignore[reportArgumentType]
    assert "~/memory/consolidated/MEMORY.md" in await whole_tree(life.docs)


@pytest.fixture
def life(database: Database, memory: Memory) -> Life:
    return Life(database, memory)
