"""Reads the data export of Claude: a zip file with `conversations.json`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bethink.agents.transcripts.lines import id_at, objects, text_at
from bethink.errors import BethinkError, Invalid
from bethink.features.importers.items import Destination, ImportedMessage, Item, UnreadableItem, json_files, when
from bethink.model.records import Message, conversation_key

_EXPORT = "the zip file of Claude's data export, or its conversations.json"
_ROLES = {"human": "user", "assistant": "assistant"}


def read(path: Path) -> Iterator[Item]:
    """Yield what was said in every conversation. Thoughts and the output of tools are left out."""
    for name, tree in json_files(path, "conversations*.json", _EXPORT):
        found = [each for each in objects(tree) if isinstance(each.get("chat_messages"), list)]
        if tree != [] and not found:
            raise Invalid(f"{name} is not an export of Claude.", hint=f"Give {_EXPORT}.")
        for conversation in found:
            own = id_at(conversation, "uuid") or "unnamed"
            to = Destination(conversation_key("claude", own), "claude")
            for number, said in enumerate(objects(conversation["chat_messages"]), 1):
                place = f"conversation {own}, message {number}"
                try:
                    message = _message(said, conversation, f"{own}:{number}")
                except BethinkError as error:
                    yield UnreadableItem(place, str(error))
                else:
                    if message is not None:
                        yield ImportedMessage(place, to, message)


def _message(said: Mapping[str, Any], conversation: Mapping[str, Any], other: str) -> Message | None:
    role = _ROLES.get(str(said.get("sender")))
    parts = [text_at(part, "text") for part in objects(said.get("content")) if part.get("type") == "text"]
    text = ("\n".join(filter(None, parts)) or text_at(said, "text") or "").strip()
    files = [text_at(each, "file_name") for name in ("attachments", "files") for each in objects(said.get(name))]
    if role is None or not text:
        return None
    about = {"title": text_at(conversation, "name"), "files": list(filter(None, files))}
    return Message(
        role=role,
        content=text,
        said_at=when(said.get("created_at")) or when(conversation.get("created_at")),
        idempotency_key=f"claude:{id_at(said, 'uuid') or other}",
        metadata={name: value for name, value in about.items() if value},
    )
