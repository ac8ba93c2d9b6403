"""Reads the data export of Claude: a zip file with `conversations.json`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bethink.agents.transcripts.lines import id_at, objects, text_at
from bethink.errors import BethinkError, InvalidRequestError
from bethink.features.importers.items import Destination, ImportedMessage, Item, UnreadableItem, json_files, parse_time
from bethink.model.records import Message, conversation_key

_EXPORT = "the zip file of Claude's data export, or its conversations.json"
_ROLES = {"human": "user", "assistant": "assistant"}


def read_items(path: Path) -> Iterator[Item]:
    """Yield the messages of every conversation, without thinking and tool output."""
    for name, tree in json_files(path, "conversations*.json", _EXPORT):
        conversations = [tree_item for tree_item in objects(tree) if isinstance(tree_item.get("chat_messages"), list)]
        if tree != [] and not conversations:
            raise InvalidRequestError(f"{name} is not a Claude export.", hint=f"Use {_EXPORT}.")
        for conversation in conversations:
            own = id_at(conversation, "uuid") or "unnamed"
            to = Destination(conversation_key("claude", own), "claude")
            for number, entry in enumerate(objects(conversation["chat_messages"]), 1):
                location = f"conversation {own}, message {number}"
                try:
                    message = _message(entry, conversation, f"{own}:{number}")
                except BethinkError as error:
                    yield UnreadableItem(location, str(error))
                else:
                    if message is not None:
                        yield ImportedMessage(location, to, message)


def _message(entry: Mapping[str, Any], conversation: Mapping[str, Any], other: str) -> Message | None:
    role = _ROLES.get(str(entry.get("sender")))
    parts = [text_at(part, "text") for part in objects(entry.get("content")) if part.get("type") == "text"]
    text = ("\n".join(filter(None, parts)) or text_at(entry, "text") or "").strip()
    files = [text_at(file, "file_name") for name in ("attachments", "files") for file in objects(entry.get(name))]
    if role is None or not text:
        return None
    about = {"title": text_at(conversation, "name"), "files": list(filter(None, files))}
    return Message(
        role=role,
        content=text,
        said_at=parse_time(entry.get("created_at")) or parse_time(conversation.get("created_at")),
        idempotency_key=f"claude:{id_at(entry, 'uuid') or other}",
        metadata={name: value for name, value in about.items() if value},
    )
