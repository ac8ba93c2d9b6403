"""Messages as callers pass them: one text, or a list of messages in the shape of the model APIs."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Annotated, Any, cast

from bethink.errors import BethinkError, Invalid
from bethink.model.checks import Cleaned, InvalidField, Length
from bethink.model.records import Message, Role, message_from

Given = str | Iterable[Message | Mapping[str, object]]
"""What a caller may pass for messages."""


def messages_from(given: Given) -> tuple[Message, ...]:
    """Convert what a caller passed to messages. A text becomes one message of the user.

    Raises:
        Invalid: for an empty text, or for a value that is not a message.
    """
    value = cast("object", given)
    if isinstance(value, str):
        if not value.strip():
            raise Invalid("the text is empty.", hint="Pass a text, or a list of messages.")
        return (Message(role="user", content=value),)
    if isinstance(value, bytes | Mapping | Message) or not hasattr(value, "__iter__"):
        kind = type(given).__name__
        raise Invalid(f"a {kind} is not a list of messages.", hint="Put it into a list.")
    return tuple(map(message_from, cast("Iterable[Message | Mapping[str, object]]", value)))


class _ReadsMessages:
    """Reads messages from JSON in the same forms as from Python."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        return {
            "type": "function-before",
            "function": {"type": "no-info", "function": _read},
            "schema": handler(source),
        }

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        described = handler(schema)
        found = handler.resolve_ref_schema(described["items"])["properties"]
        found["role"] = {"enum": [*map(str, Role), "developer"], "type": "string"}
        found["content"] = {"anyOf": [{"type": "string"}, {"type": "array", "items": _PART}, _NULL]}
        for name, each in found.items():
            if name != "role" and _NULL not in each.get("anyOf", ()):
                found[name] = {"anyOf": [each, _NULL]}
        text = {"type": "string", "minLength": 1, "pattern": r"\S"}
        return {"anyOf": [text, described]}


_NULL = {"type": "null"}
_PART = {"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}}}
_KNOWN = frozenset(each.name for each in fields(Message))


def _read(given: Any) -> tuple[Message, ...]:
    if isinstance(given, list):
        return tuple(_read_one(place, each) for place, each in enumerate(cast("list[Any]", given)))
    try:
        return messages_from(given)
    except BethinkError as error:
        raise ValueError(str(error)) from error


def _read_one(place: int, given: Any) -> Message:
    if isinstance(given, Mapping):
        for name in cast("Mapping[str, object]", given):
            if name not in _KNOWN:
                raise InvalidField(f"{place}.{name}", "unknown field", hint="")
        if "role" not in given:
            raise InvalidField(f"{place}.role", "is required", hint="")
    try:
        return message_from(cast("Mapping[str, object]", given))
    except InvalidField as error:
        raise InvalidField(f"{place}.{error.field}", _rest(error), hint=error.hint) from error
    except BethinkError as error:
        raise InvalidField(str(place), str(error), hint=error.hint) from error


def _rest(error: InvalidField) -> str:
    return str(error.args[0]).removeprefix(f"{error.field} ")


Messages = Annotated[tuple[Message, ...], Length(1, 1_000), Cleaned(), _ReadsMessages()]
"""The messages of a request."""

AnyMessages = Annotated[tuple[Message, ...], Length(0, 1_000), Cleaned(), _ReadsMessages()]
"""The messages of a request that may be empty, so that a loop need not check whether there is anything new."""
