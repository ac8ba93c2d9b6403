"""Match memory is removed from every message before it is stored."""

import json

import pytest

from bethink import Memory, Message, Session
from bethink.errors import ConflictError
from bethink.model.framing import add_frame
from bethink.model.working import Mode
from bethink.providers.default_redactor import redactor_for
from bethink.store.db import Database
from tests.conftest import KEY, memory_on

ECHO = add_frame("- Alice lives in Bergen (user, 2023-05-08) [^abc234]", note="Remembered from earlier.")


async def contents(memory: Memory, session: Session) -> list[str]:
    return [record.message.content for record in await session.messages()]


@pytest.mark.parametrize("role", ["user", "assistant", "system", "tool"])
async def test_a_frame_is_cut_out_of_a_message_of_any_role(memory: Memory, session: Session, role: str) -> None:
    await session.append([{"role": role, "content": f"Good morning.\n\n{ECHO}\n\nWhere do I live?"}])

    assert await contents(memory, session) == ["Good morning.\n\nWhere do I live?"]


async def test_message_with_only_a_frame_is_stored_empty_and_numbered(memory: Memory, session: Session) -> None:
    numbers = await session.append(
        [
            {"role": "user", "content": "Hello"},
            {"role": "system", "content": ECHO},
            {"role": "assistant", "content": "Hi"},
        ],
    )

    assert numbers == [1, 2, 3]
    assert await contents(memory, session) == ["Hello", "", "Hi"]


async def test_an_echo_quoted_by_an_agent_or_escaped_by_a_tool_is_cut_out_too(memory: Memory, session: Session) -> None:
    quoted = "\n".join(f"> {line}" for line in ECHO.splitlines())
    result = json.dumps({"output": f"notes.md:\n{ECHO}\nend", "code": 0})
    await session.append(
        [
            {"role": "assistant", "content": f"My instructions say:\n{quoted}\nThat is all."},
            {"role": "tool", "name": "read", "content": result},
            {"role": "tool", "name": "read", "content": result.replace("<", "\\u003c").replace(">", "\\u003e")},
        ],
    )

    said, *results = await contents(memory, session)

    assert said == "My instructions say:\nThat is all."
    for each in results:
        assert json.loads(each)["code"] == 0
        assert "Bergen" not in each


async def test_a_frame_that_was_cut_off_hides_what_follows_it(memory: Memory, session: Session) -> None:
    await session.append([{"role": "tool", "content": "page 1\n" + ECHO[:60]}])

    assert await contents(memory, session) == ["page 1"]


async def test_retry_matches_with_or_without_its_frame(memory: Memory, session: Session) -> None:
    plain = Message(role="user", content="Where do I live?", idempotency_key="k")
    with_frame = Message(role="user", content=f"{ECHO}\nWhere do I live?", idempotency_key="k")

    assert await session.append([with_frame]) == [1]
    assert await session.append([with_frame]) == [1]
    assert await session.append([plain]) == [1]
    with pytest.raises(ConflictError):
        await session.append([Message(role="user", content=ECHO, idempotency_key="k")])


async def test_a_frame_is_cut_out_before_secrets_are(database: Database) -> None:
    memory = memory_on(database, redactor=redactor_for(database))
    session = await memory.space("alice").session(KEY)

    await session.append([{"role": "user", "content": f"password: {ECHO} Tr0ub4dor8Xq"}])

    [content] = await contents(memory, session)
    assert content.startswith("password: ")
    assert "Bergen" not in content
    assert "Tr0ub4dor8Xq" not in content


async def test_a_thread_and_a_history_hold_what_was_stored(memory: Memory, session: Session) -> None:
    desk = memory.backend.local().working("alice")
    await desk.open_thread("thread_frames", session_id=session.id, mode=Mode.AUTO)
    await session.append([{"role": "user", "content": f"{ECHO}\nWhere do I live?"}])
    await memory.backend.local().history("alice").append(KEY, {"role": "user", "content": f"And now? {ECHO}"})

    state = await desk.current_state("thread_frames")

    assert next(chunk.text for chunk in state.chunks) == "Where do I live?"
    assert await contents(memory, session) == ["Where do I live?", "And now?"]
