"""Long histories: text is stored once, and thinned-out versions stay correct about the past."""

from datetime import datetime, timedelta

import pytest
from psycopg.conninfo import conninfo_to_dict

from bethink import Memory
from bethink.errors import ConflictError
from bethink.model.consolidation import ChangeStatus
from bethink.model.documents import Document
from bethink.model.jobs import JobStatus
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.db import Database
from faults.raw import Raw
from tests.conftest import FakeClock, whole_tree
from tests.rooms.learn_kit import a_fact, consolidator
from tests.rooms.stored_kit import stored
from tests.rooms.test_consolidate import Life
from tests.rooms.test_writer import consolidated, likes_tea, page, turn
from tools import postgres

OVERVIEW = "~/memory/consolidated/MEMORY.md"


@pytest.fixture
def life(database: Database, memory: Memory) -> Life:
    return Life(database, memory)


def ask(target: str, superuser: str, query: str) -> int:
    """Ask for one number past our own code."""
    if target.startswith("postgresql:"):
        target = postgres.in_database(superuser, str(conninfo_to_dict(target)["dbname"]))
    with Raw(target) as raw:
        return int(raw.rows(query)[0][0])


async def overview(life: Life) -> Document:
    found = await life.docs.find(OVERVIEW)
    assert found is not None
    return found


async def test_overview_keeps_text_of_its_last_ten_versions(life: Life, clock: FakeClock) -> None:
    then: dict[int, tuple[datetime, str]] = {}
    for number in range(1, 16):
        await life.tell(f"I like tea number {number}.")
        await life.consolidate()
        then[number] = (clock.time, (await overview(life)).body)

    found = await life.docs.versions((await overview(life)).id)

    assert [each.version for each in found] == list(range(1, 16))
    assert [each.redacted for each in found] == [True] * 4 + [False] * 11
    assert [each.author.reason for each in found[:4]] == ["its text is no longer kept"] * 4
    for number, (moment, body) in then.items():
        was = await life.docs.find(OVERVIEW, as_of=moment)
        assert was is not None
        assert (was.version, was.body) == (number, "" if number < 5 else body)
        assert len(await life.docs.sources(was.id, number)) == number, "what it rested on is still known"
    folder = await life.docs.find("~/memory/consolidated")
    assert folder is not None
    assert folder.version == 1, "what says nothing is not written again"
    with pytest.raises(ConflictError, match="redacted"):
        await life.docs.restore(found[0].id, 1, if_version=15)
    [last, *_] = await life.docs.changes.list()
    await life.docs.changes.undo(last.run)
    assert (await overview(life)).body == then[14][1]


async def test_legal_hold_suspends_thinning_of_overview_versions(life: Life) -> None:
    await life.tell("I like tea number 1.")
    await life.consolidate()
    hold = await life.memory.space("alice").admin.holds.place("case 12")
    for number in range(2, 16):
        await life.tell(f"I like tea number {number}.")
        await life.consolidate()
    made = await overview(life)

    assert [each.redacted for each in await life.docs.versions(made.id)] == [False] * 15

    await life.memory.admin.holds.lift("alice", hold.id, "closed")
    await life.tell("I like rain.")
    await life.consolidate()
    assert [each.redacted for each in await life.docs.versions(made.id)] == [True] * 5 + [False] * 11


async def test_every_session_takes_as_much_room_as_the_one_before(life: Life, target: str, superuser_dsn: str) -> None:
    sizes: list[tuple[int, ...]] = []
    for number in range(1, 41):
        await life.tell(f"Today, number {number}, I walked the dog by the harbour.")
        await life.consolidate()
        if number % 20 == 0:
            sizes.append(
                (
                    ask(target, superuser_dsn, "SELECT count(*) FROM document_sources"),
                    ask(target, superuser_dsn, "SELECT count(*) FROM documents"),
                    ask(target, superuser_dsn, "SELECT sum(length(CAST(changes AS text))) FROM change_sets"),
                    ask(target, superuser_dsn, "SELECT sum(length(CAST(selection AS text))) FROM change_sets"),
                )
            )

    for half, whole in zip(*sizes, strict=True):
        assert half < whole <= 2.05 * half


