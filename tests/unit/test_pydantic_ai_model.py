"""The bridge to Pydantic AI: with its own models in this process, and through one of its providers."""

import traceback
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolCallPart, exceptions
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelConnectionError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import RequestUsage

from bethink.errors import ConfigurationError, ModelError, ModelResponseError, ModelTimeoutError, ModelUnavailableError
from bethink.model.calls import ModelAnswer, ModelCall, Stop
from bethink.providers.pydantic_ai_model import PydanticAIModel
from tests.unit.model_server import ANSWER, CALL, KEY, PROMPT, SYSTEM, OpenAIApi, fails, isolate, sends, serving

SCHEMA = {"type": "object", "properties": {"day": {"type": "integer"}}, "required": ["day"]}
ASKED_FOR_JSON = ModelCall(system=SYSTEM, prompt=PROMPT, schema=SCHEMA, schema_name="birthday")
NATIVE = ModelProfile(supports_json_schema_output=True, default_structured_output_mode="native")


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    isolate(monkeypatch, tmp_path)


class Actor:
    """Stands in for a model: does one thing when asked, and keeps what it was asked with."""

    def __init__(self, does: ModelResponse | Exception) -> None:
        self.does = does
        self.seen: list[tuple[list[ModelMessage], AgentInfo]] = []

    async def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.seen.append((messages, info))
        if isinstance(self.does, Exception):
            raise self.does
        return self.does


def says(text: str = ANSWER, **rest: Any) -> ModelResponse:
    return ModelResponse(parts=[TextPart(text)], usage=RequestUsage(input_tokens=21, output_tokens=8), **rest)


def calls(arguments: str | dict[str, Any] | None) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart("birthday", arguments)])


def acting(does: ModelResponse | Exception, **options: Any) -> PydanticAIModel:
    return PydanticAIModel(FunctionModel(Actor(does), model_name="actor", **options))


async def failure(model: PydanticAIModel, call: ModelCall = CALL) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await model.answer(call)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert not [secret for secret in (KEY, PROMPT, SYSTEM, ANSWER) if secret in shown]
    return caught.value


async def test_answer_is_returned_with_its_usage() -> None:
    assert await acting(says()).answer(CALL) == ModelAnswer(
        text=ANSWER, model="actor", input_tokens=21, output_tokens=8, stop=Stop.END
    )


async def test_request_is_sent_once_with_its_limits() -> None:
    actor = Actor(says())

    await PydanticAIModel(FunctionModel(actor), temperature=0.0).answer(CALL)

    ((messages, info),) = actor.seen
    assert info.instructions == SYSTEM
    assert [getattr(part, "content", None) for message in messages for part in message.parts] == [PROMPT]
    assert info.model_settings == {"max_tokens": 77, "timeout": 10, "max_retries": 0, "temperature": 0.0}


async def test_a_limit_that_a_model_knows_nothing_of_is_not_sent() -> None:
    class Simple(FunctionModel):
        unsupported_settings = frozenset({"timeout", "max_retries"})

    actor = Actor(says())

    await PydanticAIModel(Simple(actor)).answer(CALL)

    assert actor.seen[0][1].model_settings == {"max_tokens": 77}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [({"day": 9}, '{"day": 9}'), ('{"day": 9}', '{"day": 9}'), ('{"day": ', '{"day": '), (None, "")],
)
async def test_json_is_read_from_tool_arguments(arguments: str | dict[str, Any] | None, text: str) -> None:
    actor = Actor(calls(arguments))

    answer = await PydanticAIModel(FunctionModel(actor)).answer(ASKED_FOR_JSON)

    assert answer.text == text
    asked = actor.seen[0][1]
    assert [(tool.name, tool.parameters_json_schema) for tool in asked.output_tools] == [("birthday", SCHEMA)]
    assert not asked.allow_text_output


async def test_json_is_read_from_text_with_a_native_schema() -> None:
    actor = Actor(says('{"day": 9}'))

    answer = await PydanticAIModel(FunctionModel(actor, profile=NATIVE)).answer(ASKED_FOR_JSON)

    assert answer.text == '{"day": 9}'
    asked = actor.seen[0][1].model_request_parameters
    assert asked.output_object is not None
    assert (asked.output_object.name, asked.output_object.json_schema) == ("birthday", SCHEMA)
    assert asked.output_tools == []


@pytest.mark.parametrize(
    ("does", "stop"),
    [
        (says(finish_reason="stop"), Stop.END),
        (says(finish_reason="length"), Stop.LENGTH),
        (says(finish_reason="content_filter"), Stop.REFUSED),
        (ContentFilterError(f"{ANSWER} was filtered"), Stop.REFUSED),
    ],
)
async def test_stop_reason_is_returned(does: ModelResponse | Exception, stop: Stop) -> None:
    assert (await acting(does).answer(CALL)).stop is stop


@pytest.mark.parametrize("does", [says(finish_reason="error"), says(state="suspended"), says(state="interrupted")])
async def test_aborted_answer_is_unavailable(does: ModelResponse) -> None:
    assert isinstance(await failure(acting(does)), ModelUnavailableError)


