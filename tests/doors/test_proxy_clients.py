"""The vendors' own Python clients through the proxy: they see what they see without it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic, NotFoundError
from openai import OpenAI, RateLimitError

from tests.doors.proxy_kit import ANSWER, Proxy, Reply, answer, proxying

HOME = "I live in Lisbon, near the river."
QUESTION = "Where do I live?"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with proxying(str(tmp_path_factory.mktemp("clients") / "memory.db")) as found:
        yield found


@pytest.fixture
def proxy(shared: Proxy, tmp_path: Path) -> Proxy:
    del shared.models.sent[:]
    shared.models.reply = answer
    return Proxy(shared.served, shared.models, shared.target, space=tmp_path.name)


def openai_at(url: str, proxy: Proxy) -> OpenAI:
    ours = {"X-Bethink-Key": proxy.served.key, "X-Bethink-Space": proxy.space}
    return OpenAI(base_url=f"{url}/v1", api_key="sk-theirs", default_headers=ours, max_retries=0)


def anthropic_at(url: str, proxy: Proxy) -> Anthropic:
    ours = {"X-Bethink-Key": proxy.served.key, "X-Bethink-Space": proxy.space}
    return Anthropic(base_url=url, api_key="sk-ant-theirs", default_headers=ours, max_retries=0)


def plain(events: Any) -> list[Any]:
    return [each.model_dump(warnings=False) for each in events]


def asked(wire: str, url: str, proxy: Proxy) -> tuple[list[Any], Any]:
    """Ask both ways: the events of a stream, and a whole answer."""
    told: list[Any] = [{"role": "user", "content": HOME}]
    if wire == "messages":
        client = anthropic_at(url, proxy)
        stream = client.messages.create(model="m", max_tokens=9, messages=told, stream=True)
        return plain(stream), client.messages.create(model="m", max_tokens=9, messages=told).model_dump()
    other = openai_at(url, proxy)
    if wire == "chat":
        events = plain(other.chat.completions.create(model="m", messages=told, stream=True))
        return events, other.chat.completions.create(model="m", messages=told).model_dump()
    return plain(other.responses.create(model="m", input=HOME, stream=True)), other.responses.create(
        model="m", input=HOME
    ).model_dump()


@pytest.mark.parametrize("wire", ["chat", "messages", "responses"])
def test_a_client_sees_the_same_events_and_answers_as_without_the_proxy(proxy: Proxy, wire: str) -> None:
    direct = asked(wire, proxy.models.url, proxy)

    through = asked(wire, proxy.url, proxy)

    assert through == direct
    assert len(through[0]) > 3
    assert [(role, text) for role, text, _ in proxy.stored(2)] == [("user", HOME), ("assistant", ANSWER)]
    sent = proxy.last.headers
    assert sent.get("authorization", sent.get("x-api-key", "")).endswith("theirs")


def test_a_chat_of_several_turns_is_remembered_in_another_chat(proxy: Proxy) -> None:
    client = openai_at(proxy.url, proxy)
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": HOME}])
    proxy.stored(2)

    anthropic_at(proxy.url, proxy).messages.create(
        model="m", max_tokens=9, messages=[{"role": "user", "content": QUESTION}]
    )

    assert HOME in proxy.last.json["messages"][0]["content"]


def test_a_client_raises_what_the_model_refused(proxy: Proxy) -> None:
    limited = b'{"error": {"message": "slow down", "type": "rate_limit", "code": "rate_limit_exceeded"}}'
    headers = {"content-type": "application/json", "retry-after": "7", "x-request-id": "req_7"}
    proxy.models.reply = lambda sent: Reply([limited], 429, headers)
    with pytest.raises(RateLimitError, match="slow down") as refused:
        openai_at(proxy.url, proxy).responses.create(model="m", input=HOME)
    assert (refused.value.request_id, refused.value.response.headers["retry-after"]) == ("req_7", "7")

    missing = b'{"type": "error", "error": {"type": "not_found_error", "message": "model: m"}}'
    proxy.models.reply = lambda sent: Reply([missing], 404, {"content-type": "application/json"})
    with pytest.raises(NotFoundError, match="model: m"):
        anthropic_at(proxy.url, proxy).messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": HOME}]
        )
