"""Show in a page which facts it states, so that they need not be listed again."""

import re
from collections.abc import Mapping
from typing import NamedTuple, Self

from bethink.base.frozen import frozen
from bethink.base.language.numbers import numbers_in
from bethink.memory.learning.documents.grounded import without_labels
from bethink.model.facts import Fact
from bethink.model.words import is_negated, key_stems

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_])|(?<=[\u3002\uff01\uff1f])")


@frozen
class LabeledBody:
    """A body with the labels of facts behind the sentences that state them in full, and these labels."""

    text: str
    labels: frozenset[str]


def label_facts(body: str, facts: Mapping[str, Fact]) -> LabeledBody:
    """Put the labels of facts behind the sentences that state them: those that have all their words and numbers."""
    # When a fact ends is rarely in its words, so the writer is told.
    meanings = {label: _Meaning.of_fact(fact) for label, fact in facts.items() if fact.valid_to is None}
    placed: dict[str, None] = {}
    lines: list[str] = []
    for line in without_labels(body).splitlines():
        sentences = [line] if line.startswith("#") else [part for part in _SENTENCE.split(line) if part.strip()]
        text = ""
        for sentence in sentences:
            stated = [] if line.startswith("#") else _stated_in(sentence, meanings)
            placed |= dict.fromkeys(stated)
            mark = "".join(f"[{label}]" for label in stated)
            text += f"{text and ' '}{sentence}{mark and ' '}{mark}"
        lines.append(text)
    return LabeledBody(text="\n".join(lines), labels=frozenset(placed))


def _stated_in(sentence: str, meanings: Mapping[str, "_Meaning"]) -> list[str]:
    of_sentence = _Meaning.of_text(sentence)
    return [label for label, meaning in meanings.items() if meaning.is_in(of_sentence)]


class _Meaning(NamedTuple):
    """The significant words of a text, its numbers, and whether it denies."""

    stems: frozenset[str]
    numbers: frozenset[int]
    denies: bool

    @classmethod
    def of_text(cls, text: str) -> Self:
        return cls(key_stems(text), frozenset(numbers_in(text)), is_negated(text))

    @classmethod
    def of_fact(cls, fact: Fact) -> Self:
        """Return the meaning of a fact with its scope and the day it begins."""
        days = [day for day in (fact.event_from, fact.valid_from) if day is not None]
        numbers = numbers_in(fact.text).union(*((day.year, day.day) for day in days))
        return cls(key_stems(f"{fact.text} {fact.scope or ''}"), frozenset(numbers), is_negated(fact.text))

    def is_in(self, sentence: Self) -> bool:
        return (
            bool(self.stems)
            and self.stems <= sentence.stems
            and self.numbers <= sentence.numbers
            and self.denies == sentence.denies
        )