def status(code: int, **headers: str) -> ModelHTTPError:
    return ModelHTTPError(code, "actor", {"error": {"message": f"{KEY} {PROMPT}"}}, headers=headers)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (status(429), ModelUnavailableError),
        (status(401), ModelUnavailableError),
        (status(404), ModelUnavailableError),
        (status(500), ModelUnavailableError),
        (status(529), ModelUnavailableError),
        (status(400), ModelResponseError),
        (status(422), ModelResponseError),
        (ModelHTTPError(400, "actor", {"code": "model_not_found"}), ModelUnavailableError),
        (ModelRateLimitError("actor", PROMPT), ModelUnavailableError),
        (ModelConnectionError("actor", PROMPT), ModelUnavailableError),
        (ModelRequestRejectedError("actor", PROMPT), ModelResponseError),
        (ModelNotFoundError("actor", PROMPT), ModelUnavailableError),
        (exceptions.ModelTimeoutError("actor", PROMPT), ModelTimeoutError),
        (ModelRequestTimeout("actor", 1), ModelTimeoutError),
        (UnexpectedModelBehavior("odd", ANSWER), ModelUnavailableError),
        (UserError(PROMPT), ModelUnavailableError),
        (ConnectionResetError(PROMPT), ModelUnavailableError),
    ],
)
async def test_provider_error_becomes_a_bethink_error(error: Exception, kind: type[ModelError]) -> None:
    assert type(await failure(acting(error))) is kind


@pytest.mark.parametrize(
    "error", [status(429, **{"Retry-After": "7"}), ModelRateLimitError("actor", "slowly", retry_after=7)]
)
async def test_rate_limit_has_a_retry_after(error: Exception) -> None:
    caught = await failure(acting(error))

    assert isinstance(caught, ModelUnavailableError)
    assert caught.retry_after == 7


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (status(400), status(503), ModelUnavailableError),
        (status(503), status(400), ModelUnavailableError),
        (status(400), status(422), ModelResponseError),
    ],
)
async def test_models_that_all_failed_are_unavailable_if_one_of_them_is(
    first: Exception, second: Exception, kind: type[ModelError]
) -> None:
    models = FallbackModel(FunctionModel(Actor(first)), FunctionModel(Actor(second)))

    assert type(await failure(PydanticAIModel(models))) is kind


async def test_call_never_exceeds_its_timeout() -> None:
    async def hang(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        await anyio.sleep_forever()
        raise AssertionError

    patient, hasty = PydanticAIModel(FunctionModel(hang)), PydanticAIModel(FunctionModel(hang), timeout=0.2)

    assert isinstance(await failure(patient, ModelCall(system="", prompt=PROMPT, timeout=0.2)), ModelTimeoutError)
    assert isinstance(await failure(hasty, ModelCall(system="", prompt=PROMPT)), ModelTimeoutError)


async def test_model_can_be_set_by_name() -> None:
    model = PydanticAIModel("test", window=4096)

    assert (await model.answer(CALL)).text
    assert (model.name, model.window) == ("test", 4096)


async def test_a_model_made_for_tests_fills_in_the_schema() -> None:
    assert (await PydanticAIModel(TestModel()).answer(ASKED_FOR_JSON)).text == '{"day": 0}'


@pytest.mark.parametrize("name", ["no-such-model", "no-such-provider:tiny", "openai:gpt-5"])
def test_a_name_that_cannot_be_used_is_refused_at_once(name: str) -> None:
    with pytest.raises(ConfigurationError, match="Check its name"):
        PydanticAIModel(name)


def test_a_model_says_its_name_and_window() -> None:
    model = acting(says(), profile=ModelProfile(context_window=9000))

    assert (model.name, model.window) == ("function:actor", 9000)
    assert acting(says()).window == 128_000


def test_a_model_of_a_provider_answers_in_one_event_loop_after_another() -> None:
    api = OpenAIApi()
    with serving(sends(api.reply())) as server:
        provider = OpenAIProvider(base_url=f"{server.url}/v1", api_key=KEY)
        model = PydanticAIModel(OpenAIChatModel("tiny", provider=provider))

        answers: list[ModelAnswer] = []
        for _ in range(2):
            answers.append(anyio.run(model.answer, CALL))
            assert provider.client.is_closed()

    assert [answer.text for answer in answers] == [ANSWER, ANSWER]
    assert [(answer.model, answer.input_tokens, answer.output_tokens) for answer in answers] == [
        ("tiny-0726", 21, 8)
    ] * 2


async def test_provider_is_called_once() -> None:
    with serving(fails(429, retry_after="7")) as server:
        provider = OpenAIProvider(base_url=f"{server.url}/v1", api_key=KEY)
        error = await failure(PydanticAIModel(OpenAIChatModel("tiny", provider=provider)))

    assert isinstance(error, ModelUnavailableError)
    assert error.retry_after == 7
    assert len(server.requests) == 1
