"""Passages that were forgotten by themselves: they stay away from every later version of their file."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

import bethink
from bethink.features.retention.records import RetentionKind
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
    await memory.forget_person("orangery")


async def by_filter(memory: bethink.Memory, space: bethink.Space) -> None:
    [found] = [each for each in await live(space) if TEA in each.content]
    await space.forget(where={"start": found.metadata["start"]})


FORGETS: dict[str, Callable[[bethink.Memory, bethink.Space], Awaitable[None]]] = {
    "by its ref": by_ref,
    "with a person": by_person,
    "by a filter": by_filter,
}


@pytest.mark.parametrize("how", FORGETS)
async def test_a_passage_that_was_forgotten_stays_away_from_every_later_version_of_its_file(
    memory: bethink.Memory, alice: bethink.Space, how: str
) -> None:
    await alice.add_file(NAME, text=HANDBOOK)
    await FORGETS[how](memory, alice)

    newer = await alice.add_file(NAME, text=NEWER)
    shorter = await alice.add_file(NAME, text=HANDBOOK[: HANDBOOK.index("## Cats")])
    again = await alice.add_file(NAME, text=NEWER)

    assert (counts(newer), newer.forgotten) == ((1, 1, 0), 1)
    assert (counts(shorter), shorter.forgotten) == ((0, 0, 2), 1)
    assert (counts(again), again.forgotten) == ((2, 0, 0), 1)
    assert TEA not in str(await live(alice))


async def test_a_passage_that_a_retention_rule_erased_stays_away_and_what_is_new_does_not(
    alice: bethink.Space, clock: FakeClock
) -> None:
    await alice.add_file(NAME, text=HANDBOOK)
    await alice.retention.set(RetentionKind.MESSAGE, 30, origin="document")
    clock.time += timedelta(days=31)
    await alice.retention.sweep()

    done = await alice.add_file(NAME, text=NEWER)

    assert (counts(done), done.forgotten) == ((1, 0, 0), 2)
    assert [each.content for each in await live(alice)] == ["## Dogs\n\nNone."]


async def test_a_file_of_which_nothing_is_left_stays_away_with_the_same_bytes_too(
    memory: bethink.Memory, alice: bethink.Space
) -> None:
    await alice.add_file("tea.txt", text=TEA)
    await by_ref(memory, alice)

    done = await alice.add_file("tea.txt", text=TEA)

    assert (counts(done), done.forgotten) == ((0, 0, 0), 1)
    assert await live(alice, bethink.conversation_key("file", "tea.txt")) == []


async def test_the_same_words_elsewhere_are_not_what_was_forgotten(
    memory: bethink.Memory, alice: bethink.Space
) -> None:
    await alice.add_file(NAME, text=HANDBOOK)
    await by_ref(memory, alice)

    moved = await alice.add_file(NAME, text=HANDBOOK.replace("## Tea", "## Drinks"))

    assert (counts(moved), moved.forgotten) == ((1, 1, 0), 0)
    assert counts(await alice.add_file("other.md", text=HANDBOOK)) == (2, 0, 0)
    assert counts(await memory.space("bob").add_file(NAME, text=HANDBOOK)) == (2, 0, 0)


async def test_of_a_passage_that_stands_twice_the_one_that_was_not_forgotten_stays(alice: bethink.Space) -> None:
    passage = f"{'word ' * 190}\n\n"
    done = await alice.add_file("a.txt", text=passage * 2)
    await alice.forget(f"message:{done.session.id}:1")

    newer = await alice.add_file("a.txt", text=f"{passage * 2}{'other ' * 150}")

    assert (counts(newer), newer.forgotten) == ((1, 1, 0), 1)


async def test_a_file_that_was_forgotten_as_a_whole_may_be_added_again(alice: bethink.Space) -> None:
    await alice.add_file(NAME, text=HANDBOOK)
    await alice.forget(conversation=CONVERSATION)

    done = await alice.add_file(NAME, text=NEWER)

    assert (counts(done), done.forgotten) == ((3, 0, 0), 0)


async def test_a_dry_run_forgets_no_passage(alice: bethink.Space) -> None:
    done = await alice.add_file(NAME, text=HANDBOOK)
    await alice.forget(f"message:{done.session.id}:1", dry_run=True)

    assert counts(await alice.add_file(NAME, text=NEWER)) == (1, 2, 0)
