"""forbid-tool: tools of the agent itself that must not be called."""

import re

from bethink.features.guard.check import BREACHED, UNKNOWN, GuardCheck, GuardVerdict
from bethink.features.guard.events import COMMAND, TOOL
from bethink.features.guard.sentences.mentions import has
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check

_AGENTS = ("Agent", "Task", "spawn_agent", "spawn_agents", "dispatch_agent")
_WEB = ("WebSearch", "WebFetch", "web_search", "web_fetch", "web.search", "browser")
_SERVER = re.compile(
    r"\b([\w-]+) (?:mcp|tools? (?:via|over|through) mcp)\b|\bmcp[- ](?:server|tools?) (?:of |named |called "
    r")?[`\"']?([\w-]+)",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b(WebSearch|WebFetch|TodoWrite|NotebookEdit|MultiEdit|Glob|Grep|Task|mcp__\w+)\b")


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for "no subagents", "no web search" and "do not use the X MCP server"."""
    text = sentence.text
    if not has("negation", text):
        return None
    if has("subagent", text):
        return make_check("forbid-tool", sentence, phrases=_AGENTS, value="agents")
    if has("web", text):
        return make_check("forbid-tool", sentence, phrases=_WEB, value="web")
    if (match := _SERVER.search(text)) is not None:
        name = (match[1] or match[2] or "").lower()
        if name not in ("the", "any", "an", "no", "your", "server", "servers", "tools"):
            return make_check("forbid-tool", sentence, phrases=(f"mcp__{name}__",), value="mcp")
    if (match := _NAMED.search(text)) is not None and re.search(r"\b(?:tool|use|call|Tool|Werkzeug)\b", text):
        return make_check("forbid-tool", sentence, phrases=(match[1],), value="tool")
    return None


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge the name of the tool that is called."""
    event = moment.event
    if event.kind == COMMAND and check.value == "web":
        reaches_out = any(
            command.program in ("curl", "wget", "lynx", "w3m") and any(_is_remote(text) for text in command.texts)
            for command in event.script.commands
        )
        return GuardVerdict(result=UNKNOWN, matched="a download") if reaches_out else NOT_CONCERNED
    if event.kind != TOOL:
        return NOT_CONCERNED
    is_banned = any(
        event.tool == name
        or (name.endswith("__") and event.tool.lower().replace("-", "_").startswith(name.replace("-", "_")))
        for name in check.phrases
    )
    return GuardVerdict(result=BREACHED, matched=event.tool) if is_banned else NOT_CONCERNED


def _is_remote(text: str) -> bool:
    is_local = re.match(r"(?:https?://)?(?:localhost|127\.|0\.0\.0\.0|\[::1\]|[\w-]+\.local\b|10\.|192\.168\.)", text)
    return text.startswith(("http://", "https://")) and is_local is None


SHAPE = Shape(name="forbid-tool", order=35, parse=parse, judge=judge)
