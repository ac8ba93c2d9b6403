"""Newest first: which messages about the matter of a question are earlier ones, and the newest that follows them.

Without a model, this is decided for a question about the present, among the best few messages. A later message of the
same speaker is about the same matter if the two share words, or if both are near the question. It takes the place of
the earlier one if it says that something changed, or, if the question asks for a day or a number, states another one.
Any doubt leaves the order as it was.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from bethink.base.language import QUESTION_MARKS, is_question
from bethink.extend import Cosines
from bethink.memory.phrases.changes import ChangeWords, changes
from bethink.memory.phrases.spans import is_unspaced, sentences
from bethink.memory.phrases.values import calendar_words, is_time, numbers
from bethink.memory.phrases.vocabulary import corrections
from bethink.memory.recall.asking import asks_for_present
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.status import StatusMark
from bethink.memory.recall.truth import Truth
from bethink.memory.recall.tuning import Tuning
from bethink.model.facts import FactStatus
from bethink.model.moments import Micros
from bethink.model.refs import Ref, RefKind
from bethink.model.words import stem, words_of

_MIN_WORD = 3
_MIN_SHARED = 2
"""One word may be shared by chance."""
_END_MARKS = ".!\u3002\uff01\u0964"


class _Part(NamedTuple):
    """A sentence that states something, with the next one if that does, too: a change and its value go together."""

    stems: frozenset[str]
    times: tuple[frozenset[str], ...]
    """Its days of the week, its months, and the numbers that may be of a date or a time of day."""
    amounts: frozenset[str]
    """The numbers that are neither."""
    is_change: bool


class _Statement(NamedTuple):
    """A message that states something. `near` is how near it is to the question: 1 for a typical answer."""

    ref: Ref
    near: float
    score: float
    at: Micros
    speaker: tuple[str | None, str | None]
    parts: Sequence[_Part]


def mark_earlier(
    question: ParsedQuestion,
    truth: Truth,
    similarities: Mapping[Ref, float],
    *,
    cosines: Cosines | None,
    tuning: Tuning,
) -> Truth:
    """Mark the earlier messages about the matter of a question, each with the newest one, which then ranks first.

    Messages that facts represent are not marked: their facts know what is current.
    """
    words = changes(question.language)
    if words is None or not asks_for_present(question):
        return truth
    scale = cosines or Cosines()
    near = {ref: (value - scale.unrelated) / (scale.related - scale.unrelated) for ref, value in similarities.items()}
    statements = list(_statements(truth, near, words, question.language, limit=tuning.newest_compared))
    if not statements:
        return truth
    best = statements[0].score
    links = _Links(question.text, words, tuning)
    anchors = [statement for statement in statements[:2] if statement.score >= tuning.newest_anchor * best]
    about = [statement for statement in statements if statement.score >= tuning.newest_share * best]
    marks = {
        earlier: StatusMark(FactStatus.EARLIER, newest, truth.texts[newest].text)
        for earlier, newest in _earlier(anchors, about, links).items()
    }
    return replace(truth, marks={**truth.marks, **marks}) if marks else truth


def _earlier(anchors: Sequence[_Statement], about: Sequence[_Statement], links: "_Links") -> dict[Ref, Ref]:
    """Follow the links from the best messages to later ones, and from these on."""
    followed = {anchor.ref: anchor for anchor in anchors}
    replaced: set[Ref] = set()
    waiting = list(anchors)
    while waiting:
        earlier = waiting.pop()
        for later in about:
            if links.has(earlier, later):
                replaced.add(earlier.ref)
                if later.ref not in followed:
                    followed[later.ref] = later
                    waiting.append(later)
    newest = max(followed.values(), key=lambda statement: statement.at)
    return {ref: newest.ref for ref in replaced if ref != newest.ref}


class _Links:
    """Decides whether a later message replaces an earlier one."""

    def __init__(self, question: str, words: ChangeWords, tuning: Tuning) -> None:
        self._question = _stems(question)
        self._asks_when = words.asks_when(question)
        self._asks_how_many = words.asks_how_many(question)
        self._min_near = tuning.newest_near

    def has(self, earlier: _Statement, later: _Statement) -> bool:
        """Return whether `later` is of the same speaker, about the same matter, and states something else."""
        if later.at <= earlier.at or later.ref.id == earlier.ref.id or later.speaker != earlier.speaker:
            return False  # within a session, corrections are recognized as such
        are_near = min(earlier.near, later.near) >= self._min_near
        return any(
            (are_near or self._share_words(old, new)) and self._differs(old, new)
            for old in earlier.parts
            for new in later.parts
        )

    def _share_words(self, old: _Part, new: _Part) -> bool:
        return len(new.stems & (old.stems | self._question)) >= _MIN_SHARED

    def _differs(self, old: _Part, new: _Part) -> bool:
        if self._asks_when:
            return any(_is_other(before, after) for before, after in zip(old.times, new.times, strict=True))
        return _is_other(old.amounts, new.amounts) if self._asks_how_many else new.is_change


def _is_other(before: frozenset[str], after: frozenset[str]) -> bool:
    return bool(before and after and before != after)


def _statements(
    truth: Truth, near: Mapping[Ref, float], words: ChangeWords, language: str, *, limit: int
) -> Iterator[_Statement]:
    """Yield the statements among the best messages."""
    best = [candidate for candidate in truth.ranked if candidate.fate is None and candidate.relevant][:limit]
    for candidate in best:
        ref, text = candidate.ref, truth.texts[candidate.ref]
        is_known = ref in truth.marks or ref in truth.evidence or ref in truth.superseded
        if ref.kind is not RefKind.MESSAGE or text.fate is not None or is_known:
            continue
        parts = list(_parts(text.text, words, language))
        if parts:
            speaker = (text.role, text.name)
            yield _Statement(ref, near.get(ref, 0.0), candidate.score, text.at, speaker, parts)


def _parts(text: str, words: ChangeWords, language: str) -> Iterator[_Part]:
    """Yield what a message states, sentence by sentence."""
    stated = [None if _asks(part, language) else part for part in (span.of(text) for span in sentences(text))]
    for part, following in pairwise([*stated, None]):
        if part is not None:
            both = part if following is None else f"{part} {following}"
            days, months = calendar_words(both)
            all_numbers = numbers(both)
            times = frozenset(number.digits for number in all_numbers if is_time(number) or not number.unit)
            amounts = frozenset(number.digits for number in all_numbers if not is_time(number))
            yield _Part(_stems(both), (frozenset(days), frozenset(months), times), amounts, words.says_changed(both))


def _asks(sentence: str, language: str) -> bool:
    return sentence.endswith(QUESTION_MARKS) or (sentence[-1] not in _END_MARKS and is_question(sentence, language))


def _stems(text: str) -> frozenset[str]:
    silent = corrections().function_words
    return frozenset(
        stem(word)
        for word in words_of(text)
        if word not in silent and (len(word) >= _MIN_WORD or is_unspaced(word) or word.isdigit())
    )
