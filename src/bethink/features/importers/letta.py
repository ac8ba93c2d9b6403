"""Reads agent files of Letta (`.af`): an agent's messages, and its memory blocks as documents."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bethink.agents.transcripts.lines import as_object, id_at, mapping, objects, shorten, text_at, value_at
from bethink.errors import BethinkError, InvalidRequestError
from bethink.features.importers.items import (
    Destination,
    ImportedDocument,
    ImportedMessage,
    Item,
    UnreadableItem,
    json_files,
    parse_time,
)
from bethink.model.documents import DocumentDraft
from bethink.model.records import Message, conversation_key

_EXPORT = "an agent file of Letta: NAME.af"
_ODD = re.compile(r"[^a-z0-9]+")
_SEND_TOOL = "send_message"
"""The tool that older agents use to answer the user."""


def read_items(path: Path) -> Iterator[Item]:
    """Yield the messages of every agent in the file, then the memory blocks. Program messages are skipped."""
    for name, content in json_files(path, "*.af", _EXPORT):
        tree = mapping(content)
        agents = objects(tree.get("agents"))
        if not agents and isinstance(tree.get("messages"), list):
            agents = [tree]  # a file of the first version has one agent, with its blocks in core_memory
        if not agents:
            raise InvalidRequestError(f"{name} is not a Letta agent file.", hint=f"Use {_EXPORT}.")
        for agent in agents:
            yield from _agent(agent)
        for block in objects(tree.get("blocks")) or objects(tree.get("core_memory")):
            yield from _block(block)


def _agent(agent: Mapping[str, Any]) -> Iterator[Item]:
    own = id_at(agent, "name") or id_at(agent, "id") or "agent"
    to = Destination(conversation_key("letta", own), "letta")
    for number, entry in enumerate(objects(agent.get("messages")), 1):
        location = f"agent {own}, message {number}"
        try:
            message = _message(entry, f"{own}:{number}")
        except BethinkError as error:
            yield UnreadableItem(location, str(error))
        else:
            if message is not None:
                yield ImportedMessage(location, to, message)


def _message(entry: Mapping[str, Any], other: str) -> Message | None:
    role = entry.get("role")
    extract = {"user": _user_text, "assistant": _assistant_text, "tool": _tool_text}.get(str(role))
    text = "" if extract is None else extract(entry).strip()
    if not text:
        return None
    return Message(
        role=str(role),
        content=text,
        name=id_at(entry, "name") if role == "tool" else None,
        said_at=parse_time(entry.get("created_at")),
        idempotency_key=f"letta:{id_at(entry, 'id') if _is_own(entry) else other}",
    )


def _is_own(entry: Mapping[str, Any]) -> bool:
    """Return whether the id is globally unique. Newer exports number the messages instead."""
    return len(text_at(entry, "id") or "") >= len("message-") + 36


def _text(entry: Mapping[str, Any]) -> str:
    content = entry.get("content") or entry.get("text")
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (text_at(part, "text") for part in objects(content) if part.get("type") == "text")))


def _user_text(entry: Mapping[str, Any]) -> str:
    text = _text(entry)
    packed = as_object(text)
    if packed is None or not isinstance(packed.get("type"), str):
        return text
    return (text_at(packed, "message") or "") if packed["type"] == "user_message" else ""


def _assistant_text(entry: Mapping[str, Any]) -> str:
    calls = objects(entry.get("tool_calls"))
    spoken = [
        text_at(as_object(str(value_at(call, "function", "arguments"))) or {}, "message")
        for call in calls
        if value_at(call, "function", "name") == _SEND_TOOL
    ]
    if spoken:  # the text next to the call is the agent's thinking
        return "\n".join(filter(None, spoken))
    return "" if calls else _text(entry)


def _tool_text(entry: Mapping[str, Any]) -> str:
    if entry.get("name") == _SEND_TOOL:
        return ""
    text = _text(entry)
    packed = as_object(text) or {}
    answer = packed.get("message", text)
    return shorten(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))


def _block(block: Mapping[str, Any]) -> Iterator[Item]:
    label, value = text_at(block, "label") or "block", text_at(block, "value")
    slug = _ODD.sub("-", label.lower()).strip("-") or "block"
    if value is None:
        return
    try:
        draft = DocumentDraft(slug=f"letta-{slug}"[:60], title=f"Letta: {label}"[:100], body=value)
        yield ImportedDocument(f"block {label}", f"letta:{slug}"[:100], draft)
    except BethinkError as error:
        yield UnreadableItem(f"block {label}", str(error))
