"""Expiry: a fact is recalled until it expires, and later with `as_of`; events never expire automatically."""

from datetime import timedelta

import pytest

import bethink
import bethink.types
from bethink.errors import InvalidRequestError
from bethink.model.facts import Fact
from bethink.model.kinds import FactKind
from bethink.model.records import Origin
from bethink.store.db import Database
from tests.conftest import FakeClock
from tests.rooms.review_kit import claim, learn

DAY = timedelta(days=1)
USER = Origin("user")
OFFER = "The code for the sauna is on the fridge."


async def recalled(space: bethink.Space, question: str = "sauna code fridge", **more: object) -> list[str]:
    found = await space.recall(question, kinds=[bethink.types.RefKind.FACT], **more)  # pyright: ignore[reportArgumentType]
    return [item.text for item in found.items]


async def test_expired_fact_is_hidden_now_but_visible_as_of_before(memory: bethink.Memory, clock: FakeClock) -> None:
    alice = memory.space("alice")
    await alice.facts.save(Fact(id="f1", text=OFFER, origin=USER, expires_at=clock.time + 2 * DAY))
    before = clock.time + DAY
    assert await recalled(alice) == [OFFER]
    assert OFFER in (await alice.context()).text

    clock.time += 3 * DAY

    assert await recalled(alice) == []
    assert OFFER not in (await alice.context()).text
    assert await recalled(alice, as_of=before) == [OFFER]
    assert OFFER in (await alice.context(as_of=before)).text
    assert (await alice.facts.get("f1")).expires_at is not None, "it is still listed"


async def test_expiry_rules_apply_by_kind_and_repetition_renews(
    memory: bethink.Memory, database: Database, clock: FakeClock
) -> None:
    alice = memory.space("alice")
    await alice.admin.rules.set(bethink.LearningRules(expires_after={"goal": 10}))
    goal = claim("The owner wants to run a marathon.", "I want to run a marathon", kind="goal")
    moved = claim("The owner moved to Oslo.", "I moved to Oslo", kind="event", happened="2023-11-01")

    await alice.remember("I want to run a marathon. I moved to Oslo.")
    await learn(database, goal, moved)
    found = {fact.kind: fact for fact in await alice.facts.list()}
    assert found[FactKind.EVENT].expires_at is None
    first = found[FactKind.GOAL]
    assert first.created_at is not None
    assert first.expires_at is not None
    assert first.expires_at == first.created_at + 10 * DAY

    clock.time += 5 * DAY
    await alice.remember("I want to run a marathon.", conversation="later")
    await learn(database, goal)
    again = (await alice.facts.get(first.id)).expires_at
    assert again is not None
    assert again > first.expires_at + 4 * DAY

    clock.time += 30 * DAY
    assert await recalled(alice, "marathon") == []
    assert "marathon" not in (await alice.context()).text, "the notes on the session do not say it either"
    assert await recalled(alice, "Oslo") == ["The owner moved to Oslo."]

    await alice.remember("I want to run a marathon.", conversation="new")
    await learn(database, goal)
    assert await recalled(alice, "marathon") == ["The owner wants to run a marathon."], "it is not merged into the dead"


async def test_a_correction_may_say_when_a_fact_expires(memory: bethink.Memory, clock: FakeClock) -> None:
    alice = memory.space("alice")
    await alice.facts.save(Fact(id="f1", text=OFFER, origin=USER))

    done = await alice.correct("fact:f1:1", OFFER, expires_at=clock.time + DAY)
    kept = await alice.correct(done.ref, "The code for the sauna is on the door.")

    assert (done.ref.number, kept.ref.number) == (2, 3)
    assert (await alice.facts.get("f1")).expires_at is not None, "another correction leaves it as it is"
    clock.time += 2 * DAY
    assert await recalled(alice) == []


async def test_forgetting_the_first_time_leaves_the_second_with_its_own_expiry(
    memory: bethink.Memory, database: Database, clock: FakeClock
) -> None:
    alice = memory.space("alice")
    await alice.admin.rules.set(bethink.LearningRules(expires_after={"detail": 10}))
    sauna = claim("The owner has a sauna.", "I have a sauna")
    for conversation in ("first", "second"):
        await alice.remember("I have a sauna.", conversation=conversation)
        await learn(database, sauna)
        clock.time += 4 * DAY
    await alice.forget(conversation="first")

    [fact] = await alice.facts.list()
    assert fact.created_at is not None
    assert fact.expires_at == fact.created_at + 10 * DAY


@pytest.mark.parametrize("rules", [{"event": 3}, {"recipe": 3}, {"goal": 0}, {"goal": 40_000}])
async def test_invalid_expiry_is_rejected(memory: bethink.Memory, rules: dict[str, int]) -> None:
    with pytest.raises(InvalidRequestError, match="expires_after"):
        await memory.space("alice").admin.rules.set(bethink.LearningRules(expires_after=rules))
    with pytest.raises(InvalidRequestError, match="works only with fact"):
        await memory.space("alice").correct("document:d:1", "text", expires_at="2026-01-01")
