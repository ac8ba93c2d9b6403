"""Secrets that a grammar defines: passwords in addresses, in the arguments of commands, and seed phrases."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bethink.providers.redaction.spans import MatchSpan
from bethink.providers.redaction.stems import Mark
from bethink.providers.redaction.values import is_no_secret
from bethink.providers.redaction.views import text_of

_URL = re.compile(r"""://([^\s:/@"'<>`?]{0,64}):([^\s/"'<>`?]{3,128})@(?=[\w\[{$%-])""")
_URL_TOKEN = re.compile(r"://([0-9a-f]{32,64})(?=[:@])(?!@[\w.-]{0,60}sentry)")
_STAND_INS = frozenset(
    (
        *("password", "pass", "passwd", "pwd", "secret", "token", "user", "username", "admin", "root", "guest"),
        *("postgres", "mysql", "redis", "mongo", "changeme", "pw", "p"),
    )
)
_REACH = 200


class Command(NamedTuple):
    """A way to give a secret to a program: text in lower case that the line contains, and the pattern of the secret."""

    literal: str
    kind: str
    pattern: re.Pattern[str]


_LINES = Path(__file__).with_name("commands.txt").read_text("utf-8").splitlines()
COMMANDS = [
    Command(literal, kind, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for kind, literals, pattern in (line.split("\t") for line in _LINES if not line.startswith("#"))
    for literal in literals.split("|")
]
_PHRASE_WORD = re.compile(r"(?:[0-9]{1,2}[.):][ ]?)?([a-z]{3,8})(?:[ \t,]{1,3}|\r?\n)?+")
_PHRASE_ENDS = frozenset(("the", "and", "for", "are", "was", "has", "not", "but", "from", "have", "which", "your"))
_PHRASE_LENGTHS = (25, 24, 21, 18, 15, 12)


def find_in_urls(text: str) -> Iterator[MatchSpan]:
    """Find passwords in addresses with a user."""
    if "://" in text and "@" in text:
        for match in _URL.finditer(text):
            password = match[2]
            if not is_no_secret(password) and password.lower() not in _STAND_INS:
                yield MatchSpan(*match.span(2), "password")
        yield from (MatchSpan(*match.span(1), "token") for match in _URL_TOKEN.finditer(text))


def find_in_commands(text: str, lowered: str, marks: list[Mark]) -> Iterator[MatchSpan]:
    """Find passwords in the arguments of commands and calls, and seed phrases after a heading."""
    searched = [0] * len(COMMANDS)
    words_end = 0
    for number, position, _ in marks:
        if position < searched[number]:
            continue
        _, kind, pattern = COMMANDS[number]
        start = max(lowered.rfind("\n", max(0, position - _REACH), position) + 1, position - _REACH, 0)
        end = lowered.find("\n", position, position + _REACH) + 1 or min(position + _REACH, len(lowered))
        searched[number] = end
        for match in pattern.finditer(text, start, end):
            if kind == "seed_phrase":
                if match.end() > words_end:  # fewer words follow a heading inside a row of words
                    phrase, words_end = _seed_phrase(text, match.end())
                    yield from phrase
                continue
            group = match.lastindex or 0
            value = match[group]
            if not is_no_secret(value) and (kind != "basic_auth" or ":" in (text_of(value) or "")):
                yield MatchSpan(*match.span(group), kind)


def _seed_phrase(text: str, start: int) -> tuple[list[MatchSpan], int]:
    """Return the phrase at a position, if there is one, and the end of the words that were read."""
    ends: list[int] = []
    position = start
    while len(ends) < 25 and (word := _PHRASE_WORD.match(text, position)) and word[1] not in _PHRASE_ENDS:
        ends.append(word.end(1))
        position = word.end()
    length = next((length for length in _PHRASE_LENGTHS if length <= len(ends)), 0)
    return [MatchSpan(start, ends[length - 1], "seed_phrase")] if length else [], position
