"""A session of the OpenAI Agents SDK on a space. test_neighbours runs its own tests."""

from typing import Any

import anyio
import pytest

import bethink
import bethink.types
from bethink.integrations.openai_agents import BethinkSession

CALL = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": "sky"}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "It rains in Bergen."}
ANSWER = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Take a coat."}]}
TURN: list[Any] = [{"role": "user", "content": "I live in Bergen."}, CALL, OUTPUT, ANSWER]


@pytest.fixture
def space(memory: bethink.Memory) -> bethink.Space:
    return memory.space("mira")


async def test_items_are_returned_unchanged(space: bethink.Space) -> None:
    await BethinkSession("chat", space).add_items(TURN)

    session = BethinkSession("chat", space)
    assert await session.get_items() == TURN
    assert await session.get_items(limit=2) == TURN[-2:]
    assert await session.get_items(limit=0) == []
    assert await BethinkSession("other", space).get_items() == []
    assert await BethinkSession("chat", space, agent="scout").get_items() == []


async def test_reading_creates_nothing(space: bethink.Space, memory: bethink.Memory) -> None:
    session = BethinkSession("chat", space)
    assert (await session.get_items(), await session.pop_item()) == ([], None)
    await session.clear_session()
    await session.add_items([])

    assert [space.name for space in await memory.spaces.list()] == []


async def test_each_item_has_the_origin_of_its_speaker(space: bethink.Space) -> None:
    await BethinkSession("chat", space).add_items([{"role": "developer", "content": "Be kind."}, *TURN])

    [entry] = await space.sessions.list()
    found = await (await space.sessions.get(entry.session.id)).messages()
    assert [str(record.message.origin) for record in found] == [
        "document", "user", "assistant", "tool:tool", "assistant",
    ]  # fmt: skip


async def test_items_are_popped_from_the_end_and_each_once(space: bethink.Space) -> None:
    session = BethinkSession("chat", space)
    items = [{"role": "user", "content": str(number)} for number in range(9)]
    await session.add_items(items)
    popped: list[Any] = []

    async def pop() -> None:
        popped.append(await BethinkSession("chat", space).pop_item())

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(pop)

    assert sorted(item["content"] for item in popped) == ["5", "6", "7", "8"]
    assert await session.get_items() == items[:5]
    assert not (await space.recall("8", kinds=[bethink.types.RefKind.MESSAGE])).items


async def test_cleared_session_has_no_items_but_keeps_its_messages(space: bethink.Space) -> None:
    session = BethinkSession("chat", space)
    await session.add_items(TURN)
    await session.clear_session()

    assert await session.get_items() == []
    assert "Bergen" in str((await space.recall("Where do I live?")).items)
    await session.add_items(TURN[:1])
    assert await session.get_items() == TURN[:1]


async def test_compacted_history_is_stored_and_not_learned_again(space: bethink.Space) -> None:
    session = BethinkSession("chat", space)
    await session.add_items(TURN)
    await session.clear_session()
    compacted = [TURN[0], {"type": "compaction", "id": "cmp_1", "encrypted_content": "zzz"}]
    await session.add_items(compacted)

    assert await session.get_items() == compacted
    newest = await space.sessions.find("chat")
    assert newest is not None
    assert {record.message.origin for record in await newest.messages()} == {"memory"}
    said = [
        item
        for item in (await space.recall("Bergen", kinds=[bethink.types.RefKind.MESSAGE])).items
        if "live" in item.text
    ]
    assert len(said) == 1


async def test_recalled_memory_is_shown_and_not_stored(space: bethink.Space) -> None:
    await space.remember("I am allergic to peanuts.")
    session = BethinkSession("chat", space)
    await session.add_items(TURN)
    new = [{"role": "user", "content": "What am I allergic to?"}]

    given = await session.recall_first([*TURN], new)
    await session.add_items(given[len(TURN) :])

    assert given[: len(TURN)] == TURN, "the beginning of the prompt stays the same"
    assert "peanuts" in given[-2]["content"]
    assert given[-1] is new[0]
    assert await session.get_items() == [*TURN, *new]
    assert await session.recall_first([], [OUTPUT]) == [OUTPUT], "there is no question"


async def test_secrets_are_cut_out_of_items(target: str) -> None:
    token = "ghp_" + "a1B2" * 9
    async with bethink.connect(target, learn=False) as memory:
        session = BethinkSession("chat", memory.space("mira"))
        await session.add_items([{"role": "user", "content": f"token {token}"}, {**OUTPUT, "output": token}])

        assert token not in str(await session.get_items())
