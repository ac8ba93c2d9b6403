"""A pinned fact stands in every context as long as it holds, right after what the user wants."""

import pytest

import bethink
from bethink.errors import Invalid, NotFound
from bethink.model.changes import ChangeKind
from bethink.model.facts import Fact
from bethink.model.kinds import FactKind
from bethink.model.records import Origin
from tests.conftest import FakeClock

USER = Origin("user")
OLD = "The owner was born in Tromsø."


@pytest.fixture
async def alice(memory: bethink.Memory) -> bethink.Space:
    """A space with a fact that is crowded out of any short context by a hundred others."""
    alice = memory.space("alice")
    await alice.facts.save(Fact(id="old", content=OLD, origin=USER, kind=FactKind.EVENT))
    wish = Fact(id="wish", content="Answer in one sentence.", origin=USER, kind=FactKind.INSTRUCTION)
    await alice.facts.save(wish)
    for number in range(100):
        await alice.facts.save(Fact(id=f"f{number}", content=f"Shelf {number} holds {number} books.", origin=USER))
    return alice


async def test_a_pinned_fact_stands_in_context_after_the_wishes(alice: bethink.Space) -> None:
    assert OLD not in (await alice.context(budget=300)).text

    pinned = await alice.pin("fact:old:1")

    block = await alice.context(budget=300)
    assert pinned.pinned_at is not None
    order = [block.text.index(part) for part in ("## What the user wants", "## Pinned", OLD, "## What is known")]
    assert order == sorted(order)
    assert block.text.count(OLD) == 1
    assert block.tokens <= 300
    assert [item.fact.pinned_at for item in block.items if item.fact and item.ref.id == "old"] == [pinned.pinned_at]
    assert [fact.id for fact in await alice.pins()] == ["old"]
    assert (await alice.facts.get("old")).pinned_at == pinned.pinned_at


async def test_an_answer_or_a_wish_that_is_pinned_is_not_said_twice(alice: bethink.Space) -> None:
    for ref in ("fact:old:1", "fact:wish:1"):
        await alice.pin(ref)

    block = await alice.context("Where was the owner born?")

    assert block.text.count(OLD) == block.text.count("Answer in one sentence.") == 1


async def test_pinning_twice_is_pinning_once_and_unpinning_ends_it(alice: bethink.Space) -> None:
    first = await alice.pin("fact:old:1")
    assert (await alice.pin("fact:old:7")).pinned_at == first.pinned_at, "any version names the fact"

    assert (await alice.unpin("fact:old:1")).pinned_at is None
    assert (await alice.unpin("fact:old:1")).pinned_at is None
    assert await alice.pins() == []
    assert OLD not in (await alice.context(budget=300)).text
    kinds = [change.kind for change in await alice.changes(limit=1000) if change.ref.startswith("fact:old:")]
    assert kinds == [ChangeKind.FACT_ADDED, ChangeKind.FACT_PINNED, ChangeKind.FACT_UNPINNED]


async def test_a_past_context_has_the_pins_of_its_time(alice: bethink.Space, clock: FakeClock) -> None:
    before = clock()
    await alice.pin("fact:old:1")
    during = clock()
    await alice.unpin("fact:old:1")

    has = {at: "## Pinned" in (await alice.context(budget=300, as_of=at)).text for at in (before, during, clock())}

    assert list(has.values()) == [False, True, False]
    assert [fact.id for fact in await alice.pins(as_of=during)] == ["old"]


async def test_a_pin_stays_through_corrections_and_goes_with_its_fact(alice: bethink.Space) -> None:
    await alice.pin("fact:old:1")
    await alice.correct("fact:old:1", "The owner was born in Bodø.")
    await alice.facts.save(Fact(id="old", content="The owner was born in Alta.", origin=USER))

    assert "born in Alta" in (await alice.context(budget=300)).text
    await alice.forget("fact:old:3")
    assert await alice.pins() == []
    await alice.facts.save(Fact(id="old", content="The owner was born in Vadsø.", origin=USER))
    assert await alice.pins() == [], "what takes a forgotten id is not pinned"


async def test_saving_a_fact_cannot_pin_it(alice: bethink.Space) -> None:
    pinned = await alice.pin("fact:old:1")
    await alice.facts.save(Fact(id="mine", content="Pin me.", pinned_at=pinned.pinned_at))

    assert (await alice.facts.get("mine")).pinned_at is None


async def test_a_pin_belongs_to_its_space(alice: bethink.Space, memory: bethink.Memory) -> None:
    bob = memory.space("bob")
    await bob.facts.save(Fact(id="old", content="Bob was born in Rome.", origin=USER))
    await alice.pin("fact:old:1")

    assert await bob.pins() == []
    assert (await bob.facts.get("old")).pinned_at is None
    with pytest.raises(NotFound):
        await bob.pin("fact:wish:1")


@pytest.mark.parametrize("ref", ["document:d:1", "message:ses_1:1"])
async def test_only_facts_are_pinned(alice: bethink.Space, ref: str) -> None:
    with pytest.raises(Invalid, match="not a fact"):
        await alice.pin(ref)
