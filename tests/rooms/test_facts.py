from datetime import timedelta

import pytest

from bethink import Fact, Facts, Memory
from bethink.errors import ErasedKey, Invalid, NotFound, Stale
from bethink.model.moments import from_micros
from bethink.store.db import Database
from tests.conftest import FakeClock, memory_on


@pytest.fixture
def facts(memory: Memory) -> Facts:
    return memory.space("alice").facts


@pytest.mark.spec("S4.22", "S4.26", "S4.27")
async def test_a_fact_is_stored_with_all_its_fields_and_replaced_by_id(facts: Facts) -> None:
    await facts.save(Fact(id="f1", content="Ana lives in Oslo"))
    fact = Fact(
        id="f1",
        content="Ana lives in Bergen",
        source="ses_1",
        tags=("place",),
        metadata={"kind": "home"},
        created_at=from_micros(5),
    )
    await facts.save(fact)

    assert await facts.count() == 1
    assert await facts.search("Bergen", limit=5) == [fact]
    assert await facts.search("Oslo", limit=5) == []


@pytest.mark.spec("S4.23", "S4.54")
async def test_a_search_returns_the_best_matches_up_to_a_limit(facts: Facts) -> None:
    await facts.save(Fact(id="z-both", content="green tea"))
    await facts.save(Fact(id="a-one", content="black tea with a little milk and much sugar"))
    await facts.save(Fact(id="none", content="coffee"))

    assert [fact.id for fact in await facts.search("green tea?", limit=5)] == ["z-both", "a-one"]
    assert [fact.id for fact in await facts.search("green tea", limit=1)] == ["z-both"]
    with pytest.raises(Invalid, match="limit must be 1 to 1,000"):
        await facts.search("green tea", limit=0)


@pytest.mark.parametrize("query", ["", "   ", '"', "*", "a-b", "user:", "foo AND", "C++", "what's up", "(((", "'; --"])
async def test_no_question_breaks_the_search(facts: Facts, query: str) -> None:
    await facts.save(Fact(id="f", content="unrelated"))

    assert await facts.search(query, limit=5) == []


@pytest.mark.spec("S4.24", "S4.55")
async def test_facts_are_found_by_metadata_whatever_the_key_looks_like(facts: Facts) -> None:
    keys = ["plain", "a.b", 'q"uote', "$.x", "0", "[1]"]
    for key in keys:
        await facts.save(Fact(id=key, content="x", metadata={key: "yes", "other": "no"}))

    for key in keys:
        assert [fact.id for fact in await facts.by_metadata(key, "yes")] == [key]
    assert await facts.by_metadata("plain", "no") == []


@pytest.mark.spec("S4.25", "S4.42")
async def test_a_forgotten_fact_is_gone_and_forgetting_it_again_is_an_error(memory: Memory, facts: Facts) -> None:
    await facts.save(Fact(id="f", content="tea"))
    await memory.space("alice").forget("fact:f:0")

    assert await facts.count() == 0
    assert await facts.search("tea", limit=5) == []
    with pytest.raises(NotFound):
        await memory.space("alice").forget("fact:f:0")


async def test_a_forgotten_fact_is_refused_for_a_month_to_who_expects_none(
    memory: Memory, facts: Facts, clock: FakeClock
) -> None:
    fact = Fact(id="f", content="tea")
    await facts.save(fact, expected=0)
    await memory.space("alice").forget("fact:f:0")

    with pytest.raises(ErasedKey, match="fact 'f' was erased on 2023-11-14"):
        await facts.save(fact, expected=0)
    assert await facts.count() == 0
    await memory.space("bob").facts.save(fact, expected=0)

    await facts.save(fact)
    with pytest.raises(Stale):
        await facts.save(fact, expected=0)
    await memory.space("alice").forget("fact:f:0")
    clock.time += timedelta(days=31)
    await facts.save(fact, expected=0)


async def test_facts_of_another_space_are_not_found(memory: Memory, facts: Facts) -> None:
    await memory.space("bob").facts.save(Fact(id="f", content="tea"))

    assert await facts.search("tea", limit=5) == []
    assert await facts.count() == 0


async def test_facts_are_redacted_before_they_are_written(database: Database) -> None:
    class Upper:
        def redact(self, text: str) -> str:
            return text.upper()

    facts = memory_on(database, redactor=Upper()).space("alice").facts
    await facts.save(
        Fact(id="f", content="tea", tags=("t",), metadata={"k": "v"}, subject="al", slot="drink", source="note")
    )

    [found] = await facts.search("tea", limit=5)
    assert (found.content, found.tags, found.metadata) == ("TEA", ("T",), {"K": "V"})
    assert (found.subject, found.slot, found.source) == ("AL", "DRINK", "NOTE")
