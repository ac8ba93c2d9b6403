"""Writes transcripts as Claude Code and Codex do: conversation, tools, and other lines."""

import json
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

BEGUN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """What must be read of a line."""

    role: str
    content: str
    said_at: datetime
    name: str | None = None


def stamp(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def turns(count: int, *, begun: datetime = BEGUN, seed: int = 1) -> Iterator[Said]:
    """Yield what is said in a session: the user asks, a tool answers, the agent answers."""
    random = Random(seed)
    for number in range(count):
        at = begun + timedelta(seconds=20 * number)
        topic = random.choice(("parser", "login", "release", "index"))
        if number % 4 == 0:
            yield Said("user", f"Please look at the {topic}, number {number}; I prefer small commits.", at)
        elif number % 4 == 3:
            yield Said("assistant", f"The {topic} is done, number {number}.", at)
        else:
            yield Said("tool", f"cat {topic}.py\n{topic} output {number}", at, "Bash")


def write(path: Path, trees: Iterable[Tree], *, mode: str = "w") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode, encoding="utf-8") as sink:
        sink.writelines(json.dumps(tree) + "\n" for tree in trees)
    return path


def compress(path: Path) -> Path:
    """Replace a rollout by its compressed form, as Codex does with cold ones."""
    packed = path.with_name(path.name + ".zst")
    packed.write_bytes(import_module("backports.zstd").compress(path.read_bytes()))
    path.unlink()
    return packed


def claude_code(
    said: Iterable[Said], *, session: str, cwd: str = "/home/ada/proj", agent: str | None = None
) -> Iterator[Tree]:
    """Yield the lines of a session of Claude Code, or of a sub-agent of it."""
    parent: str | None = None
    yield {"type": "queue-operation", "operation": "enqueue", "timestamp": stamp(BEGUN), "sessionId": session}
    for number, each in enumerate(said):
        for tree in _claude_lines(each, number, session):
            own = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{session}/{agent}/{number}/{tree['type']}/{len(tree)}"))
            yield {
                "parentUuid": parent,
                "isSidechain": agent is not None,
                **({"agentId": agent} if agent else {}),
                **tree,
                "uuid": own,
                "timestamp": stamp(each.said_at),
                "userType": "external",
                "entrypoint": "cli",
                "cwd": cwd,
                "sessionId": session,
                "version": "2.1.325",
                "gitBranch": "main",
            }
            parent = own
        if number % 10 == 0:
            yield {"type": "last-prompt", "lastPrompt": "…", "leafUuid": parent, "sessionId": session}
            yield {"type": "cost-state", "sessionId": session, "totalCostUSD": 0.1, "modelUsage": {}}


def _claude_lines(said: Said, number: int, session: str) -> Iterator[Tree]:
    if said.role == "user":
        yield {"attachment": {"type": "environment"}, "type": "attachment", "rendered": [{"content": "never read"}]}
        yield {
            "promptId": f"p{number}",
            "type": "user",
            "message": {"role": "user", "content": said.content},
            "promptSource": "typed",
        }
    elif said.role == "assistant":
        thought = {"type": "thinking", "thinking": "never read", "signature": "x"}
        yield {"message": {"role": "assistant", "model": "m", "content": [thought]}, "type": "assistant", "a": 1}
        text = {"type": "text", "text": said.content}
        yield {"message": {"role": "assistant", "model": "m", "content": [text]}, "type": "assistant"}
    else:
        command, output = said.content.split("\n", 1)
        call = {"type": "tool_use", "id": f"toolu_{session}_{number}", "name": said.name, "input": {"command": command}}
        yield {"message": {"role": "assistant", "model": "m", "content": [call]}, "type": "assistant"}
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": output, "is_error": False}
        yield {"message": {"role": "user", "content": [result]}, "type": "user", "toolUseResult": {"stdout": output}}


def codex(
    said: Iterable[Said],
    *,
    thread: str,
    cwd: str = "/home/ada/proj",
    head: Tree | None = None,
    first: int = 0,
) -> Iterator[Tree]:
    """Yield the lines of a rollout of Codex. `head` adds to its session_meta, `first` is its first ordinal."""
    meta = {
        "session_id": thread,
        "id": thread,
        "timestamp": stamp(BEGUN),
        "cwd": cwd,
        "originator": "codex_cli_rs",
        "cli_version": "0.163.0",
        "source": "cli",
        "base_instructions": {"text": "never read"},
        "git": {"branch": "main"},
        **(head or {}),
    }
    items: list[tuple[datetime, str, Tree]] = [(BEGUN, "session_meta", meta)]
    context = "<environment_context>\n  <cwd>/home/ada/proj</cwd>\n</environment_context>"
    items.append((BEGUN, "response_item", _codex_message("developer", "never read", "d")))
    items.append((BEGUN, "response_item", _codex_message("user", context, "e")))
    items.append((BEGUN, "world_state", {"full": True, "state": {}}))
    for number, each in enumerate(said):
        items += [(each.said_at, kind, payload) for kind, payload in _codex_lines(each, number, thread)]
    for ordinal, (at, kind, payload) in enumerate(items, first):
        yield {"timestamp": stamp(at), "ordinal": ordinal, "type": kind, "payload": payload}


def _codex_lines(said: Said, number: int, thread: str) -> Iterator[tuple[str, Tree]]:
    if said.role in {"user", "assistant"}:
        yield "response_item", _codex_message(said.role, said.content, "msg_1")
        item = {"type": "UserMessage", "id": "i", "content": [{"type": "text", "text": said.content}]}
        yield "event_msg", {"type": "item_completed", "thread_id": thread, "item": item}
    else:
        command, output = said.content.split("\n", 1)
        arguments = json.dumps({"command": command})
        call = {"type": "function_call", "name": said.name, "arguments": arguments, "call_id": f"call_{number}"}
        yield "response_item", call
        yield "response_item", {"type": "function_call_output", "call_id": f"call_{number}", "output": output}
    yield "token_usage_record", {"thread_id": thread, "usage": {"input_tokens": 1}}


def _codex_message(role: str, text: str, name: str) -> Tree:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "id": name, "role": role, "content": [{"type": kind, "text": text}]}


def claude_path(home: Path, session: str, cwd: str = "/home/ada/proj") -> Path:
    return home / ".claude" / "projects" / cwd.replace("/", "-") / f"{session}.jsonl"


def codex_path(home: Path, thread: str, *, begun: datetime = BEGUN, rollout: str = "") -> Path:
    name = f"rollout-{begun:%Y-%m-%dT%H-%M-%S}-{thread}{'_' + rollout if rollout else ''}.jsonl"
    return home / ".codex" / "sessions" / f"{begun:%Y/%m/%d}" / name


def thread_id(number: int) -> str:
    return f"01a1dc51-bb7e-7ad0-aa05-{number:012x}"
