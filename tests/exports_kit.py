"""Writes exports of other programs in their documented formats."""

import json
import zipfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests import transcripts_kit as kit
from tests.transcripts_kit import Said, Tree, stamp

PER_CONVERSATION = 40


def spoken(count: int) -> list[Said]:
    """Return what people and assistants say, without tools."""
    return [
        Said("assistant" if said.role == "tool" else said.role, said.content, said.said_at) for said in kit.turns(count)
    ]


def _conversations(said: Sequence[Said]) -> list[Sequence[Said]]:
    return [said[place : place + PER_CONVERSATION] for place in range(0, len(said), PER_CONVERSATION)]


def _uuid(number: int) -> str:
    return f"7a0cbd52-0000-4000-8000-{number:012x}"


def chatgpt(path: Path, said: Sequence[Said]) -> Path:
    """Write a zip file of ChatGPT, with an edited prompt, thoughts, a hidden message and a call of a tool in each."""
    trees = [_chatgpt_tree(number, several) for number, several in enumerate(_conversations(said))]
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("user.json", json.dumps({"email": "ada@example.org"}))
        packed.writestr("conversations-000.json", json.dumps(trees[:10]))
        packed.writestr("conversations-001.json", json.dumps(trees[10:]))
    return path


def _chatgpt_tree(number: int, said: Sequence[Said]) -> Tree:
    nodes: dict[str, Tree] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}

    def add(parent: str, author: Tree, content: Tree, **more: Any) -> str:
        own = _uuid(number * 10_000 + len(nodes))
        message = {"id": own, "author": author, "content": content, "recipient": "all", "metadata": {}, **more}
        nodes[own] = {"id": own, "message": message, "parent": parent, "children": []}
        nodes[parent]["children"].append(own)
        return own

    def text(*parts: Any) -> Tree:
        return {"content_type": "text", "parts": list(parts)}

    hidden = {"is_visually_hidden_from_conversation": True}
    last = add("root", {"role": "system"}, text(""), metadata=hidden, create_time=None)
    profile = {"content_type": "user_editable_context", "user_profile": "never read"}
    last = add(last, {"role": "user"}, profile, metadata=hidden, create_time=None)
    for each in said:
        add(last, {"role": each.role}, text("an earlier version of it"), create_time=each.said_at.timestamp() - 5)
        last = add(last, {"role": each.role}, text(each.content), create_time=each.said_at.timestamp())
        if each.role == "assistant":
            add(last, {"role": "assistant"}, {"content_type": "thoughts", "thoughts": []})
    return {
        "title": f"Talk {number}",
        "create_time": said[0].said_at.timestamp(),
        "mapping": nodes,
        "current_node": last,
        "conversation_id": _uuid(number),
        "id": _uuid(number),
    }


def claude(path: Path, said: Sequence[Said]) -> Path:
    """Write a zip file of Claude, with thoughts, tools and an attachment."""
    trees: list[Tree] = [
        {
            "uuid": _uuid(number),
            "name": f"Talk {number}",
            "created_at": stamp(several[0].said_at),
            "account": {"uuid": _uuid(1)},
            "chat_messages": [
                {
                    "uuid": _uuid((number + 1) * 10_000 + place),
                    "text": each.content,
                    "content": [
                        {"type": "thinking", "thinking": "never read"},
                        {"type": "text", "text": each.content, "citations": []},
                        {"type": "tool_use", "name": "search", "input": {"q": "never read"}},
                    ],
                    "sender": "human" if each.role == "user" else "assistant",
                    "created_at": stamp(each.said_at),
                    "attachments": [{"file_name": "notes.txt", "extracted_content": "never read"}],
                    "files": [],
                }
                for place, each in enumerate(several)
            ],
        }
        for number, several in enumerate(_conversations(said))
    ]
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("conversations.json", json.dumps(trees))
        packed.writestr("users.json", "[]")
    return path


