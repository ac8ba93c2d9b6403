"""A pinned fact is in every context while it is current, right after the user's preferences."""

import pytest

import bethink
from bethink.errors import InvalidRequestError, NotFoundError
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
    await alice.facts.save(Fact(id="old", text=OLD, origin=USER, kind=FactKind.EVENT))
    wish = Fact(id="wish", text="Answer in one sentence.", origin=USER, kind=FactKind.INSTRUCTION)
    await alice.facts.save(wish)
    for number in range(100):
        await alice.facts.save(Fact(id=f"f{number}", text=f"Shelf {number} holds {number} books.", origin=USER))
    return alice


async def test_pinned_fact_follows_the_preferences_in_context(alice: bethink.Space) -> None:
    assert OLD not in (await alice.context(budget=300)).text

    pinned = await alice.facts.pin("fact:old:1")

    block = await alice.context(budget=300)
    assert pinned.pinned_at is not None
    order = [block.text.index(part) for part in ("## What the user wants", "## Pinned", OLD, "## What is known")]
    assert order == sorted(order)
    assert block.text.count(OLD) == 1
    assert block.tokens <= 300
    assert [item.fact.pinned_at for item in block.items if item.fact and item.ref.id == "old"] == [pinned.pinned_at]
    assert [fact.id for fact in await alice.facts.list(pinned=True)] == ["old"]
    assert (await alice.facts.get("old")).pinned_at == pinned.pinned_at


async def test_pinned_answer_or_preference_is_shown_once(alice: bethink.Space) -> None:
    for ref in ("fact:old:1", "fact:wish:1"):
        await alice.facts.pin(ref)

    block = await alice.context("Where was the owner born?")

    assert block.text.count(OLD) == block.text.count("Answer in one sentence.") == 1


async def test_pinning_twice_is_pinning_once_and_unpinning_ends_it(alice: bethink.Space) -> None:
    first = await alice.facts.pin("fact:old:1")
    assert (await alice.facts.pin("fact:old:7")).pinned_at == first.pinned_at, "any version names the fact"

    assert (await alice.facts.unpin("fact:old:1")).pinned_at is None
    assert (await alice.facts.unpin("fact:old:1")).pinned_at is None
    assert await alice.facts.list(pinned=True) == []
    assert OLD not in (await alice.context(budget=300)).text
    kinds = [change.kind for change in await alice.admin.changes.list(limit=1000) if change.ref.startswith("fact:old:")]
    assert kinds == [ChangeKind.FACT_ADDED, ChangeKind.FACT_PINNED, ChangeKind.FACT_UNPINNED]


async def test_a_past_context_has_the_pins_of_its_time(alice: bethink.Space, clock: FakeClock) -> None:
    before = clock()
    await alice.facts.pin("fact:old:1")
    during = clock()
    await alice.facts.unpin("fact:old:1")

    has = {at: "## Pinned" in (await alice.context(budget=300, as_of=at)).text for at in (before, during, clock())}

    assert list(has.values()) == [False, True, False]
    assert [fact.id for fact in await alice.facts.list(pinned=True, as_of=during)] == ["old"]


async def test_pin_survives_corrections_and_is_deleted_with_its_fact(alice: bethink.Space) -> None:
    await alice.facts.pin("fact:old:1")
    await alice.correct("fact:old:1", "The owner was born in Bodø.")
    await alice.facts.save(Fact(id="old", text="The owner was born in Alta.", origin=USER))

    assert "born in Alta" in (await alice.context(budget=300)).text
    await alice.forget("fact:old:3")
    assert await alice.facts.list(pinned=True) == []
    await alice.facts.save(Fact(id="old", text="The owner was born in Vadsø.", origin=USER))
    assert await alice.facts.list(pinned=True) == [], "what takes a forgotten id is not pinned"


async def test_saving_a_fact_cannot_pin_it(alice: bethink.Space) -> None:
    pinned = await alice.facts.pin("fact:old:1")
    await alice.facts.save(Fact(id="mine", text="Pin me.", pinned_at=pinned.pinned_at))

    assert (await alice.facts.get("mine")).pinned_at is None


async def test_a_pin_belongs_to_its_space(alice: bethink.Space, memory: bethink.Memory) -> None:
    bob = memory.space("bob")
    await bob.facts.save(Fact(id="old", text="Bob was born in Rome.", origin=USER))
    await alice.facts.pin("fact:old:1")

    assert await bob.facts.list(pinned=True) == []
    assert (await bob.facts.get("old")).pinned_at is None
    with pytest.raises(NotFoundError):
        await bob.facts.pin("fact:wish:1")


@pytest.mark.parametrize("ref", ["document:d:1", "message:ses_1:1"])
async def test_only_facts_are_pinned(alice: bethink.Space, ref: str) -> None:
    with pytest.raises(InvalidRequestError, match="not a fact"):
        await alice.facts.pin(ref)
