"""Tests with a real model, on demand: set BETHINK_TEST_MODEL_URL to an OpenAI-compatible address."""

import os

import pytest

import bethink
from bethink.memory.learning.extraction.answer import loads
from bethink.memory.working.model_compactor import ModelCompactor
from bethink.model.calls import ModelCall
from bethink.model.jobs import JobKind, Outcome
from bethink.model.working import Event, EventType, Mode, SubType
from bethink.providers.openai_model import OpenAIModel
from tests.conftest import KEY

pytestmark = [
    pytest.mark.model,
    pytest.mark.timeout(1_800),
    pytest.mark.skipif("BETHINK_TEST_MODEL_URL" not in os.environ, reason="no model server was named"),
]


@pytest.fixture
def model() -> OpenAIModel:
    output = os.environ.get("BETHINK_TEST_MODEL_OUTPUT", "json_schema")
    return OpenAIModel("local", base_url=os.environ["BETHINK_TEST_MODEL_URL"], window=4_096, output=output, timeout=900)


async def test_session_is_learned_with_valid_structured_output(target: str, model: OpenAIModel) -> None:
    async with bethink.connect(target, model=model, learn_in_background=False) as memory:
        session = await memory.space("alice").session(KEY)
        await session.append(
            [
                {"role": "user", "content": "My name is Alice and I live in Bergen."},
                {"role": "assistant", "content": "Nice to meet you, Alice."},
                {"role": "user", "content": "I prefer green tea, and my cat is called Miez."},
            ],
        )
        await session.checkpoint(force=True)

        report = await memory.learn()

        [job] = [each for each in await memory.space("alice").admin.jobs.list() if each.kind is JobKind.EXTRACT]
        remembered = await session.summary()
        facts = await memory.space("alice").facts.search("Alice Bergen tea cat Miez user", limit=20)
        assert report.outcomes == {Outcome.SUCCEEDED: 1}, job.last_error
        assert 1 <= job.usage.calls <= 5  # each reading may be asked for again, and quotes that are not there once more
        assert remembered is not None
        said = " ".join(each.message.content for each in await session.messages())
        for fact in facts:
            lineage = await memory.space("alice").explain(f"fact:{fact.id}:{fact.version}")
            assert fact.evidence == "confirmed"
            assert lineage.quotes
            assert all(quote.text in said for quote in lineage.quotes)


async def test_a_thread_is_compacted_in_the_models_words(target: str, model: OpenAIModel) -> None:
    async with bethink.connect(target, compactor=ModelCompactor(model), learn=False) as memory:
        desk = memory.backend.local().working("alice")
        await desk.open_thread("thread_roof", mode=Mode.AUTO)
        for text in ("Mend the roof before Friday.", "The ladder is in the shed.", "Use the red tiles.", "Thanks."):
            await desk.dispatch("thread_roof", Event(type=EventType.USER_MESSAGE, payload={"text": text}))
        await desk.trigger_compaction("thread_roof")

        state = await desk.current_state("thread_roof")
        [summary] = [chunk for chunk in state.chunks if chunk.subtype is SubType.COMPACTED]
        assert summary.text.strip()
        assert await desk.replay("thread_roof") == state.chunks


async def test_the_server_keeps_to_a_schema(model: OpenAIModel) -> None:
    schema = {
        "type": "object",
        "properties": {"town": {"type": "string"}},
        "required": ["town"],
        "additionalProperties": False,
    }

    answer = await model.answer(
        ModelCall(system="Answer in JSON.", prompt="I live in Bergen. Which town?", schema=schema, max_tokens=60)
    )

    assert set(loads(answer.text)) == {"town"}
