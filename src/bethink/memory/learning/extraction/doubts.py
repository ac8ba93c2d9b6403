"""Hints in the words around a quote that may turn its meaning: "not", "if", "used to", "says", "sorry, I mean".

They prove nothing, so nothing is refused for them. A claim whose statement lacks such a sign is read twice.
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
from bethink.model.words import key_words, stem

_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f\u061f\u0964])\s*|\n+")
_CLAUSE = re.compile(
    r"[,;:()\u2013\u2014\uff0c\u3001\uff1b\uff1a\u060c]+|\b(?:but|aber|pero|mais|mas|ama)\b|\u043d\u043e |\u4f46"
)
_QUOTED = re.compile(
    '["\u201c\u201e\u00ab\u300c\u300e].{0,500}?["\u201d\u201c\u00bb\u300d\u300f]|^>.*$|`[^`]*`', re.MULTILINE
)
_ASKED = re.compile("[?\uff1f\u061f]")
_MOCKED = re.compile("\U0001f644|\U0001f643|(?<!\\S)/s\\b")
_BUT = re.compile(r"\b(?:but|aber|pero|mais|mas|ama)\b|\u043d\u043e |\u4f46|\u3051\u3069|\u304c\u3001")
_HEDGED = ("if", "past", "told")
_FIRST = 4
_LONG = 30
_MOST_QUOTES = 5
_NEAR = 500
_MOST_SENTENCES = 2


class _Around(NamedTuple):
    """A quote with the clause and the sentence it stands in, and what its speaker says next."""

    quote: str
    clause: str
    part: str
    """The sentence as far as the next "but"."""
    sentence: str
    after: str


def doubt(claim: DraftClaim, texts: Mapping[int, str], after: Mapping[int, str], *, own: bool) -> str:
    """Return what around the quotes of a claim may turn its meaning; empty for nothing.

    `texts` are the messages of the conversation, and `after` what the speaker of each says next. With `own`, the claim
    is about the one who speaks.
    """
    if _loose(claim):
        return "it quotes more than it needs"
    around = [
        each
        for quote in claim.words
        for each in _around(quote.text, texts.get(quote.message, ""), after.get(quote.message, ""), claim.statement)
    ]
    if not around:
        return ""
    return _turned(claim, around) or _mocked(around) or _corrected(around) or (_anothers(claim, around) if own else "")


def _turned(claim: DraftClaim, around: Sequence[_Around]) -> str:
    """Return a sign of the quotes' sentences that the statement lacks, or a denial on one side only."""
    said = claim.statement
    denies, denied = _signs("not", _main(said, around)), [_signs("not", each.clause) for each in around]
    if not denies and all(denied):
        return denied[0]
    if denies and not any(_signs("not", each.sentence) for each in around):
        return denies
    if claim.stance in ("planned", "reported"):
        return ""
    for kind in _HEDGED:
        if kind == "past" and (claim.kind is FactKind.EVENT or claim.happened[0] is not None):
            continue  # what happened is past, and stays true
        found = next((sign for each in around if (sign := _signs(kind, each.part))), "")
        excused = found in words_in(said) if kind == "told" else _signs(kind, said)
        if found and not excused:
            return found
    return "?" if all(_ASKED.search(each.sentence[-2:]) for each in around) else ""


def _main(statement: str, around: Sequence[_Around]) -> str:
    """Return the clause of a statement that has most of the words that are quoted for it."""
    quoted = {stem(word) for each in around for word in key_words(each.clause)}
    clauses = [statement[begin:end] for begin, end in _spans(_CLAUSE, statement)]
    return max(clauses, key=lambda clause: len(quoted & {stem(word) for word in key_words(clause)}), default=statement)


def _mocked(around: Sequence[_Around]) -> str:
    for each in around:
        if any(each.quote in part for part in _QUOTED.findall(each.sentence)):
            return "quotation marks"
        if found := _MOCKED.search(each.sentence):
            return found[0]
        opening = " ".join(each.sentence.split()[:2])
        if found := _signs("irony", opening):
            return found
    return ""


