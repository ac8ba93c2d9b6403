"""Split a claim that states several things: each can change by itself, so each becomes a fact of its own.

Only plain coordination is split. Anything else stays as it is: a compound fact does less harm than a wrong one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from bethink.base.language.numbers import numbers_in
from bethink.memory.learning.extraction.claims import DraftClaim, ExtractionAnswer, claim_position
from bethink.memory.learning.extraction.compound_rules import CompoundRules, rules_for
from bethink.memory.learning.extraction.turkish_compounds import split_turkish
from bethink.memory.learning.extraction.unspaced_compounds import split_unspaced
from bethink.model.kinds import FactKind
from bethink.model.reviews import ClaimChange
from bethink.model.words import is_negated, key_stems, key_words, stem

_UNSPLIT = frozenset({FactKind.EVENT, FactKind.INSTRUCTION, FactKind.PROCEDURE})
_MAX_SUBJECT = 5
_MAX_NEW_SUBJECT = 3
_MAX_PARTS = 4
_TOKEN = re.compile(r"\S+")
_END = ".!。"
_CLITICS = frozenset(
    [
        "se",
        "lo",
        "la",
        "le",
        "los",
        "las",
        "les",
        "lui",
        "si",
        "li",
        "gli",
        "ci",
        "o",
        "os",
        "as",
        "lhe",
        "y",
        "en",
        "sich",
    ]
)
"""Short pronouns that stand before a verb."""
_UNSAFE = re.compile('[?"“”„«»();:]')
_POSSESSIVE = ("'s", "\u2019s", "s'", "s\u2019")


class Part(NamedTuple):
    """One statement of a compound, and what it is about if that differs from the compound."""

    statement: str
    about: str | None = None


class _Sentence(NamedTuple):
    tokens: Sequence[str]
    words: Sequence[str]
    """The tokens in lower case, without punctuation."""
    verb: int
    """Position of the first verb, which the subject precedes."""
    rules: CompoundRules


class _Boundary(NamedTuple):
    """Start of a part: after the conjunction at `at`, with words to put before it."""

    at: int
    start: int
    prefix: Sequence[str] = ()
    about: str | None = None


def split_compounds(
    answer: ExtractionAnswer, texts: Mapping[str, str] = MappingProxyType[str, str]({})
) -> ExtractionAnswer:
    """Return an answer with its compound claims split.

    The first part keeps the position of the claim and its slot, the others get positions after all claims of the
    answer, so that the same answer is always split into the same claims. A claim that names a compound names its parts.
    A compound that names facts, of which `texts` has the statements, names each in the part that is closest to it.
    """
    following = max((claim.position for claim in answer.claims), default=-1) + 1
    claims: list[DraftClaim] = []
    parts_of: dict[int, list[DraftClaim]] = {}
    for claim in answer.claims:
        parts = _with_own_facts(_split_claim(claim, following), texts)
        following += len(parts) - 1
        claims += parts
        if len(parts) > 1:
            parts_of[claim.position] = parts
    return replace(answer, claims=tuple(_rename(claim, parts_of) for claim in claims)) if parts_of else answer


def split(statement: str, about: str = "") -> list[Part]:
    """Return the statements of a sentence; only the sentence itself if it is one, or cannot be split safely."""
    text = statement.strip()
    if _UNSAFE.search(text):
        return [Part(statement)]
    others = split_unspaced(text, about) or split_turkish(text)
    if others:
        return [Part(part) for part in others]
    tokens = _TOKEN.findall(text.rstrip(_END))
    words = [_bare(token) for token in tokens]
    for rules in rules_for(words):
        verb = next((at for at, word in enumerate(words) if word in rules.verbs), 0)
        sentence = _Sentence(tokens, words, verb, rules)
        boundaries = _boundaries(sentence)
        if boundaries:
            return _parts(sentence, boundaries, end=text[len(text.rstrip(_END)) :])
    return [Part(statement)]


def _split_claim(claim: DraftClaim, following: int) -> list[DraftClaim]:
    if claim.kind is None or claim.kind in _UNSPLIT or claim.change is ClaimChange.FORGET:
        return [claim]
    parts = split(claim.statement, claim.about)
    if not 1 < len(parts) <= _MAX_PARTS:
        return [claim]
    first, *others = parts
    return [
        replace(claim, statement=first.statement),
        *(
            replace(
                claim, statement=part.statement, about=part.about or claim.about, slot=None, position=following + number
            )
            for number, part in enumerate(others)
        ),
    ]


def _with_own_facts(parts: Sequence[DraftClaim], texts: Mapping[str, str]) -> list[DraftClaim]:
    """Return the parts of a claim, each with those of the facts that the claim names which are closest to it."""
    if len(parts) == 1:
        return list(parts)

    def own(part: DraftClaim, names: Sequence[str]) -> tuple[str, ...]:
        closest = {
            name: max(parts, key=lambda other: _count_shared_words(other, texts[name]))
            for name in names
            if name in texts
        }
        return tuple(name for name in names if closest.get(name, part) is part)

    return [
        replace(
            part,
            fact_ids=fact_ids,
            later_ids=own(part, part.later_ids),
            change=part.change if fact_ids or not part.fact_ids else ClaimChange.NEW,
        )
        for part in parts
        for fact_ids in [own(part, part.fact_ids)]
    ]


def _rename(claim: DraftClaim, parts_of: Mapping[int, Sequence[DraftClaim]]) -> DraftClaim:
    """Return a claim that names parts where it named a compound: all that it depends on, the one that it changes."""
    return replace(
        claim,
        fact_ids=tuple(_part_names(claim, claim.fact_ids, parts_of, closest=True)),
        later_ids=tuple(_part_names(claim, claim.later_ids, parts_of, closest=True)),
        base_ids=tuple(_part_names(claim, claim.base_ids, parts_of, closest=False)),
    )


def _part_names(
    claim: DraftClaim, names: Sequence[str], parts_of: Mapping[int, Sequence[DraftClaim]], *, closest: bool
) -> Iterator[str]:  # fmt: skip
    for name in names:
        position = claim_position(name)
        parts = None if position is None else parts_of.get(position)
        if parts is None:
            yield name
            continue
        chosen = [max(parts, key=lambda part: _shared_words(part, claim))] if closest else parts
        yield from (f"c{part.position + 1}" for part in chosen)


def _shared_words(part: DraftClaim, claim: DraftClaim) -> int:
    return _count_shared_words(part, claim.statement)


def _count_shared_words(part: DraftClaim, text: str) -> int:
    stems = key_stems(text)
    return sum(stem(word) in stems for word in key_words(part.statement))


def _boundaries(sentence: _Sentence) -> list[_Boundary]:
    """Return where further statements begin; none if the sentence cannot be split safely."""
    tokens, words, verb, rules = sentence
    if not rules.blocking.isdisjoint(words) or not _is_subject(tokens[:verb], words[:verb], rules):
        return []
    result: list[_Boundary] = []
    subject: Sequence[str] = tokens[:verb]
    for at in range(verb + 1, len(words) - 1):
        boundary = None
        if at > verb + 1 and words[at] in rules.conjunctions:
            boundary = _predicate(sentence, at, subject) or _clause(sentence, at, subject)
            boundary = boundary or (None if result else _complement(sentence, at, at + 1))
        elif tokens[at].endswith(",") and words[at + 1] in rules.verbs:
            boundary = _Boundary(at + 1, at + 1, subject)
        elif tokens[at].endswith(",") and not result and words[at + 1] in rules.heads:
            boundary = _complement(sentence, at + 1, at + 1)
        if boundary is not None:
            result.append(boundary)
            subject = subject if boundary.prefix else tokens[boundary.start : _verb_after(sentence, boundary.start)]
    return result if all(_stands_alone(sentence, boundary) for boundary in result) else []


def _predicate(sentence: _Sentence, at: int, subject: Sequence[str]) -> _Boundary | None:
    """Return a second predicate of the subject: "and works in Oslo", "and she works in Oslo"."""
    words, rules = sentence.words, sentence.rules
    if words[at + 1] in rules.verbs or (
        words[at + 1] in _CLITICS and at + 2 < len(words) and words[at + 2] in rules.verbs
    ):
        return _Boundary(at, at + 1, subject)
    is_pronoun = words[at + 1] in rules.pronouns and at + 2 < len(words) and words[at + 2] in rules.verbs
    return _Boundary(at, at + 2, subject) if is_pronoun else None


def _clause(sentence: _Sentence, at: int, subject: Sequence[str]) -> _Boundary | None:
    """Return a second clause with a subject of its own: "and Ben works in Rome", "and its shop is in Rome"."""
    tokens, words, _, rules = sentence
    begin = at + 1
    verb = _verb_after(sentence, begin)
    if not begin < verb <= begin + _MAX_NEW_SUBJECT or verb + 1 >= len(words):
        return None
    if words[begin] in rules.determiners and verb > begin + 1:
        if words[begin] not in rules.possessives:
            return _Boundary(at, begin)
        # Its owner is named in the first part.
        return _Boundary(at, begin + 1, [*subject[:-1], f"{subject[-1]}{rules.genitive}"]) if rules.genitive else None
    is_name = all(token[0].isupper() for token in tokens[begin:verb]) and words[begin] not in rules.openers
    return _Boundary(at, begin, about=" ".join(tokens[begin:verb])) if is_name else None


def _complement(sentence: _Sentence, at: int, start: int) -> _Boundary | None:
    """Return a second complement of another type: "is three and afraid of umbrellas"."""
    tokens, words, verb, rules = sentence
    first, second = words[verb + 1 : at], words[start:]
    if any(is_negated(word) for word in words):
        return None
    is_age = bool(numbers_in(first[0])) and len(first) <= _MAX_NEW_SUBJECT and rules.years.issuperset(first[1:])
    follows_age = not numbers_in(second[0]) and second[0] not in rules.fractions | rules.determiners
    if words[verb] in rules.have:
        splits = is_age and len(first) > 1 and second[0] in rules.heads
    else:
        splits = (is_age and follows_age) or {first[0], second[0]} <= rules.heads
        splits = splits and words[verb] in rules.copulas
    return _Boundary(at, start, tokens[: verb + 1]) if splits else None


def _stands_alone(sentence: _Sentence, boundary: _Boundary) -> bool:
    """Return whether a part is understood without the others: it has no word that refers to them."""
    tokens, words, verb, rules = sentence
    part = words[boundary.start :]
    if not rules.anaphors.isdisjoint(part[1:] if boundary.prefix else part[_MAX_NEW_SUBJECT:]):
        return False
    has_other_name = any(token[0].isupper() for token in tokens[verb + 1 : boundary.at])
    return not has_other_name or rules.possessives.isdisjoint(part)


def _is_subject(tokens: Sequence[str], words: Sequence[str], rules: CompoundRules) -> bool:
    """Return whether the words before the verb are a name, or a noun with an article or possessive."""
    if not 0 < len(tokens) <= _MAX_SUBJECT or not rules.conjunctions.isdisjoint(words):
        return False
    if any(token.endswith(",") for token in tokens):
        return False
    if tokens[0].endswith(_POSSESSIVE) or (words[0] in rules.determiners and len(tokens) > 1):
        return True
    return words[0] not in rules.openers and all(token[0].isupper() for token in tokens)


def _verb_after(sentence: _Sentence, begin: int) -> int:
    words = sentence.words
    return next((at for at in range(begin, len(words)) if words[at] in sentence.rules.verbs), len(words))


def _parts(sentence: _Sentence, boundaries: Sequence[_Boundary], *, end: str) -> list[Part]:
    tokens = sentence.tokens
    ends = [*(boundary.at for boundary in boundaries), len(tokens)]
    parts = [Part(_write(tokens[: ends[0]], end))]
    for boundary, until in zip(boundaries, ends[1:], strict=True):
        parts.append(Part(_write([*boundary.prefix, *tokens[boundary.start : until]], end), boundary.about))
    return parts


def _write(tokens: Sequence[str], end: str) -> str:
    text = " ".join(tokens).rstrip(",")
    return f"{text[0].upper()}{text[1:]}{end}"


def _bare(token: str) -> str:
    return token.strip(",.'\u2019!-").lower()
