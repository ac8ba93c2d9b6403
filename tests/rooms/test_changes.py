"""The change feed: changes in order, for every reader, and without content."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import anyio
import pytest

import bethink
from bethink import Fact, Memory, Session
from bethink.config.settings import Settings
from bethink.errors import VersionConflictError
from bethink.host.off import Off
from bethink.jobs.tasks import PruneChanges, TaskParts
from bethink.model.changes import ChangeKind
from bethink.model.documents import DocumentDraft
from bethink.store import changes
from bethink.store.db import Database, Tx
from tests.conftest import KEY, FakeClock, Quiet, database_at, memory_on, said
from tests.rooms.learn_kit import a_fact, answer, worker

BIRD = "I keep a blue macaw."


def kinds(found: Iterable[bethink.Change]) -> list[str]:
    return [each.kind for each in found]


async def learnt(memory: Memory, database: Database) -> Session:
    session = await memory.space("alice").session(KEY)
    await session.append(said(BIRD))
    await session.end()
    await worker(database, [answer(a_fact("The user keeps a blue macaw.", 1))]).run_once()
    return session


async def test_learned_facts_are_in_the_change_feed_with_their_session(memory: Memory, database: Database) -> None:
    session = await learnt(memory, database)

    [fact, whole] = await memory.space("alice").admin.changes.list(after=0)

    [stored] = await memory.space("alice").facts.list()
    assert (fact.kind, fact.ref) == (ChangeKind.FACT_ADDED, f"fact:{stored.id}:1")
    assert (whole.kind, whole.ref) == (ChangeKind.SESSION_LEARNED, f"session_summary:{session.id}:0")
    assert fact.session_id == whole.session_id == session.id
    assert (await memory.space("alice").explain(fact.ref)).text


async def test_correction_and_replacement_are_different_changes(memory: Memory, database: Database) -> None:
    space = memory.space("alice")
    await space.facts.save(Fact(id="tea", text="Alice drinks tea."))
    await space.facts.save(Fact(id="tea", text="Alice drinks green tea."))
    await space.facts.save(Fact(id="tea", text="Alice drinks green tea."))

    def retire(tx: Tx) -> None:
        from bethink.store import facts  # noqa: PLC0415

        facts.retire(tx, space="alice", fact_id="tea", successor_id="other")

    await database.transact(retire, space="alice")

    told = await space.admin.changes.list(after=0)
    assert kinds(told) == ["fact.added", "fact.corrected", "fact.replaced"]
    assert [each.ref for each in told] == ["fact:tea:1", "fact:tea:2", "fact:tea:2"]


async def test_document_changes_and_deletions_are_in_the_change_feed(memory: Memory) -> None:
    space = memory.space("alice")
    made = await space.documents.create(DocumentDraft(slug="birds", title="Birds", body=BIRD))
    other = await space.documents.create(DocumentDraft(slug="cats", title="Cats", body="None."))
    await space.documents.delete(other.id, if_version=1)
    await space.forget(f"document:{made.id}:1")

    told = await space.admin.changes.list(after=0)
    assert kinds(told) == ["document.changed", "document.changed", "document.deleted", "document.forgotten"]
    assert told[-1].ref == f"document:{made.id}:0"


async def test_forget_adds_derived_deletions_to_the_change_feed(memory: Memory, database: Database) -> None:
    session = await learnt(memory, database)
    space = memory.space("alice")
    [fact] = await space.facts.list()
    before = (await space.admin.changes.list())[-1].number

    await space.forget(f"message:{session.id}:1")

    told = await space.admin.changes.list(after=before)
    assert {(each.kind, each.ref) for each in told} == {
        ("session.forgotten", f"session_summary:{session.id}:0"),
        ("fact.forgotten", f"fact:{fact.id}:0"),
    }


async def test_restored_fact_is_in_the_change_feed(memory: Memory, database: Database) -> None:
    session = await memory.space("alice").session(KEY)
    await session.append(said("I live in Rome.", "I live in Bern."))
    await session.end()
    homes = [
        a_fact("The user lives in Rome.", 1, slot="home", entities=["Rome"]),
        a_fact("The user lives in Bern.", 2, slot="home", entities=["Bern"]),
    ]
    await worker(database, [answer(*homes)]).run_once()
    before = await memory.space("alice").admin.changes.list()
    assert kinds(before) == ["fact.added", "fact.added", "fact.replaced", "session.learned"]

    await memory.space("alice").forget(f"message:{session.id}:2")

    told = await memory.space("alice").admin.changes.list(after=before[-1].number)
    assert ("fact.restored", before[0].ref) in {(each.kind, each.ref) for each in told}


async def test_a_dry_run_tells_nothing(memory: Memory, database: Database) -> None:
    session = await learnt(memory, database)
    before = await memory.space("alice").admin.changes.list()

    await memory.space("alice").forget(session_id=session.id, dry_run=True)

    assert await memory.space("alice").admin.changes.list() == before


async def test_change_feed_contains_no_text(memory: Memory, database: Database) -> None:
    await learnt(memory, database)

    rows = await database.transact(lambda tx: tx.all("newest_changes", space="alice", limit=100), space="alice")

    assert "macaw" not in str(rows)


async def test_a_forgotten_space_keeps_its_numbers_going(memory: Memory, database: Database) -> None:
    await learnt(memory, database)
    space = memory.space("alice")
    last = (await space.admin.changes.list())[-1].number

    await space.forget(everything=True)
    await space.facts.save(Fact(id="tea", text="Alice drinks tea."))

    told = await space.admin.changes.list(after=1)
    assert [(each.number, each.kind) for each in told] == [(last + 1, "space.forgotten"), (last + 2, "fact.added")]
    assert kinds(await space.admin.changes.list(after=0)) == ["space.forgotten", "fact.added"]


async def test_spaces_count_each_for_itself(memory: Memory) -> None:
    for name in ("alice", "bob"):
        await memory.space(name).facts.save(Fact(id="tea", text="Tea."))

    [told] = await memory.space("bob").admin.changes.list()
    assert (told.space, told.number) == ("bob", 1)


async def test_change_page_continues_after_the_last_number(memory: Memory) -> None:
    space = memory.space("alice")
    for number in range(7):
        await space.facts.save(Fact(id=f"f{number}", text=f"Number {number}."))

    seen: list[int] = []
    while page := await space.admin.changes.list(after=seen[-1] if seen else 0, limit=3):
        seen += [each.number for each in page]

    assert seen == [1, 2, 3, 4, 5, 6, 7]
    assert [each.number for each in await space.admin.changes.list(limit=2)] == [6, 7]


def pruner(database: Database) -> PruneChanges:
    return PruneChanges(TaskParts(database=database, settings=Settings(), redactor=Quiet()))


async def test_reader_behind_pruned_changes_raises_stale(memory: Memory, database: Database, clock: FakeClock) -> None:
    space = memory.space("alice")
    for number in range(3):
        await space.facts.save(Fact(id=f"f{number}", text=f"Number {number}."))
    clock.time += timedelta(days=31)
    await space.facts.save(Fact(id="late", text="Late."))

    assert await pruner(database).prune() == 3

    assert [each.number for each in await space.admin.changes.list(after=3)] == [4]
    assert [each.number for each in await space.admin.changes.list(after=0)] == [4]
    for lost in (1, 2, 5):
        with pytest.raises(VersionConflictError, match="no longer stored"):
            await space.admin.changes.list(after=lost)
    clock.time += timedelta(days=31)
    assert await pruner(database).prune() == 0


async def test_a_late_commit_is_never_passed_over(target: str, database: Database) -> None:
    """Two writers, one of which takes its number first and commits last: the reader sees them in order."""
    other = database_at(target)
    await other.open()
    memory = memory_on(database)
    seen: list[int] = []
    done = 0

    async def write(by: Database, name: str) -> None:
        nonlocal done
        await memory_on(by).space("alice").facts.save(Fact(id=name, text=f"{name}."))

        def record(tx: Tx) -> None:
            changes.record(tx, space="alice", kind=ChangeKind.FACT_ENDED, ref=f"fact:{name}:1")

        for _ in range(24):
            await by.transact(record, space="alice")
        done += 1

    async def read() -> None:
        while True:
            over = done == 2
            found = await memory.space("alice").admin.changes.list(after=seen[-1] if seen else 0)
            seen.extend(each.number for each in found)
            if over and not found:
                return

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write, database, "a")
        tasks.start_soon(write, other, "b")
        tasks.start_soon(read)
    await other.close()

    assert seen == list(range(1, 51))


async def test_follower_receives_changes_at_once(target: str, database: Database) -> None:
    other = database_at(target)  # as another process would write
    await other.open()
    memory, writing = memory_on(database), memory_on(other)
    told: list[bethink.Change] = []

    async def follow(scope: anyio.CancelScope) -> None:
        async for change in memory.space("alice").admin.changes.follow(after=0):
            told.append(change)
            if len(told) == 3:
                scope.cancel()

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, tasks.cancel_scope)
            await writing.space("alice").facts.save(Fact(id="one", text="One."))
            found = await memory.space("alice").admin.changes.list(after=1, wait=0.0)
            assert found == []
            await memory.space("alice").facts.save(Fact(id="two", text="Two."))
            await writing.space("alice").facts.save(Fact(id="three", text="Three."))
    await other.close()

    assert [each.number for each in told] == [1, 2, 3]


async def test_many_follow_at_once_and_none_hears_for_another(memory: Memory) -> None:
    heard: list[str] = []

    async def follow(name: str) -> None:
        async for change in memory.space(name).admin.changes.follow(after=0):
            heard.append(change.space)
            return

    names = [f"space-{number}" for number in range(20)]
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(follow, name)
            for name in names:
                await memory.space(name).facts.save(Fact(id="tea", text="Tea."))

    assert sorted(heard) == sorted(names)


async def test_follow_begins_now_by_default(memory: Memory) -> None:
    space = memory.space("alice")
    await space.facts.save(Fact(id="old", text="Old."))
    following = space.admin.changes.follow()

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:

            async def first() -> None:
                assert (await anext(following)).ref.startswith("fact:new:")
                tasks.cancel_scope.cancel()

            tasks.start_soon(first)
            while True:  # it may begin after any of these
                await space.facts.save(Fact(id="new", text="New."))
                await anyio.lowlevel.checkpoint()
                await space.forget("fact:new:1")


async def test_disabled_memory_has_no_changes() -> None:
    assert await bethink.Memory(Off()).space("alice").admin.changes.list(after=0, wait=1.0) == []


async def test_session_reports_when_it_was_learned(memory: Memory, database: Database) -> None:
    session = await memory.space("alice").session(KEY)
    await session.append(said(BIRD))
    found: list[Any] = []

    async def wait() -> None:
        found.append(await session.wait_until_learned(timeout=30))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        work = worker(database, [answer(a_fact("The user keeps a blue macaw.", 1))])
        while not (await work.run_once()).leased:  # until the session is marked
            await anyio.lowlevel.checkpoint()

    [fact] = await memory.space("alice").facts.list()
    [told] = found
    assert (told.done, told.until, told.new) == (True, 1, (f"fact:{fact.id}:1",))
    await memory.space("alice").forget(f"fact:{fact.id}:1")
    assert (await session.wait_until_learned(timeout=0)).new == ()


async def test_wait_for_learning_times_out_as_not_done(memory: Memory) -> None:
    session = await memory.space("alice").session(KEY)
    await session.append(said(BIRD))

    told = await session.wait_until_learned(timeout=0.05)

    assert (told.done, told.until, told.new) == (False, 0, ())


async def test_learned_wait_ends_when_the_job_is_abandoned(memory: Memory, database: Database) -> None:
    session = await memory.space("alice").session(KEY)
    await session.append(said(BIRD))
    await session.end()
    await worker(database, ["no", "no"], max_attempts=1).run_once()

    with anyio.fail_after(20):
        told = await session.wait_until_learned(timeout=30)

    assert not told.done
    assert "ModelResponseError" in str(told.error)


async def test_session_report_lists_pending_and_refused_reviews(memory: Memory, database: Database) -> None:
    session = await learnt(memory, database)

    def review(tx: Tx) -> None:
        for kind, ref in ((ChangeKind.REVIEW_PENDING, "review:rev_1"), (ChangeKind.REVIEW_REFUSED, "review:rev_2")):
            changes.record(tx, space="alice", kind=kind, ref=ref, session_id=session.id)

    await database.transact(review, space="alice")

    told = await session.wait_until_learned(timeout=0)
    assert (told.pending, told.rejected) == (("review:rev_1",), ("review:rev_2",))


async def test_script_can_wait_for_learning(target: str) -> None:
    async with bethink.connect(target) as memory:
        stored = await memory.space("alice").remember(BIRD)
        session = await memory.space("alice").sessions.get(stored.session.id)
        assert (await session.wait_until_learned(timeout=30)).done
