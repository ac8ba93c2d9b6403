"""Finds the question itself among what it found: who asked the same before has not answered it."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from bethink.model.recall import Fate, Ref, RefKind
from bethink.model.words import words_of
from bethink.recall.question import ParsedQuestion, asks, longest_repeat, repeats
from bethink.store import search
from bethink.store.db import Tx
from bethink.store.search import Match, Text

_BYTES = 4
"""What one sign takes at most."""


class Parted(NamedTuple):
    """What was found, the question itself with its fate, and the messages right after it, which may well answer."""

    matches: list[Match]
    answers: frozenset[Ref]


def parted(
    tx: Tx, asked: ParsedQuestion, matches: list[Match], *, space: str, session_id: str | None, as_of: datetime | None
) -> Parted:
    """Give the question its fate wherever a user asked it, and count nothing for it where it is only quoted."""

    def read(refs: Iterable[Ref]) -> dict[Ref, Text]:
        return search.texts(tx, space=space, refs=refs, as_of=as_of)

    whole = [match for match in matches if match.fate is None and _has_all(match, asked)]
    likely = {match.ref: match for match in whole if _may_repeat(match, asked, session_id)}
    judged = {
        ref: likely[ref]._replace(fate=Fate.QUESTION)
        for ref, text in (read(likely) if likely else {}).items()
        # Elsewhere a note in the same few words is what is looked for; only a question says nothing.
        if repeats(text.text, asked.text) and (ref.id == session_id or asks(text.text))
    }
    after = [Ref(ref.kind, ref.id, ref.number + step) for ref in judged for step in (1, 2)]
    rooms = {ref.id for ref in judged}
    unheard = not any(match.ref.kind is RefKind.MESSAGE for match in matches)
    # What quotes a question was made of its message, so most of them need no reading.
    quoting = {match.ref: match for match in whole if match.ref.kind is RefKind.SESSION_MEMORY}
    quoting = {ref: match for ref, match in quoting.items() if ref.id in rooms or (unheard and asks(asked.text))}
    for ref, text in (read(quoting) if quoting else {}).items():
        judged[ref] = _without_quotes(tx, quoting[ref], text.text, asked)
    answers = frozenset(read(after)) if after else frozenset[Ref]()
    return Parted([judged.get(match.ref, match) for match in matches] if judged else matches, answers)


def _has_all(match: Match, asked: ParsedQuestion) -> bool:
    return all(any(match.hits[stem] for stem in term.stems) for term in asked.terms)


def _may_repeat(match: Match, asked: ParsedQuestion, session_id: str | None) -> bool:
    """Say whether a message may be the question itself, without reading it."""
    if match.ref.kind is not RefKind.MESSAGE:
        return False
    own = match.ref.id == session_id
    asking = match.role == "user" and (match.asks or asks(asked.text))
    return (own or asking) and match.length <= _BYTES * longest_repeat(asked.text)


def _without_quotes(tx: Tx, match: Match, text: str, asked: ParsedQuestion) -> Match:
    """Count the words of what is remembered of a session, without those of the question that it quotes."""
    words = words_of(text)
    rest = _without(words, words_of(asked.text))
    if len(rest) == len(words):
        return match
    places = {stem: place for place, stem in enumerate(asked.stems)}
    hits = [0] * len(match.hits)
    for stems in tx.stemmed(rest):
        for stem in stems:
            if stem in places:
                hits[places[stem]] += 1
    return match._replace(hits=tuple(hits), fate=None if any(hits) else Fate.QUESTION)


def _without(words: Sequence[str], quoted: Sequence[str]) -> list[str]:
    rest: list[str] = []
    place = 0
    while place < len(words):
        if quoted and words[place : place + len(quoted)] == quoted:
            place += len(quoted)
        else:
            rest.append(words[place])
            place += 1
    return rest
