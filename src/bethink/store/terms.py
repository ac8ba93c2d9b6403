"""The index of words: every text is stored under keyed hashes of its terms, and found by the rarest ones.

A hash has a meaning only with the key of its space. So the texts that have a hash are texts of one space, and no word
can be read from the index.
"""

import struct
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from bethink.base.language import PREFERENCE_TERM, QUESTION_MARKS, count_terms, preferences_in, topics_of
from bethink.base.language.letters import words_in
from bethink.model.refs import RefKind
from bethink.store import term_counts
from bethink.store.db import Row, Tx
from bethink.store.sql import Dialect

SEARCHED = 100_000
"""Number of characters of a text that are indexed. The remaining text cannot be found and has no weight."""

KINDS = (RefKind.MESSAGE, RefKind.FACT, RefKind.SESSION_SUMMARY, RefKind.DOCUMENT)
_CODES = {kind: code for code, kind in enumerate(KINDS)}
_KIND_BITS = 2
_SPACE_BITS = 34
_MAX_HITS = 255
_SHORT = 500
"""Number of characters up to which a final question is told apart from the statements before it."""
_FULL_STOPS = (".", "!", "\n", "\u3002", "\uff01")
_MAX_HASHES = 20_000
_MANY_TERMS = 4_000
"""Number of terms from which the counts of a message are packed until they are stored."""
_PART_TERMS = 30_000
"""Maximum number of terms in one statement."""
_SEPARATOR = "\n"
"""A character that no term has."""


class Words(NamedTuple):
    """Index data of a text: its length in bytes, whether it is a question, and how often each term occurs."""

    length: int
    asks: bool
    counts: Mapping[str, int]


class Entry(NamedTuple):
    """A text to index: its ref, its time and its words."""

    kind: RefKind
    id: str
    number: int
    at: int
    words: Words


class SpaceIndex(NamedTuple):
    """Location of the texts of a space in the index, and their key."""

    key: bytes
    start: int
    """The first `doc` of the space."""
    last: int
    """The highest number that a text of the space has."""

    def doc(self, number: int, kind: RefKind) -> int:
        """Return the `doc` of a text."""
        return self.start + (number << _KIND_BITS) + _CODES[kind]


class PackedCounts(Mapping[str, int]):
    """How often each term of a long text occurs, in a tenth of the memory of a dict. Single terms are slow to find."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._terms = _SEPARATOR.join(counts)
        self._times = array("I", counts.values())

    def __len__(self) -> int:
        return len(self._times)

    def __iter__(self) -> Iterator[str]:
        return iter(self._terms.split(_SEPARATOR) if self._times else ())

    def __getitem__(self, term: str) -> int:
        return dict(zip(self, self._times, strict=True))[term]

    def times(self) -> list[int]:
        """Return how often each term occurs, in order."""
        return self._times.tolist()


def message_words(content: str, name: str | None, *, by_user: bool) -> Words:
    """Analyze a message and the name of its speaker. A lasting preference that a user states is also found as such."""
    words = _message_words(content, name, by_user=by_user)
    is_long = len(words.counts) > _MANY_TERMS
    return words._replace(counts=PackedCounts(words.counts)) if is_long else words


def _message_words(content: str, name: str | None, *, by_user: bool) -> Words:
    if name is not None or len(content) > SEARCHED or not content.isascii():
        words = words_of(content) if name is None else words_of(content, name)
        return user_words(words, content) if by_user else words
    counted = Counter(words_in(content))  # once for both
    counts = count_terms(content, counted)
    if by_user and preferences_in(content, counted):
        counts[PREFERENCE_TERM] = 1
    return _words_of(content, counts)


def words_of(text: str, *more: str) -> Words:
    """Analyze a text; `more` are indexed with it, but do not count toward its length."""
    indexed = " ".join((*more, text[:SEARCHED])) if more else text[:SEARCHED]
    return _words_of(text, count_terms(indexed))


def _words_of(text: str, counts: dict[str, int]) -> Words:
    stated = _statement_in(text)
    size = len(stated) if stated.isascii() else len(stated.encode(errors="replace"))
    return Words(min(size, SEARCHED), text.endswith(QUESTION_MARKS), counts)


def _statement_in(text: str) -> str:
    """Return a short text without a final question, if it states something before: it answers as well as without."""
    if len(text) > _SHORT or not text.endswith(QUESTION_MARKS):
        return text
    return text[: max(map(text.rfind, _FULL_STOPS)) + 1] or text


def fact_words(content: str, kind: str, slot: str | None) -> Words:
    """Analyze a fact, which is also found by its topics."""
    words = words_of(content)
    topics = dict.fromkeys(topics_of(content, kind=kind, slot=slot), 1)
    return words._replace(counts={**words.counts, **topics}) if topics else words


def user_words(words: Words, content: str) -> Words:
    """Return the index data of a user's message. If it states a lasting preference, it is also found as such."""
    return words._replace(counts={**words.counts, PREFERENCE_TERM: 1}) if preferences_in(content) else words


