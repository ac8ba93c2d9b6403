"""A name that contains a secret is stored redacted, and still finds its target."""

import pytest

from bethink import Memory, Message
from bethink.errors import ConflictError
from bethink.model.ids import new_id
from bethink.providers.default_redactor import redactor_for
from bethink.store import sessions
from bethink.store.db import Database, Tx
from tests.conftest import memory_on, said

TOKEN = "ghp_" + "a1B2" * 9
OTHER = "ghp_" + "c3D4" * 9


@pytest.fixture
def memory(database: Database) -> Memory:
    return memory_on(database, redactor=redactor_for(database))


async def test_conversation_with_a_secret_name_is_redacted_and_found(memory: Memory) -> None:
    alice, history = memory.space("alice"), memory.backend.local().history("alice")
    name = f"bot {TOKEN}"
    first = await alice.session(name)
    await alice.remember("tea", conversation=name)
    await history.append(name, said("milk")[0])
    await history.set_summary(name, "drinks")
    other = await alice.session(f"bot {OTHER}")

    assert (await alice.session(name)).id == first.id != other.id
    assert [record.message.content for record in await history.all(name)] == ["tea", "milk"]
    assert await history.get_summary(name) == "drinks"
    stored = {entry.session.id: entry.conversation for entry in await alice.sessions.list()}
    assert TOKEN not in f"{stored}"
    assert stored[first.id].startswith("bot [REDACTED:")
    assert (await alice.session(stored[first.id])).id == first.id
    assert (await alice.forget(conversation=name)).messages == 2


async def test_conversation_stored_with_its_secret_is_still_found(memory: Memory, database: Database) -> None:
    alice, name = memory.space("alice"), f"bot {TOKEN}"
    old = await alice.session("bot")

    def rename(tx: Tx) -> None:
        agent = sessions.find(tx, space="alice", session_id=old.id)
        assert agent is not None
        tx.script(f"UPDATE conversations SET key = '{name}' WHERE id = '{agent.conversation_id}'")

    await database.transact(rename, space="alice")

    assert (await alice.session(name)).id == old.id
    assert (await alice.forget(conversation=name)).messages == 0


async def test_idempotency_key_with_a_secret_is_redacted_and_matches(memory: Memory) -> None:
    session = await memory.space("alice").session("home")
    message = Message(role="user", content="tea", idempotency_key=f"k {TOKEN}")

    assert await session.append([message]) == await session.append([message]) == [1]
    assert await session.append([Message(role="user", content="tea", idempotency_key=f"k {OTHER}")]) == [2]
    with pytest.raises(ConflictError) as refused:
        await session.append([Message(role="user", content="milk", idempotency_key=f"k {TOKEN}")])
    records = await session.messages()
    assert TOKEN not in f"{records} {refused.value}"
    assert f"{records[0].message.idempotency_key}".startswith("k [REDACTED:")


@pytest.mark.parametrize(
    "name", [new_id("req") + ":0", "3f2b8c1e-9a4d-4e57-8b0a-2c6d7e8f9a0b", "e3b0c44298fc1c149afb" * 3]
)
async def test_ordinary_keys_and_names_are_stored_as_they_are(memory: Memory, name: str) -> None:
    session = await memory.space("alice").session(name)
    await session.append([Message(role="user", content="tea", idempotency_key=name)])

    assert [record.message.idempotency_key for record in await session.messages()] == [name]
    assert [entry.conversation for entry in await memory.space("alice").sessions.list()] == [name]
