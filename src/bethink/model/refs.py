"""Refs: permanent names for memories."""

import re
from collections.abc import Callable
from typing import Any

from bethink.errors import InvalidRequestError
from bethink.model.enums import OpenEnum
from bethink.model.records import checked_name, checked_text
from bethink.model.text import text_schema

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")
_LAST_NUMBER = 2**63 - 1
_FORMER_KINDS = {"session_memory": "session_summary"}
"""Kinds under the names they had before: their refs are still read."""
_SHOWN = 100


class RefKind(OpenEnum):
    """The kinds of memory that can be recalled."""

    MESSAGE = "message"
    FACT = "fact"
    SESSION_SUMMARY = "session_summary"
    DOCUMENT = "document"


class Ref(str):
    """Permanent name of a memory: the text `kind:id:number`, and its parts.

    The number is a message's number in its session, or the version of a fact or document; for a session summary it is
    0.
    """

    __slots__ = ("_id", "_kind", "_number")
    _id: str
    _kind: RefKind
    _number: int

    def __new__(cls, kind: RefKind, id: str, number: int = 0) -> "Ref":  # noqa: A002
        """Build a ref from its parts."""
        self = str.__new__(cls, f"{kind}:{id}:{number}")  # not super(), for speed: a recall builds hundreds
        self._kind, self._id, self._number = kind, id, number
        return self

    def __reduce__(self) -> tuple[type["Ref"], tuple[RefKind, str, int]]:
        return Ref, self.parts

    @property
    def kind(self) -> RefKind:
        """The kind of memory."""
        return self._kind

    @property
    def id(self) -> str:
        """The id of the session, fact or document."""
        return self._id

    @property
    def number(self) -> int:
        """The number of the message, or the version of the fact or document."""
        return self._number

    @property
    def is_known(self) -> bool:
        """Return whether this version supports its kind. A newer server may have others."""
        return self._kind.is_known

    @property
    def parts(self) -> tuple[RefKind, str, int]:
        """The kind, id and number. Sort by this to get 9 before 10: a ref itself sorts as text."""
        return self._kind, self._id, self._number

    @classmethod
    def parse(cls, text: str) -> "Ref":
        """Parse a ref. Raises `InvalidRequestError` unless it has the form `kind:id:number`."""
        ref = cls._parse_any_kind(text)
        if not ref.is_known:
            raise _not_a_ref(text)
        return ref

    @classmethod
    def _parse_any_kind(cls, text: str) -> "Ref":
        kind, _, tail = text.partition(":")
        kind = _FORMER_KINDS.get(kind, kind)
        name, _, number = tail.rpartition(":")
        if not kind or not _NUMBER.fullmatch(number) or int(number) > _LAST_NUMBER:
            raise _not_a_ref(text)
        return cls(RefKind(kind), checked_name(name, "the id of a memory"), int(number))

    @classmethod
    def coerce(cls, value: "Ref | str") -> "Ref":
        """Return a ref unchanged, or parse a string."""
        return value if isinstance(value, Ref) else cls.parse(checked_text(value, "a ref"))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Callable[[type], Any]) -> dict[str, Any]:
        return text_schema(cls._parse_any_kind, handler)


def add_ref_to_schema(schema: dict[str, Any], handler: Any, *, form: str) -> dict[str, Any]:
    """Add the property `ref` to the pydantic schema of a record: other languages need it to name the record."""
    arguments = handler.resolve_ref_schema(schema)["schema"]
    arguments["computed_fields"] = [
        {
            "type": "computed-field",
            "property_name": "ref",
            "return_schema": {"type": "str"},
            "metadata": {"pydantic_js_updates": {"description": f"Ref of this version: `{form}`."}},
        }
    ]
    return schema


def _not_a_ref(text: str) -> InvalidRequestError:
    hint = "A ref has the form kind:id:number, such as fact:ID:1. Facts, documents and matches have it as `ref`."
    return InvalidRequestError(f"Cannot parse {text[:_SHOWN]!r} as a ref.", hint=hint)
