"""Messages as callers pass them: a string, or a list of messages as in the model APIs."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Annotated, Any, cast

from bethink.errors import BethinkError, InvalidFieldError, InvalidRequestError
from bethink.model.checks import Cleaned, Length
from bethink.model.records import Message, Role, message_from

MessagesLike = str | Iterable[Message | Mapping[str, object]]
"""Values that are accepted as messages."""


def messages_from(messages: MessagesLike) -> tuple[Message, ...]:
    """Convert a value to messages. A string becomes one user message.

    Raises:
        InvalidRequestError: for an empty string, or a value that is not a message.
    """
    value = cast("object", messages)
    if isinstance(value, str):
        if not value.strip():
            raise InvalidRequestError("`messages` is an empty string.", hint="Pass text, or a list of messages.")
        return (Message(role="user", content=value),)
    if isinstance(value, Mapping | Message):
        raise InvalidRequestError(
            "`messages` must be a list, not a single message.", hint="Pass a list, such as [message]."
        )
    if isinstance(value, bytes) or not hasattr(value, "__iter__"):
        kind = type(messages).__name__
        raise InvalidRequestError(f"`messages` must be text or a list of messages, not {kind}.", hint="Pass [message].")
    return tuple(map(message_from, cast("Iterable[Message | Mapping[str, object]]", value)))


class _ReadsMessages:
    """Reads messages from JSON in the same forms as from Python."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        return {
            "type": "function-before",
            "function": {"type": "no-info", "function": _parse_messages},
            "schema": handler(source),
        }

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        array = handler(schema)
        properties = handler.resolve_ref_schema(array["items"])["properties"]
        properties["role"] = {"enum": [*map(str, Role), "developer"], "type": "string"}
        properties["content"] = {"anyOf": [{"type": "string"}, {"type": "array", "items": _PART}, _NULL]}
        for name, definition in properties.items():
            if name != "role" and _NULL not in definition.get("anyOf", ()):
                properties[name] = {"anyOf": [definition, _NULL]}
        text = {"type": "string", "minLength": 1, "pattern": r"\S"}
        return {"anyOf": [text, array]}


_NULL = {"type": "null"}
_PART = {"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}}}
_FIELD_NAMES = frozenset(member.name for member in fields(Message))


_LENGTH = Length(0, 1_000)


def _parse_messages(value: Any) -> tuple[Message, ...]:
    if isinstance(value, list):
        _LENGTH.check("", cast("list[Any]", value))  # before each is parsed
        return tuple(_parse_message(index, item) for index, item in enumerate(cast("list[Any]", value)))
    try:
        return messages_from(value)
    except BethinkError as error:
        raise ValueError(str(error)) from error


def _parse_message(index: int, value: Any) -> Message:
    if isinstance(value, Mapping):
        for name in cast("Mapping[str, object]", value):
            if name not in _FIELD_NAMES:
                raise InvalidFieldError(f"{index}.{name}", "unknown field", hint="")
        if "role" not in value:
            raise InvalidFieldError(f"{index}.role", "is required", hint="")
    try:
        return message_from(cast("Mapping[str, object]", value))
    except InvalidFieldError as error:
        raise InvalidFieldError(f"{index}.{error.field}", _message_without_field(error), hint=error.hint) from error
    except BethinkError as error:
        raise InvalidFieldError(str(index), str(error), hint=error.hint) from error


def _message_without_field(error: InvalidFieldError) -> str:
    return str(error.args[0]).removeprefix(f"{error.field} ")


Messages = Annotated[tuple[Message, ...], Length(1, 1_000), Cleaned(), _ReadsMessages()]
"""The messages of a request."""

AnyMessages = Annotated[tuple[Message, ...], Length(0, 1_000), Cleaned(), _ReadsMessages()]
"""The messages of a request, possibly none, so that a loop can append without checking for new messages."""
