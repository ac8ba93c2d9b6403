"""Pages: lists that are read piece by piece, in an order that new rows do not disturb."""

import base64
import binascii
import json
from contextlib import suppress
from enum import StrEnum
from typing import cast

from bethink.base.frozen import frozen
from bethink.model.checks import InvalidField
from bethink.model.documents import DocumentEntry
from bethink.model.enums import OpenEnum
from bethink.model.facts import Fact
from bethink.model.recall import Ref

_LARGEST = 2**63 - 1


def cursor_of(*key: str | int) -> str:
    """Return the key of the last row of a page as a text, for the next request to go on after it."""
    written = json.dumps(key, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(written).rstrip(b"=").decode()


def read_cursor(text: str, *kinds: type[str] | type[int]) -> tuple[str | int, ...] | None:
    """Return the key in a cursor; None for an empty text. Raises `InvalidField` for a cursor of another list."""
    if not text:
        return None
    key: object = None
    with suppress(binascii.Error, ValueError, RecursionError):
        key = json.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
    parts = cast("list[object]", key) if isinstance(key, list) else []
    if len(parts) != len(kinds) or not all(map(_fits, parts, kinds)):
        raise InvalidField("after", "is not where a page ended.", hint="Pass the `next` of the last page as it was.")
    return cast("tuple[str | int, ...]", tuple(parts))


def _fits(part: object, kind: type) -> bool:
    if type(part) is not kind:
        return False
    return "\0" not in part if isinstance(part, str) else abs(cast("int", part)) <= _LARGEST


class Order(StrEnum):
    """Which end of a list comes first."""

    NEWEST = "newest"
    OLDEST = "oldest"


class FactState(OpenEnum):
    """How a version of a fact stands."""

    HOLDS = "holds"
    ENDED = "ended"
    """It was true until a time that has passed. Memory still believes that."""
    RETIRED = "retired"
    """Memory no longer believes it: another version or another fact took its place, or none did."""


@frozen
class FactEntry:
    """A version of a fact in a list, how it stands, and what took its place."""

    fact: Fact
    state: FactState
    successor: Ref | None = None
    """What took its place: its next version, or another fact. None if nothing did, or if that was forgotten."""
    successor_text: str | None = None


@frozen
class FactPage:
    """A page of facts."""

    items: tuple[FactEntry, ...] = ()
    next: str | None = None
    """Pass it as `after` for the next page; None on the last one."""


@frozen
class OutlineEntry:
    """A document in an outline, without its text, and how many documents stand below it."""

    document: DocumentEntry
    children: int
    """Counted up to 1,000."""


@frozen
class OutlinePage:
    """A page of the documents below one, ordered by name."""

    items: tuple[OutlineEntry, ...] = ()
    next: str | None = None
    """Pass it as `after` for the next page; None on the last one."""


@frozen
class HistoryPage:
    """A page of the versions of a document, without their texts, the newest first."""

    items: tuple[DocumentEntry, ...] = ()
    next: str | None = None
    """Pass it as `after` for the next page; None on the last one."""
