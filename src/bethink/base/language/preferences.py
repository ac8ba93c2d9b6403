"""Recognizes sentences in which a person tells an assistant how to act from then on: "Please always answer in Spanish".

This works without a language model: by patterns, and by a table of weights for what they do not know. A request for
once, such as "write a haiku", and what somebody usually does are not meant.
"""

import re
import tomllib
from collections.abc import Collection, Sequence
from functools import cache
from importlib import resources
from itertools import islice

from bethink.base.frozen import frozen
from bethink.base.language.lasting import lasting_score
from bethink.base.language.letters import QUESTION_MARKS, is_unspaced, words_in

PREFERENCE_TERM = "states:preference"
"""The index term of messages that state a preference. Words have no colon, so no other term is the same."""
CERTAIN = 3.0
"""Log odds from which nine of ten sentences are meant to last, if one of twenty is."""
_MAX_TEXT = 2_000
_MAX_SENTENCE = 300
_MAX_SENTENCES = 20
_SENTENCE = re.compile(r"(?:[^.!?\n\u3002\uff01\uff1f]|[.!?](?=\S))+[.!?\u3002\uff01\uff1f]*")
"""A sentence; a point within a word, as in `console.log`, does not end it."""
_QUOTED = re.compile(
    r'"[^"\n]*"|\u201c[^\u201d\n]*\u201d|\u201e[^\u201c\u201d\n]*[\u201c\u201d]|\u00ab[^\u00bb\n]*\u00bb|^\s*>.*$|```.*?(?:```|\Z)',
    re.MULTILINE | re.DOTALL,
)
"""Words of somebody else, or code: a sentence that begins in them is not the person's own."""
_JOKE = re.compile(
    r"(?<!\w)(?:(?:ha){2,}|lol|(?:ja){3,}|mdr|lmao)(?!\w)|[\U0001f602\U0001f923\U0001f609]", re.IGNORECASE
)
_QUOTE = re.compile('["\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d]')
_OPENING = r"(?:hi|hey|hello|hallo|hola|salut|ciao|ok|okay|and|also|und|et|y|e|i)?[\s,]*"


@frozen
class _Words:
    """The patterns of one language in preferences.toml, which explains each of them."""

    hints: frozenset[str]
    states: re.Pattern[str]
    lasting: re.Pattern[str]
    asks: re.Pattern[str]
    subjects: re.Pattern[str]


def preferences_in(text: str, words: Collection[str] | None = None) -> list[str]:
    """Return the sentences of a person's message that state a lasting preference or instruction, in order.

    Pass the `words` of the text if they are known.
    """
    start = text[:_MAX_TEXT].replace("\u2019", "'")
    words = words_in(start) if words is None or len(text) > _MAX_TEXT else words
    has_hint = not _all_hints().isdisjoint(words)
    languages = [patterns for patterns in _languages() if not patterns.hints.isdisjoint(words)] if has_hint else []
    if not start.isascii():
        languages += [patterns for patterns in _unspaced_languages() if any(hint in start for hint in patterns.hints)]
    return [sentence for sentence in own_sentences(start) if _is_preference(sentence, languages)]


def own_sentences(text: str) -> list[str]:
    """Return the first sentences of a person's message, without those that quote somebody else, and without code."""
    # Quotations are masked, so that no sentence begins or ends in one.
    masked = _QUOTED.sub(lambda quoted: '"' * len(quoted[0]), text)
    spans = [match.span() for match in islice(_SENTENCE.finditer(masked), _MAX_SENTENCES)]
    return [start for span in spans if _QUOTE.search(masked, *span) is None and (start := text[slice(*span)].strip())]


def _is_preference(sentence: str, languages: Sequence[_Words]) -> bool:
    if len(sentence) > _MAX_SENTENCE or sentence.endswith(QUESTION_MARKS) or _JOKE.search(sentence):
        return False
    return any(_states_preference(sentence, words) for words in languages) or lasting_score(sentence) >= CERTAIN


def _states_preference(sentence: str, words: _Words) -> bool:
    if words.states.search(sentence):
        return True
    return bool(words.lasting.search(sentence) and words.asks.search(sentence) and not words.subjects.match(sentence))


@cache
def _languages() -> tuple[_Words, ...]:
    """Return the languages with spaces between words."""
    return tuple(patterns for patterns in _load() if not _is_unspaced(patterns))


@cache
def _all_hints() -> frozenset[str]:
    return frozenset[str]().union(*(patterns.hints for patterns in _languages()))


@cache
def _unspaced_languages() -> tuple[_Words, ...]:
    return tuple(filter(_is_unspaced, _load()))


def _is_unspaced(patterns: _Words) -> bool:
    return any(map(is_unspaced, patterns.hints))


@cache
def _load() -> tuple[_Words, ...]:
    file = resources.files("bethink.base.language") / "preferences.toml"
    languages = tomllib.loads(file.read_text(encoding="utf-8"))
    return tuple(map(_parse, languages.values()))


def _parse(entries: dict[str, str]) -> _Words:
    hints = frozenset(entries["hints"].split())
    edges = ("", "") if any(map(is_unspaced, hints)) else (r"(?<![\w'-])", r"(?!\w)")

    def pattern(name: str, before: str = "") -> re.Pattern[str]:
        return re.compile(rf"{before}{edges[0]}(?:{entries[name]}){edges[1]}", re.IGNORECASE)

    return _Words(
        hints=hints,
        states=pattern("states"),
        lasting=pattern("lasting"),
        asks=pattern("asks"),
        subjects=pattern("subjects", _OPENING),
    )
