"""The embeddings client against a local server: requests, responses and failures."""

import math
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from bethink.errors import ConfigurationError, ModelError, ModelResponseError, ModelTimeoutError, ModelUnavailableError
from bethink.providers.openai_embedder import OpenAIEmbedder
from tests.unit.model_server import (
    KEY,
    PROMPT,
    Deed,
    Server,
    drips,
    fails,
    hangs,
    isolate,
    resets,
    sends,
    sends_raw,
    serving,
)

TWO = ["one", "three"]


def reply(*found: object, **rest: Any) -> dict[str, Any]:
    """An answer with these vectors, each under its place."""
    data = [{"object": "embedding", "index": place, "embedding": vector} for place, vector in enumerate(found)]
    return {"object": "list", "model": "tiny", "data": data, "usage": {"prompt_tokens": 3}, **rest}


def measures(server: Server) -> Deed:
    """Answer each text with its length and the number of its first letter, the last text first."""

    def deed(handler: Any) -> None:
        texts: list[str] = server.requests[-1].body["input"]
        answer = reply(*([len(text), 0, ord(text[0])] for text in texts))
        answer["data"].reverse()
        sends(answer)(handler)

    return deed


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    isolate(monkeypatch, tmp_path)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(sends({})) as server:
        server.does = measures(server)
        yield server


def tiny(server: Server, **options: Any) -> OpenAIEmbedder:
    given: dict[str, Any] = {"api_key": KEY, "dimension": 3, **options}
    return OpenAIEmbedder("tiny", base_url=f"{server.url}/v1", **given)


async def failure(embedder: OpenAIEmbedder, texts: list[str]) -> ModelError:
    """Embed, and return the error, which quotes nothing however it is shown."""
    with pytest.raises(ModelError) as caught:
        await embedder.embed(texts)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert not [secret for secret in (KEY, PROMPT) if secret in shown]
    assert caught.value.hint
    return caught.value


async def test_vectors_are_returned_in_order_and_normalized(server: Server) -> None:
    found = await tiny(server).embed(TWO)

    assert found == [
        pytest.approx([3 / math.hypot(3, 111), 0, 111 / math.hypot(3, 111)]),
        pytest.approx([5 / math.hypot(5, 116), 0, 116 / math.hypot(5, 116)]),
    ]


async def test_texts_go_out_as_they_are_to_the_embeddings(server: Server) -> None:
    await tiny(server).embed(TWO)

    assert server.request.path == "/v1/embeddings"
    assert server.request.body == {"model": "tiny", "input": TWO, "encoding_format": "float"}
    assert server.request.headers["authorization"] == f"Bearer {KEY}"


async def test_many_texts_go_out_256_at_a_time_and_stay_in_order(server: Server) -> None:
    texts = [chr(0x4E00 + number) for number in range(600)]

    found = await tiny(server).embed(texts)

    assert [len(request.body["input"]) for request in server.requests] == [256, 256, 88]
    assert [round(vector[2] / vector[0]) for vector in found] == [ord(text) for text in texts]


async def test_long_texts_are_cut_and_sent_fewer_at_a_time(server: Server) -> None:
    await tiny(server).embed(["x" * 10_000] * 50)

    sent = [request.body["input"] for request in server.requests]
    assert [len(batch) for batch in sent] == [33, 17]
    assert {len(text) for batch in sent for text in batch} == {6_000}


async def test_empty_and_invalid_text_is_repaired_before_sending(server: Server) -> None:
    await tiny(server).embed(["", "a\0b\ud800"])

    assert server.request.body["input"] == [" ", "a\ufffdb\ufffd"]


async def test_empty_input_sends_no_request(server: Server) -> None:
    assert await tiny(server).embed([]) == []
    assert not server.requests


@pytest.mark.parametrize(
    ("name", "dimension", "sent"),
    [
        ("text-embedding-3-small", 0, None),
        ("text-embedding-3-small", 1536, None),
        ("text-embedding-3-small", 4, 4),
        ("nomic-embed-text", 4, None),
    ],
)
async def test_dimensions_are_sent_only_to_models_that_support_them(
    server: Server, name: str, dimension: int, sent: int | None
) -> None:
    server.does = sends(reply([1.0] * (dimension or 1536)))

    await OpenAIEmbedder(name, base_url=server.url, dimension=dimension).embed(["x"])

    assert server.request.body.get("dimensions") == sent


