"""Messages as callers hand them in: one text, or a list of messages in the shape of the model APIs."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, cast

from bethink.errors import BethinkError, Invalid
from bethink.model.checks import Length
from bethink.model.records import Message, message_from

Given = str | Iterable[Message | Mapping[str, object]]
"""What a caller may pass for messages."""


def messages_from(given: Given) -> tuple[Message, ...]:
    """Read messages; a text stands for one message of the user.

    Raises:
        Invalid: for an empty text, or for what is not a message.
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
    """Lets JSON say messages the way Python does."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        return {
            "type": "function-before",
            "function": {"type": "no-info", "function": _read},
            "schema": handler(source),
        }


def _read(given: Any) -> tuple[Message, ...]:
    try:
        return messages_from(given)
    except BethinkError as error:
        raise ValueError(str(error)) from error


Messages = Annotated[tuple[Message, ...], Length(1, 1_000), _ReadsMessages()]
"""The messages of a request."""
