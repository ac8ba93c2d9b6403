"""The quickstarts with a newly configured model: learned facts appear without further steps.

The model is on loopback; everything else is as the pages say, in processes of their own.
"""

import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import bethink
from tests.docs.model_endpoint import model_endpoint, settings
from tests.doors.mcp_kit import Checked

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "docs" / "tutorial" / "first-agent.md").read_text(encoding="utf-8")
MCP = (ROOT / "docs" / "howto" / "mcp.md").read_text(encoding="utf-8")
SERVER = (ROOT / "docs" / "howto" / "server.md").read_text(encoding="utf-8")
A_MINUTE = 60.0


class Newcomer:
    """Somebody in an empty folder, with a home of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("BETHINK_", "OPENAI_"))}
        self.environment = {**kept, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "BETHINK_EMBEDDER": "none"}

    def command(self, line: str) -> list[str]:
        """A line of a page as it runs here: `bethink` is the one under test."""
        words = shlex.split(line.replace("~", str(self.folder)), comments=True)
        return [sys.executable, "-m", *words] if words[0] == "bethink" else [sys.executable, *words[1:]]

    def types(self, line: str, keys: str = "") -> str:
        """Run one line of a page."""
        done = subprocess.run(
            self.command(line), cwd=self.folder, env=self.environment, input=keys, capture_output=True, text=True,
            check=False, timeout=A_MINUTE,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def copies(self, snippet: str, keys: str = "") -> str:
        """Run a program of a page."""
        return self.types(f"python {ROOT / 'docs_src' / snippet}", keys)


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    return Newcomer(tmp_path)


@pytest.fixture
def with_model(newcomer: Newcomer) -> Generator[Newcomer]:
    with model_endpoint() as server:
        newcomer.environment |= settings(server)
        yield newcomer


def lines_of(page: str, beginning: str) -> list[str]:
    """The commands of the shell blocks of a page that begin so."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line.startswith(beginning)]


async def within_a_minute(shown: Callable[[], Awaitable[bool]]) -> None:
    with anyio.fail_after(A_MINUTE):
        while not await shown():  # noqa: ASYNC110 - another process does it, and tells nobody
            await anyio.sleep(0.05)


def test_tutorial_learns_a_fact_once_a_model_is_set(newcomer: Newcomer) -> None:
    newcomer.copies("tutorial_remember.py")
    [learn] = lines_of(TUTORIAL, "bethink worker")
    [show] = lines_of(TUTORIAL, "bethink fact list")
    assert "allergic" not in newcomer.types(show)

    with model_endpoint() as server:
        newcomer.environment |= settings(server)
        newcomer.types(learn)

    shown = newcomer.types(show)
    assert "I am allergic to cashews." in shown
    assert "confirmed" in shown

    for name in ("BETHINK_MODEL", "OPENAI_API_KEY"):  # a new terminal
        newcomer.environment.pop(name, None)
    assert "cashews" in newcomer.copies("tutorial_agent.py", "What am I allergic to?\n\n")


def test_chatbot_of_the_readme_remembers_in_its_second_run(newcomer: Newcomer) -> None:
    with model_endpoint() as server:
        address = f"{server.url}/v1"
        newcomer.environment |= {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": address, "BETHINK_MODEL_BASE_URL": address}
        newcomer.copies("chat/openai_chat.py", "I play the cello on Fridays.\n\n")
        newcomer.copies("chat/openai_chat.py", "What do I play on Fridays?\n\n")
        prompts = [request.body["messages"] for request in server.requests if "response_format" not in request.body]

    assert prompts[0] == [{"role": "user", "content": "I play the cello on Fridays."}]
    assert "- I play the cello on Fridays." in prompts[-1][0]["content"]
    assert prompts[-1][1:] == [{"role": "user", "content": "What do I play on Fridays?"}]


def test_tutorial_with_a_model_learns_every_typed_message(with_model: Newcomer) -> None:
    with_model.copies("tutorial_remember.py")
    with_model.copies("tutorial_agent.py", "I like long train journeys.\n\n")
    with_model.copies("tutorial_agent.py", "Hello again.\n\n")
    with_model.types(*lines_of(TUTORIAL, "bethink worker"))

    shown = with_model.types("bethink fact list --space ida --database lesson.db")

    for said in ("I moved to Bergen in May.", "I am allergic to cashews.", "I like long train journeys."):
        assert said in shown


def client_of(newcomer: Newcomer, line: str) -> Client:
    """An MCP client that starts the server with a line of a page."""
    program, *words = newcomer.command(line)
    parameters = StdioServerParameters(command=program, args=words, env=newcomer.environment, cwd=newcomer.folder)
    return Client(stdio_client(parameters), read_timeout_seconds=A_MINUTE)


def mcp_lines() -> list[str]:
    """What README and the page on MCP tell a client to start."""
    told = [*lines_of(README, "claude mcp add"), *lines_of(MCP, "claude mcp add bethink --")]
    return [line.partition(" -- ")[2] for line in told]


@pytest.mark.parametrize("line", mcp_lines())
async def test_mcp_quickstart_with_a_model_learns_in_its_own_process(with_model: Newcomer, line: str) -> None:
    async with client_of(with_model, line) as client:
        call = await Checked.of(client)
        await call("remember", text="The build takes nine minutes.")
        assert "The build takes nine minutes." in (await call("list_memories"))["memory"]  # as a note, at once

        async def learnt() -> bool:
            return "The build takes nine minutes." in (await call("list_memories", kind="fact"))["memory"]

        await within_a_minute(learnt)


@pytest.mark.parametrize("line", mcp_lines())
async def test_mcp_quickstart_without_a_model_keeps_note_on_reconnect(newcomer: Newcomer, line: str) -> None:
    async with client_of(newcomer, line) as client:
        assert (await (await Checked.of(client))("remember", text="The build takes nine minutes."))["review"]
    assert "The build takes nine minutes." in newcomer.types(line.replace("mcp", "review", 1))
    async with client_of(newcomer, line) as client:
        got: Any = await client.get_prompt("load_context", {})
        assert "The build takes nine minutes." in got.messages[0].content.text


@contextmanager
def served(newcomer: Newcomer) -> Generator[str]:
    """A server as the page starts it, on a free port; what its first command printed is the key."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    [serve] = [line for line in lines_of(SERVER, "bethink serve") if "#" in line]
    environment = {**newcomer.environment, "BETHINK_SERVER_PORT": str(port)}
    process = subprocess.Popen(
        newcomer.command(serve), cwd=newcomer.folder, env=environment, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        assert any("serving at" in line for line in process.stderr), process.wait()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=A_MINUTE)


async def test_server_page_learns_from_ended_and_idle_sessions(
    with_model: Newcomer,
) -> None:
    with_model.environment["BETHINK_LEARN_AFTER_SECONDS"] = "0.5"
    [create] = [line for line in lines_of(SERVER, "bethink admin keys create") if "#" in line]
    key = re.search(r"bt_\S+", with_model.types(create))
    assert key is not None
    with served(with_model) as url:
        async with bethink.connect(url, api_key=key[0]) as memory:
            alice = memory.space("alice")
            await alice.remember("Anna plays the cello on Fridays.")
            session = await alice.session("desk")
            await session.append("Anna has two cats.")  # and no more: nobody ends it

            async def learnt() -> bool:
                known = {fact.text for fact in await alice.facts.list()}
                return known >= {"Anna plays the cello on Fridays.", "Anna has two cats."}

            await within_a_minute(learnt)
        async with httpx2.AsyncClient() as http:
            assert (await http.get(f"{url}/healthz")).status_code == 200