def test_embedder_name_includes_model_and_dimension() -> None:
    make = partial(OpenAIEmbedder, base_url="http://127.0.0.1:1/v1")

    assert make("tiny", dimension=3).name == "openai:tiny-3"
    assert make("text-embedding-3-large").name == "openai:text-embedding-3-large-3072"
    for dimension in (0, -1):
        with pytest.raises(ConfigurationError, match="embedder_dimension"):
            make("tiny", dimension=dimension)


async def test_unnumbered_vectors_keep_their_order(server: Server) -> None:
    server.does = sends({"data": [{"embedding": [1, 0, 0]}, {"embedding": [0, 0, 2.5]}]})

    assert await tiny(server).embed(TWO) == [[1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (reply([1, 0, 0]), "1 vectors for 2 texts"),
        (reply(), "0 vectors"),
        (reply(*[[1, 0, 0]] * 3), "3 vectors"),
        (reply([1, 0, 0], [1, 0]), "2 numbers instead of 3"),
        (reply([1, 0, 0], [1, 0, 0, 0]), "4 numbers"),
        (reply([1, 0, 0], "AACAPwAAAAAAAAAA"), "0 numbers"),
        (reply([1, 0, 0], None), "0 numbers"),
        (reply([1, 0, 0], [0, 0, 0]), "zero or invalid"),
        (reply([1, 0, 0], [1, 0, "x"]), "zero or invalid"),
        (reply([1, 0, 0], [1, 0, math.nan]), "zero or invalid"),
        (reply([1, 0, 0], [1, 0, math.inf]), "zero or invalid"),
        (reply([1, 0, 0], [1, 0, 10**400]), "zero or invalid"),
        ({"data": [{"index": 0, "embedding": [1, 0, 0]}] * 2}, "wrong indexes"),
        ({"data": [{"index": 0, "embedding": [1, 0, 0]}, {"embedding": [1, 0, 0]}]}, "wrong indexes"),
    ],
)
async def test_vectors_that_do_not_fit_are_a_bad_answer(server: Server, answer: object, what: str) -> None:
    server.does = sends(answer)

    error = await failure(tiny(server), TWO)

    assert isinstance(error, ModelResponseError)
    assert what in str(error)


async def test_rate_limit_has_a_retry_after(server: Server) -> None:
    server.does = fails(429, retry_after="7")

    error = await failure(tiny(server), [PROMPT])

    assert isinstance(error, ModelUnavailableError)
    assert error.retry_after == 7
    assert len(server.requests) == 1


@pytest.mark.parametrize("slow", [hangs, drips, partial(drips, status=500)])
async def test_call_never_exceeds_its_timeout(server: Server, slow: Callable[[Server], Deed]) -> None:
    server.does = slow(server)

    assert isinstance(await failure(tiny(server, timeout=0.3), [PROMPT]), ModelTimeoutError)


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_request_turned_down_is_a_failure_of_that_request(server: Server, status: int) -> None:
    server.does = fails(status, "invalid_request_error")

    assert isinstance(await failure(tiny(server), [PROMPT]), ModelResponseError)


@pytest.mark.parametrize(
    "deed",
    [
        fails(401),
        fails(500),
        resets,
        sends_raw(b""),
        sends(b"<html>Welcome</html>", content_type="text/html"),
        sends({}),
        sends({"data": {"0": [1, 0, 0]}}),
        sends([[1, 0, 0]]),
    ],
)
async def test_invalid_api_response_is_unavailable(server: Server, deed: Deed) -> None:
    server.does = deed

    assert isinstance(await failure(tiny(server), [PROMPT]), ModelUnavailableError)


async def test_large_expected_response_is_read(server: Server) -> None:
    server.does = sends(reply(*[[0.123456789012345678] * 3072] * 256) | {"padding": " " * 8_000_000})

    found = await tiny(server, dimension=3072).embed(["x"] * 256)

    assert len(found) == 256


def test_one_embedder_works_in_one_event_loop_after_another(server: Server) -> None:
    embedder = tiny(server)

    for backend in ("asyncio", "asyncio", "trio"):
        assert len(anyio.run(embedder.embed, TWO, backend=backend)) == 2


def test_missing_key_without_own_server_is_rejected() -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        OpenAIEmbedder("text-embedding-3-small")
    with pytest.raises(ConfigurationError, match="http://localhost:8000"):
        OpenAIEmbedder("text-embedding-3-small", base_url="localhost:8000")


async def test_own_server_needs_no_key(server: Server) -> None:
    await tiny(server, api_key="").embed(TWO)

    assert server.request.headers["authorization"] == "Bearer none"
