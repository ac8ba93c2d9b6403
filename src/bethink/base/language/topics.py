"""What a fact or a question is about: home, work, food and so on, whatever the language and the words.

A question rarely has the words of its answer: "Where do I live?" and "Mira rents a flat in Bergen". Facts are short and
few, so they are indexed under their topics as well, and questions are searched by them.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

from bethink.base.language.letters import is_unspaced, without_accents, words_in

_PREFIX = "topic:"
"""What the term of a topic begins with. No word has a colon, so it is the term of nothing else."""
_LONGEST_SIGNS = 4
_SHORTEST = 2
_TELLING = 5


class _Words(NamedTuple):
    """The words of all topics, each with the terms of its topics."""

    whole: dict[str, frozenset[str]]
    begins: dict[str, frozenset[str]]
    ends: dict[str, frozenset[str]]
    parts_of_words: dict[str, frozenset[str]]
    phrases: dict[str, list[tuple[str, str]]]
    """By their first words."""


def topics_of(content: str, *, kind: str = "", slot: str | None = None) -> tuple[str, ...]:
    """Return the terms of what a fact is about: by its words, its kind and its slot."""
    named = (name for name in (kind, slot) if name)
    by_name = (topic for name in named for topic in _slots().get(name.casefold(), ()))
    return tuple(
        dict.fromkeys((*by_name, *(topic for each in _found(content, asked=False).values() for topic in each)))
    )


def asked_topics(question: str) -> dict[str, tuple[str, ...]]:
    """Return the terms of what a question asks about, by the words or phrases of it that say so."""
    return _found(question, asked=True)


def _found(text: str, *, asked: bool) -> dict[str, tuple[str, ...]]:
    words = words_in(text)
    found = {word: topics for word in dict.fromkeys(words) if (topics := _topics(word, asked=asked))}
    phrases = _words(asked).phrases
    begins = [word for word in words if word in phrases]
    if begins:
        line = f" {' '.join(words)} "
        for word in begins:
            found |= {phrase: (topic,) for phrase, topic in phrases[word] if f" {phrase} " in line}
    return found


@lru_cache(maxsize=8_192)
def _topics(word: str, *, asked: bool) -> tuple[str, ...]:
    known = _words(asked)
    if is_unspaced(word):
        return _ordered(known.parts_of_words.get(part) for part in _parts(word))
    ends = range(_SHORTEST, len(word) + 1)
    return _ordered(
        (
            known.whole.get(word),
            *(known.begins.get(word[:end]) for end in ends),
            *(known.ends.get(word[-end:]) for end in ends),
        )
    )


def _parts(run: str) -> Iterable[str]:
    return (run[at : at + size] for size in range(1, _LONGEST_SIGNS + 1) for at in range(len(run) - size + 1))


def _ordered(found: Iterable[frozenset[str] | None]) -> tuple[str, ...]:
    return tuple(sorted({topic for topics in found if topics for topic in topics}))


@cache
def _lines() -> tuple[tuple[str, str], ...]:
    text = (resources.files("bethink.base.language") / "topics.txt").read_text(encoding="utf-8")
    pairs = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    return tuple((name, words) for name, _, words in pairs)


@cache
def _words(asked: bool) -> _Words:  # noqa: FBT001 - a key of the cache
    """Read the words of topics; those of questions only if it is `asked` for them."""
    known = _Words({}, {}, {}, {}, {})
    for name, words in _lines():
        if name.endswith("=") or (name.endswith("?") and not asked):
            continue
        for word in words.split():
            _put(known, word, _PREFIX + name.rstrip("?"))
    return known


def _put(known: _Words, word: str, term: str) -> None:
    core, topic = word.strip("-"), frozenset({term})
    if is_unspaced(core):
        place, key = known.parts_of_words, core
    elif len(parts := words_in(core.replace("_", " "))) > 1:
        known.phrases.setdefault(parts[0], []).append((" ".join(parts), term))
        return
    else:
        place = known.begins if word.endswith("-") else known.ends if word.startswith("-") else known.whole
        key = core.casefold()
        plain = without_accents(key)
        if plain != key and len(plain) >= _TELLING:  # a short word without its accents is often another one
            place[plain] = place.get(plain, frozenset()) | topic
    place[key] = place.get(key, frozenset()) | topic


@cache
def _slots() -> dict[str, frozenset[str]]:
    """Return the topics by slots and by kinds of facts."""
    found: dict[str, frozenset[str]] = {}
    for name, words in _lines():
        if name.endswith("="):
            for word in words.split():
                found[word] = found.get(word, frozenset()) | {_PREFIX + name.rstrip("=")}
    return found
