"""Pages of lists, with cursors that stay valid when rows are added."""

import base64
import binascii
import json
from contextlib import suppress
from enum import StrEnum
from typing import cast

from bethink.base.frozen import frozen
from bethink.errors import InvalidFieldError
from bethink.model.documents import DocumentEntry
from bethink.model.facts import Fact, FactStatus
from bethink.model.refs import Ref

_LARGEST = 2**63 - 1


def cursor_of(*key: str | int) -> str:
    """Return the cursor of the next page, made of the key of the last row."""
    encoded = json.dumps(key, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(encoded).rstrip(b"=").decode()


def read_cursor(text: str, *kinds: type[str] | type[int]) -> tuple[str | int, ...] | None:
    """Return the key in a cursor, or None for an empty string.

    Raises `InvalidFieldError` for a cursor of another list.
    """
    if not text:
        return None
    key: object = None
    with suppress(binascii.Error, ValueError, RecursionError):
        key = json.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
    parts = cast("list[object]", key) if isinstance(key, list) else []
    if len(parts) != len(kinds) or not all(map(_fits, parts, kinds)):
        raise InvalidFieldError(
            "after", "is not a cursor of this list.", hint="Pass `next` of the previous page unchanged."
        )
    return cast("tuple[str | int, ...]", tuple(parts))


def _fits(part: object, kind: type) -> bool:
    if type(part) is not kind:
        return False
    return "\0" not in part if isinstance(part, str) else abs(cast("int", part)) <= _LARGEST


class Order(StrEnum):
    """Sort order of a list."""

    NEWEST = "newest"
    OLDEST = "oldest"


@frozen
class FactEntry:
    """A version of a fact in a list, with its status and its replacement."""

    fact: Fact
    status: FactStatus
    replaced_by: Ref | None = None
    """The next version or fact that replaced it. None without one, or if the replacement was deleted."""
    replaced_by_text: str | None = None
    doubted_by: Ref | None = None
    """The change that made it doubtful."""
    doubted_by_text: str | None = None


@frozen
class OutlineEntry:
    """A document in an outline, without its text, and the number of its children."""

    document: DocumentEntry
    children: int
    """Counted up to 1,000."""
