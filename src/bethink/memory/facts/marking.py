"""Marks what a person corrects within a session, without a model: the wrong words, and an assistant's repetition."""

import math
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

from bethink.memory.phrases.corrections import MAX_EARLIER, find_correction, find_repetitions
from bethink.memory.phrases.mentions import repetitions_of
from bethink.memory.phrases.spans import Span, is_unspaced, sentences
from bethink.memory.phrases.values import content_words, similar_words
from bethink.memory.recall.asking import is_question
from bethink.model.facts import SourceMessage
from bethink.model.records import Record, Role
from bethink.store import marks, messages
from bethink.store.db import Tx
from bethink.store.marks import Mark, MarkKind

_PERSON = ("user", "import")
_LOOK_BACK = 100
_MAX_TEXT = 20_000
"""Maximum number of earlier messages of a session that a correction is compared with."""


def is_said_by_person(record: Record) -> bool:
    """Return whether a person said a message. Text of tools, documents and assistants corrects and requests nothing."""
    return record.message.role is Role.USER and record.message.origin in _PERSON


def mark_corrections(tx: Tx, *, space: str, session_id: str, records: Sequence[Record]) -> int:
    """Mark what the new messages of a session correct, and return the number of new marks."""
    new = [record for record in records if record.session_id == session_id]
    if not any(map(is_said_by_person, new)):
        return 0
    first = min(record.number for record in new)
    start = max(0, first - 1 - _LOOK_BACK)
    before: list[Record] = []
    if first > 1:
        before = messages.after(tx, space=space, session_id=session_id, number=start, limit=_LOOK_BACK)
    ordered = [*(record for record in before if record.number < first), *sorted(new, key=lambda item: item.number)]
    new_marks = [mark for position in range(len(ordered)) for mark in _corrections(ordered, position, first=first)]
    return marks.add(tx, new_marks, space=space)


def mark_repetitions(
    tx: Tx, *, space: str, session_id: str, numbers: Collection[int], kind: MarkKind, cause: str
) -> int:  # fmt: skip
    """Mark where the assistant repeats messages that are retracted or deleted, unless a person said the same.

    Only tools and documents are repeated like this: an assistant's answer to a person is its own.
    """
    first, last = min(numbers), max(numbers)
    affected = messages.after(
        tx, space=space, session_id=session_id, number=first - 1, limit=last - first + 1, retracted=True
    )  # fmt: skip
    chosen = frozenset(numbers)
    sources = [record for record in affected if record.number in chosen and _is_material(record)]
    if not sources:
        return 0
    # Once for all of them: a whole conversation may be deleted.
    records = messages.after(tx, space=space, session_id=session_id, number=0, limit=last + _LOOK_BACK)
    replies = [record for record in records if record.message.role is Role.ASSISTANT]
    stated = [
        (record.number, word) for record in records if is_said_by_person(record) for word in _stated_words(record)
    ]
    repetitions = [
        Mark(
            message=SourceMessage(reply.session_id, reply.number), kind=kind, start=span.start, stop=span.stop,
            cause=cause, said_at=tx.now,
        )
        for source in sources
        for own_words in [[word for number, word in stated if number <= source.number + _LOOK_BACK]]
        for reply in _following(replies, source.number)
        for span in _repeated_sentences(reply.message.content, source.message.content[:_MAX_TEXT], own_words)
    ]  # fmt: skip
    return marks.add(tx, repetitions, space=space)


def _is_material(record: Record) -> bool:
    return not is_said_by_person(record) and record.message.role is not Role.ASSISTANT


def _following(replies: Sequence[Record], number: int) -> Sequence[Record]:
    """Return the replies that follow a message closely."""
    start = bisect_right(replies, number, key=lambda reply: reply.number)
    return replies[start : bisect_right(replies, number + _LOOK_BACK, key=lambda reply: reply.number)]


def _stated_words(record: Record) -> list[str]:
    """Return the words that a person states in a message, without those of questions."""
    content = record.message.content
    parts = (span.of(content) for span in sentences(content))
    return [word for part in parts if not is_question(part) for word in content_words(part)]


def _repeated_sentences(text: str, source: str, own_words: Sequence[str]) -> list[Span]:
    """Return the sentences of a text that repeat a source, and of it more than people state themselves."""
    return [span for span in sentences(text) if _is_taken(span.of(text), source, own_words)]


def _is_taken(sentence: str, source: str, own_words: Sequence[str]) -> bool:
    if is_unspaced(sentence):
        return bool(repetitions_of(source, sentence))
    own = list(dict.fromkeys(content_words(sentence)))
    taken = similar_words(own, content_words(source))
    new = [word for word in taken if not similar_words([word], own_words)]
    return len(new) > 0 and len(taken) >= max(min(2, len(own)), math.ceil(0.5 * len(own)))


def _corrections(records: Sequence[Record], position: int, *, first: int) -> Iterator[Mark]:
    record = records[position]
    if record.number < first or not is_said_by_person(record):
        return
    earlier = [other for other in records[:position] if is_said_by_person(other)][-MAX_EARLIER:]
    text = record.message.content
    match = find_correction(text, [other.message.content for other in earlier])
    if match is None:
        return
    wrong = [*earlier, record][match.index]
    yield _mark(wrong, Span(match.start, match.stop), record)
    stated = wrong.message.content[match.start : match.stop]
    for other in records[:position]:
        if other.number > wrong.number and other.message.role is Role.ASSISTANT:
            for span in find_repetitions(other.message.content, stated, text[match.new_start : match.new_stop]):
                yield _mark(other, span, record)


def _mark(wrong: Record, span: Span, correction: Record) -> Mark:
    return Mark(
        message=SourceMessage(wrong.session_id, wrong.number),
        kind=MarkKind.CORRECTED,
        start=span.start,
        stop=span.stop,
        cause=marks.cause_of(correction.session_id, correction.number),
        said_at=correction.message.said_at or correction.recorded_at,
    )
