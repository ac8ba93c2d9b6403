from typing import Any

import anyio
import pytest

from bethink import Memory, Session
from bethink.errors import InvalidRequestError
from bethink.memory.log import succession
from bethink.model.records import EndReason, conversation_key
from bethink.store.db import Database, Tx
from bethink.types import AgentKind
from tests.conftest import KEY, many, said


async def test_conversation_has_one_active_session(memory: Memory, session: Session) -> None:
    assert (await memory.space("alice").session(KEY)).info == session.info


async def test_ephemeral_session_is_never_learned(memory: Memory, session: Session) -> None:
    await session.append(many(2))
    secret = await memory.space("alice").session(KEY, ephemeral=True)
    again = await memory.space("alice").session(KEY, ephemeral=True)
    noted = await memory.space("alice").remember("and this", conversation=KEY)
    await memory.backend.local().history("alice").append(KEY, said("and that")[0])
    ended = await memory.space("alice").sessions.get(session.id)

    assert (session.info.is_learned_from, secret.info.is_learned_from, again.id) == (True, False, secret.id)
    assert noted.session.id == secret.id, "who adds to a conversation asks for no sort of session"
    assert [record.message.content for record in await secret.messages()] == ["and this", "and that"]
    assert (ended.info.end_reason, ended.info.invalidated_at) == (EndReason.RESET, 2)

    after = await memory.space("alice").session(KEY)
    left = await memory.space("alice").sessions.get(secret.id)
    assert (after.info.is_learned_from, after.info.ordinal) == (True, 3)
    assert (left.info.end_reason, left.info.invalidated_at) == (EndReason.RESET, None)


async def test_subagent_keeps_its_session_whatever_ephemeral_says(memory: Memory) -> None:
    opened = {
        (await memory.space("alice").session(KEY, agent="s", kind=AgentKind.SUBAGENT, ephemeral=ephemeral)).id
        for ephemeral in (False, True, False)
    }

    assert len(opened) == 1


async def test_sessions_differ_by_conversation_agent_and_space(memory: Memory, session: Session) -> None:
    others = [
        await memory.space("alice").session(conversation_key(channel="cli", chat="desk", thread="2")),
        await memory.space("alice").session(KEY, agent="other"),
        await memory.space("bob").session(KEY),
    ]

    assert len({session.id, *(other.id for other in others)}) == 4


async def test_opening_a_conversation_at_once_from_many_tasks_opens_one_session(memory: Memory) -> None:
    opened: set[str] = set()

    async def open_one() -> None:
        opened.add((await memory.space("alice").session(KEY)).id)

    async with anyio.create_task_group() as tasks:
        for _ in range(12):
            tasks.start_soon(open_one)

    assert len(opened) == 1


async def test_concurrent_opens_after_end_create_one_new_session(memory: Memory, session: Session) -> None:
    await session.end()
    opened: set[str] = set()

    async def open_one() -> None:
        opened.add((await memory.space("alice").session(KEY)).id)

    async with anyio.create_task_group() as tasks:
        for _ in range(12):
            tasks.start_soon(open_one)

    assert len(opened) == 1
    assert opened != {session.id}


@pytest.mark.spec("S4.5")
async def test_a_conversation_survives_its_sessions(memory: Memory, session: Session) -> None:
    await session.append(said("before"))
    following = await session.restart()
    await following.append(said("after"))

    assert following.id != session.id
    assert following.info.conversation_id == session.info.conversation_id
    assert (session.info.ordinal, following.info.ordinal) == (1, 2)
    history = memory.backend.local().history("alice")
    assert [record.message.content for record in await history.all(KEY)] == ["before", "after"]


async def test_a_reset_that_is_repeated_returns_the_session_that_followed(memory: Memory, session: Session) -> None:
    following = await session.restart()

    assert (await session.restart()).info == following.info
    assert (await session.restart("compaction")).info == following.info
    assert (await memory.space("alice").session(KEY)).id == following.id


async def test_resets_at_once_from_many_tasks_open_one_session(memory: Memory, session: Session) -> None:
    following: set[str] = set()

    async def reset() -> None:
        following.add((await session.restart()).id)

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(reset)

    assert len(following) == 1


async def test_ended_session_is_followed_by_a_new_one(memory: Memory, session: Session) -> None:
    await session.append(many(1))
    ended = await session.end()
    again = await session.end()

    assert ended.info.end_reason == "closed"
    assert ended.info.invalidated_at == 1
    assert again.info == ended.info
    following = await memory.space("alice").session(KEY)
    assert following.info.ordinal == 2


async def test_a_reset_of_an_ended_session_opens_the_next(memory: Memory, session: Session) -> None:
    await session.end()

    assert (await session.restart()).info.ordinal == 2


async def test_agent_keeps_its_first_kind(memory: Memory) -> None:
    inner = await memory.space("alice").session(KEY, agent="writer", kind=AgentKind.MEMORY_WRITER)
    disguised = await memory.space("alice").session(
        conversation_key(channel="cli", chat="2"), agent="writer", kind=AgentKind.PRIMARY
    )

    assert (inner.info.is_learned_from, disguised.info.is_learned_from) == (False, False)


@pytest.mark.parametrize("name", ["", "a\0", "x" * 201])
async def test_a_space_or_agent_that_cannot_be_named_is_refused(memory: Memory, name: str) -> None:
    with pytest.raises(InvalidRequestError):
        await memory.space(name).session(KEY)
    with pytest.raises(InvalidRequestError):
        await memory.space("alice").session(KEY, agent=name)


class Recording:
    """Stands before a transaction and writes down which queries were run."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self.names: list[str] = []

    def __getattr__(self, attribute: str) -> Any:
        method = getattr(self._tx, attribute)
        if attribute not in ("run", "one", "all"):
            return method

        def recorded(name: str, /, **parameters: object) -> object:
            self.names.append(name)
            return method(name, **parameters)

        return recorded


@pytest.mark.parametrize(
    "reason",
    [
        pytest.param(EndReason.RESET, marks=pytest.mark.spec("S0.6")),
        pytest.param(EndReason.COMPACTION, marks=pytest.mark.spec("S0.5")),
    ],
)
async def test_old_session_is_marked_before_the_new_one_is_created(
    memory: Memory, database: Database, session: Session, reason: EndReason
) -> None:
    await session.append(many(2))

    def body(tx: Tx) -> list[str]:
        recording = Recording(tx)
        succession.succeed_session(
            recording,  # pyright: ignore[reportArgumentType]
            space="alice",
            session_id=session.id,
            reason=reason,
        )
        return recording.names

    names = await database.transact(body, space="alice")

    assert names.index("end_session") < names.index("mark_session") < names.index("insert_session")
