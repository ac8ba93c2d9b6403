"""The model clients against a local server: requests, responses and failures."""

import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink.config.groups import ModelSettings
from bethink.config.settings import Settings
from bethink.errors import ConfigurationError, ModelError, ModelResponseError, ModelTimeoutError, ModelUnavailableError
from bethink.extend import Model
from bethink.memory.plugins import model_from
from bethink.model.calls import ModelAnswer, ModelCall, Stop
from bethink.providers.anthropic_model import AnthropicModel
from bethink.providers.http_errors import retry_after
from bethink.providers.openai_model import OpenAIModel
from tests.unit.model_server import (
    ANSWER,
    CALL,
    KEY,
    PROMPT,
    SYSTEM,
    AnthropicApi,
    Api,
    Deed,
    OpenAIApi,
    Server,
    drips,
    fails,
    floods,
    hangs,
    isolate,
    resets,
    sends,
    sends_raw,
    serving,
)

SCHEMA = {"type": "object", "properties": {"day": {"type": "integer"}}, "required": ["day"]}
HEADER = st.text(st.characters(codec="ascii"))


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    isolate(monkeypatch, tmp_path)


@pytest.fixture(params=[OpenAIApi, AnthropicApi])
def api(request: pytest.FixtureRequest) -> Api:
    return request.param()


@pytest.fixture
def server(api: Api) -> Iterator[Server]:
    with serving(sends(api.reply())) as server:
        yield server


async def failure(model: Model, call: ModelCall = CALL) -> ModelError:
    """Ask, and return the error, which quotes nothing however it is shown."""
    with pytest.raises(ModelError) as caught:
        await model.answer(call)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert not [secret for secret in (KEY, PROMPT, SYSTEM, ANSWER) if secret in shown]
    assert caught.value.hint
    return caught.value


async def test_answer_is_returned_with_its_usage(api: Api, server: Server) -> None:
    assert await api.model(server.url).answer(CALL) == ModelAnswer(
        text=ANSWER, model="tiny-0726", input_tokens=21, output_tokens=8, stop=Stop.END
    )


async def test_request_contains_model_prompt_and_limits(api: Api, server: Server) -> None:
    await api.model(server.url).answer(CALL)

    request = server.request
    assert request.path == api.path
    assert request.body["model"] == "tiny"
    assert api.asked(request.body) == {"system": SYSTEM, "prompt": PROMPT, "max_tokens": 77}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert not {"temperature", "response_format", "output_config", "tools"} & set(request.body)


async def test_empty_system_text_is_not_sent(api: Api, server: Server) -> None:
    await api.model(server.url).answer(ModelCall(system="", prompt=PROMPT))

    assert api.asked(server.request.body)["system"] is None


async def test_invalid_unicode_is_repaired_before_sending(api: Api, server: Server) -> None:
    await api.model(server.url).answer(ModelCall(system="a\0b", prompt="c\ud800d"))

    asked = api.asked(server.request.body)
    assert (asked["system"], asked["prompt"]) == ("a\ufffdb", "c\ufffdd")


async def test_schema_is_sent_and_its_json_returned(api: Api, server: Server) -> None:
    server.does = sends(api.reply('{"day": 9}'))
    call = ModelCall(system=SYSTEM, prompt=PROMPT, schema=SCHEMA, schema_name="birthday")

    answer = await api.model(server.url).answer(call)

    assert answer.text == '{"day": 9}'
    assert api.schema(server.request.body) == SCHEMA


async def test_an_answer_without_text_is_empty(api: Api, server: Server) -> None:
    server.does = sends(api.reply(None))

    assert (await api.model(server.url).answer(CALL)).text == ""


async def test_an_answer_that_counts_nothing_is_an_answer(api: Api, server: Server) -> None:
    server.does = sends(api.reply() | {"usage": None, "model": None})

    answer = await api.model(server.url).answer(CALL)

    assert (answer.text, answer.model, answer.input_tokens, answer.output_tokens) == (ANSWER, "tiny", 0, 0)


