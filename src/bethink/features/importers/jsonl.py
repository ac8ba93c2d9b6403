"""Reads JSON Lines: one message a line, as `bethink export` writes it."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any, cast

from bethink.errors import BethinkError, Invalid
from bethink.features.importers.items import Destination, ImportedMessage, Item, UnreadableItem
from bethink.model.records import Message, checked_name, message_from

_LINE = "Write one JSON object per line, with role and content."
_NAMES = ("conversation", "agent", "session", "learns")


def read(path: Path, *, conversation: str = "import") -> Iterator[Item]:
    """Yield the message of each line. A line without an idempotency_key is known by its number and the whole file.

    Raises:
        Invalid: for an empty file.
    """
    digest = _digest(path)
    with path.open("rb") as source:
        for number, raw in enumerate(source, 1):
            if raw.strip():
                place = f"line {number}"
                try:
                    yield message_of(raw, place, f"import:{digest}:{number}", conversation)
                except (BethinkError, ValueError, TypeError, RecursionError) as error:
                    yield UnreadableItem(place, str(error))


def _digest(path: Path) -> str:
    digest, empty = hashlib.sha256(), True
    with path.open("rb") as source:
        for line in source:
            digest.update(line)
            empty = empty and not line.strip()
    if empty:
        raise Invalid("the file is empty.", hint=_LINE)
    return digest.hexdigest()[:32]


def message_of(raw: bytes, place: str, key: str, conversation: str) -> ImportedMessage:
    """Read one line. Raises `Invalid`, `ValueError` or `TypeError` for anything but a message."""
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
    return ImportedMessage(place, to, message_from({**fields, "idempotency_key": tree.get("idempotency_key") or key}))


def _tree(raw: bytes) -> dict[str, Any]:
    try:
        read: object = json.loads(raw)
    except json.JSONDecodeError as error:
        raise Invalid(f"invalid JSON at column {error.colno}: {error.msg}.", hint=_LINE) from error
    except UnicodeDecodeError as error:
        raise Invalid("not UTF-8.", hint=_LINE) from error
    except RecursionError as error:
        raise Invalid("nested too deeply.", hint=_LINE) from error
    if not isinstance(read, dict):
        raise Invalid("not a JSON object.", hint=_LINE)
    return cast("dict[str, Any]", read)


def _check_names(given: Mapping[str, object]) -> None:
    known = [each.name for each in dataclass_fields(Message)]
    missing = [name for name in ("role", "content") if name not in given]
    if missing:
        raise Invalid(f"{missing[0]} is missing.", hint=_LINE)
    unknown = [name for name in given if name not in known]
    if unknown:
        hint = f"Use one of {', '.join([*known, *_NAMES])}, or put it into metadata."
        raise Invalid(f"unknown field {unknown[0][:40]!r}.", hint=hint)


def _word(tree: Mapping[str, Any], name: str, default: str) -> str:
    value = tree.get(name, default)
    if not isinstance(value, str):
        raise Invalid(f"{name} is not a string.", hint="Write it in quotes.")
    return value
