"""Sync of facts that both sides learned: the same facts on every day, and a person's decisions stay final."""

import shutil
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bethink.memory.archive.sync import sync_space
from bethink.memory.archive.write import write_archive
from bethink.memory.deletion.replay import replay
from bethink.memory.deletion.retract import retract_as_of
from bethink.memory.facts.reconcile import settle
from bethink.model.facts import Evidence, Fact, FactStatus, Quote
from bethink.model.ids import new_id
from bethink.model.recall import FactVerdict
from bethink.model.records import Origin
from bethink.model.reviews import ClaimChange, ClaimedFact
from bethink.store import facts as store
from bethink.store.db import Database, Tx
from tests.conftest import FakeClock, memory_on, said
from tests.rooms.archive_kit import SPACE, opened


@pytest.fixture
async def other(template: Path, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Database]:
    """Another memory, on the same clock."""
    async with opened(shutil.copy(template, tmp_path / "other.db"), clock) as database:
        yield database


class Device:
    """One of two databases of a person: it stores messages, and learns claims from them."""

    def __init__(self, database: Database) -> None:
        self.database, self.space = database, memory_on(database).space(SPACE)

    async def say(self, text: str, conversation: str = "desk") -> tuple[str, int]:
        session = await self.space.session(conversation)
        [number] = await session.append(said(text))
        return session.id, number

    async def learn(self, text: str, message: tuple[str, int], **more: object) -> str | None:
        """Learn a claim that quotes a whole message, and return the fact that has its words."""
        session_id, number = message
        session = await self.space.sessions.get(session_id)
        [record] = [record for record in await session.messages() if record.number == number]
        links = {name: more.pop(name) for name in ("change", "existing_ids", "rests_on") if name in more}
        effect = str(more.pop("effect", f"{session_id}:{number}:test:{new_id('eff')}"))
        fact = Fact(
            id=new_id("fct"), text=text, source=session_id, origin=Origin("user"), evidence=Evidence.QUOTED,
            created_at=record.recorded_at, subject="user", **more,  # pyright: ignore[reportArgumentType]
        )  # fmt: skip
        quotes = (Quote(session_id=session_id, number=number, text=record.message.content),)
        claim = ClaimedFact(fact=fact, quotes=quotes, **links)  # pyright: ignore[reportArgumentType]

        def body(tx: Tx) -> str | None:
            store.lock(tx, space=SPACE)
            return settle(tx, claim, space=SPACE, effect=effect, token=1).fact_id

        return await self.database.transact(body, space=SPACE)

    async def correct(self, fact_id: str | None, text: str) -> None:
        fact = await self.space.facts.get(fact_id or "")
        await self.space.correct(fact.ref, text)

    async def texts(self, **view: object) -> list[str]:
        return sorted(fact.text for fact in await self.space.facts.list(**view))  # pyright: ignore[reportArgumentType]


@pytest.fixture
def here(database: Database) -> Device:
    return Device(database)


@pytest.fixture
def there(other: Database) -> Device:
    return Device(other)


async def sync(first: Device, second: Device, folder: Path) -> None:
    """Sync two devices, whose archives are then equal."""
    await sync_space(
        first.database, second.database, space=SPACE, forget_again=lambda tx, space: replay(tx, space=space),
        retract=retract_as_of,
    )  # fmt: skip
    for device, name in ((first, "first.zip"), (second, "second.zip")):
        await write_archive(device.database, folder / name, space=SPACE)
    assert (folder / "first.zip").read_bytes() == (folder / "second.zip").read_bytes()


async def shared_message(here: Device, there: Device, folder: Path, text: str = "I live in Oslo.") -> tuple[str, int]:
    message = await here.say(text)
    await sync(here, there, folder)
    return message


