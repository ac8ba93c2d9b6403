from datetime import timedelta

import pytest

from bethink import Fact, Memory
from bethink.errors import ErasedKeyError, InvalidRequestError, NotFoundError, VersionConflictError
from bethink.model.moments import from_micros
from bethink.store.db import Database
from bethink.types import Facts
from tests.conftest import FakeClock, memory_on


@pytest.fixture
def facts(memory: Memory) -> Facts:
    return memory.space("alice").facts


@pytest.mark.spec("S4.22", "S4.26", "S4.27")
async def test_a_fact_is_stored_with_all_its_fields_and_replaced_by_id(facts: Facts) -> None:
    await facts.save(Fact(id="f1", text="Ana lives in Oslo"))
    fact = Fact(
        id="f1",
        text="Ana lives in Bergen",
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
    await facts.save(Fact(id="z-both", text="green tea"))
    await facts.save(Fact(id="a-one", text="black tea with a little milk and much sugar"))
    await facts.save(Fact(id="none", text="coffee"))

    assert [fact.id for fact in await facts.search("green tea?", limit=5)] == ["z-both", "a-one"]
    assert [fact.id for fact in await facts.search("green tea", limit=1)] == ["z-both"]
    with pytest.raises(InvalidRequestError, match="limit must be between 1 and 1,000"):
        await facts.search("green tea", limit=0)


@pytest.mark.parametrize("query", ["", "   ", '"', "*", "a-b", "user:", "foo AND", "C++", "what's up", "(((", "'; --"])
async def test_no_question_breaks_the_search(facts: Facts, query: str) -> None:
    await facts.save(Fact(id="f", text="unrelated"))

    assert await facts.search(query, limit=5) == []


@pytest.mark.spec("S4.24", "S4.55")
async def test_facts_are_found_by_metadata_with_any_key(facts: Facts) -> None:
    keys = ["plain", "a.b", 'q"uote', "$.x", "0", "[1]"]
    for key in keys:
        await facts.save(Fact(id=key, text="x", metadata={key: "yes", "other": "no"}))

    for key in keys:
        assert [fact.id for fact in await facts.list(where={key: "yes"})] == [key]
    assert await facts.list(where={"plain": "no"}) == []


@pytest.mark.spec("S4.25", "S4.42")
async def test_deleted_fact_cannot_be_deleted_again(memory: Memory, facts: Facts) -> None:
    await facts.save(Fact(id="f", text="tea"))
    await memory.space("alice").forget("fact:f:0")

    assert await facts.count() == 0
    assert await facts.search("tea", limit=5) == []
    with pytest.raises(NotFoundError):
        await memory.space("alice").forget("fact:f:0")


async def test_recreating_a_deleted_fact_fails_for_a_month(memory: Memory, facts: Facts, clock: FakeClock) -> None:
    fact = Fact(id="f", text="tea")
    await facts.save(fact, if_version=0)
    await memory.space("alice").forget("fact:f:0")

    with pytest.raises(ErasedKeyError, match="Fact 'f' was erased on 2023-11-14"):
        await facts.save(fact, if_version=0)
    assert await facts.count() == 0
    await memory.space("bob").facts.save(fact, if_version=0)

    await facts.save(fact)
    with pytest.raises(VersionConflictError):
        await facts.save(fact, if_version=0)
    await memory.space("alice").forget("fact:f:0")
    clock.time += timedelta(days=31)
    await facts.save(fact, if_version=0)


async def test_facts_of_another_space_are_invisible(memory: Memory, facts: Facts) -> None:
    await memory.space("bob").facts.save(Fact(id="f", text="tea"))

    assert await facts.search("tea", limit=5) == []
    assert await facts.count() == 0


async def test_facts_are_redacted_before_they_are_written(database: Database) -> None:
    class Upper:
        def redact(self, text: str) -> str:
            return text.upper()

    facts = memory_on(database, redactor=Upper()).space("alice").facts
    await facts.save(
        Fact(id="f", text="tea", tags=("t",), metadata={"k": "v"}, subject="al", slot="drink", source="note")
    )

    [found] = await facts.search("tea", limit=5)
    assert (found.text, found.tags, found.metadata) == ("TEA", ("T",), {"K": "V"})
    assert (found.subject, found.slot, found.source) == ("AL", "DRINK", "NOTE")


async def test_methods_that_take_a_fact_id_also_take_its_ref(facts: Facts) -> None:
    saved = await facts.save(Fact(id="home:1", text="Mira lives in Oslo"))
    await facts.save(Fact(id="home:1", text="Mira lives in Bergen"))

    for name in ("home:1", saved.ref, str(saved.ref), "fact:home:1:2"):
        assert (await facts.get(name)).text == "Mira lives in Bergen"
        assert len(await facts.versions(name)) == 2
        assert (await facts.quotes(name), await facts.sources(name)) == ([], [])


async def test_bare_id_instead_of_a_ref_is_explained(memory: Memory, facts: Facts) -> None:
    await facts.save(Fact(id="home", text="Mira lives in Oslo"))
    space = memory.space("alice")

    for call in (facts.pin, facts.unpin, space.explain, space.forget):
        with pytest.raises(InvalidRequestError, match=r"Cannot parse 'home' as a ref.*such as fact:ID:1"):
            await call("home")
