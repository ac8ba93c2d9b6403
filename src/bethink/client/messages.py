"""Messages as they are sent: each with an idempotency key, so that sending them again stores nothing twice."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from bethink.client.wire import checked
from bethink.model.ids import new_id
from bethink.model.records import Message, keyed, message_from


def drafts_of(
    what: str | Iterable[Message | Mapping[str, object]], idempotency_key: str | None
) -> list[dict[str, Any]]:
    """List what is to be stored; those without a key get the given one, or a new one, and their place."""
    messages = [Message(role="user", content=what)] if isinstance(what, str) else [message_from(each) for each in what]
    return [_members(message) for message in keyed(messages, idempotency_key or new_id("call"))]


def _members(message: Message) -> dict[str, Any]:
    """Return what was said of a message; the rest follows at the other end as it did here."""
    bare = Message(role=message.role, name=message.name, content="")
    members = {field.name: getattr(message, field.name) for field in fields(message)}
    kept = {name: value for name, value in members.items() if value != getattr(bare, name)}
    kept |= {name: checked(kept[name]) for name in ("metadata", "tool_calls") if name in kept}
    return {
        "role": message.role,
        "content": message.content,
        **kept,
        **({"name": message.name} if message.name else {}),
    }
