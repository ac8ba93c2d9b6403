"""Individually deleted passages stay out of every later version of their file."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

import bethink
from bethink.features.retention.records import RetentionKind
from bethink.model.records import conversation_key
from tests.conftest import FakeClock
from tests.rooms.test_files import CONVERSATION, HANDBOOK, NAME, TEA, counts, live

NEWER = f"{HANDBOOK}\n## Dogs\n\nNone.\n"


@pytest.fixture
def alice(memory: bethink.Memory) -> bethink.Space:
    return memory.space("alice")


async def by_ref(memory: bethink.Memory, space: bethink.Space) -> None:
    [found] = [each for each in (await space.recall("orangery")).items if TEA in each.text]
    await space.forget(found.ref)


async def by_person(memory: bethink.Memory, space: bethink.Space) -> None:
    await memory.admin.people.forget("orangery")


async def by_filter(memory: bethink.Memory, space: bethink.Space) -> None:
    [found] = [each for each in await live(space) if TEA in each.content]
    await space.forget(where={"start": found.metadata["start"]})


FORGETS: dict[str, Callable[[bethink.Memory, bethink.Space], Awaitable[None]]] = {
    "by its ref": by_ref,
    "with a person": by_person,
    "by a filter": by_filter,
}


@pytest.mark.parametrize("how", FORGETS)
async def test_deleted_passage_is_omitted_from_later_file_versions(
    memory: bethink.Memory, alice: bethink.Space, how: str
) -> None:
    await alice.files.add(NAME, text=HANDBOOK)
    await FORGETS[how](memory, alice)

    newer = await alice.files.add(NAME, text=NEWER)
    shorter = await alice.files.add(NAME, text=HANDBOOK[: HANDBOOK.index("## Cats")])
    again = await alice.files.add(NAME, text=NEWER)

    assert (counts(newer), newer.deleted_before) == ((1, 1, 0), 1)
    assert (counts(shorter), shorter.deleted_before) == ((0, 0, 2), 1)
    assert (counts(again), again.deleted_before) == ((2, 0, 0), 1)
    assert TEA not in str(await live(alice))


async def test_passage_deleted_by_retention_is_not_stored_again(alice: bethink.Space, clock: FakeClock) -> None:
    await alice.files.add(NAME, text=HANDBOOK)
    await alice.admin.retention.set(RetentionKind.MESSAGE, 30, origin="document")
    clock.time += timedelta(days=31)
    await alice.admin.retention.run()

    done = await alice.files.add(NAME, text=NEWER)

    assert (counts(done), done.deleted_before) == ((1, 0, 0), 2)
    assert [each.content for each in await live(alice)] == ["## Dogs\n\nNone."]


async def test_fully_deleted_file_is_not_stored_again(memory: bethink.Memory, alice: bethink.Space) -> None:
    await alice.files.add("tea.txt", text=TEA)
    await by_ref(memory, alice)

    done = await alice.files.add("tea.txt", text=TEA)

    assert (counts(done), done.deleted_before) == ((0, 0, 0), 1)
    assert await live(alice, conversation_key("file", "tea.txt")) == []


async def test_the_same_words_elsewhere_are_not_what_was_forgotten(
    memory: bethink.Memory, alice: bethink.Space
) -> None:
    await alice.files.add(NAME, text=HANDBOOK)
    await by_ref(memory, alice)

    moved = await alice.files.add(NAME, text=HANDBOOK.replace("## Tea", "## Drinks"))

    assert (counts(moved), moved.deleted_before) == ((1, 1, 0), 0)
    assert counts(await alice.files.add("other.md", text=HANDBOOK)) == (2, 0, 0)
    assert counts(await memory.space("bob").files.add(NAME, text=HANDBOOK)) == (2, 0, 0)


async def test_deleting_one_of_two_equal_passages_keeps_the_other(alice: bethink.Space) -> None:
    passage = f"{'word ' * 190}\n\n"
    done = await alice.files.add("a.txt", text=passage * 2)
    await alice.forget(f"message:{done.session.id}:1")

    newer = await alice.files.add("a.txt", text=f"{passage * 2}{'other ' * 150}")

    assert (counts(newer), newer.deleted_before) == ((1, 1, 0), 1)


async def test_fully_deleted_file_can_be_added_again(alice: bethink.Space) -> None:
    await alice.files.add(NAME, text=HANDBOOK)
    await alice.forget(conversation=CONVERSATION)

    done = await alice.files.add(NAME, text=NEWER)

    assert (counts(done), done.deleted_before) == ((3, 0, 0), 0)


async def test_a_dry_run_forgets_no_passage(alice: bethink.Space) -> None:
    done = await alice.files.add(NAME, text=HANDBOOK)
    await alice.forget(f"message:{done.session.id}:1", dry_run=True)

    assert counts(await alice.files.add(NAME, text=NEWER)) == (1, 2, 0)
