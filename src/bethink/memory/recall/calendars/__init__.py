"""The date formats of each language: one file of words and patterns per language, and their parser.

A file has tables of words (months, weekdays, units, ...), each word a regular expression, and the patterns of each rule
of `date_rules`, in which `{m}` matches any month, `{unit}` for any unit, and so on. Accents may be left out in a
question, so they are also removed from the files.
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from bethink.base.frozen import frozen

RULES = (
    "iso", "figures", "day", "month", "quarter", "season", "days", "ago", "rolling", "unit", "weekend", "weekday",
    "named", "decade", "year",
)  # fmt: skip
"""The rules in the order they are tried. The match of one rule is blanked out for the next ones."""

_TABLES = {
    "months": "m", "weekdays": "w", "seasons": "season", "units": "unit", "duals": "dual", "which": "which",
    "counts": "n", "days": "days", "named": "named", "ordinals": "d",
}  # fmt: skip
"""The tables of a file, and the regex group of each."""

_YEAR = r"(?:19|20)\d\d"
_EVERYWHERE = {
    "iso": [rf"{{weekday_before}}(?<![\w.-])(?P<y>{_YEAR})[-/](?P<month>\d{{1,2}})(?:[-/](?P<d>\d{{1,2}}))?(?![\d/-])"],
    "figures": [
        rf"{{weekday_before}}(?<![\w./-])(?P<a>\d\d?)(?P<mark>[./-])(?P<b>\d\d?)(?P=mark)(?P<y>{_YEAR})(?![\w/-]|\.\d)",
        r"{weekday_before}(?<![\w./-])(?P<a>\d\d?)(?P<mark>/)(?P<b>\d\d?)/(?P<y>\d\d)(?![\w/-]|\.\d)",
    ],
    "year": [
        rf"(?<![\w.,$€£#'/:-])(?P<y>{_YEAR})(?: ?[-\u2013] ?(?P<until>{_YEAR}))?(?![\w%-]|[.,:/]\d|(?:{{counted}}))"
    ],
}
_NEVER = "(?!)"
_LEADS = {
    **dict.fromkeys(("in", "on", "any", "not_a_year", "and", "between", "before", "after", "telling"), _NEVER),
    **dict.fromkeys(("ambiguous", "ambiguous_at_start"), _NEVER),
    "to_month": r"{to}{months}\b",
}
"""The default patterns for words before or after a date, and for words that ask what was said or happened then. They
never match."""
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_LETTER = r"[\w\u0900-\u0963]"
_EDGE = f"(?:(?<!{_LETTER})(?={_LETTER})|(?<={_LETTER})(?!{_LETTER}))"
"""The edge of a word in Devanagari: `\\b` would match before most vowels, which are marks and not letters."""

_LAST_WITH_ACCENTS = "\u097f"
"""The end of Devanagari. Beyond it, for example in Kana, a mark makes a different letter."""

Table = tuple[tuple[re.Pattern[str], str], ...]


@frozen
class Calendar:
    """The date words of one language.

    `rules` are the names of the rules and their patterns. `leads` are patterns for words before or after a date, for
    words that only look like one, and for words that ask what was said or happened at a time (`telling`). `tables` map
    each word to its meaning.
    """

    language: str
    day_first: bool
    rules: tuple[tuple[str, re.Pattern[str]], ...]
    leads: Mapping[str, re.Pattern[str]]
    tables: Mapping[str, Table]

    def meaning(self, table: str, word: str) -> str:
        """Return the key of a word in a table, or an empty string."""
        return next((key for pattern, key in self.tables[table] if pattern.fullmatch(word)), "")


def fold_accents(text: str) -> str:
    """Return a text of the same length without accents, with all digits as 0 to 9 and one kind of apostrophe."""
    return text if text.isascii() else text.translate(_plain)


@cache
def date_words(language: str) -> frozenset[str]:
    """Return the date words of a language, with accents. Every date without digits has one of them."""
    return frozenset(tomllib.loads(_text(language)).get("words", "").split())


@cache
def calendar(language: str) -> Calendar:
    """Return the calendar of a language, or the English one if there is none."""
    data = tomllib.loads(fold_accents(_text(language) or _text("en")))
    parts = _parts(data)
    return Calendar(
        language=data["language"],
        day_first=data["day_first"],
        rules=tuple(
            (name, _compile(pattern, parts))
            for name in RULES
            for pattern in (*data["patterns"].get(name, ()), *_EVERYWHERE.get(name, ()))
        ),
        leads={name: _compile(pattern, parts) for name, pattern in (_LEADS | data["leads"]).items()},
        tables={
            name: tuple((_compile(words, parts), key) for key, words in _entries(data, name))
            for name in (*_TABLES, "short_weekdays", "before", "after")
        },
    )


def _text(language: str) -> str:
    file = resources.files("bethink.memory.recall.calendars") / f"{language}.toml"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def _entries(data: dict[str, Any], name: str) -> list[tuple[str, str]]:
    """Return the keys and words of a table. The keys of a list are 0, 1, and so on."""
    table: list[str] | dict[str, str] = data.get(name, {})
    return list(table.items()) if isinstance(table, dict) else [(str(key), words) for key, words in enumerate(table)]


def _parts(data: dict[str, Any]) -> dict[str, str]:
    """Return the replacements for the names in braces in a pattern."""
    parts = {"counted": _NEVER, "year": _YEAR, "numerals": _NEVER, "weekday_before": ""} | data.get("parts", {})
    for name, group in _TABLES.items():
        words = "|".join(words for _, words in _entries(data, name)) or _NEVER
        parts[name] = f"(?:{words})"
        parts[group if group != "d" else "ordinal"] = f"(?P<{group}>{words})"
    short = "|".join(words for _, words in _entries(data, "short_weekdays")) or _NEVER
    parts["w"] = f"(?P<w>{parts['weekdays']}|(?-i:{short}))"
    parts["any_weekday"] = f"(?:{parts['weekdays']}|{short})"
    parts["n"] = rf"(?P<n>\d{{1,3}}|{parts['numerals']}|{parts['counts']})"
    for unit in ("week", "month", "year"):
        words = "|".join(words for key, words in _entries(data, "named") if key.startswith(unit)) or _NEVER
        parts[f"{unit}_at"] = f"(?P<{unit}_at>{words})"
    for side in ("before", "after"):
        parts[f"how_{side}"] = f"(?P<how>{'|'.join(words for _, words in _entries(data, side)) or _NEVER})"
    parts["to"] = str(data["leads"]["to"])
    return parts


def _compile(pattern: str, parts: Mapping[str, str]) -> re.Pattern[str]:
    while (filled := _PLACEHOLDER.sub(lambda match: parts[match[1]], pattern)) != pattern:
        pattern = filled
    # Only Devanagari needs the slower edge.
    return re.compile(
        pattern.replace(r"\b", _EDGE) if re.search("[\u0900-\u0963]", pattern) else pattern, re.IGNORECASE
    )


class _Plain(dict[int, str]):
    """The plain form of each character, filled on first use."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        digit = unicodedata.decimal(char, None)
        plain = char if digit is None else str(digit)
        if char <= _LAST_WITH_ACCENTS:
            base, *marks = unicodedata.normalize("NFD", char)
            plain = base if marks and all(map(unicodedata.combining, marks)) else plain
        self[code] = plain
        return plain


_plain = _Plain(
    {0x2019: "'", 0x0131: "i", 0x0629: "\u0647", 0x0649: "\u064a"}
)  # also dotless i, teh marbuta, alef maqsura
