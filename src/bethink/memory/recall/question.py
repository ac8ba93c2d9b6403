"""Parse a question: its words with their weights, the speaker it is about, and the times it mentions."""

import math
import re
from collections.abc import Collection, Iterable, MutableMapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache

from bethink.base.frozen import frozen
from bethink.base.language import (
    MARKS,
    compound_stems,
    first_person,
    is_unspaced,
    parts_of,
    question_languages,
    question_topics,
    search_forms,
    stop_words,
)
from bethink.memory.recall.calendars import calendar, fold_accents
from bethink.memory.recall.dates import MONTHS, DateSpan, times
from bethink.memory.recall.languages import SNOWBALL, languages_of
from bethink.memory.recall.tuning import TUNING
from bethink.memory.recall.word_lists import forms, related_words, vague_words
from bethink.model.moments import DAY, Micros
from bethink.model.words import has_digit

_MAX_WORDS = 24
_MAX_CHARACTERS = 10_000
_DAYS_EARLY, _DAYS_LATE = 3.0, 7.0
_VAGUE, _SPECIAL = 0.3, 1.3
_OWN, _FILLER = 0.05, 0.01
_CHARACTER = 0.5
_WORD = re.compile(rf"\w[\w{MARKS}]*(?:[.'\u2019]\w[\w{MARKS}]*)*")
_QUOTED = re.compile(r'"([^"]+)"')
_APOSTROPHE = re.compile("['\u2019]")
_POSSESSIVE = re.compile(r"['\u2019](?:s|d|ll|re|ve|m)?$", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|(?-i:us|Us)|our)\b", re.IGNORECASE)
_NOW = re.compile(
    r"\b(?:now(?! and then)|nowadays|currently|presently|today|these days|at (?:present|the moment))\b", re.IGNORECASE
)
_TASK = re.compile(
    r"\b(?:can|could|will|would) you (?:please |kindly |quickly |just )*"
    r"(?:look(?: it)? up|look(?: for)?|find(?: out)?|check|search(?: for)?|see|remember|recall|dig(?: up| out))\b"
    r"|\b(?:please|kindly) (?:look(?: it)? up|look for|find(?: out)?|check|search(?: for)?|dig(?: up| out))\b"
    r"|\bdo you (?:happen to )?(?:know|remember|recall)\b|\b(?:do you have )?any (?:idea|clue)\b|\blet me know\b"
    r"|\bi(?:'d| would)? (?:need|want|like|love|have) to (?:know|find out|check)\b|\bi(?: was|'m| am)? wonder(?:ing)?\b"
    r"|\b(?:many )?thanks\b(?: in advance)?|\bthank you\b(?: so much)?"
    r"|\bi(?:'ll| will)? (?:need|want) (?:it|this|that|them|these|those) (?:for|to|by|because)\b[^.,?!;:]*",
    re.IGNORECASE,
)
_OF_ASSISTANT = re.compile(
    r"\byou(?:'ve| have| had)?(?: also| just| previously| once| already)? "
    r"(?:told|said|recommended|suggested|mentioned|gave|given|provided|listed|wrote|written|created|made|explained|"
    r"described|shared|generated|advised|came up|helped|used|referenced|taught|compared|proposed|offered)\b"
    r"|\bdid you(?: also| just| previously| once| already)? "
    r"(?:tell|say|recommend|suggest|mention|give|provide|list|write|create|make|explain|describe|share|generate|advise|"
    r"come up|help|use|reference|teach|compare|propose|offer)\b"
    r"|\byour (?:previous |last |earlier )?"
    r"(?:recommendation|suggestion|answer|response|advice|explanation|list|plan)s?\b"
    r"|\bremind me\b|\b(?:our|the) (?:previous|last|earlier|past) (?:conversation|chat|discussion|session)s?\b",
    re.IGNORECASE,
)


@frozen
class Term:
    """One word of a question and its weight. `stems` and `related` are indexes into the stems of the question.

    A `dated` word is part of a date, so an answer need not contain it.
    """

    word: str
    stems: tuple[int, ...]
    related: tuple[int, ...]
    weight: float
    dated: bool = False
    piece: bool = False
    """True for a piece of a text without spaces. It may span two words, so an answer need not contain it."""
    topics: tuple[int, ...] = ()
    """The topics of this word: indexes of terms that facts are indexed under in addition to their words."""
    topic: bool = False
    """True for a topic, which is not a word of the question. An answer need not have it."""
    filler: bool = False
    """True for a word that carries no meaning of its own."""


