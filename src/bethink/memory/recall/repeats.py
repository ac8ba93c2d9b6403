"""Find repeats of the question among the matches: an earlier repeat does not answer it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bethink.base.language import terms_of
from bethink.memory.recall.asking import is_question, is_repeat, max_repeat_length
from bethink.memory.recall.question import ParsedQuestion
from bethink.model.recall import Fate
from bethink.model.refs import Ref, RefKind
from bethink.model.views import TimeView
from bethink.model.words import words_of
from bethink.store import search
from bethink.store.db import Tx
from bethink.store.search import TermMatch, Text

_BYTES = 4
"""The maximum number of bytes of a character in UTF-8."""


class MarkedMatches(NamedTuple):
    """The matches, with a fate for repeats of the question, and the messages after these, which may answer it."""

    matches: list[TermMatch]
    answers: frozenset[Ref]


def mark_repeats(
    tx: Tx,
    question: ParsedQuestion,
    matches: list[TermMatch],
    *,
    space: str,
    session_id: str | None,
    view: TimeView,
) -> MarkedMatches:
    """Mark the messages that repeat the question, and ignore its words where a session summary quotes it."""

    def read_texts(refs: Iterable[Ref]) -> dict[Ref, Text]:
        return search.texts(tx, space=space, refs=refs, view=view)

    complete = [match for match in matches if match.fate is None and _has_all(match, question)]
    likely = {match.ref: match for match in complete if _may_repeat(match, question, session_id)}
    judged = {
        ref: likely[ref]._replace(fate=Fate.QUESTION)
        for ref, text in (read_texts(likely) if likely else {}).items()
        # In other sessions, a note in the same few words may be the answer. Only a question is a repeat.
        if is_repeat(text.text, question.text) and (ref.id == session_id or is_question(text.text))
    }
    after = [Ref(ref.kind, ref.id, ref.number + step) for ref in judged for step in (1, 2)]
    sessions = {ref.id for ref in judged}
    no_messages = not any(match.ref.kind is RefKind.MESSAGE for match in matches)
    # A summary that quotes the question is that of its session, so most summaries need not be read.
    quoting = {match.ref: match for match in complete if match.ref.kind is RefKind.SESSION_SUMMARY}
    quoting = {
        ref: match
        for ref, match in quoting.items()
        if ref.id in sessions or (no_messages and is_question(question.text))
    }
    for ref, text in (read_texts(quoting) if quoting else {}).items():
        judged[ref] = _without_quotes(quoting[ref], text.text, question)
    answers = frozenset(read_texts(after)) if after else frozenset[Ref]()
    return MarkedMatches([judged.get(match.ref, match) for match in matches] if judged else matches, answers)


def _has_all(match: TermMatch, question: ParsedQuestion) -> bool:
    return all(term.filler or any(match.hits[stem] for stem in term.stems) for term in question.terms)


def _may_repeat(match: TermMatch, question: ParsedQuestion, session_id: str | None) -> bool:
    """Return whether a message may repeat the question, without reading its text."""
    if match.ref.kind is not RefKind.MESSAGE:
        return False
    same_session = match.ref.id == session_id
    asking = match.role == "user" and (match.asks or is_question(question.text))
    return (same_session or asking) and match.length <= _BYTES * max_repeat_length(question.text)


def _without_quotes(match: TermMatch, text: str, question: ParsedQuestion) -> TermMatch:
    """Count the words of a session summary again, without the quotes of the question."""
    words = words_of(text)
    remaining = _without(words, words_of(question.text))
    if len(remaining) == len(words):
        return match
    indexes = {stem: index for index, stem in enumerate(question.stems)}
    hits = [0] * len(match.hits)
    for stem in terms_of(" ".join(remaining)):
        if stem in indexes:
            hits[indexes[stem]] += 1
    return match._replace(hits=tuple(hits), fate=None if any(hits) else Fate.QUESTION)


def _without(words: Sequence[str], quoted: Sequence[str]) -> list[str]:
    remaining: list[str] = []
    index = 0
    while index < len(words):
        if quoted and words[index : index + len(quoted)] == quoted:
            index += len(quoted)
        else:
            remaining.append(words[index])
            index += 1
    return remaining
