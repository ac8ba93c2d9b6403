"""Capture from hooks of coding agents: each line is stored once, in its space."""

import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

import bethink
from bethink.agents.capture import Capture
from bethink.agents.context import AgentContext
from bethink.agents.folder import AgentFolder
from bethink.agents.payloads import EVENTS, HookEvent, read_payload
from bethink.agents.resident import Resident
from bethink.agents.scopes import PERSON
from bethink.errors import DatabaseUnavailableError
from bethink.providers.estimated_tokens import EstimatedTokens
from tests import transcripts_kit as kit

RECORDED = sorted((Path(__file__).parents[1] / "doors" / "recorded_hooks").glob("*.jsonl"))
SECRET = "sk-ant-api03-" + "Zq7" * 30 + "AA"


@pytest.fixture
async def memory(target: str) -> AsyncIterator[bethink.Memory]:
    """A memory as people open it: it cuts out secrets, and learns without a model."""
    async with bethink.connect(target) as memory:
        yield memory


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def folder(home: Path) -> AgentFolder:
    found = AgentFolder(home / "state")
    found.make()
    return found


def project(home: Path, name: str = "alpha") -> Path:
    place = home / name
    (place / ".git").mkdir(parents=True)
    (place / ".git" / "config").write_text(f'[remote "origin"]\n\turl = https://git.example/{name}.git\n')
    return place


def event(
    name: str, transcript: Path | None, cwd: Path, session: str = "s1", agent: str = "claude-code", **more: Any
) -> HookEvent:
    payload = {"session_id": session, "transcript_path": transcript and str(transcript), "cwd": str(cwd), **more}
    found = read_payload(agent, name, json.dumps(payload).encode())
    assert found is not None
    return found


async def stored(memory: bethink.Memory, space: str = "project:git.example/alpha") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for entry in reversed(await memory.space(space).sessions.list()):
        session = await memory.space(space).sessions.get(entry.session.id)
        found += [(str(each.message.role), each.message.content) for each in await session.messages()]
    return found


async def test_each_line_is_stored_once_however_often_hooks_fire(
    memory: bethink.Memory, folder: AgentFolder, home: Path
) -> None:
    dice, cwd = random.Random(3), project(home)
    said = list(kit.turns(120))
    lines = list(kit.claude_code(said, session="s1", cwd=str(cwd)))
    path = kit.claude_path(home, "s1")
    while lines:
        count = dice.randint(0, 40)
        kit.write(path, lines[:count], mode="a") if path.exists() else kit.write(path, lines[:count])
        lines = lines[count:]
        capture = Capture(memory, folder)  # as if the process had been killed in between
        for name in dice.choices(EVENTS[:-1], k=3):
            await capture.handle_event(event(name, path, cwd))
    await Capture(memory, folder).handle_event(event("SessionEnd", path, cwd))
    await Capture(memory, folder).handle_event(event("SessionEnd", path, cwd))

    assert Counter(await stored(memory)) == Counter((each.role, each.content) for each in said)


async def test_partial_line_is_stored_once_complete(memory: bethink.Memory, folder: AgentFolder, home: Path) -> None:
    cwd, path = project(home), kit.claude_path(home, "s1")
    said = list(kit.turns(4))
    text = "".join(json.dumps(each) + "\n" for each in kit.claude_code(said, session="s1", cwd=str(cwd)))
    path.parent.mkdir(parents=True)
    for end in range(0, len(text), 397):
        path.write_text(text[:end])
        await Capture(memory, folder).handle_event(event("UserPromptSubmit", path, cwd))
    path.write_text(text)
    await Capture(memory, folder).handle_event(event("Stop", path, cwd))

    assert Counter(await stored(memory)) == Counter((each.role, each.content) for each in said)


async def test_capture_does_not_restore_deleted_sessions(
    memory: bethink.Memory, folder: AgentFolder, home: Path
) -> None:
    cwd, path = project(home), kit.claude_path(home, "s1")
    kit.write(path, kit.claude_code(kit.turns(4), session="s1", cwd=str(cwd)))
    await Capture(memory, folder).handle_event(event("SessionEnd", path, cwd))
    await memory.space("project:git.example/alpha").forget(everything=True)
    await Capture(memory, folder).handle_event(event("SessionStart", path, cwd))
    await Capture(memory, folder).catch_up()

    assert await stored(memory) == []


