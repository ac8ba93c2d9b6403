import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest

import bethink
from bethink import Memory, Message, Session
from bethink.errors import ConflictError, InvalidRequestError, NotFoundError, SessionEndedError
from bethink.model.moments import from_micros
from bethink.providers.default_redactor import redactor_for
from bethink.providers.no_redaction import NoRedaction
from bethink.store.db import Database
from tests.conftest import KEY, database_at, many, memory_on, said


async def contents(memory: Memory, session: Session) -> list[str]:
    return [record.message.content for record in await session.messages()]


@pytest.mark.spec("S4.6")
async def test_messages_are_numbered_from_one_in_order_without_gaps(memory: Memory, session: Session) -> None:
    assert await session.append(said("a")) == [1]
    assert await session.append(said("b", "c")) == [2, 3]

    assert [(record.number, record.message.content) for record in await session.messages()] == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
    ]


@pytest.mark.spec("S4.4", "S4.52")
async def test_message_is_returned_unchanged(memory: Memory, session: Session) -> None:
    call = {"id": "call_1", "function": {"name": "look", "arguments": '{"q": "é"}'}}
    message = Message(
        role="tool",
        content="naïve 😀",
        name="look",
        tool_calls=[call],
        tool_call_id="call_1",
        is_error=True,
        metadata={"z": [1, 2.5, None, True], "a": {"b": "c"}},
        origin="tool:look",
        idempotency_key="k1",
        trace_parent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        said_at=from_micros(1_600_000_000_000_000),
    )
    await session.append([message])

    [record] = await session.messages()

    assert record.session_id == session.id
    assert record.recorded_at > session.info.created_at
    assert record.message == replace(message, tool_calls=(call,))


async def test_message_without_a_time_uses_its_recording_time(memory: Memory, session: Session) -> None:
    await session.append(said("now"))

    [record] = await session.messages()

    assert record.message.said_at == record.recorded_at


async def test_unstorable_text_is_cleaned_the_same_on_both_databases(memory: Memory, session: Session) -> None:
    await session.append(
        [
            Message(
                role="tool",
                name="t\0\ud800",
                tool_call_id="\0",
                trace_parent="\0",
                content="a\0b\ud800c",
                metadata={"k\0": "v\0"},
                tool_calls=[{"x": "\udfff"}],
            )
        ],
    )

    [record] = await session.messages()

    assert record.message.content == "a\ufffdb\ufffdc"
    assert record.message.origin == "tool:t_"
    assert record.message.metadata == {"k\ufffd": "v\ufffd"}
    assert record.message.tool_calls == ({"x": "\ufffd"},)


async def test_append_rejects_non_json_metadata_before_writing(memory: Memory, session: Session) -> None:
    with pytest.raises(InvalidRequestError):
        await session.append([*said("fine"), Message(role="user", content="x", metadata={"o": object()})])

    assert await session.messages() == []


async def test_append_retry_with_same_keys_returns_the_same_numbers(memory: Memory, session: Session) -> None:
    batch = [Message(role="user", content=text, idempotency_key=f"key-{text}") for text in "ab"]
    first = await session.append(batch)
    await session.append(said("between"))

    assert await session.append(batch) == first == [1, 2]
    assert await contents(memory, session) == ["a", "b", "between"]


async def test_a_batch_half_stored_is_completed(memory: Memory, session: Session) -> None:
    keyed = [Message(role="user", content=text, idempotency_key=f"key-{text}") for text in "abc"]
    await session.append([keyed[1]])

    assert await session.append([keyed[0], *said("plain"), keyed[1], keyed[2]]) == [2, 3, 1, 4]
    assert await contents(memory, session) == ["b", "a", "plain", "c"]


async def test_a_retry_is_answered_even_after_the_session_ended(memory: Memory, session: Session) -> None:
    message = Message(role="user", content="a", idempotency_key="k")
    await session.append([message])
    await session.restart()

    assert await session.append([message]) == [1]