def _corrected(around: Sequence[_Around]) -> str:
    """Return a word with which the speaker begins to take something back, right after the quote."""
    after = [" ".join(part.split()[:_FIRST]) for each in around for part in _SENTENCE.split(each.after)]
    return next((sign for opening in after if (sign := _signs("then", opening))), "")


def _anothers(claim: DraftClaim, around: Sequence[_Around]) -> str:
    """Return who else is named before the quoted words, if the statement does not name them."""
    for each in around:
        sign = _signs("they", " ".join(each.clause.split()[:_FIRST]))
        if sign and sign not in words_in(claim.statement):
            return sign
    return ""


def _loose(claim: DraftClaim) -> bool:
    """Return whether a claim quotes far more than what says so: as much is asked for as suffices."""
    quotes = claim.words
    return len(quotes) > _MOST_QUOTES or any(
        len(quote.text.split()) > _LONG or len(_spans(_SENTENCE, quote.text)) > _MOST_SENTENCES for quote in quotes
    )


def _around(quote: str, text: str, after: str, statement: str) -> Iterable[_Around]:
    """Return the clauses of a quote that have most of the statement's words, each with what is around it."""
    at = text.find(quote)
    if at < 0:
        return []
    text, at = text[max(0, at - _NEAR) : at + len(quote) + _NEAR], min(at, _NEAR)
    told = {stem(word) for word in key_words(statement)}
    found: list[tuple[int, _Around]] = []
    sentences = _spans(_SENTENCE, text)
    for begin, end in sentences:
        if end <= at or begin >= at + len(quote):
            continue
        sentence = text[begin:end]
        for first, last in _spans(_CLAUSE, sentence):
            if begin + last <= at or begin + first >= at + len(quote):
                continue
            clause = sentence[first:last]
            shared = len(told & {stem(word) for word in key_words(clause)})
            part = text[max(at, begin + first) : min(at + len(quote), begin + last)].strip()
            whole = next((sentence[a:b] for a, b in _spans(_BUT, sentence) if a <= first < b), sentence)
            found.append((shared, _Around(part, clause, whole, sentence, f"{text[end:][:200]}\n{after[:200]}")))
    most = max((shared for shared, _ in found), default=0)
    return [each for shared, each in found if shared == most]


def _spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    ends = [(match.start(), match.end()) for match in pattern.finditer(text)]
    begins = [0, *(end for _, end in ends)]
    return [span for span in zip(begins, [*(start for start, _ in ends), len(text)], strict=True) if span[0] < span[1]]


def _signs(kind: str, text: str) -> str:
    """Return a sign of a kind in a text, if there is one."""
    known = _known(kind)
    words = words_in(text.replace("\u2019", "'").replace("n't", " n't not ").replace("'", " "))
    for word in words:
        if is_unspaced(word):
            found = next((sign for sign in known.unspaced if sign in word), "")
        else:
            found = word if word in known.whole else next((each for each in known.begins if word.startswith(each)), "")
        if found:
            return found
    line = f" {' '.join(words)} "
    return next((phrase.strip() for phrase in known.phrases if phrase in line), "")


class _Signs(NamedTuple):
    whole: frozenset[str]
    begins: tuple[str, ...]
    phrases: tuple[str, ...]
    unspaced: tuple[str, ...]


@cache
def _known(kind: str) -> _Signs:
    text = (resources.files("bethink.memory.learning.extraction") / "doubt_words.txt").read_text(encoding="utf-8")
    lines = (line.partition(": ") for line in text.splitlines())
    words = [word for name, _, each in lines if name == kind for word in each.split()]
    split = {word: words_in(word.replace("_", " ").replace("'", " ")) for word in words if not word.startswith("-")}
    spaced = {word: parts for word, parts in split.items() if parts and not is_unspaced(parts[0])}
    return _Signs(
        whole=frozenset(parts[0] for word, parts in spaced.items() if len(parts) == 1 and not word.endswith("-")),
        begins=tuple(parts[0] for word, parts in spaced.items() if len(parts) == 1 and word.endswith("-")),
        phrases=tuple(f" {' '.join(parts)} " for parts in spaced.values() if len(parts) > 1),
        unspaced=tuple(word for word, parts in split.items() if parts and is_unspaced(parts[0])),
    )
