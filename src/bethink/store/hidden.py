"""Words that a person asked to forget, removed from documents until these are written again."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.base.language.numbers import numbers_in
from bethink.model.moments import Micros
from bethink.model.words import is_repeated, key_stems, stem, words_of
from bethink.store.db import Tx

MAX_HIDDEN = 500
"""Maximum number of hidden spans and facts of a space that its documents are compared with, the newest ones."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDING = " .!?\u3002\uff01\uff1f"
_NEVER = Micros(0)
_FACT_ID = re.compile(r"\bfct_\w+")


class _Phrase(NamedTuple):
    """Hidden words: those of a message or a fact, or the `target` of a request, with when they were hidden."""

    text: str
    stems: frozenset[str]
    hidden_at: Micros
    is_target: bool = False

    def is_in(self, line: str, stems: frozenset[str]) -> bool:
        """Return whether a line repeats these words."""
        if self.is_target:
            return self.text in line if _UNSPACED.search(self.text) else bool(self.stems) and self.stems <= stems
        if self.text in line:
            return True
        if not self.stems or not is_repeated(self.stems, stems):
            return False
        return numbers_in(self.text) <= numbers_in(line)  # with another value, it says something else


@frozen
class HiddenWords:
    """What a person asked to forget in a space."""

    phrases: Sequence[_Phrase] = ()
    fact_ids: Mapping[str, Micros] = field(default_factory=dict[str, Micros])
    """The hidden facts, with when they were hidden."""

    def __bool__(self) -> bool:
        return bool(self.phrases or self.fact_ids)

    def visible(self, text: str, *, written_at: Micros = _NEVER) -> str:
        """Return a text without the lines that repeat words which were hidden after it was written."""
        phrases = [phrase for phrase in self.phrases if phrase.hidden_at >= written_at]
        fact_ids = {fact_id for fact_id, hidden_at in self.fact_ids.items() if hidden_at >= written_at}
        if not text or not (phrases or fact_ids):
            return text
        return "\n".join(line for line in text.splitlines() if not _is_hidden(line, phrases, fact_ids))


def _is_hidden(line: str, phrases: Iterable[_Phrase], fact_ids: Iterable[str]) -> bool:
    cited = _FACT_ID.findall(line)
    if cited:  # each line that code wrote names its fact
        hidden_ids = set(fact_ids)
        return any(fact_id in hidden_ids for fact_id in cited)
    normal = _normalized(line)
    stems = frozenset(stem(word) for word in words_of(line))
    return any(phrase.is_in(normal, stems) for phrase in phrases)


def of_space(tx: Tx, *, space: str) -> HiddenWords:
    """Return the hidden words of a space, the newest ones."""
    rows = tx.all("hidden_words", space=space, limit=MAX_HIDDEN)
    return HiddenWords(
        phrases=_phrases((row["text"], row["hidden_at"], row["kind"] == "target") for row in rows),
        fact_ids={row["id"]: Micros(row["hidden_at"]) for row in rows if row["kind"] == "fact"},
    )


def _phrases(texts: Iterable[tuple[str, int, bool]]) -> list[_Phrase]:
    phrases: list[_Phrase] = []
    for text, hidden_at, is_target in texts:
        if any(char.isalnum() for char in text):
            phrases.append(_Phrase(_normalized(text), key_stems(text), Micros(hidden_at), is_target))
    return phrases


def _normalized(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(_ENDING)