async def test_change_set_is_derived_from_documents_not_stored(life: Life, target: str, superuser_dsn: str) -> None:
    first = await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    await life.consolidate()
    held = "SELECT count(*) FROM change_sets WHERE CAST(changes AS text) LIKE '%likes tea%'"
    assert ask(target, superuser_dsn, held) == 0

    [made] = await life.docs.changes.list()

    told = {each.path: each for each in made.changes}
    tea = told["~/memory/tea"]
    assert tea.draft is not None
    assert "User likes tea" in tea.draft.body
    assert (tea.document_id, tea.expected) == (None, None)
    assert [each.kind for each in tea.sources] == ["fact"]
    assert [each.id for each in told[OVERVIEW].sources if each.kind == "session_summary"] == [first.id]


@pytest.mark.parametrize("what", ["approved", "rejected", "superseded"])
async def test_change_set_stores_its_text_only_while_pending(
    life: Life, target: str, superuser_dsn: str, what: str
) -> None:
    handler = consolidator(life.database, review=True)
    await life.tell("I like tea.", a_fact("User likes tea", 1, about="Tea"))
    await life.consolidate(handler)
    [held] = await life.docs.changes.list()
    kept = f"SELECT count(*) FROM change_sets WHERE run = '{held.run}' AND CAST(changes AS text) LIKE '%likes tea%'"
    assert ask(target, superuser_dsn, kept) == 1

    if what == "approved":
        await life.docs.changes.approve(held.run)
    elif what == "rejected":
        await life.docs.changes.reject(held.run)
    else:
        await life.tell("I like rain.")
        await life.consolidate(handler)

    assert ask(target, superuser_dsn, kept) == 0
    [settled] = [each for each in await life.docs.changes.list() if each.run == held.run]
    assert [each.path for each in settled.changes] == [each.path for each in held.changes]
    assert ("likes tea" in str(settled.changes)) is (what == "approved")
    if what == "approved":
        await life.docs.changes.undo(held.run)
        assert list(await whole_tree(life.docs)) == ["~/memory"]


async def test_a_redacted_version_is_in_no_answer_and_no_change_set(
    life: Life, target: str, superuser_dsn: str
) -> None:
    await likes_tea(life)
    await consolidated(life, turn(page("~/memory/tea", "likes tea with saffron."), done=True))
    tea = await life.docs.find("~/memory/tea")
    assert tea is not None
    await life.tell("I love tea.", a_fact("User loves tea", 1, about="Tea"))
    await consolidated(life, turn(page("~/memory/tea", "Loves tea."), done=True))
    await life.tell("I drink tea.", a_fact("User drinks tea", 1, about="Tea"))
    again = [turn(page("~/memory/tea", "drinks tea with saffron."), done=True)]
    await life.consolidate(consolidator(life.database, ScriptedModel(again), review=True))
    assert [each.status for each in await life.docs.changes.list()] == ["pending", "applied", "applied"]

    await life.memory.space("alice").forget(f"document:{tea.id}:1", version_only=True)

    assert "saffron" not in stored(target, superuser_dsn)
    assert [each.status for each in await life.docs.changes.list()] == [ChangeStatus.APPLIED] * 2
    assert (await life.job()).status is JobStatus.QUEUED, "what was held is proposed anew"
    assert (await whole_tree(life.docs))["~/memory/tea"].body == "Loves tea."


async def test_forget_deletes_words_of_thinned_out_versions(
    life: Life, clock: FakeClock, target: str, superuser_dsn: str
) -> None:
    await life.tell("I like snow.")
    await life.consolidate()
    first = await life.tell("I like Zanzibar. " + " ".join(f"word{number}" for number in range(2_000)))
    await life.consolidate()
    clock.time += timedelta(days=40)
    for number in range(11):
        await life.tell(f"I like tea number {number}.")
        await life.consolidate()
    assert [each.redacted for each in await life.docs.versions((await overview(life)).id)][:3] == [True, True, False]

    await life.memory.space("alice").forget(session_id=first.id)

    assert "zanzibar" not in stored(target, superuser_dsn).casefold()
