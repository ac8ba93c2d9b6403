"""Regressions where learning was lost: following each quickstart ends with learned facts."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bethink
import bethink.sync
from bethink.model.calls import ModelCall
from bethink.providers.scripted_model import ScriptedModel
from tests.conftest import Quiet
from tests.doors.mcp_kit import Checked, over_stdio
from tests.rooms.learn_kit import a_fact, answer, quoting, until, willing

ROOT = Path(__file__).parent.parent.parent
_FACT = answer(a_fact("User likes long train journeys", 1))


def learns(call: ModelCall) -> str:
    return quoting(_FACT, call) if call.schema_name == "claims" else willing(call)


def _learns_the_move(call: ModelCall) -> str:
    """Answer with one fact, from the message that names Bergen."""
    if call.schema_name != "claims":
        return willing(call)
    message = re.search(r"^\[(\d+)\].*I moved to Bergen", call.prompt, re.MULTILINE)
    return quoting(answer(a_fact("User moved to Bergen", int(message[1]))) if message else answer(), call)


def run(snippet: str, folder: Path, typed: str = "") -> str:
    command = [sys.executable, str(ROOT / "docs_src" / snippet)]
    done = subprocess.run(command, cwd=folder, input=typed, capture_output=True, text=True, check=True, timeout=300)
    return done.stdout


def bethink_command(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BETHINK_")}
    command = [sys.executable, "-m", "bethink", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def test_the_tutorial_with_a_worker_that_knows_no_model_loses_nothing(tmp_path: Path) -> None:
    run("tutorial_remember.py", tmp_path)
    run("tutorial_agent.py", tmp_path, "I like long train journeys.\n\n")
    quoted = bethink_command("worker", "--once", "--database", "lesson.db", folder=tmp_path)
    assert quoted.returncode == 0, quoted.stderr

    # The conversation continues, is quoted again, and only then a model is set in the program.
    run("tutorial_agent.py", tmp_path, "Hello again.\n\n")
    bethink_command("worker", "--once", "--database", "lesson.db", folder=tmp_path)

    with bethink.sync.connect(tmp_path / "lesson.db", model=ScriptedModel(_learns_the_move)) as memory:
        memory.space("ida").admin.learn()
        [fact] = memory.space("ida").facts.list()
    assert (fact.text, str(fact.origin), fact.evidence) == ("User moved to Bergen", "user", "confirmed")

    refused = bethink_command("worker", "--once", "--database", "lesson.db", folder=tmp_path)
    assert refused.returncode == 4
    assert "learns from this database" in refused.stderr


async def test_messages_from_three_runs_become_facts_without_turn_ends(target: str) -> None:
    for _ in range(3):
        async with bethink.connect(target, model=ScriptedModel(learns), redactor=Quiet()) as memory:
            ida = memory.space("ida")
            session = await ida.session("terminal")
            for turn in range(6):
                await session.append("I like long train journeys.")
                await session.append([{"role": "assistant", "content": f"Things I knew: {turn}."}])

            async def learnt(session: bethink.Session = session) -> bool:
                return await session.summary() is not None

            await until(learnt)
    async with bethink.connect(target, model=ScriptedModel(learns), redactor=Quiet()) as memory:
        assert [fact.text for fact in await memory.space("ida").facts.list()] == ["User likes long train journeys"]


@pytest.mark.parametrize("remembers", [True, False])
async def test_short_program_without_end_is_learned_from_by_the_next(target: str, remembers: bool) -> None:
    async def store(memory: bethink.Memory, text: str) -> None:
        ida = memory.space("ida")
        await (ida.remember(text) if remembers else (await ida.session("terminal")).append(text))

    async with bethink.connect(target, model=ScriptedModel(learns), redactor=Quiet()) as memory:
        await store(memory, "I like long train journeys.")
    async with bethink.connect(target, model=ScriptedModel(learns), redactor=Quiet()) as memory:
        await store(memory, "Hello again.")

        async def learned() -> bool:
            facts = await memory.space("ida").facts.list()
            return [fact.text for fact in facts] == ["User likes long train journeys"]

        await until(learned)


async def test_after_remember_over_mcp_the_memory_does_not_deny_having_any(target: str) -> None:
    async with over_stdio(target, "me") as client:
        call = await Checked.of(client)
        await call("remember", text="The user always wants pnpm.")
    async with over_stdio(target, "me") as client:  # the next day
        call = await Checked.of(client)
        listed = await call("list_memories")
        context: Any = await client.get_prompt("load_context", {})

    assert "The user always wants pnpm." in listed["memory"]
    assert "The user always wants pnpm." in context.messages[0].content.text


def test_the_first_lines_of_the_readme_with_a_model_end_in_a_fact(tmp_path: Path) -> None:
    claims = answer(a_fact("User is allergic to cashews", 1))
    model = ScriptedModel(lambda call: quoting(claims, call) if call.schema_name == "claims" else willing(call))
    run("first_steps.py", tmp_path)
    with bethink.sync.connect(tmp_path / "mira.db", model=model) as memory:
        memory.space("mira").admin.learn()
        assert [fact.text for fact in memory.space("mira").facts.list()] == ["User is allergic to cashews"]


def test_denied_claim_of_the_readme_needs_review(tmp_path: Path) -> None:
    claims = answer(a_fact("User is allergic to cashews", 1), a_fact("User is allergic to walnuts", 1))
    read = {"said": ["c1"], "others": [{"claim": "c2", "verdict": "denied", "text": "not to walnuts"}]}

    def answers(call: ModelCall) -> str:
        if call.schema_name == "verdicts":
            return json.dumps(read)
        return quoting(claims, call) if call.schema_name == "claims" else willing(call)

    run("first_steps.py", tmp_path)
    with bethink.sync.connect(tmp_path / "mira.db", model=ScriptedModel(answers)) as memory:
        mira = memory.space("mira")
        mira.admin.learn()
        assert [fact.text for fact in mira.facts.list()] == ["User is allergic to cashews"]
        [held] = mira.reviews.list()
        assert (held.reason, held.claim.fact.text) == ("denied", "User is allergic to walnuts")
        assert "allergic to walnuts" not in mira.context().text.replace("not to walnuts", "")
