"""The kinds of facts: those that everyone has, and those that the rules of a space name."""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from bethink.model.checks import InvalidField
from bethink.model.text import text_schema


class FactKind(StrEnum):
    """The subject of a fact. The last three tell an agent what to do, so only a user's own words can create one."""

    DETAIL = "detail"
    KNOWLEDGE = "knowledge"
    DECISION = "decision"
    GOAL = "goal"
    EVENT = "event"
    PREFERENCE = "preference"
    INSTRUCTION = "instruction"
    PROCEDURE = "procedure"


class OwnKind(str):
    """A kind of facts of one's own, such as `recipe`: the rules of a space name it. It tells an agent nothing to do."""

    __slots__ = ()
    _PATTERN = re.compile(r"[a-z][a-z0-9_]{0,39}")
    _TAKEN = frozenset({*map(str, FactKind), "note"})

    def __new__(cls, value: str) -> "OwnKind":
        """Raise `Invalid` for a text that cannot name a kind, and for the name of a kind that everyone has."""
        if not cls._PATTERN.fullmatch(value) or value in cls._TAKEN:
            hint = "Use up to 40 of a-z, 0-9 and _, beginning with a letter, and no name that is taken."
            raise InvalidField("kind", f"cannot be {value[:40]!r}.", hint=hint)
        return super().__new__(cls, value)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Callable[[type], Any]) -> dict[str, Any]:
        return text_schema(cls, handler)


Kind = FactKind | OwnKind
"""The kind of a fact."""


def kind_of(value: object) -> Kind:
    """Return a kind by its name. Raises `Invalid` for a text that cannot be one."""
    if isinstance(value, FactKind | OwnKind):
        return value
    if not isinstance(value, str):
        raise InvalidField("kind", "must be text.", hint=f"Use {', '.join(FactKind)}, or one that the rules name.")
    return FactKind(value) if value in _KNOWN else OwnKind(value)


_KNOWN = frozenset(map(str, FactKind))
