"""Specific to chat completions: two names for a limit, parts, a temperature, and non-strict schemas."""

from pathlib import Path

import pytest

from bethink.errors import ConfigurationError, ModelUnavailableError
from bethink.model.calls import ModelCall
from bethink.providers.openai_model import OpenAIModel, _is_openai
from tests.unit.model_server import CALL, PROMPT, SYSTEM, OpenAIApi, isolate, sends, serving

SCHEMA = {"type": "object", "properties": {"day": {"type": "integer"}}, "required": ["day"]}


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    isolate(monkeypatch, tmp_path)


@pytest.mark.parametrize("reason", ["error", "abort"])
async def test_answer_aborted_by_the_server_is_unavailable(reason: str) -> None:
    api = OpenAIApi()
    with serving(sends(api.reply(stop=reason))) as server, pytest.raises(ModelUnavailableError):
        await api.model(server.url).answer(CALL)


async def test_chat_completions_may_come_in_parts() -> None:
    parts = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "nine"}, {"type": "text", "text": 9}, 9]
    with serving(sends(OpenAIApi().reply(content=parts))) as server:
        assert (await OpenAIApi().model(server.url).answer(CALL)).text == "nine"


async def test_chat_completions_take_a_temperature_and_a_looser_schema() -> None:
    call = ModelCall(system=SYSTEM, prompt=PROMPT, schema=SCHEMA, schema_name="birthday")
    with serving(sends(OpenAIApi().reply("{}"))) as server:
        await OpenAIApi().model(server.url, temperature=0.0, strict_schema=False).answer(call)

    assert server.request.body["temperature"] == 0
    assert server.request.body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "birthday", "schema": SCHEMA, "strict": False},
    }


async def test_schema_is_sent_as_json_object_or_in_the_prompt() -> None:
    call = ModelCall(system=SYSTEM, prompt=PROMPT, schema=SCHEMA)
    with serving(sends(OpenAIApi().reply("{}"))) as server:
        await OpenAIApi().model(server.url, output="json_object").answer(call)
        await OpenAIApi().model(server.url, output="prompt").answer(call)

    beside, told = (request.body for request in server.requests)
    assert beside["response_format"] == {"type": "json_object", "schema": SCHEMA}
    assert "response_format" not in told
    assert '"required":["day"]' in told["messages"][0]["content"]
    with pytest.raises(ConfigurationError, match="Unknown output"):
        OpenAIModel("m", base_url="http://127.0.0.1:1/v1", output="telepathy")


@pytest.mark.parametrize(
    ("address", "newer"),
    [
        ("", True),
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com/v1", True),
        ("https://mine.openai.azure.com/openai/v1", True),
        ("http://localhost:11434/v1", False),
        ("https://notopenai.com/v1", False),
    ],
)
def test_only_openai_itself_is_sent_its_newer_limit(address: str, newer: bool) -> None:
    assert _is_openai(address) is newer


async def test_openai_itself_is_sent_its_newer_limit() -> None:
    with serving(sends(OpenAIApi().reply())) as server:
        model = OpenAIModel("tiny", base_url=f"{server.url}/v1")
        model._newer = True
        await model.answer(CALL)

    assert server.request.body["max_completion_tokens"] == 77
    assert "max_tokens" not in server.request.body
