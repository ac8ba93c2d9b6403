"""Settles a new fact among those already known: as one of them, in place of one, or beside them."""

import re
from enum import StrEnum

from bethink.learn.proof import key_words, names_in, stem
from bethink.model.records import Fact, Micros, Source
from bethink.model.rules import rank
from bethink.store import facts
from bethink.store.db import Tx

_NEGATION = re.compile(r"\b(?:not|no|never|none|neither|nor|without|cannot|\w+n['\u2019]t)\b", re.IGNORECASE)
_ALIKE = 0.8


class Settlement(StrEnum):
    """What became of a new fact."""

    ADDED = "added"
    MERGED = "merged"
    KNOWN = "known"
    SUCCEEDED = "succeeded"
    OUTRANKED = "outranked"


def settle(tx: Tx, fact: Fact, *, space: str, effect: str, token: int, sources: list[Source]) -> Settlement:
    """Store a fact, or its sources with the one that says the same. Nothing is overwritten, only retired.

    Of two that say the same, the better origin stays; of two that cannot both hold, the later.
    """
    same = _same(tx, fact, space=space)
    if same is not None and rank(fact.origin) < rank(same.origin):
        return Settlement.KNOWN
    if same is not None and rank(fact.origin) == rank(same.origin):
        facts.add_sources(tx, space=space, fact_id=same.id, sources=sources)
        return Settlement.MERGED
    rivals = [same] if same is not None else _rivals(tx, fact, space=space)
    facts.learn(tx, space=space, fact=fact, effect=effect, token=token, sources=sources)
    if not rivals:
        return Settlement.ADDED
    for rival in rivals:
        if rival is not same and _loses(fact, rival):
            facts.retire(tx, space=space, fact_id=fact.id, by=rival.id, valid_to=_end(fact, rival))
            return Settlement.OUTRANKED
    for rival in rivals:
        facts.retire(tx, space=space, fact_id=rival.id, by=fact.id, valid_to=None if rival is same else _since(fact))
    return Settlement.SUCCEEDED


def say_the_same(one: str, other: str) -> bool:
    """Say whether two sentences differ in nothing that carries meaning.

    One may hold a few words more, but no other name, number or negation.
    """
    words, others = key_words(one), key_words(other)
    left, right = {stem(word) for word in words}, {stem(word) for word in others}
    if not (left <= right or right <= left) or len(left & right) < _ALIKE * len(left | right):
        return False
    names = {stem(word) for word in names_in(one) | names_in(other)}
    more = left ^ right
    if any(any(mark.isdigit() for mark in word) or word in names for word in more):
        return False
    return bool(_NEGATION.search(one)) == bool(_NEGATION.search(other))


def _same(tx: Tx, fact: Fact, *, space: str) -> Fact | None:
    exact = facts.saying(tx, space=space, content=fact.content)
    near = exact or [
        other
        for other in facts.alike(tx, space=space, content=fact.content)
        if say_the_same(fact.content, other.content)
    ]
    current = [other for other in near if _overlap(fact, other)]
    return max(current, key=lambda other: rank(other.origin), default=None)


def _rivals(tx: Tx, fact: Fact, *, space: str) -> list[Fact]:
    if fact.subject is None or fact.slot is None:
        return []
    return [
        other for other in facts.in_slot(tx, space=space, subject=fact.subject, slot=fact.slot) if _overlap(fact, other)
    ]


def _loses(fact: Fact, rival: Fact) -> bool:
    """A new fact gives way to one of better origin, and to one that holds since a later time."""
    if rank(fact.origin) != rank(rival.origin):
        return rank(fact.origin) < rank(rival.origin)
    return _since(fact) < _since(rival)


def _overlap(one: Fact, other: Fact) -> bool:
    return not (
        (one.valid_to is not None and one.valid_to <= _since(other))
        or (other.valid_to is not None and other.valid_to <= _since(one))
    )


def _since(fact: Fact) -> Micros:
    return fact.valid_from if fact.valid_from is not None else (fact.created_at or Micros(0))


def _end(fact: Fact, rival: Fact) -> Micros | None:
    return _since(rival) if _since(rival) > _since(fact) else None
