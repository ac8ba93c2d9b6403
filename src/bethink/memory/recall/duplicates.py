"""Detect texts that say the same: equal key words, a summary that quotes a message, a fact and its message."""

import re
from collections.abc import Collection, Iterable, Iterator

from bethink.memory.recall.tuning import TUNING
from bethink.model.words import gist, key_words, stem, words_of

_SENTENCE = re.compile(r"[.!?\n\u3002\uff01\uff1f]+")


def is_quoted(message: str, summary: str) -> bool:
    """Return whether the summary of a session quotes one of its messages."""
    opening = " ".join(message.strip("… ").split())[: TUNING.quoted_characters]
    return bool(opening) and opening in summary


def adds_nothing(summary: str, texts: Iterable[str], question_stems: Collection[str]) -> bool:
    """Return whether other texts contain every sentence of a summary that has a stem of the question, or else all."""
    sentences = [_stems(key_words(part)) for part in _SENTENCE.split(summary[: TUNING.max_compared])]
    relevant = [part for part in sentences if not part.isdisjoint(question_stems)] or sentences
    known_stems = _stems([word for text in texts for word in words_of(text)])
    return all(part <= known_stems for part in relevant)


def contains(message: str, fact: str) -> bool:
    """Return whether a message contains every key word of a fact."""
    return _stems(key_words(fact)) <= _stems(words_of(message))


def new_lines(lines: Iterable[str], stem_sets: Iterable[Collection[str]]) -> Iterator[str]:
    """Yield the lines that no text contains yet, in the same or a larger set of words.

    `stem_sets` has the `stems_in` of each text. Lines are read lazily.
    """
    known_stems = list(stem_sets)
    for line in lines:
        words = _stems(key_words(line))
        if not any(words.issubset(stems) for stems in known_stems):
            yield line


def stems_in(text: str) -> set[str]:
    """Return the stems of all words of a text."""
    return _stems(words_of(text))


def opening_of(text: str) -> str:
    """Return the beginnings of the first key words. Texts that say the same have this key in common."""
    # The words before a space do not depend on those after it, so that a long text need not be read to its end.
    head = text[: TUNING.opening_characters].rpartition(" ")[0]
    words = key_words(head)
    if len(words) < TUNING.opening_words:
        head_text = text[: TUNING.max_compared]
        words = key_words(head_text) or words_of(head_text)
    return " ".join([word[:3].rstrip("e") for word in words[: TUNING.opening_words]])


class Openings(dict[str, str]):
    """The `opening_of` each text, computed on first use. One answer compares its texts several times."""

    def __missing__(self, text: str) -> str:
        opening = self[text] = opening_of(text)
        return opening


def meaning_of(text: str) -> str:
    """Return the gist of a text. A very long text is compared word for word."""
    return gist(text) if len(text) <= TUNING.max_compared else text


def _stems(words: Iterable[str]) -> set[str]:
    return set(map(stem, words))
