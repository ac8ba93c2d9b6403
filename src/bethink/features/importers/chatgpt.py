"""Reads ChatGPT data exports: zip files with `conversations.json`, or `conversations-000.json` and so on."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from bethink.agents.transcripts.lines import id_at, mapping, objects, shorten, text_at, value_at
from bethink.errors import BethinkError, InvalidRequestError
from bethink.features.importers.items import Destination, ImportedMessage, Item, UnreadableItem, json_files, parse_time
from bethink.model.records import Message, conversation_key

_EXPORT = "the zip file of ChatGPT's data export, or its conversations.json"
_ROLES = ("user", "assistant", "tool")
_CONTENT_TYPES = ("text", "multimodal_text", "execution_output", "tether_quote", "tether_browsing_display")
"""Content types of visible messages. Thinking, custom instructions and tool calls have other types."""


def read_items(path: Path) -> Iterator[Item]:
    """Yield the messages of every conversation, with only the last version of edited messages."""
    for name, tree in json_files(path, "conversations*.json", _EXPORT):
        conversations = [tree_item for tree_item in objects(tree) if isinstance(tree_item.get("mapping"), dict)]
        if tree != [] and not conversations:
            raise InvalidRequestError(f"{name} is not a ChatGPT export.", hint=f"Use {_EXPORT}.")
        for conversation in conversations:
            yield from _conversation(conversation)


def _conversation(tree: Mapping[str, Any]) -> Iterator[Item]:
    own = id_at(tree, "conversation_id") or id_at(tree, "id") or "unnamed"
    to = Destination(conversation_key("chatgpt", own), "chatgpt")
    title = text_at(tree, "title")
    for node, entry in _branch(tree):
        try:
            message = _message(node, entry, title, tree)
        except BethinkError as error:
            yield UnreadableItem(f"conversation {own}, message {node}", str(error))
        else:
            if message is not None:
                yield ImportedMessage(f"conversation {own}, message {node}", to, message)


def _branch(tree: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the messages from the first to the current one, or all if no current one is set."""
    nodes: Mapping[str, Any] = tree["mapping"]
    name, path = text_at(tree, "current_node"), dict[str, None]()
    while name is not None and name in nodes and name not in path:
        path[name] = None
        name = text_at(nodes, name, "parent")
    order = list(reversed(path)) or list(nodes)
    return [(node, message) for node in order if isinstance(message := value_at(nodes, node, "message"), dict)]


def _message(node: str, entry: Mapping[str, Any], title: str | None, tree: Mapping[str, Any]) -> Message | None:
    role, kind = value_at(entry, "author", "role"), value_at(entry, "content", "content_type")
    hidden = value_at(entry, "metadata", "is_visually_hidden_from_conversation") is True
    is_tool_call = role == "assistant" and entry.get("recipient") not in (None, "all")
    if role not in _ROLES or kind not in _CONTENT_TYPES or hidden or is_tool_call:
        return None
    text = _text(entry).strip()
    if not text:
        return None
    return Message(
        role=role,
        content=shorten(text) if role == "tool" else text,
        name=(id_at(entry, "author", "name") or "chatgpt") if role == "tool" else None,
        said_at=parse_time(entry.get("create_time")) or parse_time(tree.get("create_time")),
        idempotency_key=f"chatgpt:{id_at(entry, 'id') or id_at({'id': node}, 'id')}",
        metadata={"title": title} if title else {},
    )


def _text(entry: Mapping[str, Any]) -> str:
    parts = value_at(entry, "content", "parts")
    if not isinstance(parts, list):
        return text_at(entry, "content", "text") or text_at(entry, "content", "result") or ""
    texts = (part if isinstance(part, str) else text_at(mapping(part), "text") for part in cast("list[Any]", parts))
    return "\n".join(filter(None, texts))
