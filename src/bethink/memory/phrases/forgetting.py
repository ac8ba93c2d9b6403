"""Finds plain requests to forget: "Forget what I told you about my divorce", "Please delete that from your memory".

A request is an imperative or a polite question at the start of a clause, and it names either the memory or what was
said. "Forget it, let's go on", "don't forget that ...", and questions about how forgetting works are no requests.
"""

import re

from bethink.base.frozen import frozen
from bethink.memory.phrases import spans
from bethink.memory.phrases.spans import Span
from bethink.memory.phrases.values import content_words
from bethink.memory.phrases.vocabulary import Forgetting, corrections, forgetting, mentions
from bethink.model.forgetting import ForgetScope

MAX_TARGET = 100
"""Maximum number of characters of the words that name what to forget."""
_MAX_SENTENCE = 300
_MAX_CLAUSES = 10
_QUOTE = re.compile('["\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d]')
_CLAUSE = re.compile(r"(?<=[,;:\uff0c\u3001\uff1a])\s*|\s[\u2013\u2014-]\s")
_COMMA = re.compile(r",\s|[\uff0c\u3001]")
_TRIMMED = " \t,.;:!?\u3001\u3002\uff0c\uff01\uff1f"
_MAX_NAME_WORDS = 3


@frozen
class SpokenForgetRequest:
    """A request to forget, with the words that name what to forget: none for "that" or "what I just said".

    `start` and `stop` are the sentence of the request.
    """

    scope: ForgetScope
    target: str
    start: int
    stop: int


def find_forget_request(text: str) -> SpokenForgetRequest | None:
    """Return the first request to forget of a person's message."""
    patterns = [language for language in forgetting() if language.hints.search(text, 0, spans.MAX_TEXT) is not None]
    if not patterns:
        return None
    for sentence in spans.sentences(text):
        content = sentence.of(text).replace("\u2019", "'")
        if len(content) > _MAX_SENTENCE or _QUOTE.search(content) is not None:
            continue
        for language in patterns:
            request = _request(content, sentence, language)
            if request is not None:
                return request
    return None


def _request(content: str, sentence: Span, language: Forgetting) -> SpokenForgetRequest | None:
    starts = [0, *(match.end() for match in _CLAUSE.finditer(content))][:_MAX_CLAUSES]
    for start in starts:
        target = _target(content, start, language)
        if target is not None:
            scope = _scope(target, language) if target else ForgetScope.ONE
            return SpokenForgetRequest(scope=scope, target=target, start=sentence.start, stop=sentence.stop)
    return None


def _target(content: str, start: int, language: Forgetting) -> str | None:
    """Return the words that a request names, an empty text for what was said last, and None without a request."""
    if any(pattern.match(content, start) is not None for pattern in language.plain):
        return ""
    for pattern in language.delete:
        match = pattern.match(content, start)
        if match is not None and (target := _target_of(match["o"], language, is_memory_named=True)) is not None:
            return target
    for pattern in (*language.forget, *language.erase):
        match = pattern.match(content, start)
        if match is None or (pattern in language.erase and language.told.search(match["o"]) is None):
            continue  # to delete is a request only for what was told: it is also said of files
        if (target := _target_of(match["o"], language, is_memory_named=False)) is not None:
            return target
    return None


def _target_of(phrase: str, language: Forgetting, *, is_memory_named: bool) -> str | None:
    phrase = language.please.sub("", phrase.strip(_TRIMMED)).strip(_TRIMMED)
    if any(pattern.fullmatch(phrase) is not None for pattern in language.just_said):
        return ""
    for pattern in language.about:
        match = pattern.fullmatch(phrase)
        if match is not None:
            return _clean(match["t"], language)
    if not is_memory_named or language.everything.fullmatch(phrase) is not None:
        return None
    return "" if language.pronoun.fullmatch(phrase) is not None else _clean(phrase, language)


def _clean(target: str, language: Forgetting) -> str | None:
    clauses = _COMMA.split(target.strip(_TRIMMED))
    first_clause = next((clause for clause in clauses if set(content_words(clause)) - mentions().generic), clauses[0])
    cleaned = language.please.sub("", first_clause).strip(_TRIMMED)
    first, _, others = cleaned.partition(" ")
    if others and language.articles.fullmatch(first) is not None:
        cleaned = others
    return cleaned if cleaned and len(cleaned) <= MAX_TARGET else None


def _scope(target: str, language: Forgetting) -> ForgetScope:
    if language.persons.fullmatch(target) is not None:
        return ForgetScope.PERSON
    if spans.is_unspaced(target) or language.topics.fullmatch(target) is not None:
        return ForgetScope.TOPIC
    names = spans.words(target)
    is_name = 1 <= len(names) <= _MAX_NAME_WORDS and all(name[:1].isupper() for name in names)
    is_common = names[:1] and names[0].casefold() in corrections().function_words
    return ForgetScope.PERSON if is_name and not is_common else ForgetScope.TOPIC
