"""Looks for words that only forgotten messages had, in what models wrote: a model may have named the wrong source.

Such a text cannot be proven from what is left. One such word is enough for a page, as it is written anew from what is
left. A fact or a note on a session goes if it has a name or a number of the message, or two of its words: a model has
words of its own. What a person wrote stays.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from bethink.base.language import counted
from bethink.model.jobs import JobKind
from bethink.model.recall import RefKind
from bethink.store import candidates, facts
from bethink.store.db import Row, Tx
from bethink.store.terms import KINDS, words_of

_TOGETHER = 200
"""How many words are looked up at once."""
_TELLING = re.compile(r"(?<=[^\s.!?:;\"'(\[-] )[^\W\d_a-z]\w+|\b\w*\d\w*\d\w*\d\w*\b")
"""Within a sentence, a word with a capital; anywhere, what has three digits."""
_OWN = frozenset(counted("user owner assistant"))
"""Words that models use themselves, whatever was said."""


class Erased:
    """The words of messages that go: of each of them, and those that tell who or what it is about."""

    def __init__(self, texts: Iterable[str], *, since: int) -> None:
        self.since = since
        """When the first of them was recorded: what was made before it cannot repeat it."""
        self.messages: list[frozenset[str]] = []
        self.telling: set[str] = set()
        for text in texts:
            self.messages.append(frozenset(words_of(text).counts) - _OWN)
            self.telling |= counted(" ".join(_TELLING.findall(text))).keys()

    def words(self) -> list[str]:
        """Return all of them, in order."""
        return sorted(frozenset[str]().union(*self.messages))

    def repeats(self, having: AbstractSet[str], gone: AbstractSet[str]) -> bool:
        """Return whether a text with some words says more of a message than a model would by itself."""
        left = having & gone
        return bool(left & self.telling) or any(len(left & words) > 1 for words in self.messages)


class Unproven:
    """What has a word that no message says any more."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.ids: dict[RefKind, list[str]] = {kind: [] for kind in KINDS}
        self.versions: list[tuple[str, int]] = []
        """Versions of documents."""


def unproven(tx: Tx, erased: Erased, *, space: str) -> Unproven:
    """Return what models wrote with words of forgotten messages, where no message has the word any more."""
    found = Unproven()
    having: dict[int, set[str]] = {}
    listed, message = erased.words(), KINDS.index(RefKind.MESSAGE)
    for at in range(0, len(listed), _TOGETHER):
        for word, docs in candidates.rare_postings(tx, space=space, stems=listed[at : at + _TOGETHER]).items():
            if not any(doc & 3 == message for doc in docs):
                found.words.add(word)
                for doc in docs:
                    having.setdefault(doc, set()).add(word)
    rows = tx.all("texts_of_docs", docs=sorted(having), since=erased.since) if having else []
    for row in rows:
        kind = RefKind(row["kind"])
        if kind is RefKind.DOCUMENT:
            found.versions.append((row["id"], row["number"]))
        elif erased.repeats(having[row["doc"]], found.words) and _was_learnt(tx, kind, row["id"], space=space):
            found.ids[kind].append(row["id"])
    return found


def _was_learnt(tx: Tx, kind: RefKind, name: str, *, space: str) -> bool:
    return kind is not RefKind.FACT or facts.learnt_effect(tx, space=space, fact_id=name) is not None


def redact_versions(tx: Tx, found: Unproven, *, space: str) -> list[str]:
    """Remove the text of versions that no person wrote, and return the ids of their documents."""
    if not found.versions:
        return []
    ids, numbers = [each[0] for each in found.versions], [each[1] for each in found.versions]
    return [row["id"] for row in tx.all("redact_unproven", space=space, ids=ids, numbers=numbers)]


def drop_texts(tx: Tx, erased: Erased, gone: AbstractSet[str], *, space: str) -> None:
    """Remove recorded answers, change sets and claims under review that repeat what only forgotten messages said."""
    if not gone:
        return
    for row in _having(tx.all("list_extraction_answers", space=space, kind=JobKind.EXTRACT), _any_of(gone)):
        tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=[row["key"]])
    for row in _having(tx.all("list_change_set_texts", space=space), _any_of(gone)):
        tx.run("drop_change_set", space=space, run=row["run"])
    for row in _having(tx.all("list_claims", space=space), lambda words: erased.repeats(words, gone)):
        tx.run("drop_review", space=space, id=row["id"])


def _any_of(gone: AbstractSet[str]) -> Callable[[AbstractSet[str]], bool]:
    return lambda words: not words.isdisjoint(gone)


def _having(rows: Iterable[Row], fits: Callable[[AbstractSet[str]], bool]) -> list[Row]:
    """Return the rows whose texts fit, also where those are values in JSON."""
    found: list[Row] = []
    for row in rows:
        text = " ".join(_values([_read(each) for each in row.values() if isinstance(each, str)]))
        if fits(counted(text).keys()):
            found.append(row)
    return found


def _read(text: str) -> Any:
    try:
        return json.loads(text) if text[:1] in "[{" else text
    except (ValueError, RecursionError):
        return text


def _values(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _values(each)
    elif isinstance(value, list):
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _values(each)
