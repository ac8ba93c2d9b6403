"""Chooses the texts that a question is compared with: bounded, however large the space is.

Rare terms choose the texts, frequent ones only weigh them. All numbers are integers and every order is by `doc`, so
that both databases choose the same.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.base.language import asked_forms, asked_languages, parts_of
from bethink.model.filters import Filter
from bethink.model.recall import RefKind
from bethink.store import term_counts, terms
from bethink.store.db import NO_LIMIT, Row, Tx, until
from bethink.store.sql import Dialect
from bethink.store.terms import KINDS, IndexPlace

_MAX_PARTS = 64


@frozen
class Bounds:
    """How much of the index one question may read."""

    postings: int = 3_000
    """How many entries are read for the terms of a question, roughly."""
    one_term: int = 10_000
    """How many are read for a single term, if all of them are frequent, or for two that occur together."""
    of_pair: int = 50_000
    """How many entries the rarer of two terms may have, if both are looked up together."""
    newest: int = 10_000
    """In how many of the newest texts a very frequent term is looked for."""
    compared: int = 300
    """How many texts are compared with the question exactly."""
    half_length: int = 700
    """A text of so many bytes counts half of what a very short one does, where not all can be compared."""


BOUNDS = Bounds()


@frozen
class TermCandidates:
    """Texts to compare with a question, in the order of the index, and how many texts have each term."""

    docs: list[int]
    counts: tuple[int, ...]
    rarity: tuple[int, ...]
    _patterns: tuple[tuple[int, bytes], ...]
    """The terms that any text has, as they are stored; most forms of a word are in none."""
    _header: int
    _step: int

    def of_kind(self, kind: RefKind) -> list[int]:
        """Return those of one kind."""
        code = KINDS.index(kind)
        return [doc for doc in self.docs if doc & 3 == code]

    def hits(self, row: Row) -> tuple[int, ...]:
        """Return how often each term occurs in a text."""
        packed, hits, header, step = row["terms"], row["hits"], self._header, self._step
        found = [0] * len(self.counts)
        for place, pattern in self._patterns:
            at = packed.find(pattern, header)
            while at >= 0 and (at - header) % step:  # it began inside another hash
                at = packed.find(pattern, at + 1)
            if at >= 0:
                found[place] = hits[(at - header) // step]
        return tuple(found)


def candidates(
    tx: Tx,
    *,
    space: str,
    stems: Mapping[str, float],
    as_of: datetime | None,
    kinds: Iterable[RefKind],
    only: Filter | None = None,
    bounds: Bounds = BOUNDS,
) -> TermCandidates | None:
    """Choose the texts of some kinds that share the rarest terms with a question; None without a space or a term.

    Each term comes with how much it counts, for where not all texts can be compared.
    With a filter, they are chosen among what fits it, and every term is looked up: few texts may be left of many.
    """
    row = tx.one("open_index", space=space) if stems else None
    if row is None:
        return None
    codes = [KINDS.index(kind) for kind in kinds]
    search = _Search(tx, row=row, stems=stems, at=until(as_of), kinds=codes, only=only, bounds=bounds)
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
            (place, prefix + digest) for place, digest in enumerate(search.digests) if search.counts[place]
        ),
        _header=20 if postgres else 0,
        _step=12 if postgres else 8,
    )


def rare_postings(tx: Tx, *, space: str, stems: Sequence[str]) -> dict[str, list[int]]:
    """Return the texts of a space that have each of these terms; those that are frequent there are left out."""
    row = tx.one("open_index", space=space) if stems else None
    if row is None:
        return {}
    equal = dict.fromkeys(stems, 1.0)
    search = _Search(tx, row=row, stems=equal, at=NO_LIMIT, kinds=range(len(KINDS)), only=None, bounds=BOUNDS)
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
        self._place: IndexPlace = terms.place_from(row)
        hashes = terms.hashes_of(self._place.key)
        self.digests = [hashes[stem] for stem in stems]
        self._numbers = [terms.number_of(digest) for digest in self.digests]
        frequent = term_counts.read(row)
        self._most = {
            place: most for place, digest in enumerate(self.digests) if (most := frequent.most(digest)) is not None
        }
        self._given = {"at": at, "kinds": list(kinds), "always": int(at == NO_LIMIT)}
        self._known = [self._most.get(place, 0) for place in range(len(stems))]
        self._weights: dict[int, int] = {}
        self._read: set[int] = set()
        self._found = 0

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(self._known)

    @property
    def rarity(self) -> tuple[int, ...]:
        return tuple(self._weight(place) for place in range(len(self._known)))

    def rare(self) -> dict[str, list[int]]:
        """Return the texts that have each term, of those that are not frequent."""
        rare = [place for place in range(len(self.digests)) if place not in self._most]
        return {
            self._stems[place]: docs
            for place, docs in zip(rare, self._postings([(place, place) for place in rare]), strict=True)
        }

    def read_rare(self) -> None:
        """Read what is not frequent: few texts have it, whatever the size of the space."""
        self._read_postings([place for place in range(len(self.digests)) if place not in self._most])

    def read_frequent(self) -> None:
        """Read the rarest of the frequent terms, as many as there is room for."""
        chosen: list[int] = []
        room = self._bounds.postings - self._found
        for place in self._left():
            most = self._most[place]
            if self._only is None and most > room and (chosen or self._found or most > self._bounds.one_term):
                break
            chosen.append(place)
            room -= most
        self._read_postings(chosen)

    def read_newest(self) -> None:
        """If there is still little to compare, read texts that have two frequent terms, and new ones that have one."""
        left = self._left()[:2]
        if len(self._weights) >= self._bounds.compared or not left:
            return
        if len(left) == 2:
            first, second = (self._most[place] for place in left)
            both = first * second // max(1, self._place.last)
            if first <= self._bounds.of_pair and both <= self._bounds.one_term:
                docs = self._postings([(left[0], left[1])])[0]
                self._weigh(left[0], docs)
                self._weigh(left[1], docs)
        for place in left:
            self._weigh(place, [doc for doc in self._newest(place) if doc not in self._weights])

    def best(self) -> list[int]:
        """Return the texts with the rarest terms, in order; short ones before long ones, of equals the newer."""
        weights, most = self._weights, self._bounds.compared
        if len(weights) <= most:
            return sorted(weights)
        half = self._bounds.half_length
        worth = {
            row["doc"]: weights[row["doc"]] * 1_000 * half // (row["length"] + half)
            for row in self._tx.all("lengths", docs=list(weights))
        }
        return sorted(sorted(worth, key=lambda doc: (-worth[doc], -doc))[:most])

    def _left(self) -> list[int]:
        """Return the frequent terms that were not read yet, the rarest first."""
        return sorted(
            (place for place in self._most if place not in self._read), key=lambda place: (self._most[place], place)
        )

    def _read_postings(self, places: Sequence[int]) -> None:
        for place, docs in zip(places, self._postings([(place, place) for place in places]), strict=True):
            self._read.add(place)
            self._found += len(docs)
            self._known[place] = len(docs) if self._only is None else max(len(docs), self._most.get(place, 0))
            self._weigh(place, docs)

    def _weigh(self, place: int, docs: Iterable[int]) -> None:
        weight, weights = int(self._weight(place) * self._shares[place]), self._weights
        for doc in docs:
            weights[doc] = weights.get(doc, 0) + weight

    def _weight(self, place: int) -> int:
        count = self._known[place]
        return int(1_000 * math.log(1 + (max(self._place.last - count, 0) + 0.5) / (count + 0.5)))

    def _postings(self, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
        """Return the texts that have both terms of each pair."""
        if not pairs:
            return []
        given: Mapping[str, object] = {
            "spelt": [_spelt(*(self.digests[place] for place in dict.fromkeys(pair))) for pair in pairs],
            "terms": [self._numbers[one] for one, _ in pairs],
            "others": [self._numbers[other] for _, other in pairs],
        }
        found: list[list[int]] = [[] for _ in pairs]
        for row in self._tx.all("postings", self._only, start=self._place.start, **given, **self._given):
            found[row["place"]] = json.loads(f"[{row['docs'][1:-1]}]")
        return found

    def _newest(self, place: int) -> list[int]:
        space, bounds = self._place, self._bounds
        first, last = (space.start + (number << 2) for number in (max(0, space.last - bounds.newest), space.last + 1))
        rows = self._tx.all(
            "newest_postings",
            self._only,
            spelt=_spelt(self.digests[place]), term=self._numbers[place], first=first, last=last, limit=bounds.compared,
            **self._given,
        )  # fmt: skip
        return [row["doc"] for row in rows]


def _spelt(*digests: bytes) -> str:
    return " AND ".join(f'"{digest.hex()}"' for digest in digests)


def ranked(
    tx: Tx,
    query: str,
    *,
    space: str,
    question: str,
    kind: RefKind,
    as_of: datetime | None,
    only: Filter | None = None,
) -> list[Row]:
    """Return the rows of a query that share terms with a question and fit a filter, the best match first."""
    parts = [part for word in question.split() for part in parts_of(word)][:_MAX_PARTS]
    spoken = asked_languages(question)
    families = [asked_forms(part, spoken) for part in dict.fromkeys(parts)]
    stems = list(dict.fromkeys(form for forms in families for form in forms))
    equal = dict.fromkeys(stems, 1.0)
    chosen = candidates(tx, space=space, stems=equal, as_of=as_of, kinds=[kind], only=only)
    if chosen is None or not chosen.docs:
        return []
    rows = tx.all(query, space=space, docs=chosen.docs, at=until(as_of))
    places = {stem: place for place, stem in enumerate(stems)}
    asked = [[places[form] for form in forms] for forms in families]
    scores = {row["doc"]: _score(chosen.hits(row), asked, chosen.rarity) for row in rows}
    return sorted(rows, key=lambda row: -scores[row["doc"]])


def _score(hits: Sequence[int], asked: Sequence[Sequence[int]], rarity: Sequence[int]) -> float:
    """Add up the rarity of the words that occur; more occurrences of one count little."""
    total = 0.0
    for places in asked:
        times = sum(hits[place] for place in places)
        if times:
            total += max(rarity[place] for place in places if hits[place]) * times / (times + 1.2)
    return total