@frozen
class ParsedQuestion:
    """A parsed question. `speaker` or `role` is set if it asks what that speaker said."""

    text: str
    terms: tuple[Term, ...]
    stems: tuple[str, ...]
    topics: tuple[Term, ...] = ()
    """Topics that none of its terms has."""
    quoted: tuple[str, ...]
    names: tuple[str, ...] = ()
    spans: tuple[DateSpan, ...]
    speaker: str | None
    role: str | None
    language: str = "en"
    """The detected language, as ISO 639-1."""
    now: bool = False
    """True if it asks about the present, so that the newer of two answers is more likely right."""
    topical: bool = True
    """True if it asks about more than a time."""
    loose: bool = False
    """True if words that carry no meaning of their own, such as "my", are terms, too. They weigh very little."""

    @property
    def only_about_time(self) -> bool:
        """True if it asks only what was said at a time, such as "What did we talk about yesterday?".

        A future time is never a time of saying, and a vague one excludes nothing that was said before.
        """
        return not self.topical and bool(self.spans) and not any(span.future or span.vague for span in self.spans)

    @property
    def only_recent(self) -> bool:
        """True if it asks only what was said lately."""
        return not self.topical and any(span.vague for span in self.spans)

    def told_later(self, days: int) -> "ParsedQuestion":
        """Return the same question about these times and some days after: people often tell later what happened."""
        return replace(self, spans=tuple(replace(span, end=span.end + days * DAY) for span in self.spans))

    def closeness(self, at: Micros) -> float:
        """Return how close a moment is to the times in the question: 1 inside one, near 0 far away, 0 without any."""
        best = 0.0
        for span in self.spans:
            early, late = max(0, span.start - at) / DAY, max(0, at - span.end) / DAY
            # People talk about a day more often after it than before it.
            best = max(best, math.exp(-early / _DAYS_EARLY - late / _DAYS_LATE))
        return best


def parse_question(
    question: str,
    *,
    speakers: Sequence[str],
    now: datetime,
    loose: bool = False,
    cache: MutableMapping[tuple[str, str | None], ParsedQuestion] | None = None,
) -> ParsedQuestion:
    """Parse a question. Only its first 10,000 characters are read.

    A `loose` question also has the words that carry no meaning of their own, such as "my", for want of better ones.
    `cache` has questions that were parsed with the same speakers. At another time, only the dates in them differ.
    """
    question = question[:_MAX_CHARACTERS]
    spans, undated_text = times(question, now)
    key = (question, undated_text if spans else None)
    parsed = None if cache is None or loose else cache.get(key)
    if parsed is None:
        parsed = _parse(question, speakers=speakers, spans=spans, undated_text=undated_text, loose=loose)
        if cache is not None and not loose:
            cache[key] = parsed
    return replace(parsed, spans=tuple(spans)) if spans else parsed


