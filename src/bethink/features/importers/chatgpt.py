"""Reads the data export of ChatGPT: a zip file with `conversations.json`, in large ones `conversations-000.json` on."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from bethink.agents.transcripts.lines import at, id_at, mapping, objects, shortened, text_at
from bethink.errors import BethinkError, Invalid
from bethink.features.importers.items import Destination, ImportedMessage, Item, UnreadableItem, json_files, when
from bethink.model.records import Message, conversation_key

_EXPORT = "the zip file of ChatGPT's data export, or its conversations.json"
_ROLES = ("user", "assistant", "tool")
_WRITTEN = ("text", "multimodal_text", "execution_output", "tether_quote", "tether_browsing_display")
"""The types of content that were said or shown. Thoughts, custom instructions and calls of tools are others."""


def read(path: Path) -> Iterator[Item]:
    """Yield the messages of every conversation, as it reads today: of an edited message only the last version."""
    for name, tree in json_files(path, "conversations*.json", _EXPORT):
        found = [each for each in objects(tree) if isinstance(each.get("mapping"), dict)]
        if tree != [] and not found:
            raise Invalid(f"{name} is not an export of ChatGPT.", hint=f"Give {_EXPORT}.")
        for conversation in found:
            yield from _conversation(conversation)


def _conversation(tree: Mapping[str, Any]) -> Iterator[Item]:
    own = id_at(tree, "conversation_id") or id_at(tree, "id") or "unnamed"
    to = Destination(conversation_key("chatgpt", own), "chatgpt")
    title = text_at(tree, "title")
    for node, said in _branch(tree):
        try:
            message = _message(node, said, title, tree)
        except BethinkError as error:
            yield UnreadableItem(f"conversation {own}, message {node}", str(error))
        else:
            if message is not None:
                yield ImportedMessage(f"conversation {own}, message {node}", to, message)


def _branch(tree: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the messages from the first to the current one; of a tree that names none, all of them."""
    nodes: Mapping[str, Any] = tree["mapping"]
    name, seen = text_at(tree, "current_node"), dict[str, None]()
    while name is not None and name in nodes and name not in seen:
        seen[name] = None
        name = text_at(nodes, name, "parent")
    order = list(reversed(seen)) or list(nodes)
    return [(each, message) for each in order if isinstance(message := at(nodes, each, "message"), dict)]


def _message(node: str, said: Mapping[str, Any], title: str | None, tree: Mapping[str, Any]) -> Message | None:
    role, kind = at(said, "author", "role"), at(said, "content", "content_type")
    hidden = at(said, "metadata", "is_visually_hidden_from_conversation") is True
    called = role == "assistant" and said.get("recipient") not in (None, "all")
    if role not in _ROLES or kind not in _WRITTEN or hidden or called:
        return None
    text = _text(said).strip()
    if not text:
        return None
    return Message(
        role=role,
        content=shortened(text) if role == "tool" else text,
        name=(id_at(said, "author", "name") or "chatgpt") if role == "tool" else None,
        said_at=when(said.get("create_time")) or when(tree.get("create_time")),
        idempotency_key=f"chatgpt:{id_at(said, 'id') or id_at({'id': node}, 'id')}",
        metadata={"title": title} if title else {},
    )


def _text(said: Mapping[str, Any]) -> str:
    parts = at(said, "content", "parts")
    if not isinstance(parts, list):
        return text_at(said, "content", "text") or text_at(said, "content", "result") or ""
    texts = (each if isinstance(each, str) else text_at(mapping(each), "text") for each in cast("list[Any]", parts))
    return "\n".join(filter(None, texts))
