"""Kinds of facts: built-in kinds, and custom kinds defined in the rules of a space."""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from bethink.errors import InvalidFieldError
from bethink.model.text import text_schema


class FactKind(StrEnum):
    """Built-in kind of a fact. The last three instruct an agent, so only a user's own words can create one."""

    DETAIL = "detail"
    KNOWLEDGE = "knowledge"
    DECISION = "decision"
    GOAL = "goal"
    EVENT = "event"
    PREFERENCE = "preference"
    INSTRUCTION = "instruction"
    PROCEDURE = "procedure"


class OwnKind(str):
    """A custom kind of facts, such as `recipe`, defined in the rules of a space. It never instructs an agent."""

    __slots__ = ()
    _PATTERN = re.compile(r"[a-z][a-z0-9_]{0,39}")
    _RESERVED = frozenset({*map(str, FactKind), "note"})

    def __new__(cls, value: str) -> "OwnKind":
        """Raise `InvalidRequestError` for an invalid name, and for the name of a built-in kind."""
        if not cls._PATTERN.fullmatch(value) or value in cls._RESERVED:
            hint = "Use up to 40 of a-z, 0-9 and _, starting with a letter, and no built-in kind."
            raise InvalidFieldError("kind", f"cannot be {value[:40]!r}.", hint=hint)
        return super().__new__(cls, value)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Callable[[type], Any]) -> dict[str, Any]:
        return text_schema(cls, handler)


Kind = FactKind | OwnKind
"""The kind of a fact."""


def kind_of(value: object) -> Kind:
    """Return a kind by its name. Raises `InvalidRequestError` for an invalid name."""
    if isinstance(value, FactKind | OwnKind):
        return value
    if not isinstance(value, str):
        raise InvalidFieldError(
            "kind", "must be text.", hint=f"Use {', '.join(FactKind)}, or a kind defined in the rules."
        )
    return FactKind(value) if value in _FACT_KINDS else OwnKind(value)


_FACT_KINDS = frozenset(map(str, FactKind))
