"""The prompt of an agent, and how messages reach its working memory."""

import pytest

from bethink import Memory, Message, connect
from bethink.errors import DatabaseUnavailableError
from bethink.memory.working.ladder import CompactionRequest, Thresholds
from bethink.memory.working.memory import WorkingMemory
from bethink.memory.working.process import Engine
from bethink.memory.working.prompt import Reason, build
from bethink.model.moments import from_micros
from bethink.model.working import Chunk, ChunkType, Event, EventType, Mode, SubType, make_chunk
from bethink.store.db import Database
from tests.conftest import KEY, Quiet, many, memory_on

THREAD = "thread_1"


class Words:
    def count(self, text: str) -> int:
        return len(text.split())


def chunk(number: int, text: str, kind: ChunkType = ChunkType.WORKING_FLOW, subtype: SubType | None = None) -> Chunk:
    return make_chunk(kind, text, id=f"c{number}", created_at=from_micros(number), subtype=subtype)


CHUNKS = [
    chunk(1, "be kind", ChunkType.SYSTEM),
    chunk(2, "earlier things", subtype=SubType.COMPACTED),
    chunk(3, "first question", subtype=SubType.USER),
    chunk(4, "first answer", subtype=SubType.RESPONSE),
    chunk(5, "", subtype=SubType.RESPONSE),
    chunk(6, "second question", subtype=SubType.USER),
    chunk(7, "calling a tool", subtype=SubType.AGENT_ACTION),
    chunk(8, "tool says", subtype=SubType.ACTION_RESPONSE),
]


@pytest.mark.spec("S4.17")
def test_chunks_become_messages_after_a_system_summary() -> None:
    prompt = build(CHUNKS, budget=1000, tokens=Words())

    assert prompt.to_openai() == [
        {"role": "system", "content": "be kind"},
        {"role": "system", "content": "[Conversation Summary]\nearlier things"},
        {"role": "user", "content": "first question"},
        {"role": "assistant", "content": "first answer"},
        {"role": "user", "content": "second question"},
        {"role": "assistant", "content": "calling a tool"},
        {"role": "user", "content": "tool says"},
    ]
    assert prompt.to_anthropic() == {
        "system": "be kind\n\n[Conversation Summary]\nearlier things",
        "messages": prompt.to_openai()[2:],
    }


def test_messages_of_one_role_are_joined_where_roles_must_alternate() -> None:
    prompt = build(
        [chunk(1, "a", subtype=SubType.USER), chunk(2, "b", subtype=SubType.USER)], budget=99, tokens=Words()
    )

    assert prompt.to_anthropic()["messages"] == [{"role": "user", "content": "a\n\nb"}]


def test_prompt_keeps_pinned_and_newest_chunks_with_reasons() -> None:
    # Pinned: 6 for the system text, 8 for the summary. Newest: 6 + 7 + 6.
    prompt = build(CHUNKS, budget=33, tokens=Words())

    assert [message["content"] for message in prompt.messages[2:]] == ["second question", "calling a tool", "tool says"]
    assert prompt.tokens == 33
    reasons = {shown.chunk_id: (shown.included, shown.reason) for shown in prompt.report}
    assert reasons == {
        "c1": (True, Reason.PINNED),
        "c2": (True, Reason.PINNED),
        "c3": (False, Reason.OVER_BUDGET),
        "c4": (False, Reason.OVER_BUDGET),
        "c5": (False, Reason.EMPTY),
        "c6": (True, Reason.NEWEST),
        "c7": (True, Reason.NEWEST),
        "c8": (True, Reason.NEWEST),
    }


@pytest.mark.parametrize("budget", range(0, 60, 3))
def test_prompt_exceeds_its_budget_only_for_pinned_chunks(budget: int) -> None:
    prompt = build(CHUNKS, budget=budget, tokens=Words())
    pinned = sum(shown.tokens for shown in prompt.report if shown.reason is Reason.PINNED)

    assert prompt.tokens <= max(budget, pinned)


def test_prompt_prefix_is_stable_during_a_conversation() -> None:
    first = build(CHUNKS[:4], budget=1000, tokens=Words())
    later = build(CHUNKS, budget=20, tokens=Words())
    other = build([chunk(1, "be stern", ChunkType.SYSTEM), *CHUNKS[1:]], budget=1000, tokens=Words())

    assert first.prefix_length == later.prefix_length == 2
    assert first.prefix_hash == later.prefix_hash != other.prefix_hash


@pytest.fixture
async def desk(memory: Memory) -> WorkingMemory:
    session = await memory.space("alice").session(KEY)
    desk = memory.backend.local().working("alice")
    await desk.open_thread(THREAD, session_id=session.id)
    return desk


async def test_appending_a_message_dispatches_its_event_with_its_number(memory: Memory, desk: WorkingMemory) -> None:
    session = await memory.space("alice").session(KEY)
    call = {"id": "c1"}
    await session.append([Message(role="user", content="hi"), Message(role="assistant", content="hello")])
    await session.append(
        [
            Message(role="assistant", content="", tool_calls=[call]),
            Message(role="tool", content="result", name="look"),
            Message(role="tool", content="broken", is_error=True),
            Message(role="system", content="the sun is up"),
        ],
    )

    chunks = (await desk.current_state(THREAD)).chunks
    assert [chunk.custom["message_number"] for chunk in chunks] == [1, 2, 3, 4, 5, 6]
    assert {chunk.custom["session_id"] for chunk in chunks} == {session.id}
    assert [chunk.subtype for chunk in chunks] == [
        SubType.USER, SubType.RESPONSE, SubType.AGENT_ACTION, SubType.ACTION_RESPONSE, SubType.ACTION_RESPONSE, None,
    ]  # fmt: skip
    assert chunks[2].content["tool_calls"] == [call]
    infos = await desk.history(THREAD)
    assert [info.event_type for info in infos[1:]] == [
        "USER_MESSAGE", "LLM_TEXT_RESPONSE", "LLM_TOOL_CALL", "TOOL_RESULT", "TOOL_ERROR", "EXTERNAL_INJECT",
    ]  # fmt: skip
    assert await desk.replay(THREAD) == chunks


