"""The vendors' Python clients through the proxy see the same as without it."""

from collections.abc import Iterator
from contextlib import ExitStack
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


class Clients:
    """The vendors' clients for one space, open until the test ends."""

    def __init__(self, proxy: Proxy, opened: ExitStack) -> None:
        self._headers = {"X-Bethink-Key": proxy.served.key, "X-Bethink-Space": proxy.space}
        self._opened = opened

    def openai(self, url: str) -> OpenAI:
        return self._opened.enter_context(
            OpenAI(base_url=f"{url}/v1", api_key="sk-theirs", default_headers=self._headers, max_retries=0)
        )

    def anthropic(self, url: str) -> Anthropic:
        return self._opened.enter_context(
            Anthropic(base_url=url, api_key="sk-ant-theirs", default_headers=self._headers, max_retries=0)
        )


@pytest.fixture
def clients(proxy: Proxy) -> Iterator[Clients]:
    with ExitStack() as opened:
        yield Clients(proxy, opened)


def plain(events: Any) -> list[Any]:
    return [each.model_dump(warnings=False) for each in events]


def asked(wire: str, url: str, clients: Clients) -> tuple[list[Any], Any]:
    """Ask both ways: the events of a stream, and a whole answer."""
    told: list[Any] = [{"role": "user", "content": HOME}]
    if wire == "messages":
        client = clients.anthropic(url)
        stream = client.messages.create(model="m", max_tokens=9, messages=told, stream=True)
        return plain(stream), client.messages.create(model="m", max_tokens=9, messages=told).model_dump()
    other = clients.openai(url)
    if wire == "chat":
        events = plain(other.chat.completions.create(model="m", messages=told, stream=True))
        return events, other.chat.completions.create(model="m", messages=told).model_dump()
    return plain(other.responses.create(model="m", input=HOME, stream=True)), other.responses.create(
        model="m", input=HOME
    ).model_dump()


@pytest.mark.parametrize("wire", ["chat", "messages", "responses"])
def test_a_client_sees_the_same_events_and_answers_as_without_the_proxy(
    proxy: Proxy, clients: Clients, wire: str
) -> None:
    direct = asked(wire, proxy.models.url, clients)

    through = asked(wire, proxy.url, clients)

    assert through == direct
    assert len(through[0]) > 3
    assert [(role, text) for role, text, _ in proxy.stored(2)] == [("user", HOME), ("assistant", ANSWER)]
    sent = proxy.last.headers
    assert sent.get("authorization", sent.get("x-api-key", "")).endswith("theirs")


def test_a_chat_of_several_turns_is_remembered_in_another_chat(proxy: Proxy, clients: Clients) -> None:
    client = clients.openai(proxy.url)
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": HOME}])
    proxy.stored(2)

    clients.anthropic(proxy.url).messages.create(
        model="m", max_tokens=9, messages=[{"role": "user", "content": QUESTION}]
    )

    assert HOME in proxy.last.json["messages"][0]["content"]


def test_a_client_raises_what_the_model_refused(proxy: Proxy, clients: Clients) -> None:
    limited = b'{"error": {"message": "slow down", "type": "rate_limit", "code": "rate_limit_exceeded"}}'
    headers = {"content-type": "application/json", "retry-after": "7", "x-request-id": "req_7"}
    proxy.models.reply = lambda sent: Reply([limited], 429, headers)
    with pytest.raises(RateLimitError, match="slow down") as refused:
        clients.openai(proxy.url).responses.create(model="m", input=HOME)
    assert (refused.value.request_id, refused.value.response.headers["retry-after"]) == ("req_7", "7")

    missing = b'{"type": "error", "error": {"type": "not_found_error", "message": "model: m"}}'
    proxy.models.reply = lambda sent: Reply([missing], 404, {"content-type": "application/json"})
    with pytest.raises(NotFoundError, match="model: m"):
        clients.anthropic(proxy.url).messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": HOME}]
        )
