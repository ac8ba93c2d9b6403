"""Chooses the texts that a question is compared with: bounded, however large the space is.

Rare terms choose the texts, frequent ones only weigh them. All numbers are integers and every order is by `doc`, so
that both databases choose the same.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence

from bethink.base.frozen import frozen
from bethink.base.language import parts_of, question_languages, search_forms
from bethink.model.filters import Filter
from bethink.model.refs import RefKind
from bethink.model.views import NOW, TimeView
from bethink.store import term_counts, terms
from bethink.store.db import Row, Tx
from bethink.store.sql import Dialect
from bethink.store.terms import KINDS, SpaceIndex

_MAX_PARTS = 64


@frozen
class Bounds:
    """Limits on how much of the index one question may read."""

    postings: int = 3_000
    """Approximate number of entries read for the terms of a question."""
    one_term: int = 10_000
    """Maximum number read for a single term, if all of them are frequent, or for two that occur together."""
    of_pair: int = 50_000
    """Maximum number of entries of the rarer of two terms that are looked up together."""
    newest: int = 10_000
    """Number of the newest texts in which a very frequent term is looked up."""
    compared: int = 300
    """Maximum number of texts that are compared with the question exactly."""
    half_length: int = 700
    """Bytes at which a text counts half as much as a very short one, if not all can be compared."""


BOUNDS = Bounds()


@frozen
class TermCandidates:
    """Texts to compare with a question, in the order of the index, and how many texts have each term."""

    docs: list[int]
    counts: tuple[int, ...]
    rarity: tuple[int, ...]
    _patterns: tuple[tuple[int, bytes], ...]
    """Terms that occur in any text, as they are stored. Most forms of a word occur in none."""
    _header: int
    _step: int

    def of_kind(self, kind: RefKind) -> list[int]:
        """Return the texts of one kind."""
        code = KINDS.index(kind)
        return [doc for doc in self.docs if doc & 3 == code]

    def hits(self, row: Row) -> tuple[int, ...]:
        """Return how often each term occurs in a text."""
        packed, hits, header, step = row["terms"], row["hits"], self._header, self._step
        counts = [0] * len(self.counts)
        for position, pattern in self._patterns:
            at = packed.find(pattern, header)
            while at >= 0 and (at - header) % step:  # it began inside another hash
                at = packed.find(pattern, at + 1)
            if at >= 0:
                counts[position] = hits[(at - header) // step]
        return tuple(counts)


def candidates(
    tx: Tx,
    *,
    space: str,
    stems: Mapping[str, float],
    view: TimeView,
    kinds: Iterable[RefKind],
    only: Filter | None = None,
    bounds: Bounds = BOUNDS,
) -> TermCandidates | None:
    """Choose the texts of some kinds that share the rarest terms with a question; None without a space or a term.

    `stems` has the weight of each term, which matters if not all texts can be compared.
    With a filter, only matching texts are chosen, and every term is looked up, because few texts may remain.
    """
    row = tx.first("open_index", space=space) if stems else None
    if row is None:
        return None
    codes = [KINDS.index(kind) for kind in kinds]
    search = _Search(tx, row=row, stems=stems, at=view.said_until, kinds=codes, only=only, bounds=bounds)
    search.read_rare()
    search.read_frequent()
    search.read_newest()
    postgres = tx.dialect is Dialect.POSTGRES
    prefix = b"\0\0\0\x08" if postgres else b""
    return TermCandidates(
        docs=search.best(),
        counts=search.counts,
        rarity=search.rarity,
        _patterns=tuple(
            (position, prefix + digest) for position, digest in enumerate(search.digests) if search.counts[position]
        ),
        _header=20 if postgres else 0,
        _step=12 if postgres else 8,
    )


def rare_postings(tx: Tx, *, space: str, stems: Sequence[str]) -> dict[str, list[int]]:
    """Return the texts of a space that have each of these terms; frequent terms are omitted."""
    row = tx.first("open_index", space=space) if stems else None
    if row is None:
        return {}
    equal = dict.fromkeys(stems, 1.0)
    search = _Search(tx, row=row, stems=equal, at=NOW.said_until, kinds=range(len(KINDS)), only=None, bounds=BOUNDS)
    return search.rare()


class _Search:
    """Reads postings, the rarest first."""

    def __init__(
        self,
        tx: Tx,
        *,
        row: Row,
        stems: Mapping[str, float],
        at: int,
        kinds: Sequence[int],
        only: Filter | None,
        bounds: Bounds,
    ) -> None:
        self._tx = tx
        self._stems = list(stems)
        self._shares = list(stems.values())
        self._only = only
        self._bounds = bounds
        self._index: SpaceIndex = terms.read_space_index(row)
        hashes = terms.hashes_of(self._index.key)
        self.digests = [hashes[stem] for stem in stems]
        self._numbers = [terms.number_of(digest) for digest in self.digests]
        frequent = term_counts.read_counts(row)
        self._max_counts = {
            position: max_count
            for position, digest in enumerate(self.digests)
            if (max_count := frequent.max_count(digest)) is not None
        }
        self._parameters = {"at": at, "kinds": list(kinds), "always": int(at == NOW.said_until)}
        self._counts = [self._max_counts.get(position, 0) for position in range(len(stems))]
        self._weights: dict[int, int] = {}
        self._read_terms: set[int] = set()
        self._posting_count = 0

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(self._counts)

    @property
    def rarity(self) -> tuple[int, ...]:
        return tuple(self._weight(position) for position in range(len(self._counts)))

    def rare(self) -> dict[str, list[int]]:
        """Return the texts of each term that is not frequent."""
        rare = [position for position in range(len(self.digests)) if position not in self._max_counts]
        return {
            self._stems[position]: docs
            for position, docs in zip(rare, self._postings([(position, position) for position in rare]), strict=True)
        }

    def read_rare(self) -> None:
        """Read the terms that are not frequent: few texts have them in a space of any size."""
        self._read_postings([position for position in range(len(self.digests)) if position not in self._max_counts])

    def read_frequent(self) -> None:
        """Read the rarest of the frequent terms, as many as there is room for."""
        chosen: list[int] = []
        room = self._bounds.postings - self._posting_count
        for position in self._unread_terms():
            max_count = self._max_counts[position]
            if (
                self._only is None
                and max_count > room
                and (chosen or self._posting_count or max_count > self._bounds.one_term)
            ):
                break
            chosen.append(position)
            room -= max_count
        self._read_postings(chosen)

    def read_newest(self) -> None:
        """If there is still little to compare, read texts that have two frequent terms, and new ones that have one."""
        remaining = self._unread_terms()[:2]
        if len(self._weights) >= self._bounds.compared or not remaining:
            return
        if len(remaining) == 2:
            first, second = (self._max_counts[position] for position in remaining)
            both = first * second // max(1, self._index.last)
            if first <= self._bounds.of_pair and both <= self._bounds.one_term:
                docs = self._postings([(remaining[0], remaining[1])])[0]
                self._weigh(remaining[0], docs)
                self._weigh(remaining[1], docs)
        for position in remaining:
            self._weigh(position, [doc for doc in self._newest(position) if doc not in self._weights])

    def best(self) -> list[int]:
        """Return the texts with the rarest terms, in order; short ones before long ones, of equals the newest first."""
        weights, max_texts = self._weights, self._bounds.compared
        if len(weights) <= max_texts:
            return sorted(weights)
        half = self._bounds.half_length
        rows = self._tx.all(
            "best_docs",
            docs=list(weights), weights=list(weights.values()), weighed=list(weights.items()),
            half=half, scale=1_000 * half, limit=max_texts,
        )  # fmt: skip
        return sorted(row["doc"] for row in rows)

    def _unread_terms(self) -> list[int]:
        """Return the frequent terms that were not read yet, the rarest first."""
        return sorted(
            (position for position in self._max_counts if position not in self._read_terms),
            key=lambda position: (self._max_counts[position], position),
        )

    def _read_postings(self, positions: Sequence[int]) -> None:
        for position, docs in zip(
            positions, self._postings([(position, position) for position in positions]), strict=True
        ):
            self._read_terms.add(position)
            self._posting_count += len(docs)
            self._counts[position] = (
                len(docs) if self._only is None else max(len(docs), self._max_counts.get(position, 0))
            )
            self._weigh(position, docs)

    def _weigh(self, position: int, docs: Iterable[int]) -> None:
        weight, weights = int(self._weight(position) * self._shares[position]), self._weights
        for doc in docs:
            weights[doc] = weights.get(doc, 0) + weight

    def _weight(self, position: int) -> int:
        count = self._counts[position]
        return int(1_000 * math.log(1 + (max(self._index.last - count, 0) + 0.5) / (count + 0.5)))

    def _postings(self, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
        """Return the texts that have both terms of each pair."""
        if not pairs:
            return []
        parameters: Mapping[str, object] = {
            "spelt": [
                _match_expression(*(self.digests[position] for position in dict.fromkeys(pair))) for pair in pairs
            ],
            "terms": [self._numbers[first] for first, _ in pairs],
            "others": [self._numbers[other] for _, other in pairs],
        }
        postings: list[list[int]] = [[] for _ in pairs]
        for row in self._tx.all("postings", self._only, start=self._index.start, **parameters, **self._parameters):
            postings[row["place"]] = json.loads(f"[{row['docs'][1:-1]}]")
        return postings

    def _newest(self, position: int) -> list[int]:
        space, bounds = self._index, self._bounds
        first, last = (space.start + (number << 2) for number in (max(0, space.last - bounds.newest), space.last + 1))
        rows = self._tx.all(
            "newest_postings",
            self._only,
            spelt=_match_expression(self.digests[position]), term=self._numbers[position], first=first, last=last,
            limit=bounds.compared,
            **self._parameters,
        )  # fmt: skip
        return [row["doc"] for row in rows]


def _match_expression(*digests: bytes) -> str:
    return " AND ".join(f'"{digest.hex()}"' for digest in digests)


def search_rows(
    tx: Tx,
    query: str,
    *,
    space: str,
    question: str,
    kind: RefKind,
    view: TimeView,
    only: Filter | None = None,
) -> list[Row]:
    """Return the rows of a query that share terms with a question and fit a filter, the best match first."""
    parts = [part for word in question.split() for part in parts_of(word)][:_MAX_PARTS]
    spoken = question_languages(question)
    families = [search_forms(part, spoken) for part in dict.fromkeys(parts)]
    stems = list(dict.fromkeys(form for forms in families for form in forms))
    equal = dict.fromkeys(stems, 1.0)
    chosen = candidates(tx, space=space, stems=equal, view=view, kinds=[kind], only=only)
    if chosen is None or not chosen.docs:
        return []
    bounds: dict[str, object] = {
        "said": view.said_until, "known": view.known_until, "written": view.written_until,
        "now": tx.now if view.is_now else None,
    }  # fmt: skip
    rows = tx.all(query, space=space, docs=chosen.docs, **bounds)
    positions = {stem: position for position, stem in enumerate(stems)}
    word_positions = [[positions[form] for form in forms] for forms in families]
    scores = {row["doc"]: _score(chosen.hits(row), word_positions, chosen.rarity) for row in rows}
    return sorted(rows, key=lambda row: -scores[row["doc"]])


def _score(hits: Sequence[int], word_positions: Sequence[Sequence[int]], rarity: Sequence[int]) -> float:
    """Add up the rarity of the words that occur; more occurrences of one count little."""
    total = 0.0
    for positions in word_positions:
        times = sum(hits[position] for position in positions)
        if times:
            total += max(rarity[position] for position in positions if hits[position]) * times / (times + 1.2)
    return total
