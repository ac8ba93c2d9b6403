"""Streaming models: the pieces add up to the answer, and an aborted stream is an error."""

import json
from pathlib import Path
from typing import Any

import pytest

from bethink.errors import ModelUnavailableError
from bethink.extend import StreamingModel
from bethink.model.calls import ModelAnswer, Stop
from tests.unit.model_server import ANSWER, CALL, AnthropicApi, Api, OpenAIApi, isolate, sends, serving

APIS = pytest.mark.parametrize("api", [OpenAIApi(), AnthropicApi()], ids=lambda api: type(api).__name__)
PIECES = [ANSWER[:9], ANSWER[9:11], ANSWER[11:]]


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    isolate(monkeypatch, tmp_path)


def events(api: Api, stop: str | None) -> list[dict[str, Any]]:
    """The answer in three pieces, as the API sends it."""
    if isinstance(api, OpenAIApi):
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": each} for each in PIECES)]
        found: list[dict[str, Any]] = [
            {"model": "tiny-0726", "choices": [{"index": 0, "delta": each}]} for each in deltas
        ]
        if stop is not None:
            found.append({"model": "tiny-0726", "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]})
        usage = {"prompt_tokens": 21, "completion_tokens": 8}
        return [*found, {"model": "tiny-0726", "choices": [], "usage": usage}]
    begun = {"model": "tiny-0726", "usage": {"input_tokens": 15, "cache_read_input_tokens": 6, "output_tokens": 1}}
    found: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    found.append({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}})
    for each in PIECES:
        found.append({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": each}})
    if stop is not None:
        found.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 8}})
    return found


def sse(found: list[dict[str, Any]], end: bytes = b"data: [DONE]\n\n") -> bytes:
    return b"".join(b"event: x\ndata: %s\n\n" % json.dumps(each).encode() for each in found) + end


def streaming(api: Api, url: str) -> StreamingModel:
    model: Any = api.model(url)
    return model


@APIS
async def test_streamed_pieces_add_up_to_the_answer(api: Api) -> None:
    heard: list[str] = []
    stop = "length" if isinstance(api, OpenAIApi) else "max_tokens"
    with serving(sends(sse(events(api, stop)), content_type="text/event-stream")) as server:
        answer = await streaming(api, server.url).stream(CALL, heard.append)

    assert heard == PIECES
    assert answer == ModelAnswer(text=ANSWER, model="tiny-0726", input_tokens=21, output_tokens=8, stop=Stop.LENGTH)
    assert server.request.body["stream"] is True
    assert api.asked(server.request.body)["max_tokens"] == 77


@APIS
async def test_unstreamed_answer_arrives_at_the_end(api: Api) -> None:
    heard: list[str] = []
    with serving(sends(json.dumps(api.reply(), indent=1).encode())) as server:
        answer = await streaming(api, server.url).stream(CALL, heard.append)

    assert (heard, answer.text, answer.input_tokens) == ([ANSWER], ANSWER, 21)


@APIS
@pytest.mark.parametrize("end", [b"", b'data: {"error": {"message": "out of memory"}}\n\n', b"data: {nonsense\n\n"])
async def test_aborted_stream_is_unavailable(api: Api, end: bytes) -> None:
    deed = sends(sse(events(api, None), end), content_type="text/event-stream")
    with serving(deed) as server, pytest.raises(ModelUnavailableError):
        await streaming(api, server.url).stream(CALL, lambda _: None)
