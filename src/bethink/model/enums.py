"""Words that may grow from one version to the next."""

from enum import StrEnum


class OpenEnum(StrEnum):
    """Keeps a word that only a newer server knows, so that its answers stay readable. Requests refuse such a word."""

    @classmethod
    def _missing_(cls, value: object) -> "OpenEnum | None":
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_ = word._value_ = value
        return word

    @property
    def known(self) -> bool:
        """Whether this version knows the word."""
        return self._value_ in type(self)._value2member_map_
