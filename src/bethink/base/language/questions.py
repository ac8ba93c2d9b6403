"""Recognizes a question without a question mark by its first or last words."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources

from bethink.base.frozen import frozen
from bethink.base.language.letters import is_unspaced, words_in

_BETWEEN = 3
"""Maximum number of words between a word such as "which" and its verb."""
_MAX_PHRASE_WORDS = 3
"""Maximum number of words in a phrase."""
_FIRST = re.compile(r"\w+")


@frozen
class _Openings:
    """The entry of one language in questions.toml, which explains each part."""

    skipped: frozenset[str]
    phrases: frozenset[tuple[str, ...]]
    statements: frozenset[tuple[str, ...]]
    words: frozenset[str]
    verbs: frozenset[str]
    helping: frozenset[str]
    at_once: frozenset[str]
    helped: frozenset[str]
    tells: frozenset[str]
    anywhere: frozenset[str]
    ends: tuple[str, ...]
    first: frozenset[str] | None
    """Words that a question may begin with, including skipped ones; None for any word."""


def is_question(sentence: str, language: str) -> bool:
    """Return whether a sentence without a question mark is a question. False for a language that is not listed."""
    rules = _openings().get(language)
    if rules is None or not _may_begin(rules, sentence):
        return False
    words = words_in(sentence)
    if not words:
        return False
    last = words[-1]
    if last.endswith(rules.ends) if is_unspaced(last) else last in rules.ends:
        return True
    at = next((at for at, word in enumerate(words) if word not in rules.skipped), 0)
    return _begins_question(rules, words[at:]) or not rules.anywhere.isdisjoint(words)


def _may_begin(rules: _Openings, sentence: str) -> bool:
    """Return whether the first word can begin a question. This quick check rules out most messages."""
    if rules.first is None or not sentence.isascii():  # its letters may be composed differently
        return True
    first = _FIRST.search(sentence)
    return first is not None and first[0].lower() in rules.first


def _begins_question(rules: _Openings, words: Sequence[str]) -> bool:
    first, following = words[0], words[1:]
    openings = {tuple(words[:count]) for count in range(1, _MAX_PHRASE_WORDS + 1)}
    if not openings.isdisjoint(rules.phrases):
        return True
    if first not in rules.words or not following or not openings.isdisjoint(rules.statements):
        return False
    if not rules.verbs:
        return following[0] not in rules.tells
    if first in rules.at_once:
        return following[0] in rules.verbs or (
            first in rules.helped and _is_followed_by(rules, following, rules.helping)
        )
    return _is_followed_by(rules, following, rules.verbs)


def _is_followed_by(rules: _Openings, following: Sequence[str], verbs: frozenset[str]) -> bool:
    near = following[: _BETWEEN + 1]
    verb_at = next((at for at, word in enumerate(near) if word in verbs), None)
    return verb_at is not None and rules.tells.isdisjoint(near[:verb_at])


@cache
def _openings() -> dict[str, _Openings]:
    file = resources.files("bethink.base.language") / "questions.toml"
    return {language: _parse(parts) for language, parts in tomllib.loads(file.read_text(encoding="utf-8")).items()}


def _parse(parts: dict[str, str]) -> _Openings:
    def words(name: str) -> list[str]:
        return words_in(parts.get(name, ""))

    def phrases(name: str) -> frozenset[tuple[str, ...]]:
        return frozenset(tuple(words_in(phrase)) for phrase in parts.get(name, "").split("|"))

    skipped, begin, anywhere, ends = (frozenset(words(name)) for name in ("skipped", "words", "anywhere", "ends"))
    opening = phrases("phrases")
    first = skipped | begin | {phrase[0] for phrase in opening if phrase}
    return _Openings(
        skipped=skipped,
        phrases=opening,
        statements=phrases("told"),
        words=begin,
        verbs=frozenset(words("verbs")),
        helping=frozenset(words("helping")),
        at_once=frozenset(words("at_once")),
        helped=frozenset(words("helped")),
        tells=frozenset(words("tells")),
        anywhere=anywhere,
        ends=tuple(ends),
        first=None if anywhere or ends else first,
    )