@pytest.mark.parametrize(
    ("api", "reply", "stop"),
    [
        (OpenAIApi(), {"stop": "stop"}, Stop.END),
        (OpenAIApi(), {"stop": "length"}, Stop.LENGTH),
        (OpenAIApi(), {"stop": "content_filter"}, Stop.REFUSED),
        (OpenAIApi(), {"text": None, "refusal": "I would rather not."}, Stop.REFUSED),
        (OpenAIApi(), {"stop": None}, Stop.END),
        (AnthropicApi(), {"stop": "end_turn"}, Stop.END),
        (AnthropicApi(), {"stop": "max_tokens"}, Stop.LENGTH),
        (AnthropicApi(), {"stop": "model_context_window_exceeded"}, Stop.LENGTH),
        (AnthropicApi(), {"stop": "refusal", "text": None}, Stop.REFUSED),
    ],
)
async def test_stop_reason_is_returned(api: Api, server: Server, reply: dict[str, Any], stop: Stop) -> None:
    server.does = sends(api.reply(**reply))

    assert (await api.model(server.url).answer(CALL)).stop is stop


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0"}, 0.0),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({"retry_after": "99999999999"}, 86_400.0),
        ({"retry_after": "Thu, 01 Jan 2015 00:00:00 GMT"}, 0.0),
        ({"retry_after": "soon"}, None),
        ({}, None),
    ],
)
async def test_rate_limit_has_a_retry_after(
    api: Api, server: Server, headers: dict[str, str], seconds: float | None
) -> None:
    server.does = fails(429, **headers)

    error = await failure(api.model(server.url))

    assert isinstance(error, ModelUnavailableError)
    assert error.retry_after == seconds
    assert len(server.requests) == 1


async def test_a_rate_limit_may_name_a_date(api: Api, server: Server) -> None:
    server.does = fails(429, retry_after=format_datetime(datetime.now(UTC) + timedelta(minutes=1), usegmt=True))

    error = await failure(api.model(server.url))

    assert isinstance(error, ModelUnavailableError)
    assert error.retry_after == pytest.approx(60, abs=15)


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms"]), HEADER | st.floats().map(str)))
def test_whatever_a_server_asks_for_the_wait_is_at_most_a_day(headers: dict[str, str]) -> None:
    wait = retry_after(headers)

    assert wait is None or 0 <= wait <= 86_400


@pytest.mark.parametrize("status", [402, 405, 408, 409, 500, 502, 503, 504, 529])
async def test_server_error_is_unavailable_without_retry(api: Api, server: Server, status: int) -> None:
    server.does = fails(status, retry_after="3")

    error = await failure(api.model(server.url))

    assert isinstance(error, ModelUnavailableError)
    assert error.retry_after == 3
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "hint"), [(401, "API key"), (403, "API key"), (404, "name and address")])
async def test_a_wrong_key_or_name_is_hinted_at(api: Api, server: Server, status: int, hint: str) -> None:
    server.does = fails(status)

    error = await failure(api.model(server.url))

    assert isinstance(error, ModelUnavailableError)
    assert hint in error.hint


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_request_turned_down_is_a_failure_of_that_request(api: Api, server: Server, status: int) -> None:
    server.does = fails(status, "invalid_request_error")

    assert isinstance(await failure(api.model(server.url)), ModelResponseError)


@pytest.mark.parametrize(
    "deed",
    [
        fails(400, "billing_error"),
        fails(400, "invalid_request_error", "Your credit balance is too low."),
        fails(429, "insufficient_quota"),
    ],
)
async def test_an_empty_account_is_not_blamed_on_the_request(api: Api, server: Server, deed: Deed) -> None:
    server.does = deed

    error = await failure(api.model(server.url))

    assert isinstance(error, ModelUnavailableError)
    assert "no credit left" in error.hint


