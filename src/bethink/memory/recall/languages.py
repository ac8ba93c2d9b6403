"""Detect the language of a question by its script and its most common words."""

import re
from functools import cache

from bethink.base.language import STOP_LANGUAGES, stop_words
from bethink.memory.recall.calendars import date_words, fold_accents

_SCRIPTS = {
    "ru": re.compile("[\u0400-\u04ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "ko": re.compile("[\u1100-\u11ff\uac00-\ud7af]"),
    "ja": re.compile("[\u3040-\u30ff]"),
    "zh": re.compile("[\u3400-\u9fff]"),
}
SNOWBALL = {
    "en": "english", "es": "spanish", "fr": "french", "pt": "portuguese", "de": "german", "tr": "turkish",
    "it": "italian", "nl": "dutch", "sv": "swedish", "da": "danish", "no": "norwegian", "fi": "finnish",
    "hu": "hungarian",
}  # fmt: skip
"""The names of the languages in Latin script in `bethink.base.language`. The others are detected by their script."""
DETECTED_LANGUAGES = frozenset(SNOWBALL) | frozenset(_SCRIPTS)
"""The languages that are detected. Others are treated as English, or as one in the same script."""
_JAPANESE = re.compile("[先今来]週|先月|[昨来]年|曜日|一昨")
_WORD = re.compile(r"\w+")
_NONE: dict[str, int] = {}
_LETTERS = {
    frozenset("¿¡ñ"): "es",
    frozenset("œèêëîûù"): "fr",
    frozenset("ãõ"): "pt",
    frozenset("ßäöü"): "de",
    frozenset("şğ\u0131\u0130"): "tr",
}
_MIN_VOTES = 3
"""Two stop words, or one and a letter of the language, or one date word: "Los Angeles" is not a question in Spanish."""


def languages_of(text: str) -> tuple[str, ...]:
    """Return the languages that a text may be in, the likeliest first: at most one for each script in it.

    A text without any distinctive word is treated as English.
    """
    if text.isascii():
        return (_latin(text),)
    letters = {language: len(script.findall(text)) for language, script in _SCRIPTS.items()}
    if letters["ja"] or (letters["zh"] and _JAPANESE.search(text)):
        letters["ja"] += letters.pop("zh")
    # A word takes about twice as many letters in an alphabet as in Han or Hangul.
    latin = sum((char.isascii() and char.isalpha()) or "\u00c0" <= char <= "\u024f" for char in text) / 2
    by_count = sorted(((count, language) for language, count in letters.items() if count), reverse=True)
    first = [language for count, language in by_count if count > latin]
    return (*first, _latin(text), *(language for count, language in by_count if count <= latin))


def _latin(text: str) -> str:
    votes_by_word = _languages_by_word()
    votes = {"en": 0}
    for word in _WORD.findall(text.lower()):
        # A word without its accents, or with others, still counts.
        for language, vote in (votes_by_word.get(word) or votes_by_word.get(fold_accents(word), _NONE)).items():
            votes[language] = votes.get(language, 0) + vote
    for letters, language in _LETTERS.items() if not text.isascii() else ():
        if not letters.isdisjoint(text):
            votes[language] = votes.get(language, 0) + 1
    likeliest = max(votes, key=votes.__getitem__)  # the first of the highest, which is English if it is one of them
    return likeliest if votes[likeliest] >= _MIN_VOTES else "en"


@cache
def _languages_by_word() -> dict[str, dict[str, int]]:
    """Return the votes of each word for languages: a date word has more than a stop word.

    A word that is also English, such as "an" and "week" in French, never counts more for another language.
    """
    votes: dict[str, dict[str, int]] = {}
    for language in STOP_LANGUAGES:
        if language not in _SCRIPTS:
            for words, vote in ((stop_words(language), 2), (date_words(language), 3)):
                for word in words:
                    votes.setdefault(word, {})[language] = vote
                    votes.setdefault(fold_accents(word), {}).setdefault(language, vote - 1)
    return {
        word: {language: min(vote, word_votes["en"]) for language, vote in word_votes.items()}
        if "en" in word_votes
        else word_votes
        for word, word_votes in votes.items()
    }