def find_space_index(tx: Tx, *, space: str) -> SpaceIndex:
    """Return the index location of a space."""
    row = tx.first("index_place", space=space)
    assert row is not None  # noqa: S101 - the caller has created the space
    return read_space_index(row)


def read_space_index(row: Row) -> SpaceIndex:
    """Read an index location from a row with `key`, `place` and `last_doc`."""
    start = row["place"] << _SPACE_BITS
    last = row["last_doc"]
    return SpaceIndex(row["key"], start, 0 if last is None or last < start else (last - start) >> _KIND_BITS)


def put(tx: Tx, entries: Sequence[Entry], *, space: str, at: SpaceIndex | None = None) -> None:
    """Index texts. They are found at once, and removed from the index with their text."""
    entries = [entry for entry in entries if entry.words.counts]
    if not entries:
        return
    at = find_space_index(tx, space=space) if at is None else at
    hashes = hashes_of(at.key)
    rows = [_row(entry, at.doc(number, entry.kind), space, hashes) for number, entry in enumerate(entries, at.last + 1)]
    if tx.dialect is Dialect.POSTGRES:
        for part in _parts(rows):
            tx.insert("insert_terms", map(_for_postgres, part))
    else:
        tx.insert("insert_terms", rows)
        tx.insert("insert_terms_fts", ((row.doc, row.terms.hex(" ", 8)) for row in rows))
    term_counts.fold(tx, space=space, start=at.start, shift=_KIND_BITS, before=at.last, last=at.last + len(entries))


class Hashes(dict[str, bytes]):
    """Keyed hashes of terms, computed on first use."""

    def __init__(self, key: bytes) -> None:
        super().__init__()
        self._keyed = blake2b(key=key, digest_size=8)

    def __missing__(self, term: str) -> bytes:
        if len(self) >= _MAX_HASHES:
            self.clear()
        keyed = self._keyed.copy()
        keyed.update(term.encode(errors="replace"))
        self[term] = digest = keyed.digest()
        return digest


@lru_cache(maxsize=32)
def hashes_of(key: bytes) -> Hashes:
    """Return the hashes of a space."""
    return Hashes(key)


def number_of(digest: bytes) -> int:
    """Return a hash as PostgreSQL stores it."""
    return int.from_bytes(digest, "big", signed=True)


class _Row(NamedTuple):
    doc: int
    space: str
    kind: str
    id: str
    number: int
    at: int
    length: int
    asks: int
    terms: bytes
    hits: bytes


def _row(entry: Entry, doc: int, space: str, hashes: Hashes) -> _Row:
    kind, name, number, at, (length, asks, counts) = entry
    times = counts.times() if isinstance(counts, PackedCounts) else counts.values()
    try:
        hits = bytes(times)
    except ValueError:
        hits = bytes([min(number, _MAX_HITS) for number in times])
    packed = b"".join([hashes[term] for term in counts])
    return _Row(doc, space, str(kind), name, number, at, length, int(asks), packed, hits)


def _parts(rows: Sequence[_Row]) -> Iterator[list[_Row]]:
    """Yield rows in parts of limited size: PostgreSQL gets each as one text, ten times as long as the row."""
    part: list[_Row] = []
    terms = 0
    for row in rows:
        terms += len(row.hits)
        if part and terms > _PART_TERMS:
            yield part
            part, terms = [], len(row.hits)
        part.append(row)
    if part:
        yield part


def _for_postgres(row: _Row) -> tuple[object, ...]:
    return (*row[:-2], list(struct.unpack(f">{len(row.hits)}q", row.terms)), row.hits.hex())
