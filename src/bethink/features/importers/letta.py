"""Reads agent files of Letta (`.af`): an agent's messages, and its memory blocks as documents."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bethink.agents.transcripts.lines import as_object, at, id_at, mapping, objects, shortened, text_at
from bethink.errors import BethinkError, Invalid
from bethink.features.importers.items import (
    Destination,
    ImportedDocument,
    ImportedMessage,
    Item,
    UnreadableItem,
    json_files,
    when,
)
from bethink.model.documents import DocumentDraft
from bethink.model.records import Message, conversation_key

_EXPORT = "an agent file of Letta: NAME.af"
_ODD = re.compile(r"[^a-z0-9]+")
_SAYS = "send_message"
"""The tool by which an agent of the older kind speaks to the user."""


def read(path: Path) -> Iterator[Item]:
    """Yield the messages of every agent in the file, then the memory blocks. What the program wrote is left out."""
    for name, content in json_files(path, "*.af", _EXPORT):
        tree = mapping(content)
        agents = objects(tree.get("agents"))
        if not agents and isinstance(tree.get("messages"), list):
            agents = [tree]  # a file of the first version holds one agent, and its blocks as core_memory
        if not agents:
            raise Invalid(f"{name} is not an agent file of Letta.", hint=f"Give {_EXPORT}.")
        for agent in agents:
            yield from _agent(agent)
        for block in objects(tree.get("blocks")) or objects(tree.get("core_memory")):
            yield from _block(block)


def _agent(agent: Mapping[str, Any]) -> Iterator[Item]:
    own = id_at(agent, "name") or id_at(agent, "id") or "agent"
    to = Destination(conversation_key("letta", own), "letta")
    for number, said in enumerate(objects(agent.get("messages")), 1):
        place = f"agent {own}, message {number}"
        try:
            message = _message(said, f"{own}:{number}")
        except BethinkError as error:
            yield UnreadableItem(place, str(error))
        else:
            if message is not None:
                yield ImportedMessage(place, to, message)


def _message(said: Mapping[str, Any], other: str) -> Message | None:
    role = said.get("role")
    read = {"user": _typed, "assistant": _answered, "tool": _returned}.get(str(role))
    text = "" if read is None else read(said).strip()
    if not text:
        return None
    return Message(
        role=str(role),
        content=text,
        name=id_at(said, "name") if role == "tool" else None,
        said_at=when(said.get("created_at")),
        idempotency_key=f"letta:{id_at(said, 'id') if _is_own(said) else other}",
    )


def _is_own(said: Mapping[str, Any]) -> bool:
    """Return whether an id belongs to one message of one agent: exported anew, ids are only counted."""
    return len(text_at(said, "id") or "") >= len("message-") + 36


def _text(said: Mapping[str, Any]) -> str:
    content = said.get("content") or said.get("text")
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (text_at(part, "text") for part in objects(content) if part.get("type") == "text")))


def _typed(said: Mapping[str, Any]) -> str:
    text = _text(said)
    packed = as_object(text)
    if packed is None or not isinstance(packed.get("type"), str):
        return text
    return (text_at(packed, "message") or "") if packed["type"] == "user_message" else ""


def _answered(said: Mapping[str, Any]) -> str:
    calls = objects(said.get("tool_calls"))
    spoken = [
        text_at(as_object(str(at(call, "function", "arguments"))) or {}, "message")
        for call in calls
        if at(call, "function", "name") == _SAYS
    ]
    if spoken:  # the text beside it is what the agent thought
        return "\n".join(filter(None, spoken))
    return "" if calls else _text(said)


def _returned(said: Mapping[str, Any]) -> str:
    if said.get("name") == _SAYS:
        return ""
    text = _text(said)
    packed = as_object(text) or {}
    answer = packed.get("message", text)
    return shortened(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))


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
