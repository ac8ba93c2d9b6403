"""`ask` through every interface: HTTP with and without streaming, the client, the blocking API, MCP and CLI."""

import json
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import anyio
import pytest

import bethink
from benchmarks.ask_cases import given, honest
from bethink import Message
from bethink.errors import BethinkError, InvalidRequestError, ModelUnavailableError, NotFoundError
from bethink.extend import Model
from bethink.http import ServerOptions, create_app
from bethink.http.app import uvicorn_server
from bethink.mcp import Grant, make_server
from bethink.model.access import Scope
from bethink.model.answers import Refusal
from bethink.model.calls import ModelCall
from bethink.sync import connect
from bethink.testing import ScriptedModel
from bethink.types import AnswerSentence
from tests.conftest import Quiet
from tests.doors.cli_kit import at_home, run
from tests.unit.model_server import OpenAIApi, sends, serving

PATIENCE = 30.0
SAID = [
    Message(role="user", content="Ada moved to Bergen in spring."),
    Message(role="user", content="Ada plays the cello on Sundays."),
]
QUESTION = "Where did Ada move to?"


@contextmanager
def served(target: str, model: Model | None) -> Generator[tuple[str, str]]:
    """A server on a thread; its address and a key that may only read."""
    more: dict[str, Any] = {} if model is None else {"model": model}
    memory = bethink.connect(target, redactor=Quiet(), learn_in_background=False, **more)
    app = create_app(memory, options=ServerOptions(mcp=False))
    key = anyio.run(_seeded, target)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn_server(app, host="127.0.0.1", port=0)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", key
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


async def _seeded(target: str) -> str:
    async with bethink.connect(target, learn_in_background=False) as memory:
        await memory.space("alice").remember(SAID)
        await memory.space("team").remember("Ada moved to Lisbon in spring, says the team.")
        await memory.space("bob").remember("Ada moved to Quito in spring, says Bob.")
        return (await memory.admin.keys.create("reader", [Scope.READ], spaces=["alice", "team"])).key


@pytest.fixture
def reader(target: str) -> Iterator[tuple[str, str]]:
    with served(target, ScriptedModel(honest)) as found:
        yield found


def test_a_client_asks_and_hears_each_sentence(reader: tuple[str, str]) -> None:
    url, key = reader
    heard: list[AnswerSentence] = []

    with connect(url, api_key=key) as memory:
        whole = memory.space("alice").ask(QUESTION)
        streamed = memory.space("alice").ask(QUESTION, on_sentence=heard.append)

    assert whole.text == "Ada moved to Bergen in spring."
    assert (streamed.text, streamed.sources, tuple(heard)) == (whole.text, whole.sources, whole.sentences)


def test_streamed_answer_is_in_the_access_log_under_its_key(target: str, reader: tuple[str, str]) -> None:
    url, key = reader
    with connect(url, api_key=key) as memory:
        answer = memory.space("alice").ask(QUESTION, on_sentence=lambda _: None)

    with connect(target, learn_in_background=False) as memory:
        entries = memory.admin.access.list(operation="space.ask").items
    assert {entry.interface for entry in entries} == {"http"}
    assert all(entry.key and key.startswith(f"bt_{entry.key}") for entry in entries)
    named = {ref for entry in entries for ref in entry.refs}
    assert named == {f"message:{answer.cited[0].ref.id}:1-2"}


def test_key_can_ask_only_in_readable_spaces(reader: tuple[str, str]) -> None:
    url, key = reader
    with connect(url, api_key=key) as memory:
        with pytest.raises(BethinkError):
            memory.space("bob").ask(QUESTION)
        with pytest.raises(BethinkError):
            memory.space("bob").ask(QUESTION, on_sentence=lambda _: None)


def ignore(_: AnswerSentence) -> None:
    """Take a sentence of a stream."""


STREAMED = pytest.mark.parametrize("on_sentence", [None, ignore], ids=["whole", "streamed"])


@STREAMED
def test_key_needs_access_to_every_space_of_a_question(target: str, on_sentence: Callable[..., None] | None) -> None:
    def cite_all(call: ModelCall) -> str:
        return "\n".join(f"{line.text} [^{line.label}]" for line in given(call) if "moved" in line.text)

    with served(target, ScriptedModel(cite_all)) as (url, key), connect(url, api_key=key) as memory:
        answer = memory.group("alice", "team").ask(QUESTION, on_sentence=on_sentence)
        with pytest.raises(NotFoundError, match="No such space"):
            memory.group("alice", "bob").ask(QUESTION, on_sentence=on_sentence)
        with pytest.raises(NotFoundError, match="No such space"):
            memory.space("alice").ask(QUESTION, spaces=["team", "bob"], on_sentence=on_sentence)

    assert {item.space for item in answer.cited} == {"alice", "team"}
    with connect(target, learn_in_background=False) as memory:
        assert not memory.admin.access.list(space="bob", operation="space.recall").items


@STREAMED
def test_ask_without_a_model_names_the_next_step(target: str, on_sentence: Callable[..., None] | None) -> None:
    with (
        served(target, None) as (url, key),
        connect(url, api_key=key) as memory,
        pytest.raises(InvalidRequestError, match=r"No model is configured.*openai:"),
    ):
        memory.space("alice").ask(QUESTION, on_sentence=on_sentence)


