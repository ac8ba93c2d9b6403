"""Hints in the words around a quote that may change its meaning: "not", "if", "used to", "says", "sorry, I mean".

Hints prove nothing, so they reject nothing. A claim whose statement lacks such a sign is read twice.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

from bethink.base.language import is_unspaced
from bethink.base.language.letters import words_in
from bethink.memory.learning.extraction.claims import DraftClaim
from bethink.model.kinds import FactKind
from bethink.model.words import key_stems, key_words, stem

_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f\u061f\u0964])\s*|\n+")
_CLAUSE = re.compile(
    r"[,;:()\u2013\u2014\uff0c\u3001\uff1b\uff1a\u060c]+|\b(?:but|aber|pero|mais|mas|ama)\b|\u043d\u043e |\u4f46"
)
_QUOTATION = re.compile(
    '["\u201c\u201e\u00ab\u300c\u300e].{0,500}?["\u201d\u201c\u00bb\u300d\u300f]|^>.*$|`[^`]*`', re.MULTILINE
)
_QUESTION_MARK = re.compile("[?\uff1f\u061f]")
_IRONY_MARK = re.compile("\U0001f644|\U0001f643|(?<!\\S)/s\\b")
_BUT = re.compile(r"\b(?:but|aber|pero|mais|mas|ama)\b|\u043d\u043e |\u4f46|\u3051\u3069|\u304c\u3001")
_HEDGES = ("if", "past", "told")
_FIRST_WORDS = 4
_MAX_WORDS = 30
_MAX_QUOTES = 5
_MAX_DISTANCE = 500
_MAX_SENTENCES = 2


class _QuoteContext(NamedTuple):
    """A quote with its clause and its sentence, and the speaker's next words."""

    quote: str
    clause: str
    part: str
    """The sentence up to the next "but"."""
    sentence: str
    after: str


def doubt(claim: DraftClaim, texts: Mapping[int, str], after: Mapping[int, str], *, own: bool) -> str:
    """Return the words around the quotes that may change the meaning of a claim; empty if there are none.

    `texts` are the messages of the conversation, and `after` what the speaker of each says next. With `own`, the claim
    is about its speaker.
    """
    if _quotes_too_much(claim):
        return "it quotes more than it needs"
    around = [
        context
        for quote in claim.words
        for context in _contexts_of(
            quote.text, texts.get(quote.message, ""), after.get(quote.message, ""), claim.statement
        )
    ]
    if not around:
        return ""
    return (
        _changed_meaning(claim, around)
        or _irony_sign(around)
        or _correction_sign(around)
        or (_other_person(claim, around) if own else "")
    )


def _changed_meaning(claim: DraftClaim, around: Sequence[_QuoteContext]) -> str:
    """Return a sign in the quotes' sentences that the statement lacks, or a denial on one side only."""
    statement = claim.statement
    denies, denied = (
        _find_sign("not", _main_clause(statement, around)),
        [_find_sign("not", context.clause) for context in around],
    )
    if not denies and all(denied):
        return denied[0]
    if denies and not any(_find_sign("not", context.sentence) for context in around):
        return denies
    if claim.stance in ("planned", "reported"):
        return ""
    for kind in _HEDGES:
        if kind == "past" and (claim.kind is FactKind.EVENT or claim.happened[0] is not None):
            continue  # a past event stays true
        hedge = next((sign for context in around if (sign := _find_sign(kind, context.part))), "")
        excused = hedge in words_in(statement) if kind == "told" else _find_sign(kind, statement)
        if hedge and not excused:
            return hedge
    return "?" if all(_QUESTION_MARK.search(context.sentence[-2:]) for context in around) else ""


def _main_clause(statement: str, around: Sequence[_QuoteContext]) -> str:
    """Return the clause of a statement that has most of the quoted words."""
    quoted = {stem(word) for context in around for word in key_words(context.clause)}
    clauses = [statement[begin:end] for begin, end in _spans(_CLAUSE, statement)]
    return max(clauses, key=lambda clause: len(quoted & key_stems(clause)), default=statement)


def _irony_sign(around: Sequence[_QuoteContext]) -> str:
    for context in around:
        if any(context.quote in part for part in _QUOTATION.findall(context.sentence)):
            return "quotation marks"
        if sign := _IRONY_MARK.search(context.sentence):
            return sign[0]
        opening = " ".join(context.sentence.split()[:2])
        if sign := _find_sign("irony", opening):
            return sign
    return ""


