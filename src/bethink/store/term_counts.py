"""Frequent terms of a large space, counted in blocks, so that no search has to read all their texts.

Lossy counting: a term that is not listed is in at most one of 2,048 texts; a listed one is in at least `count` texts,
and in at most `missed` more.
"""

import struct
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from bethink.store.db import Row, Tx
from bethink.store.sql import Dialect

BLOCK = 2_048
"""Number of texts of a space that are counted together. A smaller space is not counted: all its texts can be read."""


class FrequentTerms(NamedTuple):
    """The frequent terms of a space as they are stored: 8 bytes for a hash, 4 for each number."""

    terms: bytes = b""
    counts: bytes = b""
    missed: bytes = b""

    def max_count(self, digest: bytes) -> int | None:
        """Return the maximum number of texts that have a term; None if it is not frequent."""
        at = self.terms.find(digest)
        while at % 8 and at >= 0:  # it began inside another hash
            at = self.terms.find(digest, at + 1)
        if at < 0:
            return None
        half = slice(at // 2, at // 2 + 4)
        return int.from_bytes(self.counts[half], "big") + int.from_bytes(self.missed[half], "big")

    def unpack(self) -> dict[int, tuple[int, int]]:
        """Return for each frequent term the minimum number of texts that have it, and how many more there may be."""
        size = len(self.terms) // 8
        terms = struct.unpack(f">{size}q", self.terms)
        counts, missed = (struct.unpack(f">{size}I", packed) for packed in (self.counts, self.missed))
        return dict(zip(terms, zip(counts, missed, strict=True), strict=True))


def fold(tx: Tx, *, space: str, start: int, shift: int, before: int, last: int) -> None:
    """Count the blocks that were filled by the texts after `before` up to `last`, numbers within the space."""
    for block in range(before // BLOCK, last // BLOCK):
        first = start + ((block * BLOCK + 1) << shift)
        rows = tx.all("terms_between", first=first, end=first + (BLOCK << shift))
        _add(tx, Counter(chain.from_iterable(unpack_terms(tx.dialect, row["terms"]) for row in rows)), space=space)


def read_counts(row: Row) -> FrequentTerms:
    """Read the frequent terms from a row of `term_counts`, or one that lacks them."""
    return FrequentTerms() if row["terms"] is None else FrequentTerms(row["terms"], row["counts"], row["missed"])


def unpack_terms(dialect: Dialect, terms: bytes) -> Iterable[int]:
    """Return the terms of a text; PostgreSQL sends an array with a header and the length of each value."""
    if dialect is Dialect.SQLITE:
        return chain.from_iterable(struct.iter_unpack(">q", terms))
    return chain.from_iterable(struct.iter_unpack(">4xq", terms[20:]))


def _add(tx: Tx, block_counts: Counter[int], *, space: str) -> None:
    row = tx.first("read_term_counts", space=space)
    blocks = 0 if row is None else row["blocks"]
    totals = {} if row is None else read_counts(row).unpack()
    for term, times in block_counts.items():
        count, missed = totals.get(term, (0, blocks))
        totals[term] = (count + times, missed)
    blocks += 1
    frequent = {term: bounds for term, bounds in totals.items() if sum(bounds) > blocks}
    size = len(frequent)
    tx.run(
        "put_term_counts",
        space=space,
        blocks=blocks,
        terms=struct.pack(f">{size}q", *frequent),
        counts=struct.pack(f">{size}I", *(count for count, _ in frequent.values())),
        missed=struct.pack(f">{size}I", *(missed for _, missed in frequent.values())),
    )
