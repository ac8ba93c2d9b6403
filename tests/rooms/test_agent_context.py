"""What coding agents are told at a start and at a prompt, without a model."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import bethink
from bethink.agents.context import PROMPT_BUDGET, AgentContext
from bethink.agents.copies import Copies
from bethink.agents.folder import AgentFolder, hook_file
from bethink.agents.scopes import ProjectScope
from bethink.providers.estimated_tokens import EstimatedTokens

PROJECT = ProjectScope(person=None, project="project:alpha")
AGENT = "claude-code"


@pytest.fixture
async def memory(target: str) -> AsyncIterator[bethink.Memory]:
    async with bethink.connect(target) as memory:
        yield memory


async def say(memory: bethink.Memory, session: str, *texts: str, end: bool = True) -> None:
    """Store a session in which user and assistant take turns."""
    handle = await memory.space("project:alpha").session(f"{AGENT}:{session}", agent=AGENT)
    roles = ("user", "assistant")
    await handle.append([bethink.Message(role=roles[at % 2], content=text) for at, text in enumerate(texts)])
    if end:
        await handle.end()


async def start(context: AgentContext, session: str = "new") -> dict[str, Any]:
    answer = await context.start(PROJECT, agent=AGENT, session=session)
    return json.loads(answer) if answer else {}


async def prompt(context: AgentContext, text: str, session: str = "new") -> str:
    answer = await context.prompt(PROJECT, text, agent=AGENT, session=session)
    return json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""


async def test_a_start_has_lasting_words_of_the_user_and_the_last_session(memory: bethink.Memory) -> None:
    await say(memory, "s1", "From now on use uv, never pip.", "I will.", "ok now fix the typo in README", "Fixed it.")
    await say(memory, "s2", "add a retry to the billing client", "Done. The backoff is still missing.", end=False)
    answer = await start(AgentContext(memory))
    text = answer["hookSpecificOutput"]["additionalContext"]
    assert answer["systemMessage"] == "Bethink: 1 instruction."
    assert "- From now on use uv, never pip. (user, " in text
    assert "## Last session\n- add a retry to the billing client (user, " in text  # which is still open
    assert "- Done. The backoff is still missing. (assistant, " in text
    assert "typo" not in text
    assert "(memory," not in text


async def test_a_start_does_not_change_during_the_session(memory: bethink.Memory) -> None:
    context = AgentContext(memory)
    await say(memory, "s1", "From now on use uv, never pip.", "I will.")
    before = await start(context)
    await say(memory, "s2", "From now on write tests first.", "I will.")
    assert await start(context) == before
    assert "tests first" in json.dumps(await start(context, "another"))


async def test_an_empty_space_is_told_nothing_and_gets_no_session(memory: bethink.Memory) -> None:
    context = AgentContext(memory)
    assert await start(context) == {}
    assert await prompt(context, "What did we decide?") == ""
    assert await memory.spaces.list() == []


async def test_a_prompt_gets_fair_matches_once(memory: bethink.Memory) -> None:
    context = AgentContext(memory)
    reply = "The retry cap of the billing client is 7, because the provider bans clients after 8."
    await say(memory, "s1", "what was the retry cap of the billing client again?", reply)
    await say(memory, "s2", "paint the fence in the demo", "Painted.")
    await start(context)
    told = await prompt(context, "raise the retry cap of the billing client")
    assert reply in told
    assert "again?" not in told.replace('reply to "what was the retry cap of the billing client again?"', "")
    assert EstimatedTokens().count(told) < 2 * PROMPT_BUDGET
    assert await prompt(context, "raise the retry cap of the billing client") == ""
    assert await prompt(context, "paint the door of the barn green") == ""


async def test_the_first_prompt_makes_up_for_a_start_that_came_up_empty(memory: bethink.Memory) -> None:
    await say(memory, "s1", "From now on use uv, never pip.", "I will.")
    context = AgentContext(memory)
    assert "never pip" in await prompt(context, "install requests")
    assert "never pip" not in await prompt(context, "install requests, please")
    context.mark_started(AGENT, "copied")
    assert "From now on" not in await prompt(context, "paint the door", "copied")


async def test_what_was_told_is_in_the_context_log(memory: bethink.Memory) -> None:
    await say(memory, "s1", "From now on use uv, never pip.", "I will.")
    context = AgentContext(memory)
    await start(context)
    entries = await memory.space("project:alpha").admin.context_log.list()
    assert entries
    assert all(entry.session_id for entry in entries)


@pytest.mark.skipif(sys.platform == "win32", reason="the hook uses a socket file")
async def test_a_cold_start_is_told_a_copy_until_something_is_deleted(tmp_path: Path) -> None:
    folder = AgentFolder(tmp_path / "state")
    folder.make()
    hook = Path(folder.path / "hook.py")
    hook.write_bytes(hook_file().read_bytes())
    (folder.path / "hook.json").write_text(json.dumps({"start": ["true"]}))
    payload = json.dumps({"session_id": "s9", "cwd": str(tmp_path)}).encode()

    def cold_start() -> str:
        command = [sys.executable, "-I", "-S", str(hook), AGENT, "SessionStart"]
        return subprocess.run(command, input=payload, capture_output=True, check=True, env=os.environ).stdout.decode()

    async with bethink.connect(str(tmp_path / "memory.db")) as memory:
        await say(memory, "s1", "From now on use uv, never pip.", "I will.")
        copies = Copies(memory, folder, AgentContext(memory))
        copies.add(str(tmp_path), PROJECT)
        await copies.write()
        assert "never pip" in cold_start()
        [note] = [fields for _, fields in folder.notes()]
        assert note["copied"] == "1"
        await memory.space("project:alpha").forget(conversation=f"{AGENT}:s1", agent=AGENT)
    assert not any(b"never pip" in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
