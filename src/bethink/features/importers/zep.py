"""Reads what Zep and Graphiti return: messages of threads or sessions, episodes, and edges of the graph."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from bethink.agents.transcripts.lines import id_at, objects, text_at
from bethink.errors import BethinkError, Invalid
from bethink.features.importers.items import (
    Destination,
    ImportedFact,
    ImportedMessage,
    Item,
    UnreadableItem,
    json_files,
    texts_only,
    when,
)
from bethink.model.facts import Fact
from bethink.model.records import Message, conversation_key

_EXPORT = "a JSON file with what Zep returned for messages, episodes or edges"
_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "tool": "tool"}
_LISTS = ("threads", "sessions", "messages", "episodes", "edges", "facts", "items")
_DEPTH = 4


def read(path: Path) -> Iterator[Item]:
    """Yield messages and episodes as messages, and each edge as a fact with the time that it was true."""
    found = False
    for name, tree in json_files(path, "*.json", _EXPORT):
        for number, (each, thread) in enumerate(_objects(tree, "", _DEPTH), 1):
            found = True
            place = f"{name}, item {number}"
            try:
                item = _edge(each, place) if text_at(each, "fact") else _message(each, thread, place)
            except BethinkError as error:
                item = UnreadableItem(place, str(error))
            yield item
    if not found:
        raise Invalid(f"{path} holds nothing of Zep.", hint=f"Give {_EXPORT}.")


def _objects(tree: Any, thread: str, depth: int) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield every message, episode and edge, and the thread that it stands in."""
    if isinstance(tree, list):
        for each in cast("list[Any]", tree):
            yield from _objects(each, thread, depth)
    elif isinstance(tree, dict) and depth:
        whole = cast("Mapping[str, Any]", tree)
        inside = id_at(whole, "thread_id") or id_at(whole, "session_id") or thread
        if text_at(whole, "fact") or text_at(whole, "content"):
            yield whole, inside
            return
        own = inside or id_at(whole, "uuid") or ""
        for name in _LISTS:
            yield from _objects(objects(whole.get(name)), own, depth - 1)


def _message(tree: Mapping[str, Any], thread: str, place: str) -> Item:
    said_by = text_at(tree, "role_type") or text_at(tree, "role") or ""
    role = _ROLES.get(said_by, "system")
    speaker = id_at(tree, "name") or (id_at(tree, "role") if text_at(tree, "role_type") else None)
    message = Message(
        role=role,
        content=tree["content"],
        name=speaker or ("zep" if role == "tool" else None),
        origin="import" if role == "system" else None,
        said_at=when(tree.get("created_at")),
        idempotency_key=f"zep:{id_at(tree, 'uuid') or place}",
    )
    return ImportedMessage(place, Destination(conversation_key("zep", thread or "episodes"), "zep"), message)


def _edge(tree: Mapping[str, Any], place: str) -> Item:
    fact = Fact(
        id=f"zep:{id_at(tree, 'uuid') or place}",
        content=tree["fact"],
        source="zep",
        valid_from=when(tree.get("valid_at")) or when(tree.get("created_at")),
        valid_to=when(tree.get("invalid_at")) or when(tree.get("expired_at")),
        metadata=texts_only({"relation": tree.get("name"), "created_at": tree.get("created_at")}),
    )
    return ImportedFact(place, fact)
