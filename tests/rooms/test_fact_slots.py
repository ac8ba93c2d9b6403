"""The same words speak of the same slot, also where a model named the slot only once, or by another name."""

import pytest

from bethink import Memory, Message
from bethink.store.db import Database
from tests.rooms.learn_kit import a_fact
from tests.rooms.test_claims import Talk

OSLO, ROME = "I live in Oslo", "I live in Rome"
_OTHERS = ({"about": "", "slot": "home"}, {"slot": None}, {"slot": "town"}, {"kind": "preference", "about": ""})


@pytest.mark.parametrize("is_named_first", [True, False])
@pytest.mark.parametrize("other", _OTHERS)
async def test_fact_is_replaced_also_where_its_slot_was_named_otherwise(
    memory: Memory, database: Database, other: dict[str, object], is_named_first: bool
) -> None:
    talk = Talk(database, memory)
    claims = [a_fact("User lives in Oslo", 1, slot="home"), a_fact("User lives in Oslo", 2) | other]
    await talk.learn(OSLO, OSLO, claims=claims if is_named_first else claims[::-1])
    await talk.learn(ROME, claims=[a_fact("User lives in Rome", 1, slot="home")])

    assert [fact.text for fact in await memory.space("alice").facts.list()] == ["User lives in Rome"]


@pytest.mark.parametrize("other", _OTHERS)
async def test_repetition_without_its_slot_that_is_learned_late_is_replaced(
    memory: Memory, database: Database, other: dict[str, object]
) -> None:
    talk = Talk(database, memory)

    def dated(text: str, day: str) -> Message:
        return Message(role="user", content=text, said_at=day)

    await talk.learn(dated(OSLO, "2020-05-01"), claims=[a_fact("User lives in Oslo", 1, slot="home")])
    await talk.learn(dated(ROME, "2020-05-20"), claims=[a_fact("User lives in Rome", 1, slot="home")])
    await talk.learn(dated(OSLO, "2020-05-09"), claims=[a_fact("User lives in Oslo", 1) | other])

    space = memory.space("alice")
    assert [fact.text for fact in await space.facts.list()] == ["User lives in Rome"]
    assert [fact.text for fact in await space.facts.list(as_of="2020-05-12")] == ["User lives in Oslo"]
