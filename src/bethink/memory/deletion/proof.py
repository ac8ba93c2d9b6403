"""Finds words of deleted messages in texts that models wrote: a model may have cited the wrong source.

The remaining messages do not support such a text. One such word is enough for a page, which is rebuilt from the
remaining messages. A fact or a session summary is deleted if it has a name or a number of the message, or two of its
words: models add words of their own. Texts that people wrote stay.
"""

import json
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from bethink.base.language import terms_of
from bethink.model.jobs import JobKind
from bethink.model.refs import RefKind
from bethink.store import candidates, facts
from bethink.store.db import Row, Tx
from bethink.store.terms import KINDS, SEARCHED

_BATCH = 200
"""Number of words per lookup."""
_DISTINCTIVE = re.compile(r"(?<=[^\s.!?:;\"'(\[-] )[^\W\d_a-z]\w+|\b\w*\d\w*\d\w*\d\w*\b")
"""A capitalized word within a sentence, or any word with three digits."""
_OWN = frozenset(terms_of("user owner assistant"))
"""Words that models add themselves."""


class ErasedWords:
    """The words of deleted messages: all words of each message, and the distinctive ones."""

    def __init__(self, texts: Iterable[str], *, since: int) -> None:
        self.since = since
        """Time at which the first message was recorded: earlier texts cannot repeat it."""
        self.messages: list[frozenset[str]] = []
        self.distinctive: set[str] = set()
        for text in texts:
            # One term per word: in the index, a word has several if the language of its text is in doubt.
            self.messages.append(frozenset(terms_of(text[:SEARCHED])) - _OWN)
            self.distinctive.update(terms_of(" ".join(_DISTINCTIVE.findall(text))))

    def words(self) -> list[str]:
        """Return all words, sorted."""
        return sorted(frozenset[str]().union(*self.messages))

    def repeats(self, having: AbstractSet[str], deleted_words: AbstractSet[str]) -> bool:
        """Return whether a text with these words repeats more of a message than a model would add by itself."""
        shared = having & deleted_words
        return bool(shared & self.distinctive) or any(len(shared & words) > 1 for words in self.messages)


class UnprovenTexts:
    """Texts with a word that no remaining message has."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.ids: dict[RefKind, list[str]] = {kind: [] for kind in KINDS}
        self.versions: list[tuple[str, int]] = []
        """Versions of documents."""


def find_unproven(tx: Tx, erased_words: ErasedWords, *, space: str) -> UnprovenTexts:
    """Return the texts of models with words of deleted messages that no remaining message has."""
    result = UnprovenTexts()
    having: dict[int, set[str]] = {}
    listed, message = erased_words.words(), KINDS.index(RefKind.MESSAGE)
    for at in range(0, len(listed), _BATCH):
        for word, docs in candidates.rare_postings(tx, space=space, stems=listed[at : at + _BATCH]).items():
            if not any(doc & 3 == message for doc in docs):
                result.words.add(word)
                for doc in docs:
                    having.setdefault(doc, set()).add(word)
    rows = tx.all("texts_of_docs", docs=sorted(having), since=erased_words.since) if having else []
    for row in rows:
        kind = RefKind(row["kind"])
        if kind is RefKind.DOCUMENT:
            result.versions.append((row["id"], row["number"]))
        elif erased_words.repeats(having[row["doc"]], result.words) and _was_learned(tx, kind, row["id"], space=space):
            result.ids[kind].append(row["id"])
    return result


def _was_learned(tx: Tx, kind: RefKind, name: str, *, space: str) -> bool:
    return kind is not RefKind.FACT or facts.learned_effect(tx, space=space, fact_id=name) is not None


def redact_versions(tx: Tx, unproven_texts: UnprovenTexts, *, space: str) -> list[str]:
    """Remove the text of versions that no person wrote, and return the ids of their documents."""
    if not unproven_texts.versions:
        return []
    ids, numbers = (
        [version[0] for version in unproven_texts.versions],
        [version[1] for version in unproven_texts.versions],
    )
    return [row["id"] for row in tx.all("redact_unproven", space=space, ids=ids, numbers=numbers)]


def drop_texts(tx: Tx, erased_words: ErasedWords, deleted_words: AbstractSet[str], *, space: str) -> None:
    """Remove recorded answers, change sets, claims under review and words of requests to forget.

    These are the ones that repeat words of deleted messages only.
    """
    if not deleted_words:
        return
    ids: dict[str, list[str]] = {"answer": [], "change_set": [], "claim": [], "request": []}
    for row in tx.all("list_derived_texts", space=space, kind=JobKind.EXTRACT):
        words = _words_in(row)
        is_match = (
            erased_words.repeats(words, deleted_words)
            if row["kind"] == "claim"
            else not words.isdisjoint(deleted_words)
        )
        if is_match:
            ids[row["kind"]].append(row["id"])
    if ids["answer"]:
        tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=ids["answer"])
    if ids["change_set"]:
        tx.run("drop_change_sets", space=space, runs=ids["change_set"])
    if ids["claim"]:
        tx.run("drop_reviews", space=space, ids=ids["claim"])
    if ids["request"]:
        tx.run("clear_forget_requests", space=space, ids=ids["request"])


def _words_in(row: Row) -> frozenset[str]:
    """Return the words of the texts of a row, including texts inside JSON."""
    texts = [_parse_json(row[name]) for name in ("id", "first", "second", "third")]
    return frozenset(terms_of(" ".join(_values(texts))))


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text) if text[:1] in "[{" else text
    except (ValueError, RecursionError):
        return text


def _values(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _values(item)
    elif isinstance(value, list):
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _values(item)