def _correction_sign(around: Sequence[_QuoteContext]) -> str:
    """Return a word with which the speaker starts a correction right after the quote."""
    after = [" ".join(part.split()[:_FIRST_WORDS]) for context in around for part in _SENTENCE.split(context.after)]
    return next((sign for opening in after if (sign := _find_sign("then", opening))), "")


def _other_person(claim: DraftClaim, around: Sequence[_QuoteContext]) -> str:
    """Return another person named before the quoted words and not in the statement."""
    for context in around:
        sign = _find_sign("they", " ".join(context.clause.split()[:_FIRST_WORDS]))
        if sign and sign not in words_in(claim.statement):
            return sign
    return ""


def _quotes_too_much(claim: DraftClaim) -> bool:
    """Return whether a claim quotes far more than it needs."""
    quotes = claim.words
    return len(quotes) > _MAX_QUOTES or any(
        len(quote.text.split()) > _MAX_WORDS or len(_spans(_SENTENCE, quote.text)) > _MAX_SENTENCES for quote in quotes
    )


def _contexts_of(quote: str, text: str, after: str, statement: str) -> Iterable[_QuoteContext]:
    """Return the clauses of a quote that share the most words with the statement, each with its context."""
    at = text.find(quote)
    if at < 0:
        return []
    text, at = text[max(0, at - _MAX_DISTANCE) : at + len(quote) + _MAX_DISTANCE], min(at, _MAX_DISTANCE)
    stems = key_stems(statement)
    candidates: list[tuple[int, _QuoteContext]] = []
    sentences = _spans(_SENTENCE, text)
    for begin, end in sentences:
        if end <= at or begin >= at + len(quote):
            continue
        sentence = text[begin:end]
        for first, last in _spans(_CLAUSE, sentence):
            if begin + last <= at or begin + first >= at + len(quote):
                continue
            clause = sentence[first:last]
            shared = len(stems & key_stems(clause))
            part = text[max(at, begin + first) : min(at + len(quote), begin + last)].strip()
            main_part = next((sentence[a:b] for a, b in _spans(_BUT, sentence) if a <= first < b), sentence)
            candidates.append(
                (shared, _QuoteContext(part, clause, main_part, sentence, f"{text[end:][:200]}\n{after[:200]}"))
            )
    max_shared = max((shared for shared, _ in candidates), default=0)
    return [context for shared, context in candidates if shared == max_shared]


def _spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    ends = [(match.start(), match.end()) for match in pattern.finditer(text)]
    begins = [0, *(end for _, end in ends)]
    return [span for span in zip(begins, [*(start for start, _ in ends), len(text)], strict=True) if span[0] < span[1]]


def _find_sign(kind: str, text: str) -> str:
    """Return the first sign of a kind in a text; empty if there is none."""
    signs = _load_signs(kind)
    words = words_in(text.replace("\u2019", "'").replace("n't", " n't not ").replace("'", " "))
    for word in words:
        if is_unspaced(word):
            hit = next((sign for sign in signs.unspaced if sign in word), "")
        else:
            hit = (
                word
                if word in signs.words
                else next((prefix for prefix in signs.begins if word.startswith(prefix)), "")
            )
        if hit:
            return hit
    line = f" {' '.join(words)} "
    return next((phrase.strip() for phrase in signs.phrases if phrase in line), "")


class _Signs(NamedTuple):
    words: frozenset[str]
    begins: tuple[str, ...]
    phrases: tuple[str, ...]
    unspaced: tuple[str, ...]


@cache
def _load_signs(kind: str) -> _Signs:
    text = (resources.files("bethink.memory.learning.extraction") / "doubt_words.txt").read_text(encoding="utf-8")
    lines = (line.partition(": ") for line in text.splitlines())
    words = [word for name, _, terms in lines if name == kind for word in terms.split()]
    split = {word: words_in(word.replace("_", " ").replace("'", " ")) for word in words if not word.startswith("-")}
    spaced = {word: parts for word, parts in split.items() if parts and not is_unspaced(parts[0])}
    return _Signs(
        words=frozenset(parts[0] for word, parts in spaced.items() if len(parts) == 1 and not word.endswith("-")),
        begins=tuple(parts[0] for word, parts in spaced.items() if len(parts) == 1 and word.endswith("-")),
        phrases=tuple(f" {' '.join(parts)} " for parts in spaced.values() if len(parts) > 1),
        unspaced=tuple(word for word, parts in split.items() if parts and is_unspaced(parts[0])),
    )
