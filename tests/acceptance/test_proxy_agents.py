"""The vendors' npm clients, Claude Code and Codex through the proxy to a stand-in for models."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from bethink.config.groups import ProxySettings
from bethink.http.proxy import add_proxy
from tests.acceptance import agents_kit
from tests.acceptance.agents_kit import Laptop, installed, laptop
from tests.doors.client_kit import serving
from tests.doors.proxy_kit import ANSWER, Models, Proxy
from tests.length import LONG

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not LONG or shutil.which("npm") is None, reason="installs by npm: set BETHINK_TEST_LONG"),
]
LIKES_PNPM = "I always prefer pnpm over npm in this project."
FRAME = "<bethink-memory>"
PACKAGES = ("openai", "@anthropic-ai/sdk")
SCRIPT = """
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";
const [url, key, line] = process.argv.slice(2);
const defaultHeaders = {"X-Bethink-Key": key, "X-Bethink-Space": "mira"};
const openai = new OpenAI({baseURL: url + "/v1", apiKey: "sk-theirs", defaultHeaders, maxRetries: 0});
const anthropic = new Anthropic({baseURL: url, apiKey: "sk-ant", defaultHeaders, maxRetries: 0});
const messages = [{role: "user", content: line}];
const seen = {};
const all = async (stream) => { const found = []; for await (const each of stream) found.push(each); return found; };
seen.chat = await all(await openai.chat.completions.create({model: "m", messages, stream: true}));
seen.responses = await all(await openai.responses.create({model: "m", input: line, stream: true}));
seen.messages = await all(await anthropic.messages.create({model: "m", max_tokens: 9, messages, stream: true}));
const whole = await openai.chat.completions.create({model: "m", messages});
seen.whole = [whole.choices[0].message.content];
const message = await anthropic.messages.create({model: "m", max_tokens: 9, messages});
seen.text = [message.content[0].text];
console.log(JSON.stringify(seen));
"""


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    models = Models()
    settings = ProxySettings(openai_url=f"{models.url}/v1", anthropic_url=models.url, deadline=20.0)
    with serving(str(tmp_path / "memory.db"), mounts=[partial(add_proxy, settings)]) as served:
        yield Proxy(served, models, str(tmp_path / "memory.db"))
    models.shutdown()
    models.server_close()


def npm_clients(folder: Path) -> Path:
    kept = os.environ.get("BETHINK_TEST_NPM_CLIENTS")  # a folder where they are installed already
    if kept:
        return Path(kept)
    (folder / "package.json").write_text("{}")
    command = ["npm", "install", "--no-audit", "--no-fund", *PACKAGES]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=600)
    return folder


def test_the_npm_clients_see_what_they_see_without_it(proxy: Proxy, tmp_path: Path) -> None:
    folder = npm_clients(tmp_path)
    script = folder / "through_the_proxy.mjs"
    script.write_text(SCRIPT)

    def run(url: str) -> dict[str, list[object]]:
        command = ["node", str(script), url, proxy.served.key, LIKES_PNPM]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    direct, through = run(proxy.models.url), run(proxy.url)

    assert through == direct
    assert through["whole"] == through["text"] == [ANSWER]
    # All three wires name no conversation, and have the same first words: one conversation, one line.
    assert [(role, text) for role, text, _ in proxy.stored(2)] == [("user", LIKES_PNPM), ("assistant", ANSWER)]


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("BETHINK_TEST_AGENTS")
    return Path(given) if given else installed(tmp_path_factory.mktemp("npm"))


@pytest.fixture
def mine(tmp_path: Path, commands: Path) -> Iterator[Laptop]:
    with laptop(tmp_path / "home", commands) as found:
        yield found


@pytest.mark.agents
def test_proxy_shares_memory_between_two_coding_agents(mine: Laptop, tmp_path: Path) -> None:
    settings = ProxySettings(openai_url=f"{mine.models.address}/v1", anthropic_url=mine.models.address, deadline=20.0)
    target = str(tmp_path / "memory.db")
    with serving(target, mounts=[partial(add_proxy, settings)]) as served:
        mine.call_models_at(served.url, {"X-Bethink-Key": served.key, "X-Bethink-Space": "mira"})
        seen = Proxy(served, Models(), target)
        alpha = mine.project("alpha")

        first = mine.claude(LIKES_PNPM, alpha)
        assert LIKES_PNPM in first
        assert FRAME not in first
        assert [(role, text) for role, text, _ in seen.stored(2)] == [
            ("user", LIKES_PNPM),
            ("assistant", agents_kit.ANSWER),
        ]
        asked = mine.codex("Do I prefer pnpm or npm?", alpha)
        assert FRAME in asked
        assert LIKES_PNPM in asked
        assert "I prefer cargo." in mine.codex("I prefer cargo.", alpha)

        stored = seen.stored(6)
        assert [text for role, text, _ in stored if role == "user"] == [
            LIKES_PNPM,
            "Do I prefer pnpm or npm?",
            "I prefer cargo.",
        ]
        assert {name.partition(":")[0] for _, _, name in stored} == {"claude-code", "codex"}
