"""Enumerations that may gain members in later versions."""

from enum import StrEnum


class OpenEnum(StrEnum):
    """Enumeration that keeps unknown words of a newer server in results. Requests reject them."""

    @classmethod
    def _missing_(cls, value: object) -> "OpenEnum | None":
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_ = word._value_ = value
        return word

    @property
    def is_known(self) -> bool:
        """Return whether this version supports the word."""
        return self._value_ in type(self)._value2member_map_
