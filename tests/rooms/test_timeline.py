"""The timeline: every event once and in order, at a cost independent of its length."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bethink import Fact, Memory, Page
from bethink.model.recall import Purpose
from bethink.model.refs import Ref, RefKind
from bethink.model.timeline import TimelineEntry, TimelineKind
from bethink.store import facts, ledger
from bethink.store.db import Database, Tx
from bethink.types import DocumentDraft
from tests.conftest import FakeClock, said
from tests.facts_kit import change_fact
from tests.page_kit import EVERY_CHECK, analyze, cost_of, every


def _show(space: str, session_id: str, digest: str) -> Callable[[Tx], object]:
    ref = Ref(RefKind.MESSAGE, session_id, 1)
    return lambda tx: ledger.record(
        tx, space=space, purpose=Purpose.RECALL, session_id=session_id, items=[(ref, "m")], tokens=1, digest=digest
    )


async def _life(memory: Memory, database: Database, space: str = "mira") -> str:
    """Something said, learnt, corrected, replaced, written, shown and forgotten, in this order."""
    mira = memory.space(space)
    said = await mira.remember("I live in Oslo.")
    await mira.facts.save(Fact(id="oslo", text="Mira lives in Olso"))
    await mira.correct("fact:oslo:1", "Mira lives in Oslo")
    await mira.facts.save(Fact(id="bergen", text="Mira lives in Bergen"))
    await database.transact(lambda tx: change_fact(tx, "oslo", by="bergen", space=space), space=space)
    await mira.documents.create(DocumentDraft(slug="home", title="Home"))
    await database.transact(_show(space, said.session.id, "d"), space=space)
    await mira.facts.save(Fact(id="wrong", text="A mistake"))
    await mira.forget("fact:wrong:1")
    return said.session.id


async def test_a_timeline_tells_what_happened_the_newest_first(memory: Memory, database: Database) -> None:
    session = await _life(memory, database)

    page = await memory.space("mira").admin.timeline.list()

    assert [(each.kind.value, each.text, each.who) for each in page.items] == [
        ("erasure", "", "fact.forgotten"),
        ("showing", "", "recall"),
        ("document", "Home", "user"),
        ("retired", "Mira lives in Oslo", "bergen"),
        ("fact", "Mira lives in Bergen", "import"),
        ("correction", "Mira lives in Oslo", "import"),
        ("fact", "Mira lives in Olso", "import"),
        ("message", "I live in Oslo.", "user"),
    ]
    assert page.items[-1].ref == f"message:{session}:1"
    assert (page.items[1].count, page.items[1].session_id) == (1, session)
    assert page.next == ""


async def test_a_timeline_is_narrowed_by_kind_and_time_and_stays_in_its_space(
    memory: Memory, database: Database
) -> None:
    await _life(memory, database)
    mira = memory.space("mira")
    everything = (await mira.admin.timeline.list()).items

    assert await every(lambda after: mira.admin.timeline.list(limit=3, after=after)) == list(everything)
    for kind in TimelineKind:
        found = await every(lambda after, kind=kind: mira.admin.timeline.list(kinds=(kind,), limit=1, after=after))
        assert found == [each for each in everything if each.kind is kind]
    then = everything[4].at
    assert (await mira.admin.timeline.list(as_of=then)).items == everything[4:]
    assert (await memory.space("anna").admin.timeline.list()).items == ()


def _stopped(clock: FakeClock) -> datetime:
    return clock.time


_HAPPENING = st.sampled_from(["say", "learn", "correct", "write", "show"])


async def _happen(memory: Memory, database: Database, space: str, what: str, number: int) -> None:
    mira = memory.space(space)
    if what == "say":
        await mira.remember(f"message {number}")
    elif what == "learn":
        await mira.facts.save(Fact(id=f"f{number}", text=f"fact {number}"))
    elif what == "correct":
        await mira.facts.save(Fact(id="f", text=f"fact {number}"))
    elif what == "write":
        await mira.documents.create(DocumentDraft(slug=f"d{number}", title=f"D{number}"))
    else:
        await mira.remember("hello", conversation="shown")
        [entry, *_] = await mira.sessions.list(limit=1)
        await database.transact(_show(space, entry.session.id, f"{number}"), space=space)


@settings(max_examples=8, suppress_health_check=EVERY_CHECK)
@given(
    before=st.lists(_HAPPENING, min_size=1, max_size=10),
    meanwhile=st.lists(_HAPPENING, max_size=5),
    limit=st.integers(1, 4),
    still=st.booleans(),
)
async def test_a_timeline_has_no_gaps_and_no_doubles_while_things_happen(
    memory: Memory,
    database: Database,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    before: list[str],
    meanwhile: list[str],
    limit: int,
    still: bool,
) -> None:
    space = f"s{clock.time.timestamp()}"
    with monkeypatch.context() as patch:
        if still:  # everything happens at the same time
            patch.setattr(FakeClock, "__call__", _stopped)
        for number, what in enumerate(before):
            await _happen(memory, database, space, what, number)
        first = set((await memory.space(space).admin.timeline.list(limit=1_000)).items)
        waiting = iter(enumerate(meanwhile, 100))

        async def page(after: str) -> Page[TimelineEntry]:
            for number, what in waiting:
                await _happen(memory, database, space, what, number)
                break
            return await memory.space(space).admin.timeline.list(limit=limit, after=after)

        seen: list[TimelineEntry] = await every(page)
    clock()

    assert len(seen) == len(set(seen))
    assert first <= set(seen) | {each for each in first if each.kind is TimelineKind.RETIRED}
    assert [each.at for each in seen] == sorted((each.at for each in seen), reverse=True)


async def test_timeline_page_cost_is_independent_of_length(
    memory: Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs: list[int] = []
    for space, count in (("short", 40), ("long", 600)):
        mira = memory.space(space)
        for first in range(0, count, 100):
            await mira.remember([{"role": "user", "content": f"{first} {n}"} for n in range(min(count, 100))])

        def grow(tx: Tx, space: str = space, count: int = count) -> None:
            for number in range(count):
                facts.put(tx, space=space, fact=Fact(id=f"f{number}", text=f"fact {number}"))
                if number % 2:
                    change_fact(tx, f"f{number - 1}", by=f"f{number}", space=space)

        await database.transact(grow, space=space)
        await analyze(database, "messages", "facts", "documents", "ledger", "changes")
        cost = await cost_of(monkeypatch, lambda mira=mira: mira.admin.timeline.list(limit=10))
        assert cost.statements <= 7
        assert cost.scans == []
        costs.append(cost.rows)

    assert costs[1] <= costs[0] * 1.3 + 5, costs


async def test_timeline_omits_retracted_messages_unless_as_of_before(memory: Memory, clock: FakeClock) -> None:
    mira = memory.space("mira")
    session = await mira.session("chat:mira")
    await session.append(said("one", "two", "three"))
    before = clock.time
    clock.time += timedelta(minutes=1)

    await session.retract(2)
    await session.retract(3)

    found = await every(lambda after: mira.admin.timeline.list(kinds=(TimelineKind.MESSAGE,), limit=1, after=after))
    assert [each.text for each in found] == ["one"]
    then = await every(
        lambda after: mira.admin.timeline.list(kinds=(TimelineKind.MESSAGE,), as_of=before, limit=1, after=after)
    )
    assert [each.text for each in then] == ["three", "two", "one"]