@pytest.mark.parametrize(
    "deed",
    [
        resets,
        sends_raw(b""),
        sends_raw(b"SSH-2.0-OpenSSH_9.9\r\n"),
        sends_raw(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"),
        sends_raw(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\noops"),
        sends_raw(b"HTTP/1.1 500 Oops\r\ncontent-length: 1000\r\n\r\n{"),
        sends(b'{"choices": [{'),
        sends(b"<html>Welcome</html>", content_type="text/html"),
        sends(b"\xff\xfe\xfd"),
        sends(b"[" * 200_000),
        sends([]),
        sends("choices"),
        sends({}),
        sends({"error": {"message": PROMPT}}),
        sends({"choices": [], "content": {}}),
        sends({"choices": [{"message": None}], "content": None}),
        sends({"choices": {"0": {"message": ANSWER}}, "content": ANSWER}),
    ],
)
async def test_invalid_api_response_is_unavailable(api: Api, server: Server, deed: Deed) -> None:
    server.does = deed

    assert isinstance(await failure(api.model(server.url)), ModelUnavailableError)


async def test_an_answer_without_end_is_not_read_to_the_end(api: Api, server: Server) -> None:
    server.does = floods

    error = await failure(api.model(server.url))

    assert isinstance(error, ModelUnavailableError)
    assert "sent more than 16777216 bytes" in str(error)


async def test_refused_connection_is_unavailable(api: Api) -> None:
    with serving(sends({})) as server:
        url = server.url

    assert isinstance(await failure(api.model(url)), ModelUnavailableError)


@pytest.mark.parametrize("slow", [hangs, drips, partial(drips, status=500)])
async def test_call_never_exceeds_its_timeout(api: Api, server: Server, slow: Callable[[Server], Deed]) -> None:
    server.does = slow(server)

    error = await failure(api.model(server.url), ModelCall(system=SYSTEM, prompt=PROMPT, timeout=0.3))

    assert isinstance(error, ModelTimeoutError)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_setting_says_how_long_a_call_may_take_that_does_not(server: Server, provider: str) -> None:
    server.does = hangs(server)
    own = ModelSettings(name=f"{provider}:m", base_url=server.url, api_key="k", timeout=0.3)
    model = model_from(Settings(model=own))
    assert model is not None

    assert isinstance(await failure(model, ModelCall(system=SYSTEM, prompt=PROMPT)), ModelTimeoutError)


async def test_call_can_be_canceled(api: Api, server: Server) -> None:
    server.does = hangs(server)

    with anyio.move_on_after(0.3) as scope:
        await api.model(server.url).answer(CALL)

    assert scope.cancelled_caught


def test_one_model_answers_in_one_event_loop_after_another(api: Api, server: Server) -> None:
    model = api.model(server.url)

    for backend in ("asyncio", "asyncio", "trio"):
        assert anyio.run(model.answer, CALL, backend=backend).text == ANSWER


async def test_many_may_ask_at_once(api: Api, server: Server) -> None:
    model = api.model(server.url)

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(model.answer, CALL)

    assert len(server.requests) == 8


def test_missing_key_without_own_server_is_rejected(api: Api) -> None:
    with pytest.raises(ConfigurationError, match=api.variables[0]):
        api.model(api_key="")


async def test_own_server_needs_no_key(api: Api, server: Server) -> None:
    await api.model(server.url, api_key="").answer(CALL)

    assert server.request.headers["authorization"] == "Bearer none"


async def test_a_server_may_be_named_in_the_environment(
    api: Api, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(api.variables[1], f"{server.url}{api.root}")

    assert (await api.model(api_key="").answer(CALL)).text == ANSWER


async def test_a_key_in_the_environment_is_used(api: Api, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(api.variables[0], "from-outside")

    await api.model(server.url, api_key="").answer(CALL)

    assert server.request.headers["authorization"] == "Bearer from-outside"


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY} ", f"{KEY}…"])
def test_a_key_that_no_header_can_carry_is_refused_unquoted(
    api: Api, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError) as given_directly:
        api.model(api_key=key)
    monkeypatch.setenv(api.variables[0], key)
    with pytest.raises(ConfigurationError) as from_outside:
        api.model(api_key="")

    assert KEY not in f"{given_directly.value!r}{from_outside.value!r}"


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://host", "http://", "http://[::1", "http://host:port"])
def test_invalid_address_is_rejected(address: str) -> None:
    with pytest.raises(ConfigurationError, match="http://localhost:8000"):
        OpenAIModel("tiny", base_url=address)
    with pytest.raises(ConfigurationError, match="http://localhost:8000"):
        AnthropicModel("tiny", base_url=address)


def test_broken_profile_is_misconfigured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "mine.json").write_text("{")
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_PROFILE", "mine")

    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
        AnthropicModel("tiny")


def test_a_model_says_its_name_and_window(api: Api) -> None:
    model = api.model("http://localhost:1", window=4096)

    assert (model.name, model.window) == ("tiny", 4096)