def _parse(
    question: str, *, speakers: Sequence[str], spans: Sequence[DateSpan], undated_text: str, loose: bool
) -> ParsedQuestion:
    mentioned = [name for name in speakers if _mentions(question, name)]
    language = languages_of(question)[0]
    ignored = stop_words(language)
    spoken_words = _words(question)
    words = [word for word in spoken_words if _APOSTROPHE.sub("", word.casefold()) not in ignored]
    # Speakers are addressed by name, so a name says whom the question is about rather than what.
    names = {part.casefold() for name in mentioned for part in name.split()}
    content_words = ([word for word in words if word.casefold() not in names] or words)[:_MAX_WORDS]
    indexes: dict[str, int] = {}
    about = set(_words(_topic_text(question, language=language, dated=bool(spans))))
    terms = _terms(question, content_words, language=language, about=about, indexes=indexes)
    if loose:
        terms += _fillers(spoken_words[:_MAX_WORDS], language=language, indexes=indexes)
    topical = True
    if spans:
        undated = set(_words(undated_text))
        # Without spaces the date and the rest are one run: its pieces are compared.
        unspaced = [word for word in undated if _is_partly_unspaced(word)]
        remaining = _terms(undated_text, unspaced, language=language, about=undated, indexes=dict(indexes))
        pieces = {term.stems for term in remaining}
        terms = [
            replace(term, dated=term.word not in undated and not (term.piece and term.stems in pieces))
            for term in terms
        ]
        remaining_words = _words(_topic_text(undated_text, language=language, dated=True))
        topical = any(not (term.dated or term.piece) and term.weight >= 1 for term in terms) or any(
            _is_partly_unspaced(word) and word not in ignored for word in remaining_words
        )
    terms, topics = _with_topics(question, terms, indexes)
    about_assistant = _OF_ASSISTANT.search(question) is not None
    role = "assistant" if about_assistant else ("user" if _FIRST_PERSON.search(question) else None)
    return ParsedQuestion(
        text=question,
        terms=tuple(terms),
        topics=tuple(topics),
        stems=tuple(indexes),
        names=tuple(word.casefold() for word in words if _is_name(word, question)),
        quoted=tuple(part.casefold() for part in _QUOTED.findall(question) if part.strip()),
        spans=tuple(spans),
        speaker=mentioned[0] if len(mentioned) == 1 else None,
        role=role if not mentioned else None,
        language=language,
        now=_NOW.search(question) is not None,
        topical=topical,
        loose=loose,
    )


def _terms(
    question: str,
    words: Sequence[str],
    *,
    language: str,
    about: Collection[str],
    indexes: dict[str, int],
) -> list[Term]:
    """Return a term for each part of each word, without repeats. Each new stem is added to `indexes`."""
    families, spoken = _families(language), question_languages(question)
    direct: set[int] = set()
    terms: list[Term] = []
    for word in words:
        weight = _weight(word, question, language) if word in about else _VAGUE
        # A name occurs in texts of any language, and is stemmed as a word of that language.
        languages = () if _is_name(word, question) else spoken
        for part in parts_of(word):
            possible = search_forms(part, languages)
            piece = is_unspaced(part)
            first = next((stem for stem in possible if stem in families), possible[0])
            spelt, related = families.get(first, ((first,), ()))
            if language == "de":
                related = (*related, *compound_stems(part))
            others = (stem for stem in possible if stem not in spelt and stem not in _ignored_stems(language))
            own = _index_stems(indexes, (*spelt, *others))
            if direct.intersection(own):
                continue
            direct.update(own)
            terms.append(
                Term(
                    word=word,
                    stems=own,
                    related=_index_stems(indexes, related) if weight >= 1 else (),
                    weight=weight * _CHARACTER if piece and len(part) == 1 else weight,
                    piece=piece,
                )
            )
    return [
        replace(term, related=tuple(index for index in term.related if index not in direct)) if term.related else term
        for term in terms
    ]


def _fillers(words: Sequence[str], *, language: str, indexes: dict[str, int]) -> list[Term]:
    """Return a term for each part of a word that is not in another term; people say "my" of what they ask for."""
    spoken, own, terms = (SNOWBALL.get(language, "english"),), first_person(language), list[Term]()
    for part in dict.fromkeys(part for word in words for part in parts_of(word)):
        stems = [stem for stem in search_forms(part, spoken) if stem not in indexes]
        if stems:
            weight = _OWN if part in own else _FILLER
            terms.append(Term(word=part, stems=_index_stems(indexes, stems), related=(), weight=weight, filler=True))
    return terms


def has_fillers(question: ParsedQuestion) -> bool:
    """Return whether a loose question has more terms: the frequent words of English are not in the index."""
    return question.language != "en"


def _with_topics(question: str, terms: Sequence[Term], indexes: dict[str, int]) -> tuple[list[Term], list[Term]]:
    """Return the terms with their topics, and extra terms for topics of phrases and common words."""
    by_word = question_topics(question)
    if not by_word:
        return list(terms), []
    topics_by_term = [by_word.get(term.word.casefold(), ()) if term.weight >= 1 else () for term in terms]
    about = [_index_stems(indexes, topics) for topics in topics_by_term]
    covered = {topic for topics in about for topic in topics}
    others = dict.fromkeys(_index_stems(indexes, (topic for topics in by_word.values() for topic in topics)))
    return (
        [replace(term, topics=topics) if topics else term for term, topics in zip(terms, about, strict=True)],
        [
            Term(word="", stems=(topic,), related=(), weight=TUNING.topic, topic=True)
            for topic in others
            if topic not in covered
        ],
    )


