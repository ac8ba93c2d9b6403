"""Finds the sentences of a message that are about a person or a topic that somebody asks to forget."""

import math
import re
from collections.abc import Sequence

from bethink.memory.phrases import spans
from bethink.memory.phrases.spans import Span
from bethink.memory.phrases.values import content_words, is_similar, similar_words
from bethink.memory.phrases.vocabulary import corrections, mentions

MAX_MENTIONS = 50
"""Maximum number of hidden spans of one message."""
_MIN_SHARE = 0.6
_ALL_WORDS = 2
"""Up to this number of words, a sentence must have all of them."""
_CYRILLIC = re.compile("[\u0400-\u04ff]{3,}")
_MAX_CASE_ENDING = 2
_ENDING = "\u3002\uff01\uff1f!?"
_JOINERS = re.compile(r"^(?:and|und|et|y|e|en|i|\u0438|\u0430|ve|but|aber)\s")
_UNSPACED_OWN = re.compile("^(?:我们?的?|私の|僕の|うちの)")


def target_words(target: str) -> list[str]:
    """Return the words by which messages about a target are found; of a script without spaces, its characters."""
    if spans.is_unspaced(target):
        bare = _UNSPACED_OWN.sub("", target.strip())
        return [bare] if bare else []
    words = content_words(target)
    return [word for word in words if word not in mentions().generic] or words


def mentions_of(text: str, target: str, *, is_name: bool = False) -> list[Span]:
    """Return the spans of a text that are about a target, with the sentences after them that go on about it."""
    words_of_target = target_words(target)
    if not words_of_target:
        return []
    result: list[Span] = []
    goes_on = False
    for sentence in spans.sentences(text):
        for part in _statements(text, sentence):
            content = part.of(text)
            goes_on = _is_about(content, words_of_target, is_name=is_name) or (goes_on and _goes_on(content))
            if goes_on:
                result.append(part)
    return _join(text, result)[:MAX_MENTIONS]


def repetitions_of(text: str, stated: str) -> list[Span]:
    """Return the sentences of a text that repeat most of the words of another text."""
    words_of_target = list(dict.fromkeys(content_words(stated)))
    if not words_of_target:
        return []
    needed = max(min(_ALL_WORDS, len(words_of_target)), math.ceil(_MIN_SHARE * len(words_of_target)))
    parts = spans.sentences(text)
    return [part for part in parts if _is_repeated(part.of(text), stated, words_of_target, needed)]


def _is_repeated(sentence: str, stated: str, words_of_target: Sequence[str], needed: int) -> bool:
    if spans.is_unspaced(stated):
        return sentence.rstrip(_ENDING) in stated or stated.rstrip(_ENDING) in sentence
    return len(similar_words(words_of_target, content_words(sentence))) >= needed


def _statements(text: str, sentence: Span) -> list[Span]:
    """Split a sentence where a conjunction begins another statement of the speaker, as in "and my cat is ..."."""
    own = mentions().own
    parts: list[Span] = []
    start = sentence.start
    for match in corrections().joined_by.finditer(text, sentence.start, sentence.stop):
        if own.match(text, match.end()) is not None:
            parts.append(Span(start, match.start()))
            start = match.start() + 1
    return [*parts, Span(start, sentence.stop)]


def _is_about(content: str, words_of_target: Sequence[str], *, is_name: bool) -> bool:
    if spans.is_unspaced(words_of_target[0]):
        bare = words_of_target[0]
        return bare in content or (is_name and re.sub("(?:さん|くん|君|ちゃん|様|先生|氏)$", "", bare) in content)
    words = content_words(content)
    if is_name:
        return _has_name(words_of_target[0], words)
    needed = (
        len(words_of_target) if len(words_of_target) <= _ALL_WORDS else math.ceil(_MIN_SHARE * len(words_of_target))
    )
    return len(similar_words(words_of_target, words)) >= needed


def _has_name(name: str, words: Sequence[str]) -> bool:
    return any(word in (name, f"{name}s") or is_similar(word, name) or _is_declined(word, name) for word in words)


def _is_declined(word: str, name: str) -> bool:
    """Return whether two Cyrillic words are forms of one name, which has short case endings."""
    if not (_CYRILLIC.fullmatch(word) and _CYRILLIC.fullmatch(name)):
        return False
    shorter = min(len(word), len(name))
    shared = next((index for index in range(shorter) if word[index] != name[index]), shorter)
    return shared >= _MAX_CASE_ENDING + 1 and max(len(word), len(name)) - shared <= _MAX_CASE_ENDING


def _goes_on(content: str) -> bool:
    first = _JOINERS.sub("", content.lstrip())
    return mentions().they.match(first) is not None


def _join(text: str, parts: Sequence[Span]) -> list[Span]:
    joined: list[Span] = []
    for part in parts:
        if joined and not text[joined[-1].stop : part.start].strip():
            joined[-1] = Span(joined[-1].start, part.stop)
        else:
            joined.append(part)
    return joined
