"""Topics of facts and questions, such as home, work and food, in any language and wording.

A question rarely has the words of its answer: "Where do I live?" and "Mira rents a flat in Bergen". Facts are short and
few, so they are indexed under their topics as well, and questions are searched by them.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

from bethink.base.language.letters import is_unspaced, without_accents, words_in

_PREFIX = "topic:"
"""Prefix of topic terms. Words have no colon, so no other term begins with it."""
_MAX_SIGNS = 4
_MIN_AFFIX = 2
_MIN_UNACCENTED = 5


class _Words(NamedTuple):
    """The words of all topics, each with the terms of its topics."""

    exact: dict[str, frozenset[str]]
    begins: dict[str, frozenset[str]]
    ends: dict[str, frozenset[str]]
    parts_of_words: dict[str, frozenset[str]]
    phrases: dict[str, list[tuple[str, str]]]
    """By their first words."""


def topics_of(content: str, *, kind: str = "", slot: str | None = None) -> tuple[str, ...]:
    """Return the topic terms of a fact, by its words, its kind and its slot."""
    names = (name for name in (kind, slot) if name)
    by_name = (topic for name in names for topic in _slots().get(name.casefold(), ()))
    return tuple(
        dict.fromkeys(
            (
                *by_name,
                *(topic for topics in _topics_by_phrase(content, is_question=False).values() for topic in topics),
            )
        )
    )


def question_topics(question: str) -> dict[str, tuple[str, ...]]:
    """Return the topic terms of a question, by the words or phrases that indicate them."""
    return _topics_by_phrase(question, is_question=True)


def _topics_by_phrase(text: str, *, is_question: bool) -> dict[str, tuple[str, ...]]:
    words = words_in(text)
    by_phrase = {word: topics for word in dict.fromkeys(words) if (topics := _topics(word, is_question=is_question))}
    phrases = _words(is_question).phrases
    begins = [word for word in words if word in phrases]
    if begins:
        line = f" {' '.join(words)} "
        for word in begins:
            by_phrase |= {phrase: (topic,) for phrase, topic in phrases[word] if f" {phrase} " in line}
    return by_phrase


@lru_cache(maxsize=8_192)
def _topics(word: str, *, is_question: bool) -> tuple[str, ...]:
    words = _words(is_question)
    if is_unspaced(word):
        return _merge_sorted(words.parts_of_words.get(part) for part in _parts(word))
    ends = range(_MIN_AFFIX, len(word) + 1)
    return _merge_sorted(
        (
            words.exact.get(word),
            *(words.begins.get(word[:end]) for end in ends),
            *(words.ends.get(word[-end:]) for end in ends),
        )
    )


def _parts(run: str) -> Iterable[str]:
    return (run[at : at + size] for size in range(1, _MAX_SIGNS + 1) for at in range(len(run) - size + 1))


def _merge_sorted(topic_sets: Iterable[frozenset[str] | None]) -> tuple[str, ...]:
    return tuple(sorted({topic for topics in topic_sets if topics for topic in topics}))


@cache
def _lines() -> tuple[tuple[str, str], ...]:
    text = (resources.files("bethink.base.language") / "topics.txt").read_text(encoding="utf-8")
    pairs = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    return tuple((name, words) for name, _, words in pairs)


@cache
def _words(is_question: bool) -> _Words:  # noqa: FBT001 - a key of the cache
    """Load the words of topics, with those of questions only if `is_question`."""
    result = _Words({}, {}, {}, {}, {})
    for name, words in _lines():
        if name.endswith("=") or (name.endswith("?") and not is_question):
            continue
        for word in words.split():
            _put(result, word, _PREFIX + name.rstrip("?"))
    return result


def _put(words: _Words, word: str, term: str) -> None:
    core, topic = word.strip("-"), frozenset({term})
    if is_unspaced(core):
        index, key = words.parts_of_words, core
    elif len(parts := words_in(core.replace("_", " "))) > 1:
        words.phrases.setdefault(parts[0], []).append((" ".join(parts), term))
        return
    else:
        index = words.begins if word.endswith("-") else words.ends if word.startswith("-") else words.exact
        key = core.casefold()
        plain = without_accents(key)
        if plain != key and len(plain) >= _MIN_UNACCENTED:  # a short word without its accents is often another one
            index[plain] = index.get(plain, frozenset()) | topic
    index[key] = index.get(key, frozenset()) | topic


@cache
def _slots() -> dict[str, frozenset[str]]:
    """Return the topics by slots and by kinds of facts."""
    topics: dict[str, frozenset[str]] = {}
    for name, words in _lines():
        if name.endswith("="):
            for word in words.split():
                topics[word] = topics.get(word, frozenset()) | {_PREFIX + name.rstrip("=")}
    return topics
