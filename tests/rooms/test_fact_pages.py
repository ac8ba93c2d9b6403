"""Pages of facts: retired ones too, in every order, at the same cost however many there are."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bethink import Fact, Memory
from bethink.errors import Invalid
from bethink.model.kinds import FactKind
from bethink.model.pages import FactEntry, FactPage, FactState, Order, cursor_of
from bethink.store import facts as store
from bethink.store.db import Database, Tx
from tests.conftest import FakeClock
from tests.page_kit import EVERY_CHECK, Cost, analyze, cost_of, every


async def _moved(memory: Memory, database: Database) -> None:
    """Mira lived in Oslo, then in Bergen, which was misspelt first. She also works."""
    facts = memory.space("mira").facts
    await facts.save(Fact(id="oslo", content="Mira lives in Oslo", subject="Mira", slot="home"))
    await facts.save(Fact(id="work", content="Mira is a nurse", subject="Mira", kind=FactKind.DETAIL))
    await facts.save(Fact(id="bergen", content="Mira lives in Begren", subject="Mira", slot="home"))
    await facts.save(Fact(id="bergen", content="Mira lives in Bergen", subject="Mira", slot="home"))
    await database.transact(lambda tx: store.retire(tx, space="mira", fact_id="oslo", by="bergen"), space="mira")


async def test_retired_facts_are_listed_with_what_took_their_place(memory: Memory, database: Database) -> None:
    await _moved(memory, database)

    page = await memory.space("mira").facts.page(state=FactState.RETIRED)

    assert [(each.fact.content, each.state, each.successor, each.successor_text) for each in page.items] == [
        ("Mira lives in Oslo", FactState.RETIRED, "fact:bergen:2", "Mira lives in Bergen"),
        ("Mira lives in Begren", FactState.RETIRED, "fact:bergen:2", "Mira lives in Bergen"),
    ]
    assert page.next is None


async def test_a_page_is_narrowed_by_state_subject_slot_and_kind(memory: Memory, database: Database) -> None:
    await _moved(memory, database)
    facts = memory.space("mira").facts

    assert [each.fact.id for each in (await facts.page()).items] == ["bergen", "bergen", "work", "oslo"]
    assert [each.fact.id for each in (await facts.page(state=FactState.HOLDS)).items] == ["bergen", "work"]
    assert (await facts.page(subject="Mira", order=Order.OLDEST)).items[0].fact.id == "oslo"
    assert [each.fact.id for each in (await facts.page(slot="home", state=FactState.HOLDS)).items] == ["bergen"]
    assert [each.fact.id for each in (await facts.page(kind=FactKind.DETAIL)).items] == ["work"]
    assert (await facts.page(subject="Anna")).items == ()
    assert (await facts.page(origin="user")).items == ()


async def test_a_page_as_of_a_time_shows_what_was_known_then(
    memory: Memory, database: Database, clock: FakeClock
) -> None:
    facts = memory.space("mira").facts
    await facts.save(Fact(id="oslo", content="Mira lives in Oslo", subject="Mira", slot="home"))
    clock.time += timedelta(days=1)
    then = clock.time
    clock.time += timedelta(days=1)
    await facts.save(Fact(id="oslo", content="Mira lives in Bergen", subject="Mira", slot="home"))

    [known] = (await facts.page(as_of=then)).items
    assert (known.fact.content, known.state, known.successor) == ("Mira lives in Oslo", FactState.HOLDS, None)
    assert (await facts.page(as_of=then, state=FactState.RETIRED)).items == ()
    assert [each.fact.content for each in (await facts.page(state=FactState.HOLDS)).items] == ["Mira lives in Bergen"]


async def test_a_fact_that_ended_is_listed_as_such(memory: Memory, clock: FakeClock) -> None:
    facts = memory.space("mira").facts
    await facts.save(Fact(id="trip", content="Mira is in Rome", valid_to=clock.time - timedelta(days=1)))
    await facts.save(Fact(id="home", content="Mira lives in Oslo", valid_to=clock.time + timedelta(days=1)))

    assert [each.fact.id for each in (await facts.page(state=FactState.ENDED)).items] == ["trip"]
    assert [each.fact.id for each in (await facts.page(state=FactState.HOLDS)).items] == ["home"]
    assert [each.state for each in (await facts.page()).items] == [FactState.HOLDS, FactState.ENDED]


async def test_the_place_of_a_forgotten_fact_is_empty(memory: Memory, database: Database) -> None:
    await _moved(memory, database)
    await memory.space("mira").forget("fact:bergen:2")

    for each in (await memory.space("mira").facts.page(state=FactState.RETIRED)).items:
        assert (each.successor, each.successor_text) == (None, None)


async def test_no_page_has_facts_of_another_space(memory: Memory, database: Database) -> None:
    await _moved(memory, database)
    await memory.space("anna").facts.save(Fact(id="bergen", content="A secret", subject="Mira", slot="home"))

    for state in (None, *FactState):
        for slot in (None, "home"):
            page = await memory.space("anna").facts.page(state=state, slot=slot, subject="Mira")
            assert {each.fact.content for each in page.items} <= {"A secret"}


@pytest.mark.parametrize("cursor", ["x", "e30", cursor_of(1, "a"), cursor_of("a", "b", 1), cursor_of(2**70, "a", 1)])
async def test_what_is_no_cursor_is_refused(memory: Memory, cursor: str) -> None:
    with pytest.raises(Invalid, match="after is not where a page ended"):
        await memory.space("mira").facts.page(after=cursor)


def _row(entry: FactEntry) -> tuple[str, int, object]:
    """What names a row: a fact that is forgotten and saved again is another one."""
    return entry.fact.id, entry.fact.version, entry.fact.recorded_at


_STEPS = st.lists(st.tuples(st.sampled_from(["save", "replace", "forget"]), st.integers(0, 9)), max_size=6)


@settings(max_examples=10, suppress_health_check=EVERY_CHECK)
@given(
    before=st.lists(st.integers(0, 9), min_size=1, max_size=12),
    meanwhile=st.lists(_STEPS, max_size=6),
    limit=st.integers(1, 4),
    order=st.sampled_from(list(Order)),
    same_time=st.booleans(),
)
async def test_pages_have_no_gaps_and_no_doubles_while_facts_are_written(
    memory: Memory,
    database: Database,
    clock: FakeClock,
    before: list[int],
    meanwhile: list[list[tuple[str, int]]],
    limit: int,
    order: Order,
    same_time: bool,
) -> None:
    space = memory.space(f"s{clock.time.timestamp()}")

    def write(tx: Tx) -> None:
        for place, number in enumerate(before):
            store.put(tx, space=space.name, fact=Fact(id=f"f{number}", content=f"{place} {number}"))

    if same_time:  # all of them at the same microsecond
        await database.transact(write, space=space.name)
    else:
        for place, number in enumerate(before):
            await space.facts.save(Fact(id=f"f{number}", content=f"{place} {number}"))
    first = {_row(each) for each in (await space.facts.page(limit=1_000)).items}
    steps, gone = iter(meanwhile), set[str]()

    async def page(after: str) -> FactPage:
        for what, number in next(steps, list[tuple[str, int]]()):
            if what == "forget":
                gone.add(f"f{number}")
                if f"f{number}" in {each.fact.id for each in (await space.facts.page(limit=1_000)).items}:
                    await space.forget(f"fact:f{number}:0")
            else:
                await space.facts.save(Fact(id=f"f{number}" if what == "replace" else f"g{number}", content=what))
        return await space.facts.page(limit=limit, order=order, after=after)

    seen = [_row(each) for each in await every(page)]

    assert len(seen) == len(set(seen)), "no double"
    assert {each for each in first if each[0] not in gone} <= set(seen), "no gap"


_NARROW: list[dict[str, Any]] = [
    {}, {"state": "retired"}, {"state": "holds"}, {"subject": "Anna"}, {"slot": "rare"}, {"kind": "goal"},
]  # fmt: skip


async def test_a_page_reads_as_many_rows_of_a_large_space_as_of_a_small_one(
    memory: Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = memory.space("mira")

    def grow(tx: Tx, first: int, last: int) -> None:
        for number in range(first, last):
            rare = number % 50 == 0
            fact = Fact(
                id=f"f{number}",
                content=f"fact {number}",
                subject="Anna" if rare else "Mira",
                slot="rare" if rare else "common",
                kind=FactKind.GOAL if rare else FactKind.DETAIL,
            )
            store.put(tx, space="mira", fact=fact)
            if number % 3 == 0:
                store.retire(tx, space="mira", fact_id=fact.id, by=f"f{number + 1}")

    costs: list[list[Cost]] = []
    for first, last in ((0, 300), (300, 1500)):
        await database.transact(lambda tx, span=(first, last): grow(tx, *span), space="mira")
        await analyze(database, "facts")
        costs.append(
            [await cost_of(monkeypatch, lambda each=each: space.facts.page(limit=5, **each)) for each in _NARROW]
        )
    for narrow, small, large in zip(_NARROW, *costs, strict=True):
        assert large.statements <= 2, large.texts
        assert large.scans == []
        assert large.rows <= small.rows * 1.5 + 5, (narrow, small.rows, large.rows)