@pytest.mark.parametrize("effect", ["same", "other"])
@pytest.mark.parametrize("learned_first", ["here", "there"])
async def test_a_correction_survives_what_the_other_side_learned(
    here: Device, there: Device, tmp_path: Path, effect: str, learned_first: str
) -> None:
    message = await shared_message(here, there, tmp_path)
    effects = {"here": "e:1", "there": "e:1" if effect == "same" else "e:2"}
    for name in sorted(effects, key=lambda name: name != learned_first):
        device = here if name == "here" else there
        fact_id = await device.learn("The user lives in Oslo", message, slot="home", effect=effects[name])
        if name == "here":
            await here.correct(fact_id, "The user lives in Asker")
    await sync(here, there, tmp_path)

    for device in (here, there):
        assert await device.texts() == ["The user lives in Asker"]
        [fact] = await device.space.facts.list()
        versions = await device.space.facts.versions(fact.id)
        assert [version.status for version in versions] == [FactStatus.CORRECTED, FactStatus.CURRENT]
        assert await device.learn("The user lives in Oslo", message, slot="home") == fact.id
    assert await here.texts() == ["The user lives in Asker"]


async def test_a_rejected_claim_stays_rejected_after_a_sync(here: Device, there: Device, tmp_path: Path) -> None:
    message = await shared_message(here, there, tmp_path)
    await here.learn("The user lives in Oslo", message, slot="home", effect="e:1")
    [fact] = await here.space.facts.list()
    feedback = await here.space.facts.rate(fact.ref, FactVerdict.WRONG)
    await here.space.reviews.reject(feedback.review_id or "")
    await there.learn("The user lives in Oslo", message, slot="home", effect="e:2")
    await sync(here, there, tmp_path)

    assert await here.texts() == await there.texts() == []


async def test_a_deleted_fact_stays_deleted_after_a_sync(here: Device, there: Device, tmp_path: Path) -> None:
    message = await shared_message(here, there, tmp_path)
    await here.learn("The user lives in Oslo", message, slot="home", effect="e:1")
    [fact] = await here.space.facts.list()
    await here.space.forget(fact.ref)
    await there.learn("The user lives in Oslo", message, slot="home", effect="e:2")
    await sync(here, there, tmp_path)

    assert await here.texts() == await there.texts() == []


async def test_an_approval_counts_on_both_sides(here: Device, there: Device, tmp_path: Path) -> None:
    message = await shared_message(here, there, tmp_path)
    await here.learn("The user lives in Oslo", message)
    await sync(here, there, tmp_path)
    [fact] = await there.space.facts.list()
    await there.space.correct(fact.ref, fact.text)
    await here.space.facts.pin(fact.ref)
    await sync(here, there, tmp_path)

    for device in (here, there):
        assert (await device.space.facts.get(fact.id)).evidence is Evidence.STATED


@pytest.mark.parametrize("is_reversed", [False, True])
async def test_both_sides_show_the_same_history_whoever_learned_what(
    here: Device, there: Device, tmp_path: Path, clock: FakeClock, is_reversed: bool
) -> None:
    """One side learned the first and the third home, the other the second, so no fact names another."""
    days: list[datetime] = []
    messages: list[tuple[str, int]] = []
    for text in ("I live in Oslo.", "I moved to Bergen.", "I moved to Kyoto."):
        messages.append(await here.say(text))
        days.append(clock())
        clock.time += timedelta(days=1)
    await sync(here, there, tmp_path)
    homes = ["Oslo", "Bergen", "Kyoto"]
    learners = [there, here, there] if is_reversed else [here, there, here]
    for home, message, device in reversed(list(zip(homes, messages, learners, strict=True))):
        await device.learn(f"The user lives in {home}", message, slot="home")
    await sync(here, there, tmp_path)

    for device in (here, there):
        assert await device.texts() == ["The user lives in Kyoto"]
        for day, home in zip(days, homes, strict=True):
            assert await device.texts(as_of=day) == [f"The user lives in {home}"]
        entries = await device.space.facts.history(order="oldest")
        periods = {entry.fact.text.split()[-1]: entry.fact.valid_to for entry in entries}
        assert periods["Kyoto"] is None
        assert periods["Oslo"] is not None
        assert periods["Bergen"] is not None
        assert periods["Oslo"] < periods["Bergen"]


