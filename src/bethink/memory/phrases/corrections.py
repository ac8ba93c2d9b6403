"""Finds explicit corrections: "Sorry, 22 km, not 24" corrects the clause that states 24 km.

A message corrects an earlier one only if it says so (a marker such as "typo:", or a contrast such as "not 24 but 22"),
and if it names the wrong value, or states a value of the same unit about the same subject. Everything else is left to
a model: a correction that is missed can be found later, a wrong one hides what is true.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.memory.phrases import spans
from bethink.memory.phrases.spans import Span
from bethink.memory.phrases.values import (
    Number,
    calendar_words,
    content_words,
    have_same_unit,
    numbers,
    similar_words,
)
from bethink.memory.phrases.vocabulary import corrections

MAX_EARLIER = 20
"""Maximum number of earlier messages that are compared, the latest ones."""
_MAX_SENTENCE = 400
_MAX_WRONG_WORDS = 4
_MAX_RIGHT_WORDS = 6
_MAX_MATCHES = 5
_MAX_UNSPACED_REMAINDER = 4
_MIN_SHARED_WORDS = 2
_MAX_CHANGED_WORDS = 2
_OPENING = " \t,.;:!?-\u2013\u2014(\u3001\u3002\uff0c\uff01"
_ENDING = re.compile(r"[;!?()\u2013\u2014\u3001\u3002\uff0c\uff1b]|[.,:](?!\d)")
_QUESTION = ("?", "\uff1f")


@frozen
class CorrectedWords:
    """A correction: `index` is the earlier message, whose words from `start` to `stop` are wrong.

    The index after the last earlier message is the new message itself. `new_start` and `new_stop` are the sentence of
    the new message that corrects them.
    """

    index: int
    start: int
    stop: int
    new_start: int
    new_stop: int


class _Marker(IntEnum):
    NONE = 0
    WEAK = 1
    STRONG = 2


class _Contrast(NamedTuple):
    """Wrong and right value that a sentence contrasts. `by_but` if it says only that, as "not X but Y"."""

    wrong: str
    right: str
    by_but: bool


class _Clause(NamedTuple):
    """A clause of an earlier message, or of the new message before the correction."""

    message: int
    span: Span
    text: str


class _Sentence(NamedTuple):
    """A sentence of the new message, with its marker and the text after the marker."""

    span: Span
    text: str
    content: str
    marker: _Marker


def find_correction(text: str, earlier: Sequence[str]) -> CorrectedWords | None:
    """Return which words of the earlier messages of a session, the oldest first, a new message corrects."""
    first = max(0, len(earlier) - MAX_EARLIER)
    before: list[_Clause] | None = None
    for sentence in _marked_sentences(text):
        if before is None:  # most messages correct nothing, and need no look at the others
            before = [clause for index in range(first, len(earlier)) for clause in _clauses(index, earlier[index])]
        own = [clause for clause in _clauses(len(earlier), text) if clause.span.stop <= sentence.span.start]
        wrong = _wrong_clause(sentence, [*before, *own])
        if wrong is not None:
            return CorrectedWords(
                index=wrong.message, start=wrong.span.start, stop=wrong.span.stop,
                new_start=sentence.span.start, new_stop=sentence.span.stop,
            )  # fmt: skip
    return None


def find_repetitions(text: str, wrong: str, correction: str) -> list[Span]:
    """Return the clauses of a text that repeat the wrong value of a clause, which a correction replaces."""
    right = numbers(correction)
    wrong_numbers = [number for number in numbers(wrong) if _is_replaced(number, right)]
    wrong_days = [
        days - right_days if right_days else set[str]()
        for days, right_days in zip(calendar_words(wrong), calendar_words(correction), strict=True)
    ]
    repeated = [
        clause.span
        for clause in _clauses(0, text)
        if any(_states(number, (), numbers(clause.text)) for number in wrong_numbers)
        or any(days & stated for days, stated in zip(wrong_days, calendar_words(clause.text), strict=True))
    ]
    match = find_correction(correction, [text])
    if (
        match is not None
        and match.index == 0
        and set(content_words(text[match.start : match.stop])) & {*content_words(wrong)}
    ):
        repeated.append(Span(match.start, match.stop))
    return sorted(set(repeated))


def _is_replaced(number: Number, right: Sequence[Number]) -> bool:
    """Return whether a correction states another number that may be of the same unit."""
    return any(
        other.digits != number.digits and (not other.unit or not number.unit or have_same_unit(number, other))
        for other in right
    )


def _marked_sentences(text: str) -> Iterator[_Sentence]:
    """Yield the sentences of a text that may correct something."""
    parts = spans.sentences(text)
    markers = [_marker(span.of(text)[:_MAX_SENTENCE]) for span in parts]
    for position, span in enumerate(parts):
        sentence = span.of(text)
        if len(sentence) > _MAX_SENTENCE or sentence.endswith(_QUESTION):
            continue
        marker, content = markers[position]
        if position and marker < _Marker.STRONG:
            previous, remainder = markers[position - 1]
            # A sentence that is only a marker, or that admits a mistake without a value, belongs to the next one.
            if not remainder.strip(_OPENING) or (previous is _Marker.STRONG and not numbers(remainder)):
                marker = max(marker, previous)
        if marker is not _Marker.NONE or _has_contrast(content):
            yield _Sentence(span, sentence, content, marker)


def _has_contrast(content: str) -> bool:
    patterns = corrections()
    return (
        patterns.negation.search(content) is not None
        or patterns.negation_after.search(content) is not None
        or any(pattern.search(content) is not None for pattern in patterns.contrasts)
    )


def _marker(sentence: str) -> tuple[_Marker, str]:
    """Return the strongest marker of a sentence, and the sentence without its markers."""
    patterns = corrections()
    plain = sentence.replace("\u2019", "'")
    marker = _Marker.NONE
    remaining = plain
    while (match := patterns.weak.match(remaining)) is not None and not _is_negation(remaining, match):
        marker, remaining = _Marker.WEAK, remaining[match.end() :].lstrip(_OPENING)
    content = remaining
    for match in list(patterns.strong.finditer(remaining))[:_MAX_MATCHES]:
        if patterns.exceptions.match(remaining, match.start()) is None:
            marker = _Marker.STRONG
            content = content.replace(match[0], " ", 1)
    match = patterns.strong_anywhere.search(plain)
    if match is not None:
        marker, content = _Marker.STRONG, content.replace(match[0], " ", 1)
    return marker, content.strip(_OPENING)


def _is_negation(text: str, match: re.Match[str]) -> bool:
    """Return whether a word such as "no" negates what follows, instead of answering what came before."""
    is_followed = match.end() < len(text) and text[match.end()] not in _OPENING.replace(" ", "")
    return is_followed and corrections().negation.fullmatch(match[0]) is not None


def _clauses(message: int, text: str) -> list[_Clause]:
    joined_by = corrections().joined_by
    return [
        _Clause(message, span, span.of(text))
        for sentence in spans.sentences(text)
        if not sentence.of(text).endswith(_QUESTION)
        for span in spans.clauses(text, sentence, joined_by)
    ]


def _wrong_clause(sentence: _Sentence, before: Sequence[_Clause]) -> _Clause | None:
    """Return the earlier clause that a sentence corrects."""
    if not before:
        return None
    patterns = corrections()
    if sentence.marker < _Marker.STRONG and patterns.change.search(sentence.content) is not None:
        return None  # what is different from now on was true before
    for contrast in _contrasts(sentence.content):
        clause = _named_wrong(contrast, sentence, before)
        if clause is not None:
            return clause
    if sentence.marker is _Marker.NONE or patterns.negation.search(sentence.content) is not None:
        return None
    return _same_unit(sentence, before) or _same_calendar(sentence, before) or _same_subject(sentence, before)


def _contrasts(content: str) -> Iterator[_Contrast]:
    patterns = corrections()
    for pattern in patterns.contrasts:
        for match in list(pattern.finditer(content))[:_MAX_MATCHES]:
            yield _Contrast(_bare(match["wrong"]), _bare(match["right"]), by_but=True)
    for match in list(patterns.negation.finditer(content))[:_MAX_MATCHES]:
        yield from _negations(content, match)
    for match in list(patterns.negation_after.finditer(content))[:_MAX_MATCHES]:
        before = content[: match.start()].strip(_OPENING)
        cut = max((end.end() for end in _ENDING.finditer(before)), default=0)
        wrong, before_it = before[cut:], before[:cut]
        right = content[match.end() :].strip(_OPENING) or before_it
        yield _Contrast(wrong, right, by_but=bool(content[match.end() :].strip(_OPENING)))


def _negations(content: str, match: re.Match[str]) -> Iterator[_Contrast]:
    """Yield what a word such as "not" negates, with what is right instead."""
    ending = _ENDING.search(content, match.end())
    stop = len(content) if ending is None else ending.start()
    joined = corrections().but.search(content, match.end())
    if joined is not None and joined.start() <= stop and joined.end() < len(content):
        is_whole = not content_words(content[: match.start()])
        yield _Contrast(content[match.end() : joined.start()], content[joined.end() :], by_but=is_whole)
        return
    wrong, before_it, right = (
        content[match.end() : stop],
        content[: match.start()].rstrip(),
        content[stop:].strip(_OPENING),
    )
    joined_left = re.search(r"[,(\u2013\u2014-]\s*(?:\w{1,3}\s?)?$|\s(?:and|und|et|e|y|a|\u0430|en)$", before_it)
    if joined_left is not None and content_words(before_it):
        yield _Contrast(wrong, before_it, by_but=False)
    elif right and not content_words(before_it):
        yield _Contrast(wrong, right, by_but=False)


def _named_wrong(contrast: _Contrast, sentence: _Sentence, before: Sequence[_Clause]) -> _Clause | None:
    """Return the latest clause that states the wrong value of a contrast."""
    wrong = content_words(contrast.wrong)
    if not 1 <= len(wrong) <= _MAX_WRONG_WORDS or not _is_fitting(contrast, sentence):
        return None
    wrong_numbers = numbers(contrast.wrong)
    right_numbers = [number.digits for number in numbers(contrast.right)]
    for clause in reversed(before):
        if wrong_numbers:
            stated = numbers(clause.text)
            right = numbers(contrast.right)
            if _states(wrong_numbers[0], right, stated) and not {number.digits for number in stated} & {*right_numbers}:
                return clause
        elif _names(contrast.wrong, wrong, clause.text) and not _names(
            contrast.right, content_words(contrast.right), clause.text
        ):
            return clause
    return None


def _is_fitting(contrast: _Contrast, sentence: _Sentence) -> bool:
    """Return whether both sides of a contrast are values of one kind, so that it is a correction."""
    wrong, right = numbers(contrast.wrong), numbers(contrast.right)
    if wrong or right:
        return bool(wrong and right) and (
            not (wrong[0].unit and right[0].unit) or any(have_same_unit(wrong[0], number) for number in right)
        )
    for wrong_days, right_days in zip(calendar_words(contrast.wrong), calendar_words(contrast.right), strict=True):
        if wrong_days and right_days:
            return True
    is_named = _is_name(contrast.wrong) and _is_name(contrast.right)
    if sentence.marker is _Marker.NONE:
        return is_named and contrast.by_but and len(content_words(sentence.content)) <= 2 * _MAX_WRONG_WORDS
    if len(content_words(contrast.right)) > _MAX_RIGHT_WORDS:
        return False  # another statement, and no value in the place of the wrong one
    return contrast.by_but or sentence.marker is _Marker.STRONG or is_named


def _is_name(text: str) -> bool:
    return any(word[:1].isupper() for word in spans.words(text) if word.casefold() not in corrections().function_words)


def _states(wrong: Number, right: Sequence[Number], stated: Sequence[Number]) -> bool:
    """Return whether the wrong number is among those that are stated, with a unit that does not differ."""
    units = [number for number in (wrong, *right) if number.unit]
    return any(
        number.digits == wrong.digits
        and (not number.unit or not units or any(have_same_unit(number, other) for other in units))
        for number in stated
    )


def _names(text: str, phrase_words: Sequence[str], clause: str) -> bool:
    if spans.is_unspaced(text):
        return len(bare := _bare(text)) >= 2 and bare in clause
    return bool(phrase_words) and len(similar_words(phrase_words, content_words(clause))) == len(phrase_words)


def _bare(text: str) -> str:
    """Return a phrase of a script without spaces, without the particles at its ends."""
    particles = corrections().particles
    bare = text.strip(_OPENING)
    while (match := particles.match(bare)) is not None and match.end() and not bare[0].isdigit():
        bare = bare[match.end() :]
    return bare


def _same_unit(sentence: _Sentence, before: Sequence[_Clause]) -> _Clause | None:
    """Return the clause that states another number of the same unit about the same subject."""
    stated = [number for number in numbers(sentence.content) if number.unit]
    if len({number.digits for number in stated}) != 1:
        return None
    right = stated[0]
    fitting = [
        clause
        for clause in _about_the_same(sentence, [right.unit], before)
        if any(have_same_unit(right, number) for number in numbers(clause.text))
    ]
    if not fitting:
        return None
    latest = fitting[-1]
    same = [clause.text for clause in fitting if clause.message == latest.message]
    values = {number.digits for text in same for number in numbers(text) if have_same_unit(right, number)}
    # With several values of this unit, or the right one, the message does not say which one is wrong.
    return latest if len(values) == 1 and right.digits not in values else None


def _same_calendar(sentence: _Sentence, before: Sequence[_Clause]) -> _Clause | None:
    """Return the clause that states another day of the week, or another month."""
    for position, right in enumerate(calendar_words(sentence.content)):
        if len(right) != 1:
            continue
        fitting = [
            clause
            for clause in _about_the_same(sentence, right, before)
            if len(calendar_words(clause.text)[position]) == 1
        ]
        if fitting and calendar_words(fitting[-1].text)[position] != right:
            return fitting[-1]
    return None


def _about_the_same(sentence: _Sentence, value: Collection[str], before: Sequence[_Clause]) -> list[_Clause]:
    """Return the clauses that a value may correct: with a subject, those that share it and an explicit marker."""
    subject = [word for word in content_words(sentence.content) if not word[0].isdigit() and word not in value]
    if spans.is_unspaced(sentence.content):
        is_value_only = len(_without_value(sentence.content, value)) <= _MAX_UNSPACED_REMAINDER
    else:
        is_value_only = not subject
    if is_value_only:
        return list(before)
    if sentence.marker is not _Marker.STRONG:
        return []
    if spans.is_unspaced(sentence.content):
        start = _without_value(sentence.content, value)[:2]
        return [clause for clause in before if start in clause.text]
    return [clause for clause in before if similar_words(subject, content_words(clause.text))]


def _without_value(content: str, value: Collection[str]) -> str:
    remainder = re.sub(r"[\d.,:\s]+", "", content)
    for word in value:
        remainder = remainder.replace(word, "")
    return corrections().particles.sub("", remainder.strip(_OPENING))


def _same_subject(sentence: _Sentence, before: Sequence[_Clause]) -> _Clause | None:
    """Return the clause that says the same except for a word or two. Only an explicit marker makes it a correction."""
    words = content_words(sentence.content)
    if sentence.marker is not _Marker.STRONG or len(words) <= _MIN_SHARED_WORDS or numbers(sentence.content):
        return None
    for clause in reversed(before):
        stated = content_words(clause.text)
        added = len(words) - len(similar_words(words, stated))
        dropped = len(stated) - len(similar_words(stated, words))
        if 1 <= added <= _MAX_CHANGED_WORDS and 1 <= dropped <= _MAX_CHANGED_WORDS and len(words) - added >= 2:
            return clause
    return None
