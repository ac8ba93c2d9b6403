"""The ways in which learning was lost, walked as the documents say: each quickstart shows what was learnt."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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

    # The conversation goes on, is quoted again, and only then a model is named in the program.
    run("tutorial_agent.py", tmp_path, "Hello again.\n\n")
    bethink_command("worker", "--once", "--database", "lesson.db", folder=tmp_path)

    assert run("tutorial_facts.py", tmp_path).splitlines() == [
        "1 fact",
        "User moved to Bergen - user said so, confirmed",
    ]

    refused = bethink_command("worker", "--once", "--database", "lesson.db", folder=tmp_path)
    assert refused.returncode == 4
    assert "learns from this database" in refused.stderr


async def test_thirty_six_messages_in_three_runs_without_the_end_of_a_turn_give_facts(target: str) -> None:
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
        assert [fact.content for fact in await memory.space("ida").facts.all()] == ["User likes long train journeys"]


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
        memory.space("mira").learn()
        assert [fact.content for fact in memory.space("mira").facts.all()] == ["User is allergic to cashews"]


def test_what_the_sentence_of_the_readme_denies_does_not_become_a_fact(tmp_path: Path) -> None:
    claims = answer(a_fact("User is allergic to cashews", 1), a_fact("User is allergic to walnuts", 1))
    read = {"said": ["c1"], "others": [{"claim": "c2", "verdict": "denied", "because": "not to walnuts"}], "fixed": []}

    def answers(call: ModelCall) -> str:
        if call.schema_name == "verdicts":
            return json.dumps(read)
        return quoting(claims, call) if call.schema_name == "claims" else willing(call)

    run("first_steps.py", tmp_path)
    with bethink.sync.connect(tmp_path / "mira.db", model=ScriptedModel(answers)) as memory:
        mira = memory.space("mira")
        mira.learn()
        assert [fact.content for fact in mira.facts.all()] == ["User is allergic to cashews"]
        [held] = mira.reviews.all()
        assert (held.reason, held.claim.fact.content) == ("denied", "User is allergic to walnuts")
        assert "allergic to walnuts" not in mira.context().text.replace("not to walnuts", "")
