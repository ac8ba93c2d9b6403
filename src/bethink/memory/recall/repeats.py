"""Find the question itself among the matches: asking the same before does not answer it."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from bethink.base.language import terms_of
from bethink.memory.recall.question import ParsedQuestion, asks, longest_repeat, repeats
from bethink.model.recall import Fate, Ref, RefKind
from bethink.model.words import words_of
from bethink.store import search
from bethink.store.db import Tx
from bethink.store.search import Match, Text

_BYTES = 4
"""The most bytes a character takes in UTF-8."""


class Parted(NamedTuple):
    """The matches, with a fate for repeats of the question, and the messages after these, which may answer it."""

    matches: list[Match]
    answers: frozenset[Ref]


def parted(
    tx: Tx, asked: ParsedQuestion, matches: list[Match], *, space: str, session_id: str | None, as_of: datetime | None
) -> Parted:
    """Mark the messages that repeat the question, and ignore its words where a session memory quotes it."""

    def read(refs: Iterable[Ref]) -> dict[Ref, Text]:
        return search.texts(tx, space=space, refs=refs, as_of=as_of)

    complete = [match for match in matches if match.fate is None and _has_all(match, asked)]
    likely = {match.ref: match for match in complete if _may_repeat(match, asked, session_id)}
    judged = {
        ref: likely[ref]._replace(fate=Fate.QUESTION)
        for ref, text in (read(likely) if likely else {}).items()
        # In other sessions, a note in the same few words may be the answer; only a question is not.
        if repeats(text.text, asked.text) and (ref.id == session_id or asks(text.text))
    }
    after = [Ref(ref.kind, ref.id, ref.number + step) for ref in judged for step in (1, 2)]
    sessions = {ref.id for ref in judged}
    no_messages = not any(match.ref.kind is RefKind.MESSAGE for match in matches)
    # A memory that quotes the question was made from its message, so most memories need not be read.
    quoting = {match.ref: match for match in complete if match.ref.kind is RefKind.SESSION_MEMORY}
    quoting = {ref: match for ref, match in quoting.items() if ref.id in sessions or (no_messages and asks(asked.text))}
    for ref, text in (read(quoting) if quoting else {}).items():
        judged[ref] = _without_quotes(quoting[ref], text.text, asked)
    answers = frozenset(read(after)) if after else frozenset[Ref]()
    return Parted([judged.get(match.ref, match) for match in matches] if judged else matches, answers)


def _has_all(match: Match, asked: ParsedQuestion) -> bool:
    return all(any(match.hits[stem] for stem in term.stems) for term in asked.terms)


def _may_repeat(match: Match, asked: ParsedQuestion, session_id: str | None) -> bool:
    """Return whether a message may repeat the question, without reading its text."""
    if match.ref.kind is not RefKind.MESSAGE:
        return False
    same_session = match.ref.id == session_id
    asking = match.role == "user" and (match.asks or asks(asked.text))
    return (same_session or asking) and match.length <= _BYTES * longest_repeat(asked.text)


def _without_quotes(match: Match, text: str, asked: ParsedQuestion) -> Match:
    """Count the words of a session memory again, without those of the question that it quotes."""
    words = words_of(text)
    rest = _without(words, words_of(asked.text))
    if len(rest) == len(words):
        return match
    indexes = {stem: index for index, stem in enumerate(asked.stems)}
    hits = [0] * len(match.hits)
    for stem in terms_of(" ".join(rest)):
        if stem in indexes:
            hits[indexes[stem]] += 1
    return match._replace(hits=tuple(hits), fate=None if any(hits) else Fate.QUESTION)


def _without(words: Sequence[str], quoted: Sequence[str]) -> list[str]:
    rest: list[str] = []
    index = 0
    while index < len(words):
        if quoted and words[index : index + len(quoted)] == quoted:
            index += len(quoted)
        else:
            rest.append(words[index])
            index += 1
    return rest
