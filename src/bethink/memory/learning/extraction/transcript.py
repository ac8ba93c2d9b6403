"""Format records for a model: who said what and when, without the texts that memory itself inserted."""

import re
from collections.abc import Sequence
from datetime import datetime

from bethink.extend import Tokens
from bethink.model.framing import ENVELOPE, remove_frames
from bethink.model.records import Message, Record, Role
from bethink.model.text import canonical_json

# All repetitions are bounded: messages are untrusted, and must not make a regex run for long.
_ORIGIN = re.compile(r"\borigin=[\"']?([^\"'\s]{1,200})", re.IGNORECASE)
_HEADING = re.compile(r"((?:^|[\r\v\f\x85\u2028\u2029])[^\S\n]{0,8})(#{1,6}\s)", re.MULTILINE)
_MAX_TOOL_TEXT = 2_000
_HIDDEN = frozenset({"internal", "reasoning"})
_TITLES = {Role.USER: "User", Role.ASSISTANT: "Assistant", Role.SYSTEM: "System Message"}


def entry(record: Record) -> str:
    """Return one record as Markdown, or an empty string if memory should not see it."""
    message = record.message
    hidden = message.metadata.get("type")
    if hidden in _HIDDEN or message.origin == "memory":
        return ""
    text = _HEADING.sub(r"\1\\\2", _set_apart(remove_frames(message.content))).strip()
    if hidden == "note":
        return f"> Note [{record.number}]: {text}" if text else ""
    if message.role is Role.TOOL:
        return _tool(record, text)
    calls = [f"(calls {_call(call)})" for call in message.tool_calls]
    body = "\n".join(part for part in (text, *calls) if part)
    if not body:
        return ""
    return f"## {_TITLES[Role(message.role)]} [{record.number}] {_time_of(message, record)}\n\n{body}"


def transcript(records: Sequence[Record]) -> str:
    """Return records as one Markdown transcript; empty if memory should see none of them."""
    return "\n\n".join(filter(None, map(entry, records)))


def fitting(entries: Sequence[str], *, budget: int, tokens: Tokens) -> list[str]:
    """Keep the head and the tail of a transcript within a token budget, with a note on how much is left out."""
    costs = [tokens.count(text) + 2 for text in entries]
    if sum(costs) <= budget:
        return list(entries)
    head = tail = 0
    remaining = budget
    # The head gives the context and the tail the result: take from both in turn until the budget is used.
    while head + tail < len(entries):
        from_head = head <= tail
        cost = costs[head] if from_head else costs[-1 - tail]
        if cost > remaining:
            break
        remaining -= cost
        head, tail = (head + 1, tail) if from_head else (head, tail + 1)
    left_out = len(entries) - head - tail
    return [*entries[:head], f"[… {left_out} left out …]", *entries[len(entries) - tail :]]


def shorten(text: str, *, budget: int, tokens: Tokens) -> str:
    """Keep both ends of a text that is longer than a token budget."""
    cost = tokens.count(text)
    if cost <= budget:
        return text
    half = max(1, len(text) * budget // cost // 2)
    return f"{text[:half]}\n[… {cost - budget} tokens left out …]\n{text[-half:]}"


def stamp(at: datetime) -> str:
    """Format a moment for a model, with the weekday."""
    return at.strftime("%Y-%m-%d %H:%M UTC (%A)")


def _time_of(message: Message, record: Record) -> str:
    return stamp(message.said_at or record.recorded_at)


def _tool(record: Record, text: str) -> str:
    if not text:
        return ""
    short = (
        text if len(text) <= _MAX_TOOL_TEXT else f"{text[: _MAX_TOOL_TEXT // 2]}\n[…]\n{text[-_MAX_TOOL_TEXT // 2 :]}"
    )
    quoted = "\n".join(f"> {line}" for line in short.splitlines())
    name = " ".join((record.message.name or "unnamed").split())
    return f"## Tool {name} [{record.number}] {_time_of(record.message, record)}\n\n{quoted}"


def _call(call: object) -> str:
    text = canonical_json(call, remove_frames)
    return text if len(text) <= _MAX_TOOL_TEXT // 4 else f"{text[: _MAX_TOOL_TEXT // 4]}…"


def _set_apart(text: str) -> str:
    return ENVELOPE.sub(_mark, text)


def _mark(tag: re.Match[str]) -> str:
    if tag[1]:
        return "\n"
    origin = _ORIGIN.search(tag[2])
    return f"\n> System message (origin: {origin[1] if origin else 'unknown'})\n"
