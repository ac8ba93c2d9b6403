"""What anyone would try first: full text alone, vectors alone, and the two put together."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import re
from collections.abc import Sequence

import apsw
import numpy as np

from benchmarks.sets import Turn
from bethink.recall.word_lists import STOP_WORDS

BASELINE = "FTS5, porter and stop words"
"""What the others are measured against: it has no weights that anybody tuned."""
_WORD = re.compile(r"\w+")


class Baselines:
    """The turns of one conversation, in a bare FTS5 and, if there are any, as bare vectors."""

    def __init__(self, turns: Sequence[Turn], vectors: Sequence[Sequence[float]] | None) -> None:
        self._ids = [turn.id for turn in turns]
        self._connection = apsw.Connection(":memory:")
        for name, tokenizer in (("plain", "unicode61"), ("porter", "porter unicode61")):
            self._connection.execute(f"CREATE VIRTUAL TABLE {name} USING fts5 (text, tokenize = '{tokenizer}')")
            self._connection.executemany(
                f"INSERT INTO {name} (rowid, text) VALUES (?, ?)",
                [(row, f"{turn.speaker}: {turn.text}") for row, turn in enumerate(turns)],
            )
        self._matrix = None if vectors is None else np.asarray(vectors, dtype=np.float32)

    def rankings(self, question: str, vector: Sequence[float] | None) -> dict[str, list[str]]:
        """Return the turns in the order of each baseline, the best first."""
        words = _WORD.findall(question.lower())
        stopped = [word for word in words if word not in STOP_WORDS] or words
        porter = self._full_text("porter", stopped)
        found = {
            "FTS5 as it comes": self._named(self._full_text("plain", words)),
            BASELINE: self._named(porter),
        }
        if self._matrix is not None and vector is not None:
            near = self._matrix @ np.asarray(vector, dtype=np.float32)
            found["vectors of the texts alone"] = self._named(near)
            found["FTS5 and vectors, min-max half and half"] = self._named(_spread(porter) + _spread(near))
        return found

    def _full_text(self, table: str, words: Sequence[str]) -> "np.ndarray":
        scores = np.zeros(len(self._ids), dtype=np.float32)
        asked = " OR ".join(f'"{word}"' for word in words)
        if asked:
            rows = self._connection.execute(f"SELECT rowid, bm25({table}) FROM {table} WHERE {table} MATCH ?", (asked,))
            for row, score in rows:
                scores[row] = -score
        return scores

    def _named(self, scores: "np.ndarray") -> list[str]:
        return [self._ids[place] for place in np.argsort(-scores, kind="stable")]

    def close(self) -> None:
        """Let go of the full text."""
        self._connection.close()


def _spread(values: "np.ndarray") -> "np.ndarray":
    low, high = float(values.min()), float(values.max())
    return (values - low) / (high - low) if high > low else values * 0
