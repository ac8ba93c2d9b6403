"""When two texts say the same: the same key words, a message and a memory that quotes it, a fact and its message."""

import re
from collections.abc import Collection, Iterable, Iterator

from bethink.memory.recall.tuning import TUNING
from bethink.model.words import gist, key_words, stem, words_of

_SENTENCE = re.compile(r"[.!?\n\u3002\uff01\uff1f]+")


def is_quoted(message: str, memory: str) -> bool:
    """Return whether the memory of a session quotes one of its messages."""
    said = " ".join(message.strip("… ").split())[: TUNING.quoted_characters]
    return bool(said) and said in memory


def adds_nothing(memory: str, said: Iterable[str], asked: Collection[str]) -> bool:
    """Return whether each sentence of a memory that has an asked stem, or else each of all, is in what was said."""
    sentences = [_stems(key_words(part)) for part in _SENTENCE.split(memory[: TUNING.longest_compared])]
    told = [part for part in sentences if not part.isdisjoint(asked)] or sentences
    known = _stems([word for text in said for word in words_of(text)])
    return all(part <= known for part in told)


def contains(message: str, fact: str) -> bool:
    """Return whether a message contains every key word of a fact."""
    return _stems(key_words(fact)) <= _stems(words_of(message))


def new_lines(lines: Iterable[str], said: Iterable[Collection[str]]) -> Iterator[str]:
    """Return the lines that no text says already: not in these words, and not among others.

    `said` has the `stems_in` each text. A line is only read when it is asked for.
    """
    known = list(said)
    for line in lines:
        words = _stems(key_words(line))
        if not any(words.issubset(each) for each in known):
            yield line


def stems_in(text: str) -> set[str]:
    """Return the stems of all words of a text."""
    return _stems(words_of(text))


def opening_of(text: str) -> str:
    """Return the beginnings of the first key words. Texts that say the same share at least these."""
    head = text[: TUNING.opening_characters].rpartition(" ")[0] if text.isascii() else ""
    words = key_words(head)
    if len(words) < TUNING.opening_words:
        whole = text[: TUNING.longest_compared]
        words = key_words(whole) or words_of(whole)
    return " ".join([word[:3].rstrip("e") for word in words[: TUNING.opening_words]])


def meaning_of(text: str) -> str:
    """Return the gist of a text. A very long text is compared word for word."""
    return gist(text) if len(text) <= TUNING.longest_compared else text


def _stems(words: Iterable[str]) -> set[str]:
    return set(map(stem, words))