def to_first_person(question: str, speakers: Iterable[str]) -> str:
    """Rewrite a question about one speaker in the first person: people say "I" instead of their name."""
    matches = [name for name in speakers if _mentions(question, name)]
    if len(matches) != 1:
        return question
    first = re.escape(next(iter(matches[0].split())))
    spoken = re.sub(rf"\b{first}['\u2019]s\b", "my", question, flags=re.IGNORECASE)
    return re.sub(rf"\b{first}\b", "I", spoken, flags=re.IGNORECASE)


def _words(text: str) -> list[str]:
    return [word for word in dict.fromkeys(_POSSESSIVE.sub("", word) for word in _WORD.findall(text)) if word]


def _mentions(question: str, name: str) -> bool:
    first = next(iter(name.split()), "")
    if len(first) < 2 or (question.isascii() and first.isascii() and first.lower() not in question.lower()):
        return False  # most names do not occur, and this saves compiling a pattern for each
    # "Will" or "An" counts as a name only if it is capitalized and not the first word.
    common = first.casefold() in stop_words("en")
    match = re.search(rf"\b{re.escape(first)}\b", question, re.NOFLAG if common else re.IGNORECASE)
    return match is not None and not (common and match.start() == 0)


def _topic_text(question: str, *, language: str, dated: bool) -> str:
    """Return a question without polite phrases and reasons for asking, and without asking what was said at a time."""
    text = _TASK.sub(" ", question)
    if not dated:
        return text
    topic = list(text)
    for match in calendar(language).leads["telling"].finditer(fold_accents(text)):
        topic[match.start() : match.end()] = " " * len(match[0])
    return "".join(topic)


def _is_partly_unspaced(word: str) -> bool:
    return any(map(is_unspaced, parts_of(word)))


def _weight(word: str, question: str, language: str) -> float:
    if word.casefold() in vague_words(language):
        return _VAGUE
    return _SPECIAL if _is_name(word, question) or has_digit(word) else 1.0


def _is_name(word: str, question: str) -> bool:
    return word[:1].isupper() and not question.startswith(word) and word.casefold() not in MONTHS


def _index_stems(indexes: dict[str, int], stems: Iterable[str]) -> tuple[int, ...]:
    return tuple(indexes.setdefault(stem, len(indexes)) for stem in stems)


_Family = tuple[tuple[str, ...], tuple[str, ...]]


@cache
def _ignored_stems(language: str) -> frozenset[str]:
    """Return the stems of stop words."""
    return frozenset(_stem(word, language) for word in stop_words(language))


@cache
def _families(language: str) -> dict[str, _Family]:
    """Return for each stem of a language the other forms of its word and the related stems."""
    by_stem: dict[str, tuple[str, ...]] = {}
    for group in _stems_of(forms(language), language):
        telling = tuple(stem for stem in group if stem not in _ignored_stems(language))
        for stem in group:  # a form of two words belongs to the first, which is the more common
            by_stem.setdefault(stem, telling or group)
    related: dict[str, dict[str, None]] = {}
    for head, *others in _stems_of(related_words(language) if TUNING.related else (), language):
        spelt = dict.fromkeys(form for other in others for form in by_stem.get(other, (other,)))
        for form in by_stem.get(head, (head,)):
            related.setdefault(form, {}).update(spelt)
    return {stem: _family(by_stem.get(stem, (stem,)), related.get(stem, {})) for stem in (*by_stem, *related)}


def _family(forms: tuple[str, ...], related: Iterable[str]) -> _Family:
    return forms, tuple(stem for stem in related if stem not in forms)


def _stems_of(groups: Iterable[Sequence[str]], language: str) -> list[tuple[str, ...]]:
    return [tuple(dict.fromkeys(_stem(word, language) for word in group)) for group in groups]


def _stem(word: str, language: str) -> str:
    """Return the index term of a word of a language."""
    [*_, stem] = search_forms(word.casefold(), (SNOWBALL.get(language, "english"),))
    return stem
