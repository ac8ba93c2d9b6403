"""Counting in transcripts: what was said, followed, broken, and taken back."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bethink.agents.transcripts.events import TranscriptEvent, read_events
from bethink.features.guard.counting import summary_of
from bethink.features.guard.replay import Compliance, Replay

Step = tuple[str, str]
"""What happened: `user` and a prompt, `run` and a command, or `say` and an answer."""


def lines(steps: list[Step], *, session: str = "s1", cwd: str = "/p") -> Iterator[dict[str, Any]]:
    """Yield the lines that Claude Code would have written."""
    for number, (kind, text) in enumerate(steps):
        about = {
            "uuid": f"{session}-{number}", "sessionId": session, "cwd": cwd, "gitBranch": "main",
            "timestamp": f"2026-05-01T10:{number:02}:00Z",
        }  # fmt: skip
        if kind == "user":
            yield {**about, "type": "user", "message": {"content": text}}
            continue
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": text}}
        part = call if kind == "run" else {"type": "text", "text": text}
        yield {**about, "type": "assistant", "message": {"model": "m", "content": [part]}}
        if kind == "run":
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok"}
            yield {**about, "uuid": f"{session}-{number}r", "type": "user", "message": {"content": [result]}}


def write(folder: Path, steps: list[Step], **about: str) -> Path:
    path = folder / f"{about.get('session', 's1')}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines(steps, **about)))
    return path


def replay(folder: Path, *sessions: list[Step]) -> dict[str, Compliance]:
    counts = Replay(lambda cwd: cwd)
    for number, steps in enumerate(sessions):
        counts.count_events(read_events("claude-code", write(folder, steps, session=f"s{number}")))
    return {rule.text: rule for rule in counts.results()}


def test_a_transcript_becomes_hook_inputs(tmp_path: Path) -> None:
    path = write(tmp_path, [("user", "hi"), ("run", "ls"), ("say", "done"), ("user", "thanks")])
    events: list[TranscriptEvent] = list(read_events("claude-code", path))
    names = [event.hook_input["hook_event_name"] for event in events]
    assert names == ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "UserPromptSubmit"]
    assert events[1].hook_input["tool_input"] == {"command": "ls"}
    assert events[3].hook_input["last_assistant_message"] == "done"
    assert {event.branch for event in events} == {"main"}


def test_codex_commands_have_the_form_of_its_hooks(tmp_path: Path) -> None:
    path = tmp_path / "rollout-2026-05-01T10-00-00-11111111-1111-4111-8111-111111111111.jsonl"
    call = {
        "type": "function_call",
        "call_id": "c",
        "name": "shell",
        "arguments": '{"command": ["bash", "-lc", "pip install x"]}',
    }
    output = {
        "type": "function_call_output",
        "call_id": "c",
        "output": '{"output": "no", "metadata": {"exit_code": 1}}',
    }
    rows = [{"type": "response_item", "timestamp": "2026-05-01T10:00:00Z", "payload": item} for item in (call, output)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    before, after = read_events("codex", path)
    assert before.hook_input["tool_name"] == "Bash"
    assert after.hook_input["hook_event_name"] == "PostToolUseFailure"


def test_compliance_counts_from_when_it_was_said(tmp_path: Path) -> None:
    first: list[Step] = [
        ("run", "pip install a"), ("user", "From now on use uv, never pip."), ("run", "pip install b"),
        ("run", "pip install b"), ("user", "again"), ("run", "uv pip install b"),
    ]  # fmt: skip
    second: list[Step] = [("user", "Always use uv, never pip."), ("run", "sudo pip3 install c")]
    [rule] = replay(tmp_path, first, second).values()
    assert (len(rule.stated), rule.followed, rule.violated) == (2, 1, 2)  # a repeated act in one turn counts once
    assert summary_of(rule) == "stated 2 times, followed 1 of 3; last broken by claude-code: pip install c"


def test_an_instruction_that_was_taken_back_is_not_counted_any_more(tmp_path: Path) -> None:
    steps: list[Step] = [
        ("user", "Never use pip here."), ("user", "You can use pip again."), ("run", "pip install a"),
    ]  # fmt: skip
    rules = replay(tmp_path, steps)
    assert all(not rule.violated for rule in rules.values())


def test_text_of_tools_and_assistants_is_no_instruction(tmp_path: Path) -> None:
    steps: list[Step] = [
        ("say", "You should never use pip. Always use uv."),
        ("run", "echo never use pip"),
        ("run", "pip install a"),
    ]
    assert replay(tmp_path, steps) == {}


def test_everyday_prompts_are_no_instructions(tmp_path: Path) -> None:
    prompts = (
        "nice.",
        "what do you think",
        "ok now fix the typo in README",
        "run it again",
        "looks good, commit",
        "gracias!",
    )
    assert (
        replay(tmp_path, [step for prompt in prompts for step in (("user", prompt), ("run", "git commit -m x"))]) == {}
    )


def test_guard_try_prints_what_was_followed(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "p"
    folder.mkdir(parents=True)
    write(
        folder,
        [("user", "From now on use uv, never pip."), ("run", "pip install b"), ("user", "go on"), ("run", "uv add b")],
    )
    command = [sys.executable, "-m", "bethink", "guard", "try", "--days", "3650"]
    environment = {"HOME": str(tmp_path), "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "1 instruction that a program can check, in 1 session" in done.stdout
    assert "stated 1 time, followed 1 of 2" in done.stdout
    as_json = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True, env=environment).stdout)
    assert as_json["data"]["instructions"][0]["violated"] == 1