async def test_a_retry_that_comes_after_a_reset_is_still_the_same_message(memory: Memory, session: Session) -> None:
    history = memory.backend.local().history("alice")
    message = Message(role="user", content="a", idempotency_key="k")
    assert await history.append(KEY, message) == 1
    await session.restart()

    assert await history.append(KEY, message) == 1
    assert await history.length(KEY) == 1


async def test_a_key_that_belongs_to_another_message_is_refused(memory: Memory, session: Session) -> None:
    await session.append([Message(role="user", content="a", idempotency_key="k")])

    with pytest.raises(ConflictError, match="already belongs to another message"):
        await session.append([Message(role="user", content="b", idempotency_key="k")])
    with pytest.raises(ConflictError, match="its own key"):
        await session.append([Message(role="user", content="x", idempotency_key="twice")] * 2)


async def test_a_key_is_known_in_its_space_only(memory: Memory, session: Session) -> None:
    other = await memory.space("bob").session(KEY)
    message = Message(role="user", content="a", idempotency_key="k")

    assert await session.append([message]) == [1]
    assert await other.append([message]) == [1]


async def test_the_same_key_sent_twice_at_once_is_stored_once(memory: Memory, session: Session) -> None:
    answers: list[list[int]] = []

    async def send() -> None:
        answers.append(await session.append([Message(role="user", content="a", idempotency_key="k")]))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(send)

    assert answers == [[1]] * 8
    assert await contents(memory, session) == ["a"]


@pytest.mark.spec("S4.13", "S4.21")
async def test_concurrent_appends_get_unique_numbers(memory: Memory, session: Session) -> None:
    numbers: list[int] = []

    async def send(text: str) -> None:
        numbers.extend(await session.append(said(text, text)))

    async with anyio.create_task_group() as tasks:
        for text in range(40):
            tasks.start_soon(send, str(text))

    assert sorted(numbers) == list(range(1, 81))
    assert sorted(await contents(memory, session)) == sorted(str(text) for text in range(40) for _ in "12")


async def test_an_ended_session_takes_no_message_and_says_what_to_do(memory: Memory, session: Session) -> None:
    await session.end()

    with pytest.raises(SessionEndedError, match=r"space\.session\(\)"):
        await session.append(said("late"))
    assert await session.messages() == []


async def test_unknown_session_raises_not_found(memory: Memory, session: Session) -> None:
    stranger = Session(memory.backend, replace(session.info, id="ses_nobody"))

    with pytest.raises(NotFoundError, match="ses_nobody"):
        await stranger.append(said("hello"))
    with pytest.raises(NotFoundError, match="ses_nobody"):
        await memory.space("alice").sessions.get(session_id="ses_nobody")


async def test_session_of_another_space_raises_not_found(memory: Memory, session: Session) -> None:
    with pytest.raises(NotFoundError):
        await Session(memory.backend, replace(session.info, space="mallory")).append(said("hello"))


async def test_a_text_is_one_message_of_the_user(memory: Memory, session: Session) -> None:
    assert await session.append("hello") == [1]

    [record] = await session.messages()
    assert (record.message.role, record.message.content) == ("user", "hello")


@pytest.mark.parametrize("one", [b"hello", {"role": "user", "content": "x"}, said("x")[0], 7])
async def test_one_message_alone_is_not_a_list_of_them(memory: Memory, session: Session, one: object) -> None:
    with pytest.raises(
        InvalidRequestError, match=r"`messages` must be (text or a list of messages|a list, not a single message)"
    ):
        await session.append(one)  # pyright: ignore[reportArgumentType]


async def test_a_name_of_more_than_256_characters_is_refused_with_what_to_do(memory: Memory, session: Session) -> None:
    await session.append([Message(role="tool", name="x" * 256, content="1")])
    with pytest.raises(InvalidRequestError, match=r"257 characters.*Use at most 256"):
        await session.append([Message(role="tool", name="x" * 257, content="2")])


@pytest.mark.parametrize("given", ["", "a\nb", 7, b"ses_x", {"id": "ses_x"}])
async def test_invalid_session_id_is_rejected(memory: Memory, given: Any) -> None:
    alice = memory.space("alice")
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: alice.sessions.get(given),
        lambda: alice.remember("x", session_id=given),
        lambda: alice.recall("x", session_id=given),
        lambda: alice.context("x", session_id=given),
        lambda: alice.admin.context_log.list(session_id=given),
        lambda: alice.forget(session_id=given),
        lambda: alice.threads.open(session_id=given),
    ]
    for call in calls:
        with pytest.raises(InvalidRequestError, match="session_id must"):
            await call()


