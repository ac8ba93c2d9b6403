"""Pages of facts: current and replaced, in every order, at a cost independent of their number."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bethink import Fact, Memory
from bethink.errors import InvalidRequestError
from bethink.model.facts import FactStatus
from bethink.model.kinds import FactKind
from bethink.model.moments import from_micros
from bethink.model.pages import FactEntry, Order, cursor_of
from bethink.model.paging import Page
from bethink.store import facts as store
from bethink.store.db import Database, Tx
from bethink.store.statements import LinkKind
from tests.conftest import FakeClock
from tests.facts_kit import change_fact
from tests.page_kit import EVERY_CHECK, Cost, analyze, cost_of, every


async def _moved(memory: Memory) -> None:
    """Mira lived in Oslo, then in Bergen, which was misspelt first. She also works."""
    facts = memory.space("mira").facts
    await facts.save(Fact(id="oslo", text="Mira lives in Oslo", subject="Mira", slot="home"))
    await facts.save(Fact(id="work", text="Mira is a nurse", subject="Mira", kind=FactKind.DETAIL))
    await facts.save(Fact(id="bergen", text="Mira lives in Begren", subject="Mira", slot="home"))
    await facts.save(Fact(id="bergen", text="Mira lives in Bergen", subject="Mira", slot="home"))


async def test_replaced_facts_are_listed_with_their_replacement(memory: Memory) -> None:
    await _moved(memory)

    page = await memory.space("mira").facts.history(status=FactStatus.REPLACED)

    assert [(each.fact.text, each.status, each.replaced_by, each.replaced_by_text) for each in page.items] == [
        ("Mira lives in Begren", FactStatus.REPLACED, "fact:bergen:2", "Mira lives in Bergen"),
        ("Mira lives in Oslo", FactStatus.REPLACED, "fact:bergen:2", "Mira lives in Bergen"),
    ]
    assert page.next == ""


async def test_versions_that_a_person_corrected_are_listed_as_such(memory: Memory) -> None:
    await _moved(memory)
    await memory.space("mira").correct("fact:bergen:2", "Mira lives in Voss")

    page = await memory.space("mira").facts.history(status=FactStatus.CORRECTED)

    assert [(entry.fact.text, entry.replaced_by) for entry in page.items] == [("Mira lives in Bergen", "fact:bergen:3")]


async def test_a_page_is_narrowed_by_state_subject_slot_and_kind(memory: Memory) -> None:
    await _moved(memory)
    facts = memory.space("mira").facts

    assert [each.fact.id for each in await facts.history()] == ["bergen", "bergen", "work", "oslo"]
    assert [each.fact.id for each in await facts.history(status=FactStatus.CURRENT)] == ["bergen", "work"]
    assert (await facts.history(subject="Mira", order=Order.OLDEST)).items[0].fact.id == "oslo"
    assert [each.fact.id for each in await facts.history(slot="home", status=FactStatus.CURRENT)] == ["bergen"]
    assert [each.fact.id for each in await facts.history(kind=FactKind.DETAIL)] == ["work"]
    assert await facts.history(subject="Anna") == ()
    assert await facts.history(origin="user") == ()


async def test_a_page_as_of_a_time_shows_what_was_known_then(
    memory: Memory, database: Database, clock: FakeClock
) -> None:
    facts = memory.space("mira").facts
    await facts.save(Fact(id="oslo", text="Mira lives in Oslo", subject="Mira", slot="home"))
    clock.time += timedelta(days=1)
    then = clock.time
    clock.time += timedelta(days=1)
    await facts.save(Fact(id="oslo", text="Mira lives in Bergen", subject="Mira", slot="home"))

    [known] = await facts.history(as_of=then)
    assert (known.fact.text, known.status, known.replaced_by) == ("Mira lives in Oslo", FactStatus.CURRENT, None)
    assert await facts.history(as_of=then, status=FactStatus.REPLACED) == ()
    assert [each.fact.text for each in await facts.history(status=FactStatus.CURRENT)] == ["Mira lives in Bergen"]


async def test_a_fact_that_ended_is_listed_as_such(memory: Memory, clock: FakeClock) -> None:
    facts = memory.space("mira").facts
    await facts.save(Fact(id="trip", text="Mira is in Rome", valid_to=clock.time - timedelta(days=1)))
    await facts.save(Fact(id="home", text="Mira lives in Oslo", valid_to=clock.time + timedelta(days=1)))

    assert [each.fact.id for each in await facts.history(status=FactStatus.ENDED)] == ["trip"]
    assert [each.fact.id for each in await facts.history(status=FactStatus.CURRENT)] == ["home"]
    assert [each.status for each in await facts.history()] == [FactStatus.CURRENT, FactStatus.ENDED]


async def test_list_and_count_leave_out_ended_and_expired_facts(memory: Memory, clock: FakeClock) -> None:
    facts, day = memory.space("mira").facts, timedelta(days=1)
    await facts.save(Fact(id="home", text="Mira lives in Oslo"))
    await facts.save(Fact(id="offer", text="Tea is cheap", expires_at=clock.time + day))
    await facts.save(Fact(id="trip", text="Mira is in Rome", valid_to=clock.time + day))
    before = clock.time
    assert [fact.id for fact in await facts.list()] == ["home", "offer", "trip"]

    clock.time += 2 * day

    assert [fact.id for fact in await facts.list()] == ["home"]
    assert await facts.count() == 1
    assert [fact.id for fact in await facts.list(as_of=before)] == ["home", "offer", "trip"]
    assert [fact.id for fact in await facts.list(limit=1)] == ["home"]
    assert (await facts.list(limit=1)).next == ""
    assert {entry.fact.id for entry in await facts.history(status="ended")} == {"offer", "trip"}
    assert [entry.fact.id for entry in await facts.history(status="current")] == ["home"]
    assert {entry.status for entry in await facts.history(as_of=before)} == {FactStatus.CURRENT}
    assert (await facts.get("offer")).status is FactStatus.ENDED


async def test_deleted_replacement_leaves_no_successor(memory: Memory) -> None:
    await _moved(memory)
    await memory.space("mira").forget("fact:bergen:2")

    for each in (await memory.space("mira").facts.history(status=FactStatus.REPLACED)).items:
        assert (each.replaced_by, each.replaced_by_text) == (None, None)


async def test_no_page_has_facts_of_another_space(memory: Memory) -> None:
    await _moved(memory)
    await memory.space("anna").facts.save(Fact(id="bergen", text="A secret", subject="Mira", slot="home"))

    for state in (None, *FactStatus):
        for slot in (None, "home"):
            page = await memory.space("anna").facts.history(status=state, slot=slot, subject="Mira")
            assert {each.fact.text for each in page.items} <= {"A secret"}


@pytest.mark.parametrize("cursor", ["x", "e30", cursor_of(1, "a"), cursor_of("a", "b", 1), cursor_of(2**70, "a", 1)])
async def test_invalid_page_cursor_is_rejected(memory: Memory, cursor: str) -> None:
    with pytest.raises(InvalidRequestError, match="after is not a cursor"):
        await memory.space("mira").facts.history(after=cursor)


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
            store.put(tx, space=space.name, fact=Fact(id=f"f{number}", text=f"{place} {number}"))

    if same_time:  # all of them at the same microsecond
        await database.transact(write, space=space.name)
    else:
        for place, number in enumerate(before):
            await space.facts.save(Fact(id=f"f{number}", text=f"{place} {number}"))
    first = {_row(each) for each in await space.facts.history(limit=1_000)}
    steps, gone = iter(meanwhile), set[str]()

    async def page(after: str) -> Page[FactEntry]:
        for what, number in next(steps, list[tuple[str, int]]()):
            if what == "forget":
                gone.add(f"f{number}")
                if f"f{number}" in {each.fact.id for each in await space.facts.history(limit=1_000)}:
                    await space.forget(f"fact:f{number}:0")
            else:
                await space.facts.save(Fact(id=f"f{number}" if what == "replace" else f"g{number}", text=what))
        return await space.facts.history(limit=limit, order=order, after=after)

    seen = [_row(each) for each in await every(page)]

    assert len(seen) == len(set(seen)), "no double"
    assert {each for each in first if each[0] not in gone} <= set(seen), "no gap"


_NARROW: list[dict[str, Any]] = [
    {}, {"status": "replaced"}, {"status": "current"}, {"subject": "Anna"}, {"slot": "rare"}, {"kind": "goal"},
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
                text=f"fact {number}",
                subject="Anna" if rare else "Mira",
                slot="rare" if rare else f"slot {number}",
                kind=FactKind.GOAL if rare else FactKind.DETAIL,
                created_at=from_micros(number),
            )
            store.put(tx, space="mira", fact=fact)
            if number % 3 == 1:
                change_fact(tx, f"f{number - 1}", by=fact.id, space="mira")

    costs: list[list[Cost]] = []
    for first, last in ((0, 300), (300, 1500)):
        await database.transact(lambda tx, span=(first, last): grow(tx, *span), space="mira")
        await analyze(database, "facts")
        costs.append(
            [await cost_of(monkeypatch, lambda each=each: space.facts.history(limit=5, **each)) for each in _NARROW]
        )
    for narrow, small, large in zip(_NARROW, *costs, strict=True):
        assert large.statements <= 2, large.texts
        assert large.scans == []
        assert large.rows <= small.rows * 1.5 + 5, (narrow, small.rows, large.rows)


async def test_a_page_of_a_status_takes_two_statements(
    memory: Memory, database: Database, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A status that few facts have is not searched for page by page."""
    space, day = memory.space("mira"), timedelta(days=1)

    def fill(tx: Tx) -> None:
        store.put(tx, space="mira", fact=Fact(id="upcoming", text="a", valid_from=clock.time + day))
        store.put(tx, space="mira", fact=Fact(id="ended", text="b", valid_to=clock.time - day))
        store.put(tx, space="mira", fact=Fact(id="expired", text="c", expires_at=clock.time - day))
        for number, name in enumerate(("replaced", "corrected", "doubtful", "pending")):
            store.put(tx, space="mira", fact=Fact(id=name, text=name, created_at=from_micros(number)))
        for number in range(60):
            store.put(tx, space="mira", fact=Fact(id=f"f{number}", text=f"fact {number}"))
        change_fact(tx, "replaced", by="doubtful", space="mira", kind=LinkKind.RESTS_ON)
        change_fact(tx, "replaced", by="f1", space="mira")
        change_fact(tx, "corrected", by="f2", space="mira", kind=LinkKind.CORRECTS)
        store.retire(tx, space="mira", fact_id="pending", successor_id="")

    await database.transact(fill, space="mira")
    expected = {status: {str(status)} for status in FactStatus if status is not FactStatus.CURRENT}
    expected[FactStatus.ENDED].add("expired")
    expected[FactStatus.EARLIER] = set()  # only messages are earlier
    found: dict[FactStatus, set[str]] = {}
    for status in expected:
        cost = await cost_of(monkeypatch, lambda status=status: space.facts.history(status=status, limit=3))
        found[status] = {entry.fact.id for entry in await space.facts.history(status=status, limit=3)}
        assert cost.statements <= 2, cost.texts

    assert found == expected
