"""Words of change in messages, and what a question asks about the present, in twelve languages."""

import re
import tomllib
from functools import cache
from importlib import resources

from bethink.base.frozen import frozen
from bethink.memory.phrases.spans import is_unspaced

_MAX_TEXT = 1_000
_NEVER = re.compile(r"(?!)")


@frozen
class ChangeWords:
    """The patterns of one language. Those of a language without a list match nothing."""

    changed: re.Pattern[str] = _NEVER
    past: re.Pattern[str] = _NEVER
    several: re.Pattern[str] = _NEVER
    when: re.Pattern[str] = _NEVER
    amount: re.Pattern[str] = _NEVER

    def says_changed(self, text: str) -> bool:
        """Return whether a text has a word of change, such as "instead" or "no longer"."""
        return _has(self.changed, text)

    def asks_for_present(self, question: str) -> bool:
        """Return whether a question asks for one answer that may have changed: not for the past, not for a list."""
        return not _has(self.past, question) and not _has(self.several, question)

    def asks_when(self, question: str) -> bool:
        """Return whether a question asks for a day, a date or a time."""
        return _has(self.when, question)

    def asks_how_many(self, question: str) -> bool:
        """Return whether a question asks for a number other than a time."""
        return _has(self.amount, question) and not self.asks_when(question)


@cache
def changes(language: str) -> ChangeWords | None:
    """Return the patterns of a language, as ISO 639-1; None if it has none."""
    words = _lists().get(language)
    return None if words is None else ChangeWords(**{name: _compile(pattern) for name, pattern in words.items()})


@cache
def _lists() -> dict[str, dict[str, str]]:
    path = resources.files("bethink.memory.phrases") / "changes.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern if is_unspaced(pattern) else rf"\b(?:{pattern})\b", re.IGNORECASE)


def _has(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text[:_MAX_TEXT].replace("\u2019", "'")) is not None
