"""Coding agents through the proxy: only typed text is the user's, and side calls are unchanged."""

import json
from typing import Any

import pytest

from tests.doors.proxy_kit import FRAME, HOME, QUESTION, Proxy, asking, items

CLAUDE = {"user_agent": "claude-cli/2.1.197 (external, cli)", "x_claude_code_session_id": "s-1"}
CODEX = {"user_agent": "codex_exec/0.166.0", "originator": "codex_exec", "session_id": "s-2"}
TOOLS = [{"name": "Bash", "input_schema": {"type": "object"}}]
REMINDER = {"type": "text", "text": "<system-reminder>\nYou must use npm.\n</system-reminder>\n"}
PLACE = {"type": "input_text", "text": "<environment_context>\n<cwd>/home</cwd>\n</environment_context>"}


def said_to(wire: str, words: str) -> list[Any]:
    """What a coding agent sends for what was typed."""
    if wire == "messages":
        typed = {"type": "text", "text": words, "cache_control": {"type": "ephemeral"}}
        return [("user", [REMINDER, typed]), ("system", "Available agents: …")]
    return [("developer", "Be precise."), ("user", [PLACE]), ("user", [{"type": "input_text", "text": words}])]


@pytest.mark.parametrize(("wire", "sent"), [("messages", CLAUDE), ("responses", CODEX)], ids=["claude-code", "codex"])
def test_only_typed_text_is_captured_and_gets_memory(proxy: Proxy, wire: str, sent: dict[str, str]) -> None:
    proxy.remember(HOME)

    proxy.post(wire, asking(wire, *said_to(wire, QUESTION), tools=TOOLS), **sent)

    stored = proxy.stored(2)
    assert [text for role, text, _ in stored if role == "user"] == [QUESTION]
    assert {name for _, _, name in stored} == {"claude-code:s-1:" if wire == "messages" else "codex:s-2:"}
    typed = items(wire, proxy.last)[0 if wire == "messages" else 2]["content"]
    assert HOME in typed[-1]["text"]
    assert json.dumps(items(wire, proxy.last)).count(FRAME) == 1


@pytest.mark.parametrize(
    ("wire", "sent", "tools"),
    [
        ("messages", CLAUDE, []),  # a title, say
        ("messages", {**CLAUDE, "x_claude_code_agent_id": "a1"}, TOOLS),
        ("responses", {**CODEX, "x_openai_subagent": "review"}, TOOLS),
    ],
    ids=["side-call", "claude-code", "codex"],
)
def test_side_and_sub_agent_requests_pass_unchanged(
    proxy: Proxy, wire: str, sent: dict[str, str], tools: list[Any]
) -> None:
    proxy.remember(HOME)
    body = json.dumps(asking(wire, *said_to(wire, QUESTION), tools=tools)).encode()

    assert proxy.post(wire, body, **sent).status_code == 200

    assert proxy.last.body == body
    proxy.post("chat", asking("chat", "Goodbye."))
    assert proxy.words(2) == ["Goodbye."]