async def test_a_replacement_on_one_side_counts_for_the_fact_of_the_other(
    here: Device, there: Device, tmp_path: Path, clock: FakeClock
) -> None:
    """Both learned the old statement under other ids. Only one side learned what replaced it, without a slot."""
    old = await shared_message(here, there, tmp_path, "The office is on the second floor.")
    clock.time += timedelta(days=1)
    new = await shared_message(here, there, tmp_path, "We moved the office down.")
    await there.learn("The office is on floor two", old, effect="e:2")
    old_id = await here.learn("The office is on floor two", old, effect="e:1")
    await here.learn("The office is on floor one", new, change=ClaimChange.REPLACES, existing_ids=(old_id,))
    await sync(here, there, tmp_path)

    for device in (here, there):
        assert await device.texts() == ["The office is on floor one"]
        history = {entry.fact.text: entry for entry in await device.space.facts.history() if entry.replaced_by_text}
        assert "The office is on floor one" in {entry.replaced_by_text for entry in history.values()}


async def test_links_of_facts_with_the_same_effect_lead_to_the_one_that_stays(
    here: Device, there: Device, tmp_path: Path, clock: FakeClock
) -> None:
    old = await shared_message(here, there, tmp_path, "The office is on the second floor.")
    clock.time += timedelta(days=1)
    new = await shared_message(here, there, tmp_path, "We moved the office down.")
    await here.learn("The office is on floor two", old, effect="e:1")
    clock.time += timedelta(days=1)
    old_id = await there.learn("The office: second floor", old, effect="e:1")
    await there.learn("The office is on floor one", new, change=ClaimChange.ENDS, existing_ids=(old_id,))
    await sync(here, there, tmp_path)

    for device in (here, there):
        assert await device.texts() == ["The office is on floor one"]


async def test_messages_with_new_numbers_keep_their_statements(here: Device, there: Device, tmp_path: Path) -> None:
    """Statements follow the order of the messages, so a message with another number must be renumbered in them."""
    await shared_message(here, there, tmp_path, "Hello.")
    await here.say("I live in Oslo.")
    moved = await there.say("I live in Bergen.")
    assert moved[1] == 2
    await there.learn("The user lives in Bergen", moved, slot="home")
    await sync(here, there, tmp_path)

    for device in (here, there):
        [fact] = await device.space.facts.list()
        assert [source.number for source in await device.space.facts.sources(fact.id)] == [3]
        rows = await device.database.transact(
            lambda tx, fact=fact: tx.all("statements_of", space=SPACE, ids=[fact.id]), space=SPACE
        )
        assert [row["number"] for row in rows] == [3]


async def test_when_facts_are_true_is_no_difference_between_the_sides(
    here: Device, there: Device, tmp_path: Path, clock: FakeClock, other: Database
) -> None:
    """One side computed it anew since: nothing is exchanged for that, and the archives are equal."""
    message = await here.say("I have a car.")
    start = clock.time
    await here.learn("The user has a car", message)
    days = {"valid_from": start + timedelta(days=5), "valid_to": start + timedelta(days=10)}
    await here.learn("The user has a car", message, **days)
    await sync(here, there, tmp_path)
    clock.time += timedelta(days=6)
    [fact_id] = {entry.fact.id for entry in await there.space.facts.history()}
    await there.database.transact(lambda tx: store.views.refresh(tx, space=SPACE, fact_ids=[fact_id]), space=SPACE)

    report = await sync_space(
        here.database, other, space=SPACE, forget_again=lambda tx, space: replay(tx, space=space), retract=retract_as_of
    )
    assert (report.first, report.second) == (0, 0)
    await sync(here, there, tmp_path)


@pytest.mark.parametrize("saved_first", ["here", "there"])
async def test_the_later_of_two_saved_times_counts(
    here: Device, there: Device, tmp_path: Path, clock: FakeClock, saved_first: str
) -> None:
    await here.space.facts.save(Fact(id="job", text="Works at Acme", subject="user", slot="job"))
    await sync(here, there, tmp_path)
    start = clock.time
    devices = [here, there] if saved_first == "here" else [there, here]
    for device, days in zip(devices, (10, 20), strict=True):
        clock.time += timedelta(days=1)
        await device.space.facts.save(
            Fact(id="job", text="Works at Acme", subject="user", slot="job", valid_to=start + timedelta(days=days))
        )
    await sync(here, there, tmp_path)

    for device in (here, there):
        assert (await device.space.facts.get("job")).valid_to == start + timedelta(days=20)
        assert len(await device.space.facts.versions("job")) == 3