async def test_session_object_as_id_is_rejected(memory: Memory, session: Any) -> None:
    with pytest.raises(InvalidRequestError, match="session_id must be str"):
        await memory.space("alice").recall("x", session_id=session)


async def test_append_of_nothing_returns_nothing(memory: Memory, session: Session) -> None:
    assert await session.append([]) == []


async def test_read_supports_after_and_limit(memory: Memory, session: Session) -> None:
    await session.append(many(5))

    assert [record.number for record in await session.messages(after=2, limit=2)] == [3, 4]
    for limit in (0, -1, 1_001):
        with pytest.raises(InvalidRequestError, match=r"limit must be between 1 and 1,000"):
            await session.messages(limit=limit)


class Censor:
    def redact(self, text: str) -> str:
        return text.replace("hunter2", "[REDACTED]")


async def test_the_redactor_sees_every_text_before_the_first_write(database: Database, target: str) -> None:
    memory = memory_on(database, redactor=Censor())
    session = await memory.space("alice").session(KEY)
    message = Message(
        role="tool",
        content="password hunter2",
        name="hunter2",
        tool_call_id="call-hunter2",
        trace_parent="00-hunter2",
        metadata={"hunter2": {"deep": ["hunter2"]}},
        tool_calls=[{"arguments": "hunter2"}],
    )
    await session.append([message])
    await memory.backend.local().history("alice").set_summary(KEY, "it was hunter2")

    [record] = await session.messages()

    assert record.message.content == "password [REDACTED]"
    assert record.message.name == "[REDACTED]"
    assert record.message.origin == "tool:_REDACTED_"
    assert record.message.tool_call_id == "call-[REDACTED]"
    assert record.message.trace_parent == "00-[REDACTED]"
    assert json.dumps(record.message.metadata) == '{"[REDACTED]": {"deep": ["[REDACTED]"]}}'
    assert record.message.tool_calls == ({"arguments": "[REDACTED]"},)
    assert await memory.backend.local().history("alice").get_summary(KEY) == "it was [REDACTED]"


async def test_disabled_redaction_is_logged(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    memory = memory_on(database, redactor=NoRedaction())
    session = await memory.space("alice").session(KEY)
    await session.append(said("password: hunter2"))

    assert "redaction is switched off" in caplog.text
    assert await contents(memory, session) == ["password: hunter2"]


async def test_secrets_in_metadata_and_tool_calls_are_known_by_their_names(database: Database) -> None:
    memory = memory_on(database, redactor=redactor_for(database))
    session = await memory.space("alice").session(KEY)
    call = {"name": "login", "arguments": {"user": "ana", "password": "kestrel42!"}}
    await session.append([Message(role="assistant", content="", tool_calls=[call], metadata=call)])

    [record] = await session.messages()
    assert "kestrel42" not in f"{record.message.tool_calls} {record.message.metadata}"
    assert record.message.metadata["arguments"]["user"] == "ana"


async def test_secrets_are_redacted_before_storage_and_stay_linkable(target: str) -> None:
    stored: list[str] = []
    for _ in range(2):  # another process, as it were: the key of the fingerprints is the database's
        async with bethink.connect(target, learn=False) as memory:
            session = await memory.space("alice").session(KEY)
            await session.append(said("password: hunter2!x"))
            stored = await contents(memory, session)

    assert "hunter2" not in "".join(stored)
    assert stored[0] == stored[1]
    assert stored[0].startswith("password: [REDACTED:password:")


async def test_acknowledged_message_survives_a_restart(target: str) -> None:
    for expected in ([], ["kept"]):
        database = database_at(target)
        await database.open()
        memory = memory_on(database, redactor=Censor())
        session = await memory.space("alice").session(KEY)
        assert await contents(memory, session) == expected
        if not expected:
            await session.append(said("kept"))
        await database.close()
