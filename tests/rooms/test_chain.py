"""The hash chain of a session detects changed and missing messages, and accepts deleted ones."""

from collections.abc import Callable

import pytest

import bethink
from bethink.store import chain
from bethink.store.chain import ChainReport
from bethink.store.db import Database, Tx
from tests.conftest import KEY

SPACE = "ida"


async def report(database: Database) -> ChainReport:
    return await database.transact(lambda tx: chain.check(tx, space=SPACE), space=SPACE, read_only=True)


@pytest.fixture
async def said(memory: bethink.Memory) -> bethink.Session:
    """Twelve messages, some at once and some alone."""
    session = await memory.space(SPACE).session(KEY)
    many = [
        {"role": "user", "content": f"Nummer {n} – ärlig", "tags": ["x"], "metadata": {"n": 1.5}} for n in range(11)
    ]
    await session.append(many)
    await session.append([{"role": "tool", "content": "done", "name": "grep", "tool_call_id": "7"}])
    return session


async def test_messages_follow_each_other(said: bethink.Session, database: Database) -> None:
    assert await report(database) == ChainReport(1, 12, 0, 0, ())
    assert said.id


@pytest.mark.parametrize(
    ("statement", "number", "why"),
    [
        ("UPDATE messages SET content = 'Other.' WHERE number = 5", 5, "changed"),
        ("UPDATE messages SET said_at = said_at + 1 WHERE number = 12", 12, "changed"),
        ("UPDATE messages SET seal = NULL WHERE number = 3", 3, "changed"),
        ("DELETE FROM messages WHERE number = 4; DELETE FROM chain_links", 4, "this message is missing"),
        ("DELETE FROM messages WHERE number > 9; DELETE FROM chain_links", 10, "3 messages are missing from here on"),
    ],
)
async def test_chain_check_detects_manual_changes(
    said: bethink.Session, database: Database, statement: str, number: int, why: str
) -> None:
    await database.transact(lambda tx: tx.script(statement), space=SPACE)

    found = await report(database)

    assert found.broken[0][0].number == number
    assert found.broken[0][0].session_id == said.id
    assert why in found.broken[0][1]


async def test_deleted_message_leaves_a_link_in_the_chain(
    said: bethink.Session, memory: bethink.Memory, database: Database
) -> None:
    for number in (3, 12):
        await memory.space(SPACE).forget(bethink.Ref.parse(f"message:{said.id}:{number}"))
    await said.append([{"role": "user", "content": "One more."}])

    assert await report(database) == ChainReport(1, 11, 2, 0, ())


async def test_deleted_message_leaves_a_digest_without_its_salt(
    said: bethink.Session, memory: bethink.Memory, database: Database
) -> None:
    def seals(tx: Tx) -> dict[int, str]:
        rows = tx.all("page_chain", space=SPACE, session=said.id, after=0, limit=100)
        return {row["number"]: row["seal"] for row in rows}

    read: Callable[[Tx], dict[int, str]] = seals
    before = await database.transact(read, space=SPACE, read_only=True)
    await memory.space(SPACE).forget(bethink.Ref.parse(f"message:{said.id}:3"))
    after = await database.transact(read, space=SPACE, read_only=True)

    assert after[3] == before[3][chain.SALT_LETTERS :]
    assert len({seal[: chain.SALT_LETTERS] for seal in before.values()}) == 12


async def test_a_forgotten_space_leaves_no_links(
    said: bethink.Session, memory: bethink.Memory, database: Database
) -> None:
    assert said.id
    await memory.space(SPACE).forget(everything=True)

    left = await database.transact(
        lambda tx: tx.all("page_chain", space=SPACE, session=said.id, after=0, limit=100), space=SPACE, read_only=True
    )
    assert left == []