async def test_in_stepping_mode_a_message_is_stored_and_its_event_waits(memory: Memory, desk: WorkingMemory) -> None:
    session = await memory.space("alice").session(KEY)
    await desk.set_mode(THREAD, Mode.STEPPING)

    assert await session.append(many(2)) == [1, 2]

    assert await desk.queue_length(THREAD) == 2
    await desk.step(THREAD)
    prompt = await desk.prompt(THREAD, budget=100)
    assert prompt.to_openai() == [{"role": "user", "content": "message 1"}]


async def test_a_retry_queues_no_second_event(memory: Memory, desk: WorkingMemory) -> None:
    session = await memory.space("alice").session(KEY)
    message = Message(role="user", content="once", idempotency_key="k")

    for _ in range(2):
        await session.append([message])

    assert len((await desk.current_state(THREAD)).chunks) == 1


class Censor:
    def redact(self, text: str) -> str:
        return text.replace("hunter2", "[REDACTED]")


class Leaking:
    async def compact(self, request: CompactionRequest) -> str:
        return "the password is hunter2"


async def test_no_secret_reaches_working_memory_by_an_event_or_by_a_model(database: Database) -> None:
    memory = memory_on(database, redactor=Censor(), compactor=Leaking())
    desk = memory.backend.local().working("alice")
    await desk.open_thread(THREAD)
    for text in ("it is hunter2", "\0two", "three"):
        await desk.dispatch(THREAD, Event(type=EventType.USER_MESSAGE, payload={"text": text, "deep": [{"a": text}]}))
    await desk.trigger_compaction(THREAD)

    stored = [repr(chunk) for number in range(5) for chunk in (await desk.state_at(THREAD, number)).chunks]
    assert not any("hunter2" in text for text in stored)
    assert (await desk.current_state(THREAD)).chunks[0].text == "the password is [REDACTED]"


class Failing:
    async def compact(self, request: CompactionRequest) -> str:
        raise DatabaseUnavailableError("the model is away.")


async def test_a_message_is_acknowledged_even_if_its_thread_cannot_go_on(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    engine = Engine(tokens=Words(), thresholds=Thresholds(soft=1, hard=2, truncation=1000))
    memory = memory_on(database, redactor=Quiet(), engine=engine, compactor=Failing())
    session = await memory.space("alice").session(KEY)
    desk = memory.backend.local().working("alice")
    await desk.open_thread(THREAD, session_id=session.id)

    assert await session.append(many(4)) == [1, 2, 3, 4]

    assert f"Cannot process the events of thread {THREAD}: DatabaseUnavailableError" in caplog.text
    assert await desk.is_step_locked(THREAD) is False
    assert len(await session.messages()) == 4


@pytest.mark.spec("S4.19", "S4.18", "S4.14")
async def test_compaction_without_a_model_quotes_old_messages(database: Database) -> None:
    engine = Engine(tokens=Words(), thresholds=Thresholds(soft=5, hard=60, truncation=1000))
    memory = memory_on(database, redactor=Quiet(), engine=engine)
    session = await memory.space("alice").session(KEY)
    desk = memory.backend.local().working("alice")
    await desk.open_thread(THREAD, session_id=session.id)

    await session.append(many(30))

    summary, *rest = (await desk.current_state(THREAD)).chunks
    assert summary.subtype is SubType.COMPACTED
    assert "message 1" in summary.text
    assert 0 < len(rest) <= 20
    assert await memory.backend.local().history("alice").get_summary(KEY) == summary.text
    assert await memory.backend.local().history("alice").length(KEY) == 30  # the log keeps what the view drops


@pytest.mark.spec("S3.44", "S3.47")
async def test_pending_compaction_can_be_consumed_once(database: Database) -> None:
    engine = Engine(tokens=Words(), thresholds=Thresholds(soft=1, hard=4, truncation=1000), retain_recent=1)
    desk = WorkingMemory(database, space="alice", engine=engine)
    await desk.open_thread(THREAD)
    assert (await desk.get_thread(THREAD)).mode is Mode.AUTO  # unless told otherwise
    await desk.set_mode(THREAD, Mode.STEPPING)
    for text in ("one two", "three four", "five six"):
        await desk.dispatch(THREAD, Event(type=EventType.USER_MESSAGE, payload={"text": text}))
        await desk.step(THREAD)

    assert [chunk.text for chunk in await desk.consume_pending_compaction(THREAD)] == ["one two", "three four"]
    assert await desk.has_pending_compaction(THREAD) is False
    assert await desk.consume_pending_compaction(THREAD) == []


def test_a_memory_that_is_switched_off_has_no_working_memory() -> None:
    with pytest.raises(DatabaseUnavailableError, match="disabled"):
        connect(enabled=False).backend.local().working("alice")