def mem0(path: Path, said: Sequence[Said], *users: str) -> Path:
    results = [
        {
            "id": _uuid(number),
            "memory": each.content,
            "hash": "0" * 32,
            "metadata": {"place": "work"},
            "categories": ["code"],
            "created_at": each.said_at.isoformat(),
            "updated_at": None,
            "user_id": users[number % len(users)] if users else "ada",
        }
        for number, each in enumerate(said)
    ]
    path.write_text(json.dumps({"results": results}))
    return path


def zep(path: Path, said: Sequence[Said]) -> Path:
    """Write threads with their messages, and an edge that is over beside one that is not."""
    threads = [
        {
            "thread_id": f"thread-{number}",
            "user_id": "ada",
            "messages": [
                {
                    "uuid": _uuid(number * 10_000 + place),
                    "role": each.role,
                    "name": "Ada" if each.role == "user" else None,
                    "content": each.content,
                    "created_at": stamp(each.said_at),
                    "processed": True,
                }
                for place, each in enumerate(several)
            ],
        }
        for number, several in enumerate(_conversations(said))
    ]
    edge: Tree = {"name": "LIVES_IN", "created_at": "2026-05-20T08:00:00Z", "expired_at": None, "episodes": []}
    edges = [
        {**edge, "uuid": _uuid(9_000_001), "fact": "Ada lives in Bergen.", "valid_at": "2026-05-20T08:00:00Z"},
        {
            **edge,
            "uuid": _uuid(9_000_002),
            "fact": "Ada lives in Oslo.",
            "valid_at": "2026-01-05T08:00:00Z",
            "invalid_at": "2026-05-20T08:00:00Z",
        },
    ]
    path.write_text(json.dumps({"threads": threads, "edges": edges}))
    return path


def letta(path: Path, said: Sequence[Said]) -> Path:
    """Write an agent file: prompts packed as the server packs them, answers by send_message, heartbeats between."""
    messages: list[Tree] = [{"role": "system", "content": [{"type": "text", "text": "never read"}], "id": "message-0"}]

    def add(role: str, text: str, at: str, **more: Any) -> None:
        parts = [{"type": "text", "text": text}]
        messages.append({"id": f"message-{len(messages)}", "role": role, "content": parts, "created_at": at, **more})

    for each in said:
        at = stamp(each.said_at)
        if each.role == "user":
            add("user", json.dumps({"type": "user_message", "message": each.content, "time": at}), at)
        else:
            spoken = json.dumps({"message": each.content})
            call = {"id": "call_1", "type": "function", "function": {"name": "send_message", "arguments": spoken}}
            add("assistant", "never read", at, tool_calls=[call])
            add("tool", json.dumps({"status": "OK", "message": "None"}), at, name="send_message", tool_call_id="call_1")
            add("user", json.dumps({"type": "heartbeat", "reason": "never read", "time": at}), at)
    agent = {"id": "agent-0", "name": "helper", "messages": messages, "in_context_message_ids": []}
    blocks = [{"id": "block-0", "label": "human", "value": "Ada writes Rust."}]
    path.write_text(json.dumps({"agents": [agent], "blocks": blocks, "tools": [], "metadata": {}}))
    return path


def jsonl(path: Path, said: Sequence[Said]) -> Path:
    lines = [{"role": each.role, "content": each.content, "said_at": stamp(each.said_at)} for each in said]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def transcripts(home: Path, count: int, *, agent: str, sessions: int = 50) -> list[Said]:
    """Fill a home with transcripts of an agent, and return what was said."""
    every: list[Said] = []
    for number in range(sessions):
        begun = kit.BEGUN + timedelta(hours=number)
        said = list(kit.turns(count // sessions, begun=begun, seed=number))
        own = kit.thread_id(number)
        if agent == "codex":
            kit.write(kit.codex_path(home, own, begun=begun), kit.codex(said, thread=own))
        else:
            kit.write(kit.claude_path(home, own), kit.claude_code(said, session=own))
        every += said
    return every


WRITERS = {"chatgpt": chatgpt, "claude": claude, "mem0": mem0, "zep": zep, "letta": letta, "jsonl": jsonl}
