import pytest

from bethink import Fact, Facts, Memory
from bethink.errors import NotFound
from bethink.model.moments import from_micros
from bethink.store.db import Database


@pytest.fixture
def facts(memory: Memory) -> Facts:
    return memory.space("alice").facts


@pytest.mark.spec("S4.22", "S4.26", "S4.27")
async def test_a_fact_is_stored_with_all_its_fields_and_replaced_by_id(facts: Facts) -> None:
    await facts.index(Fact(id="f1", content="Ana lives in Oslo"))
    fact = Fact(
        id="f1",
        content="Ana lives in Bergen",
        source="ses_1",
        tags=("place",),
        metadata={"kind": "home"},
        created_at=from_micros(5),
    )
    await facts.index(fact)

    assert await facts.length() == 1
    assert await facts.search("Bergen", 5) == [fact]
    assert await facts.search("Oslo", 5) == []


@pytest.mark.spec("S4.23", "S4.54")
async def test_a_search_returns_the_best_matches_up_to_a_limit(facts: Facts) -> None:
    await facts.index(Fact(id="z-both", content="green tea"))
    await facts.index(Fact(id="a-one", content="black tea with a little milk and much sugar"))
    await facts.index(Fact(id="none", content="coffee"))

    assert [fact.id for fact in await facts.search("green tea?", 5)] == ["z-both", "a-one"]
    assert [fact.id for fact in await facts.search("green tea", 1)] == ["z-both"]
    assert await facts.search("green tea", 0) == []


@pytest.mark.parametrize("query", ["", "   ", '"', "*", "a-b", "user:", "foo AND", "C++", "what's up", "(((", "'; --"])
async def test_no_question_breaks_the_search(facts: Facts, query: str) -> None:
    await facts.index(Fact(id="f", content="unrelated"))

    assert await facts.search(query, 5) == []


@pytest.mark.spec("S4.24", "S4.55")
async def test_facts_are_found_by_metadata_whatever_the_key_looks_like(facts: Facts) -> None:
    keys = ["plain", "a.b", 'q"uote', "$.x", "0", "[1]"]
    for key in keys:
        await facts.index(Fact(id=key, content="x", metadata={key: "yes", "other": "no"}))

    for key in keys:
        assert [fact.id for fact in await facts.search_by_metadata(key, "yes")] == [key]
    assert await facts.search_by_metadata("plain", "no") == []


@pytest.mark.spec("S4.25", "S4.42")
async def test_a_deleted_fact_is_gone_and_deleting_it_again_is_an_error(facts: Facts) -> None:
    await facts.index(Fact(id="f", content="tea"))
    await facts.delete("f")

    assert await facts.length() == 0
    assert await facts.search("tea", 5) == []
    with pytest.raises(NotFound):
        await facts.delete("f")


async def test_facts_of_another_space_are_not_found(memory: Memory, facts: Facts) -> None:
    await memory.space("bob").facts.save(Fact(id="f", content="tea"))

    assert await facts.search("tea", 5) == []
    assert await facts.length() == 0


async def test_facts_are_redacted_before_they_are_written(database: Database) -> None:
    class Upper:
        def redact(self, text: str) -> str:
            return text.upper()

    facts = memory_on(database, redactor=Upper()).space("alice").facts
    await facts.index(
        Fact(id="f", content="tea", tags=("t",), metadata={"k": "v"}, subject="al", slot="drink", source="note")
    )

    [found] = await facts.search("tea", 5)
    assert (found.content, found.tags, found.metadata) == ("TEA", ("T",), {"K": "V"})
    assert (found.subject, found.slot, found.source) == ("AL", "DRINK", "NOTE")