def test_a_model_that_fails_halfway_ends_the_stream_with_its_error(target: str) -> None:
    class Fails(ScriptedModel):
        async def stream(self, call: ModelCall, on_text: Any) -> Any:
            line = next(each for each in given(call) if "Bergen" in each.text)
            on_text(f"{line.text} [^{line.label}] And ")
            raise ModelUnavailableError("gone")

    heard: list[AnswerSentence] = []
    with (
        served(target, Fails([])) as (url, key),
        connect(url, api_key=key) as memory,
        pytest.raises(ModelUnavailableError),
    ):
        memory.space("alice").ask(QUESTION, on_sentence=heard.append)
    assert [each.text for each in heard] == ["Ada moved to Bergen in spring."]


async def test_the_tool_answers_in_a_frame_with_refs(target: str) -> None:
    model = ScriptedModel(honest)
    async with bethink.connect(target, model=model, redactor=Quiet(), learn_in_background=False) as memory:
        kept = await memory.space("alice").remember(SAID)
        server = make_server(memory, grant=lambda: Grant(space="alice"))

        found: Any = await server.call_tool("ask", {"question": QUESTION})
        unknown: Any = await server.call_tool("ask", {"question": "Which car does Ada drive?"})
        await memory.space("team").remember("Bo plays the harp.")
        wide = make_server(memory, grant=lambda: Grant(space="alice", also=("team",)))
        other: Any = await wide.call_tool("ask", {"question": "What does Bo play?"})

    answer = found.structured_content
    assert answer["cited"] == [str(kept.refs[0])]
    assert answer["memory"].startswith("<bethink-memory>")
    assert "Ada moved to Bergen" in answer["memory"]
    assert unknown.structured_content["refused"] == Refusal.NOT_IN_MEMORY
    assert "Bo plays the harp" in other.structured_content["memory"]


def test_the_command_prints_sentences_with_their_sources(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replies(handler: BaseHTTPRequestHandler) -> None:
        body = server.requests[-1].body
        call = ModelCall(system="", prompt=body["messages"][-1]["content"])
        sends(OpenAIApi().reply(str(honest(call))))(handler)

    at_home(tmp_path, monkeypatch)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    anyio.run(_seeded, target)
    with serving(replies) as server:
        settings = tmp_path / "settings.toml"
        settings.write_text(f'model = "openai:tiny"\nmodel_base_url = "{server.url}/v1"\n', encoding="utf-8")
        words = ["--database", target, "--space", "alice", "--config", str(settings)]
        shown = run("ask", QUESTION, *words)
        data = run("ask", QUESTION, "--json", *words).data
        none = run("ask", "Which car does Ada drive?", *words)
        without = run("ask", QUESTION, "--exclude", data["cited"][0]["ref"], "--json", *words).data
        both = run("ask", QUESTION, *words, "--space", "team")

    assert shown.code == 0, shown.err
    lines = shown.out.splitlines()
    assert lines[0] == "Ada moved to Bergen in spring. [1]"
    assert lines[1].startswith("  [1] ")
    assert lines[2].strip() == data["cited"][0]["ref"]
    assert "Memory does not have the answer" in none.err
    assert (none.code, none.out) == (0, "")
    assert without["refusal"] == "not_in_memory"
    assert data["searches"] == [QUESTION]
    assert " in alice)" in both.out or " in team)" in both.out


def test_the_command_evaluates_a_file_of_questions(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replies(handler: BaseHTTPRequestHandler) -> None:
        body = server.requests[-1].body
        said = honest(ModelCall(system="", prompt=body["messages"][-1]["content"]))
        sends(OpenAIApi().reply(str(said)))(handler)

    at_home(tmp_path, monkeypatch)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    anyio.run(_seeded, target)
    asked = [
        {"question": QUESTION, "answer": "Bergen", "evidence": "Ada moved to Bergen"},
        {"question": "Which car does Ada drive?", "answer": None},
        {"question": "What does Ada play?", "answer": "the harp"},
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    with serving(replies) as server:
        settings = tmp_path / "settings.toml"
        settings.write_text(f'model = "openai:tiny"\nmodel_base_url = "{server.url}/v1"\n', encoding="utf-8")
        words = ["test", "eval", str(file), "--database", target, "--space", "alice", "--config", str(settings)]
        shown = run(*words, "--input-price", "3", "--output-price", "0")
        short = run(*words, "--min-score", "0.9", "--json")
        before = len(server.requests)
        run(*words, "--judge", "openai:strict")
        judges = [each.body["model"] for each in server.requests[before:] if "Key: " in str(each.body)]
        unknown = run(*words, "--judge", "somebody")

    file.write_bytes(b'{"question": "caf\xe9"}')
    odd = run(*words)

    assert (odd.code, odd.err.splitlines()[0]) == (2, f"error: {file} is not valid UTF-8.")
    assert set(judges) == {"strict"}
    assert (unknown.code, "Unknown judge 'somebody'" in unknown.err) == (2, True)
    assert shown.code == 0, shown.err
    out = shown.out.splitlines()
    assert out[0] == "3 questions"
    assert out[1].startswith("evidence found: ")
    memory = next(line for line in out if line.startswith("memory"))
    assert "0.667" in memory
    assert memory.endswith(f"{3 * 21 * 3 / 1_000_000:.4f}")
    assert "wrong: What does Ada play?" in out
    assert (short.code, short.envelope["error"]["code"]) == (1, "failed")
    assert short.envelope["data"]["figures"][0]["context"] == "memory"
