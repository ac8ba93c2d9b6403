"""Recognise a question whose mark was left out, by how it begins or ends."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources

from bethink.base.frozen import frozen
from bethink.base.language.letters import is_unspaced, words_in

_BETWEEN = 3
"""How many words may stand between a word such as "which" and its verb."""
_LONGEST = 3
"""How many words a phrase has at most."""
_FIRST = re.compile(r"\w+")


@frozen
class _Openings:
    """What one language has in questions.toml, where each part is explained."""

    skipped: frozenset[str]
    phrases: frozenset[tuple[str, ...]]
    told: frozenset[tuple[str, ...]]
    words: frozenset[str]
    verbs: frozenset[str]
    helping: frozenset[str]
    at_once: frozenset[str]
    helped: frozenset[str]
    tells: frozenset[str]
    anywhere: frozenset[str]
    ends: tuple[str, ...]
    first: frozenset[str] | None
    """The words that a question may begin with, those that are skipped included; None if any may."""


def asks(sentence: str, language: str) -> bool:
    """Return whether a sentence without a mark at its end is a question. False in a language that is not listed."""
    known = _openings().get(language)
    if known is None or not _may_begin(known, sentence):
        return False
    words = words_in(sentence)
    if not words:
        return False
    last = words[-1]
    if last.endswith(known.ends) if is_unspaced(last) else last in known.ends:
        return True
    at = next((at for at, word in enumerate(words) if word not in known.skipped), 0)
    return _begins(known, words[at:]) or not known.anywhere.isdisjoint(words)


def _may_begin(known: _Openings, sentence: str) -> bool:
    """Return whether it may be a question by its first word. Most messages are not, and this takes little time."""
    if known.first is None or not sentence.isascii():  # its letters may be composed otherwise than ours
        return True
    first = _FIRST.search(sentence)
    return first is not None and first[0].lower() in known.first


def _begins(known: _Openings, words: Sequence[str]) -> bool:
    first, rest = words[0], words[1:]
    openings = {tuple(words[:count]) for count in range(1, _LONGEST + 1)}
    if not openings.isdisjoint(known.phrases):
        return True
    if first not in known.words or not rest or not openings.isdisjoint(known.told):
        return False
    if not known.verbs:
        return rest[0] not in known.tells
    if first in known.at_once:
        return rest[0] in known.verbs or (first in known.helped and _follows(known, rest, known.helping))
    return _follows(known, rest, known.verbs)


def _follows(known: _Openings, rest: Sequence[str], verbs: frozenset[str]) -> bool:
    near = rest[: _BETWEEN + 1]
    verb = next((at for at, word in enumerate(near) if word in verbs), None)
    return verb is not None and known.tells.isdisjoint(near[:verb])


@cache
def _openings() -> dict[str, _Openings]:
    file = resources.files("bethink.base.language") / "questions.toml"
    return {language: _read(parts) for language, parts in tomllib.loads(file.read_text(encoding="utf-8")).items()}


def _read(parts: dict[str, str]) -> _Openings:
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
        told=phrases("told"),
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
