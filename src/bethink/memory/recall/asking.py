"""Texts that ask: is a text a question, about the present, and does it repeat the question of a recall?"""

import re

from bethink.base import language as languages
from bethink.memory.phrases.changes import changes
from bethink.memory.recall.question import ParsedQuestion
from bethink.model.words import key_stems, stems_of_words, words_of

_MORE_CHARACTERS = 40
_ASIDE = re.compile(r"^\W{0,3}\w{1,20}(?: \w{1,20})?,(?= )|,(?: \w{1,20}){1,2}\W{0,3}$")
"""A greeting, a name or a polite word before or after a question."""
_LONG = 1_000
"""Number of characters by which a long text is compared with a question."""
_ASKS = re.compile(
    r"\W*(?:what|when|where|which|who|whom|whose|why|how)\b"
    r"|\W*(?:do|does|did|is|are|am|was|were|can|could|will|would|should|shall|has|have|had)(?:n['\u2019]?t)? "
    r"(?:i|you|we|they|he|she|there|any|anyone|anybody|my|our|your|his|her|their)\b",
    re.IGNORECASE,
)


def is_question_in(text: str, language: str) -> bool:
    """Return whether a text in a language, as ISO 639-1, ends with its question mark or begins like a question."""
    text = text.strip()
    return text.endswith(languages.QUESTION_MARKS) or languages.is_question(text, language) or is_question(text)


def asks_for_present(question: ParsedQuestion) -> bool:
    """Return whether a question asks for one answer about the present, which may have changed."""
    words = changes(question.language)
    if words is None or question.spans or not words.asks_for_present(question.text):
        return False
    return is_question_in(question.text, question.language)


def is_question(text: str) -> bool:
    """Return whether a text is a question: it ends with a question mark, or begins like one and has no end mark."""
    ending = text.rstrip().rstrip("\"'\u201d\u2019)")[-1:]
    return ending == "?" or (ending not in (".", "!") and _ASKS.match(text) is not None)


def is_repeat(text: str, question: str) -> bool:
    """Return whether a text has the same words as a question; case and punctuation may differ."""
    return len(text) <= max_repeat_length(question) and words_of(text) == words_of(question)


def repeats_question(text: str, question: str) -> bool:
    """Return whether a text adds nothing to a question: it has the same words, or asks with some of its key words."""
    if len(text) >= _LONG <= len(question):  # a long question may have been cut
        return words_of(text[:_LONG]) == words_of(question[:_LONG])
    if len(text) > max_repeat_length(question):
        return False
    question_words = words_of(question)
    if words_of(text) == question_words:
        return True
    return is_question(text) and key_stems(_ASIDE.sub(" ", text)) <= stems_of_words(question_words)


def max_repeat_length(question: str) -> int:
    """Return the maximum length of a repeat of the question. A longer text can be ruled out without reading it."""
    return 2 * len(question) + _MORE_CHARACTERS
