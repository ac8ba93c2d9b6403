"""What anyone would try first: full text alone, vectors alone, and the two put together."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import re
from collections.abc import Sequence

import apsw
import numpy as np

from benchmarks.sets import Turn

FULL_TEXT = "FTS5, porter and stop words"
"""What the others are measured against: it has no weights that anybody tuned."""
BIGRAMS = "FTS5, porter, CJK as bigrams"
# A copy: a baseline must not move when the lists of recall do.
_STOP_LIST = """
    a about above after again against aint all also am an and any are arent as at be because been before being
    below between both but by can cant could couldnt d did didnt do does doesnt doing don dont down during each
    else few for from further get gets getting gonna got had has hasnt have havent having he hello her here hers
    herself hes hey hi him himself his how i if im in into is isnt it its itself ive just kinda let lets ll m
    may me might more most must my myself no nor not now o of off oh ok okay on once only or other ought our
    ours ourselves out over own re s same shall she shes should shouldnt so some such t than that the their
    theirs them themselves then there these they theyre this those through to too under until up us ve very
    wanna was wasnt we were werent weve what when where whether which while who whom whose why will with wont
    would wouldnt y yeah yes you your youre yours yourself yourselves youve
"""
_STOP_WORDS = frozenset(_STOP_LIST.split())
_WORD = re.compile(r"\w+")
# Han, kana and hangul, without the marks between them.
_CJK = re.compile("[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_TABLES = (("plain", "unicode61"), ("porter", "porter unicode61"), ("bigrams", "porter unicode61"))


def cosine(model: str) -> str:
    """Name the way that ranks by the vectors of a model alone."""
    return f"cosine, {model}"


class Baselines:
    """The turns of one conversation in a bare FTS5, and what bare vectors make of them."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._ids = [turn.id for turn in turns]
        self._connection = apsw.Connection(":memory:")
        for name, tokenizer in _TABLES:
            said = [f"{turn.speaker}: {turn.text}" for turn in turns]
            texts = map(_in_bigrams, said) if name == "bigrams" else said
            self._connection.execute(f"CREATE VIRTUAL TABLE {name} USING fts5 (text, tokenize = '{tokenizer}')")
            self._connection.executemany(f"INSERT INTO {name} (rowid, text) VALUES (?, ?)", list(enumerate(texts)))

    def by_words(self, question: str) -> dict[str, list[str]]:
        """Return the turns that share a word with a question, in the order of each full text."""
        return {
            "FTS5 as it comes": self._matched(self._full_text("plain", _WORD.findall(question.lower()))),
            FULL_TEXT: self._matched(self._full_text("porter", _key_words(question))),
            BIGRAMS: self._matched(self._full_text("bigrams", _key_words(_in_bigrams(question)))),
        }

    def by_vectors(
        self, model: str, question: str, vector: Sequence[float], vectors: "np.ndarray"
    ) -> dict[str, list[str]]:
        """Return all turns in the order of their vectors, and of these half and half with full text."""
        near = vectors @ np.asarray(vector, dtype=np.float32)
        words = self._full_text("bigrams", _key_words(_in_bigrams(question)))
        return {
            cosine(model): self._named(near),
            f"FTS5 and {cosine(model)}": self._named(_spread(words) + _spread(near)),
        }

    def _full_text(self, table: str, words: Sequence[str]) -> "np.ndarray":
        scores = np.zeros(len(self._ids), dtype=np.float32)
        asked = " OR ".join(f'"{word}"' for word in words)
        if asked:
            rows = self._connection.execute(f"SELECT rowid, bm25({table}) FROM {table} WHERE {table} MATCH ?", (asked,))
            for row, score in rows:
                scores[row] = max(-score, 1e-9)  # a word in most texts is worth less than nothing, yet it matches
        return scores

    def _named(self, scores: "np.ndarray") -> list[str]:
        return [self._ids[place] for place in np.argsort(-scores, kind="stable")]

    def _matched(self, scores: "np.ndarray") -> list[str]:
        return self._named(scores)[: int((scores > 0).sum())]

    def close(self) -> None:
        """Let go of the full text."""
        self._connection.close()


def _key_words(text: str) -> list[str]:
    words = _WORD.findall(text.lower())
    return [word for word in words if word not in _STOP_WORDS] or words


def _in_bigrams(text: str) -> str:
    """Write every run of CJK as its pairs of neighbours, with spaces between."""
    return _CJK.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", text)


def _pairs(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(max(1, len(run) - 1))]


def _spread(values: "np.ndarray") -> "np.ndarray":
    low, high = float(values.min()), float(values.max())
    return (values - low) / (high - low) if high > low else values * 0
