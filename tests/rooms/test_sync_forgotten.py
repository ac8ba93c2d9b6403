"""Deleted data stays out of every synced copy, and nothing else is deleted with it."""

import shutil
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import bethink
import bethink.types
from bethink.errors import NotFoundError
from bethink.memory.deletion.identity import names_of_message
from bethink.model.erasures import SAID
from bethink.model.moments import to_micros
from bethink.store import erasures
from bethink.store.db import Database, Tx
from tests.conftest import FakeClock, memory_on, said
from tests.rooms.archive_kit import SPACE, opened

SECRET = "the key is below the cello"


class FastClock(FakeClock):
    """A clock that is ahead of another."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock

    def __call__(self) -> datetime:
        return self._clock() + timedelta(seconds=90)


@pytest.fixture
async def laptop(template: Path, tmp_path: Path, clock: FakeClock) -> AsyncIterator[bethink.Memory]:
    async with opened(shutil.copy(template, tmp_path / "laptop.db"), clock) as database:
        yield memory_on(database)


@pytest.fixture
async def phone(template: Path, tmp_path: Path, clock: FakeClock) -> AsyncIterator[bethink.Memory]:
    async with opened(shutil.copy(template, tmp_path / "phone.db"), clock) as database:
        yield memory_on(database)


async def told(memory: bethink.Memory) -> list[str]:
    """Return what was said, by session and number."""
    space = memory.space(SPACE)
    found: list[str] = []
    for entry in await space.sessions.list(limit=1_000):
        session = await space.sessions.get(entry.session.id)
        found += [record.message.content for record in await session.messages(limit=1_000)]
    return found


async def renumbered(memory: bethink.Memory, laptop: bethink.Memory, phone: bethink.Memory, *texts: str) -> str:
    """Let the phone have texts of the laptop under numbers that they lose at home. Returns the ref of the first."""
    session = await memory.space(SPACE).session("cli:desk")
    await session.append(said("one"))
    await memory.admin.sync(laptop, SPACE)
    await session.append(said("two at home"))
    await (await laptop.space(SPACE).sessions.get(session.id)).append(said(*texts))
    await laptop.admin.sync(phone, SPACE)
    await memory.admin.sync(laptop, SPACE)
    assert await told(memory) == ["one", "two at home", *texts]
    return next(
        f"message:{session.id}:{each.number}" for each in await session.messages() if each.message.content in texts
    )


@pytest.mark.parametrize("texts", [["walnuts"], ["walnuts", "figs", "figs"]], ids=["one", "several"])
async def test_sync_does_not_duplicate_a_renumbered_message(
    memory: bethink.Memory, laptop: bethink.Memory, phone: bethink.Memory, texts: list[str]
) -> None:
    await renumbered(memory, laptop, phone, *texts)
    [entry] = await phone.space(SPACE).sessions.list()
    await (await phone.space(SPACE).sessions.get(entry.session.id)).append(said("last on the phone"))

    await memory.admin.sync(phone, SPACE)
    await memory.admin.sync(laptop, SPACE)
    await laptop.admin.sync(phone, SPACE)

    for side in (memory, laptop, phone):
        assert await told(side) == ["one", "two at home", *texts, "last on the phone"]


async def test_a_message_stays_though_the_other_side_forgot_one_with_its_number(
    memory: bethink.Memory, laptop: bethink.Memory
) -> None:
    session = await memory.space(SPACE).session("cli:desk")
    await session.append(said("one"))
    await memory.admin.sync(laptop, SPACE)
    await session.append(said(SECRET))
    await (await laptop.space(SPACE).sessions.get(session.id)).append(said("I am allergic to walnuts"))
    await memory.space(SPACE).forget(f"message:{session.id}:2")

    await memory.admin.sync(laptop, SPACE)

    for side in (memory, laptop):
        assert await told(side) == ["one", "I am allergic to walnuts"]
        numbers = [each.number for each in await (await side.space(SPACE).sessions.get(session.id)).messages()]
        assert numbers == [1, 3], "a ref that names what was forgotten never names something else"


@pytest.mark.parametrize("beside", [(), ("the kettle is blue", "the door is green")])
async def test_deleted_message_does_not_return_under_another_number(
    memory: bethink.Memory, laptop: bethink.Memory, phone: bethink.Memory, beside: tuple[str, ...]
) -> None:
    await memory.space(SPACE).forget(await renumbered(memory, laptop, phone, SECRET, *beside))

    await memory.admin.sync(phone, SPACE)

    for side in (memory, phone):
        assert set(await told(side)) == {"one", "two at home", *beside}


async def test_repeated_deletion_does_not_return_by_sync(memory: bethink.Memory, laptop: bethink.Memory) -> None:
    home = memory.space(SPACE)
    await home.facts.save(bethink.Fact(id="key", text=SECRET))
    await memory.admin.sync(laptop, SPACE)
    await home.forget("fact:key:1")
    with pytest.raises(NotFoundError):
        await home.forget("fact:key:1")

    await memory.admin.sync(laptop, SPACE)

    for side in (memory, laptop):
        assert await side.space(SPACE).facts.list() == []


@pytest.mark.parametrize("whole", [True, False])
async def test_deleted_message_with_a_fast_clock_does_not_return(
    memory: bethink.Memory, template: Path, tmp_path: Path, clock: FakeClock, *, whole: bool
) -> None:
    async with opened(shutil.copy(template, tmp_path / "fast.db"), FastClock(clock)) as database:
        fast = memory_on(database)
        session = await fast.space(SPACE).session("cli:desk")
        await session.append(said(SECRET))
        await memory.admin.sync(fast, SPACE)
        if whole:
            await memory.space(SPACE).forget(conversation="cli:desk")
        else:
            await memory.space(SPACE).forget(f"message:{session.id}:1")

        await memory.admin.sync(fast, SPACE)

        assert await told(memory) == await told(fast) == []


@pytest.mark.parametrize("role", [bethink.types.Role.ASSISTANT, bethink.types.Role.USER])
async def test_tombstone_uses_the_text_only_if_nothing_else_differs(
    memory: bethink.Memory, database: Database, role: bethink.types.Role
) -> None:
    space = memory.space(SPACE)
    session = await space.session("cli:desk")
    await session.append([*said(SECRET), bethink.Message(role=role, content="Noted.")])
    at = to_micros((await session.messages())[0].recorded_at)
    await space.forget(f"message:{session.id}:1")

    def buried(tx: Tx) -> list[bool]:
        row = {"session_id": session.id, "recorded_at": at, "role": "user", "said_at": at, "content": SECRET}
        return [bool(erasures.find_tombstones(tx, SAID, [name], space=SPACE)) for name in names_of_message(row)]

    alike = role is bethink.types.Role.USER
    assert await database.transact(buried, space=SPACE) == [False, not alike, alike]


async def pages(memory: bethink.Memory) -> list[str]:
    """Return the texts of all versions of all documents."""
    docs = memory.space(SPACE).documents
    return [each.body for found in await docs.list() for each in await docs.versions(found.id) if each.body]


async def write(memory: bethink.Memory, body: str) -> None:
    """Write the next version of the document."""
    docs, draft = memory.space(SPACE).documents, bethink.types.DocumentDraft(slug="plans", title="Plans", body=body)
    found = next(
        (each for path, each in [(entry.path, entry) for entry in await docs.list()] if path.endswith("plans")), None
    )
    await (docs.create(draft) if found is None else docs.update(found.id, draft, found.version))


async def ref_of(memory: bethink.Memory, body: str) -> str:
    """Return the ref of a version."""
    docs = memory.space(SPACE).documents
    every = [each for found in await docs.list() for each in await docs.versions(found.id)]
    return next(f"document:{each.id}:{each.version}" for each in every if each.body == body)


async def merged_pages(memory: bethink.Memory, laptop: bethink.Memory, phone: bethink.Memory) -> None:
    """Make one document of two; the phone has that of the laptop, under the id that it had."""
    await write(memory, "plans from home")
    await write(laptop, "plans from the laptop")
    await write(laptop, SECRET)
    await laptop.admin.sync(phone, SPACE)
    await memory.admin.sync(laptop, SPACE)
    assert set(await pages(memory)) == {"plans from home", "plans from the laptop", SECRET}


@pytest.mark.parametrize("later", [(), ("written on the phone since",)])
async def test_deleted_document_does_not_return_under_another_id(
    memory: bethink.Memory, laptop: bethink.Memory, phone: bethink.Memory, later: tuple[str, ...]
) -> None:
    await merged_pages(memory, laptop, phone)
    for text in later:
        await write(phone, text)
    await memory.space(SPACE).forget(await ref_of(memory, SECRET))

    await memory.admin.sync(phone, SPACE)

    assert await pages(memory) == await pages(phone) == list(later)


async def test_version_only_deletion_syncs_to_a_current_version(
    memory: bethink.Memory, laptop: bethink.Memory, phone: bethink.Memory
) -> None:
    await merged_pages(memory, laptop, phone)
    await write(memory, "done")
    await memory.space(SPACE).forget(await ref_of(memory, SECRET), version_only=True)

    await memory.admin.sync(phone, SPACE)

    for side in (memory, phone):
        assert set(await pages(side)) == {"plans from home", "plans from the laptop", "done"}