async def test_a_line_is_read_again_if_memory_could_not_be_reached(
    memory: bethink.Memory, folder: AgentFolder, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cwd, path = project(home), kit.claude_path(home, "s1")
    said = list(kit.turns(250))
    kit.write(path, kit.claude_code(said, session="s1", cwd=str(cwd)))
    calls = 0

    def failing(append: Callable[..., Any]) -> Callable[..., Any]:
        async def now_and_then(*given: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls % 2:
                raise DatabaseUnavailableError("gone.")
            return await append(*given, **named)

        return now_and_then

    monkeypatch.setattr(bethink.Session, "append", failing(bethink.Session.append))
    failures = 0
    for _ in range(10):
        try:
            await Capture(memory, folder).handle_event(event("Stop", path, cwd))
        except DatabaseUnavailableError:
            failures += 1
    assert failures
    assert Counter(await stored(memory)) == Counter((each.role, each.content) for each in said)


async def test_the_memory_of_one_project_never_shows_in_another(
    memory: bethink.Memory, folder: AgentFolder, home: Path
) -> None:
    alpha, beta = project(home), project(home, "beta")
    for number, cwd in enumerate((alpha, beta, home)):
        path = kit.claude_path(home, f"s{number}", str(cwd))
        words = [kit.Said("user", f"I prefer the {cwd.name} way of building things.", kit.BEGUN)]
        kit.write(path, kit.claude_code(words, session=f"s{number}", cwd=str(cwd)))
        capture = Capture(memory, folder, learns_freely=True)
        state = await capture.handle_event(event("SessionEnd", path, cwd, f"s{number}"))
        await capture.learn(state.space or "")

    async def shown(cwd: Path) -> str:
        scope = Capture(memory, folder).scope(str(cwd))
        return await AgentContext(memory).start(scope, agent="codex", session="new")

    own = f"the {home.name} way"
    assert "the alpha way" in await shown(alpha)
    assert "the beta way" not in await shown(alpha)
    assert own in await shown(alpha)
    assert "the alpha way" not in await shown(beta)
    assert "alpha" not in await shown(home)
    assert "beta" not in await shown(home)
    [showing] = [
        each for each in await memory.space("project:git.example/beta").admin.context_log.list() if each.session_id
    ]
    assert showing.session_id is not None


async def test_the_context_stays_below_2000_tokens(memory: bethink.Memory, folder: AgentFolder, home: Path) -> None:
    cwd = project(home)
    for space in ("project:git.example/alpha", PERSON):
        for number in range(60):
            fact = bethink.Fact(id=f"f{number}", text=f"Tool number {number} is {'very ' * 60}good in {space}.")
            await memory.space(space).facts.save(fact)

    scope = Capture(memory, folder).scope(str(cwd))
    text = await AgentContext(memory).start(scope, agent="codex", session="new")
    assert 1_000 < EstimatedTokens().count(text) < 2_000
    assert text.count("<bethink-memory>") == 2


async def test_folders_left_out_are_neither_stored_nor_shown(
    memory: bethink.Memory, folder: AgentFolder, home: Path
) -> None:
    cwd = project(home)
    path = kit.claude_path(home, "s1")
    kit.write(path, kit.claude_code(kit.turns(4), session="s1", cwd=str(cwd)))
    (cwd / ".bethinkignore").write_text("")
    resident = Resident(memory, folder)
    for name in EVENTS:
        payload = {"session_id": "s1", "transcript_path": str(path), "cwd": str(cwd), "prompt": "hidden"}
        assert await _hooked(resident, name, payload) == ""
    assert [space.name for space in await memory.spaces.list()] == []


async def test_secrets_are_cut_before_the_first_write(memory: bethink.Memory, folder: AgentFolder, home: Path) -> None:
    cwd, path = project(home), kit.claude_path(home, "s1")
    words = [kit.Said("user", f"My key is {SECRET}, use it.", kit.BEGUN)]
    kit.write(path, kit.claude_code(words, session="s1", cwd=str(cwd)))
    resident = Resident(memory, folder)
    payload = {"session_id": "s1", "transcript_path": str(path), "cwd": str(cwd), "prompt": f"My key is {SECRET}."}
    # The note in the spool is there before it is worked off, and only points to the transcript.
    await resident.hook("claude-code", "UserPromptSubmit", json.dumps(payload).encode())
    [note] = list(folder.spool.iterdir())
    assert SECRET not in note.read_text()
    assert "key" not in note.read_text()
    await resident.process_spool()
    assert list(folder.spool.iterdir()) == []

    [(_, content)] = await stored(memory)
    assert "[REDACTED:" in content
    assert SECRET not in content
    assert all(SECRET not in each.read_text() for each in folder.path.rglob("*") if each.is_file())


async def test_subagents_are_stored_as_subagents(memory: bethink.Memory, folder: AgentFolder, home: Path) -> None:
    cwd, path = project(home), kit.claude_path(home, "s1")
    kit.write(path, kit.claude_code(kit.turns(4), session="s1", cwd=str(cwd)))
    other = path.parent / "s1" / "subagents" / "agent-x1.jsonl"
    kit.write(other, kit.claude_code(kit.turns(4, seed=2), session="s1", cwd=str(cwd), agent="x1"))
    await Capture(memory, folder).handle_event(event("SubagentStop", path, cwd, agent_transcript_path=str(other)))

    found = {each.conversation: each.agent for each in await memory.space("project:git.example/alpha").sessions.list()}
    assert found == {"claude-code:s1:": "claude-code", "claude-code:s1:x1": "claude-code-subagent"}


async def test_a_compaction_begins_a_new_session_of_the_same_conversation(
    memory: bethink.Memory, folder: AgentFolder, home: Path
) -> None:
    cwd, path = project(home), kit.claude_path(home, "s1")
    lines = list(kit.claude_code(kit.turns(8), session="s1", cwd=str(cwd)))
    kit.write(path, lines[:8])
    capture = Capture(memory, folder)
    await capture.handle_event(event("PreCompact", path, cwd))
    await capture.handle_event(event("PostCompact", path, cwd))
    kit.write(path, lines[8:], mode="a")
    await capture.handle_event(event("SessionEnd", path, cwd))

    sessions = [each.session for each in await memory.space("project:git.example/alpha").sessions.list()]
    assert [each.end_reason for each in sessions] == ["closed", "compaction"]
    assert len({each.conversation_id for each in sessions}) == 1


async def test_sessions_while_hooks_were_off_are_stored_with_the_next(
    memory: bethink.Memory, folder: AgentFolder, home: Path
) -> None:
    cwd = project(home)
    said = list(kit.turns(12))
    kit.write(kit.claude_path(home, "missed"), kit.claude_code(said, session="missed", cwd=str(cwd)))
    next_one = kit.claude_path(home, "s2")
    await Capture(memory, folder).import_unseen_sessions(event("SessionStart", next_one, cwd, "s2"), since=0.0)
    assert Counter(await stored(memory)) == Counter((each.role, each.content) for each in said)


async def test_session_without_a_transcript_is_captured_from_payloads(
    memory: bethink.Memory, folder: AgentFolder, home: Path
) -> None:
    cwd = project(home)
    resident = Resident(memory, folder)
    about = {"session_id": "s1", "transcript_path": None, "cwd": str(cwd), "turn_id": "t1"}
    for _ in range(2):
        await _hooked(resident, "UserPromptSubmit", {**about, "prompt": "I prefer tea."}, agent="codex")
        await _hooked(resident, "Stop", {**about, "last_assistant_message": "Noted."}, agent="codex")
    assert await stored(memory) == [("user", "I prefer tea."), ("assistant", "Noted.")]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
async def test_recorded_payloads_are_understood(
    memory: bethink.Memory, folder: AgentFolder, home: Path, path: Path
) -> None:
    agent = path.stem.rsplit("-", 1)[0]
    resident, cwd = Resident(memory, folder, learns_freely=True), project(home)
    said = list(kit.turns(6))
    payloads = [json.loads(line) for line in path.read_text().splitlines()]
    assert {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"} <= {each["hook_event_name"] for each in payloads}
    for payload in payloads:
        transcript = home / Path(payload["transcript_path"]).relative_to("/home/dev")
        session = payload["session_id"]
        make = kit.claude_code(said, session=session, cwd=str(cwd))
        if agent == "codex":
            make = kit.codex(said, thread=session, cwd=str(cwd))
        kit.write(transcript, make)
        moved = {**payload, "transcript_path": str(transcript), "cwd": str(cwd)}
        await _hooked(resident, payload["hook_event_name"], moved, agent=agent)
    assert Counter(await stored(memory)) == Counter((each.role, each.content) for each in said)


async def _hooked(resident: Resident, name: str, payload: dict[str, Any], *, agent: str = "claude-code") -> str:
    """Send a payload, and work it off at once."""
    if name == "SessionStart":
        resident._caught_up.set()
        answer = (
            await resident._start(found) if (found := read_payload(agent, name, json.dumps(payload).encode())) else ""
        )
    else:
        answer = await resident.hook(agent, name, json.dumps(payload).encode())
    await resident.process_spool()
    return answer


async def test_a_payload_that_names_another_session_or_folder_moves_nothing(
    memory: bethink.Memory, folder: AgentFolder, home: Path
) -> None:
    alpha, beta = project(home), project(home, "beta")
    words = [kit.Said("user", "I prefer the alpha way.", kit.BEGUN)]
    path = kit.write(kit.claude_path(home, "s1"), kit.claude_code(words, session="s1", cwd=str(alpha)))
    other = kit.write(kit.claude_path(home, "s2"), kit.claude_code(kit.turns(4), session="s2", cwd=str(beta)))
    capture = Capture(memory, folder)
    await capture.handle_event(event("Stop", other, beta, "same"))
    await capture.handle_event(event("Stop", path, beta, "same"))
    await capture.handle_event(event("Stop", path, home, "s1"))

    assert await stored(memory) == [("user", "I prefer the alpha way.")]
    assert len(await stored(memory, "project:git.example/beta")) == 4
    assert {space.name for space in await memory.spaces.list()} == {
        "project:git.example/alpha",
        "project:git.example/beta",
    }
