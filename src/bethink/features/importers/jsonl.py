"""Reads JSON Lines: one message per line, as `bethink data export` writes them."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any, cast

from bethink.errors import BethinkError, InvalidRequestError
from bethink.features.importers.items import Destination, ImportedMessage, Item, UnreadableItem
from bethink.model.records import Message, checked_name, message_from

_LINE = "Write one JSON object per line, with role and content."
_NAMES = ("conversation", "agent", "session", "learns")


def read_items(path: Path, *, conversation: str = "import") -> Iterator[Item]:
    """Yield the message of each line. Without an idempotency_key, the key is the line number and the file's digest.

    Raises:
        InvalidRequestError: for an empty file.
    """
    digest = _digest(path)
    with path.open("rb") as source:
        for number, raw in enumerate(source, 1):
            if raw.strip():
                location = f"line {number}"
                try:
                    yield message_of(raw, location, f"import:{digest}:{number}", conversation)
                except (BethinkError, ValueError, TypeError, RecursionError) as error:
                    yield UnreadableItem(location, str(error))


def _digest(path: Path) -> str:
    digest, empty = hashlib.sha256(), True
    with path.open("rb") as source:
        for line in source:
            digest.update(line)
            empty = empty and not line.strip()
    if empty:
        raise InvalidRequestError("The file is empty.", hint=_LINE)
    return digest.hexdigest()[:32]


def message_of(raw: bytes, location: str, key: str, conversation: str) -> ImportedMessage:
    """Read one line. Raises `InvalidRequestError`, `ValueError` or `TypeError` for anything but a message."""
    tree = _tree(raw)
    to = Destination(
        _word(tree, "conversation", conversation),
        _word(tree, "agent", "assistant"),
        _word(tree, "session", ""),
        tree.get("learns", True) is not False,
    )
    checked_name(to.conversation, "a conversation")
    fields: Mapping[str, object] = {name: value for name, value in tree.items() if name not in _NAMES}
    _check_names(fields)
    return ImportedMessage(
        location, to, message_from({**fields, "idempotency_key": tree.get("idempotency_key") or key})
    )


def _tree(raw: bytes) -> dict[str, Any]:
    try:
        tree: object = json.loads(raw)
    except json.JSONDecodeError as error:
        raise InvalidRequestError(f"Invalid JSON at column {error.colno}: {error.msg}.", hint=_LINE) from error
    except UnicodeDecodeError as error:
        raise InvalidRequestError("The line is not UTF-8.", hint=_LINE) from error
    except RecursionError as error:
        raise InvalidRequestError("The JSON is nested too deeply.", hint=_LINE) from error
    if not isinstance(tree, dict):
        raise InvalidRequestError("The line is not a JSON object.", hint=_LINE)
    return cast("dict[str, Any]", tree)


def _check_names(values: Mapping[str, object]) -> None:
    names = [field.name for field in dataclass_fields(Message)]
    missing = [name for name in ("role", "content") if name not in values]
    if missing:
        raise InvalidRequestError(f"`{missing[0]}` is missing.", hint=_LINE)
    unknown = [name for name in values if name not in names]
    if unknown:
        hint = f"Use one of {', '.join([*names, *_NAMES])}, or put the value in `metadata`."
        raise InvalidRequestError(f"Unknown field {unknown[0][:40]!r}.", hint=hint)


def _word(tree: Mapping[str, Any], name: str, default: str) -> str:
    value = tree.get(name, default)
    if not isinstance(value, str):
        raise InvalidRequestError(f"`{name}` must be a string.", hint="Put the value in quotes.")
    return value
