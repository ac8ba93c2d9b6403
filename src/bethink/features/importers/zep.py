"""Reads responses of Zep and Graphiti: messages of threads or sessions, episodes and graph edges."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from bethink.agents.transcripts.lines import id_at, objects, text_at
from bethink.errors import BethinkError, InvalidRequestError
from bethink.features.importers.items import (
    Destination,
    ImportedFact,
    ImportedMessage,
    Item,
    UnreadableItem,
    json_files,
    parse_time,
    without_empty,
)
from bethink.model.facts import Fact
from bethink.model.records import Message, conversation_key

_EXPORT = "a JSON file with what Zep returned for messages, episodes or edges"
_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "tool": "tool"}
_LISTS = ("threads", "sessions", "messages", "episodes", "edges", "facts", "items")
_DEPTH = 4


def read_items(path: Path) -> Iterator[Item]:
    """Yield messages and episodes as messages, and edges as facts with their valid time."""
    has_items = False
    for name, tree in json_files(path, "*.json", _EXPORT):
        for number, (tree_item, thread) in enumerate(_objects(tree, "", _DEPTH), 1):
            has_items = True
            location = f"{name}, item {number}"
            try:
                item = (
                    _edge(tree_item, location) if text_at(tree_item, "fact") else _message(tree_item, thread, location)
                )
            except BethinkError as error:
                item = UnreadableItem(location, str(error))
            yield item
    if not has_items:
        raise InvalidRequestError(f"{path} contains no Zep data.", hint=f"Use {_EXPORT}.")


def _objects(tree: Any, thread: str, depth: int) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield every message, episode and edge with its thread."""
    if isinstance(tree, list):
        for child in cast("list[Any]", tree):
            yield from _objects(child, thread, depth)
    elif isinstance(tree, dict) and depth:
        node = cast("Mapping[str, Any]", tree)
        inside = id_at(node, "thread_id") or id_at(node, "session_id") or thread
        if text_at(node, "fact") or text_at(node, "content"):
            yield node, inside
            return
        own = inside or id_at(node, "uuid") or ""
        for name in _LISTS:
            yield from _objects(objects(node.get(name)), own, depth - 1)


def _message(tree: Mapping[str, Any], thread: str, location: str) -> Item:
    author = text_at(tree, "role_type") or text_at(tree, "role") or ""
    role = _ROLES.get(author, "system")
    speaker = id_at(tree, "name") or (id_at(tree, "role") if text_at(tree, "role_type") else None)
    message = Message(
        role=role,
        content=tree["content"],
        name=speaker or ("zep" if role == "tool" else None),
        origin="import" if role == "system" else None,
        said_at=parse_time(tree.get("created_at")),
        idempotency_key=f"zep:{id_at(tree, 'uuid') or location}",
    )
    return ImportedMessage(location, Destination(conversation_key("zep", thread or "episodes"), "zep"), message)


def _edge(tree: Mapping[str, Any], location: str) -> Item:
    fact = Fact(
        id=f"zep:{id_at(tree, 'uuid') or location}",
        text=tree["fact"],
        source="zep",
        valid_from=parse_time(tree.get("valid_at")) or parse_time(tree.get("created_at")),
        valid_to=parse_time(tree.get("invalid_at")) or parse_time(tree.get("expired_at")),
        metadata=without_empty({"relation": tree.get("name"), "created_at": tree.get("created_at")}),
    )
    return ImportedFact(location, fact)
