"""Stop words: words of a language that say nothing about a topic."""

from functools import cache
from importlib import resources

STOP_LANGUAGES = (
    "en", "es", "fr", "pt", "de", "tr", "it", "nl", "sv", "da", "no", "fi", "hu", "ru", "ar", "hi", "ko", "ja", "zh",
)  # fmt: skip
"""The languages with a list of stop words. `tools/make_stop_words.py` says where they are from."""


STOP_CODES = {
    "english": "en", "spanish": "es", "french": "fr", "portuguese": "pt", "german": "de", "turkish": "tr",
    "italian": "it", "dutch": "nl", "swedish": "sv", "danish": "da", "norwegian": "no", "finnish": "fi",
    "hungarian": "hu",
}  # fmt: skip
"""The codes of the languages in Latin script by the names that Snowball has for them."""


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return words that say nothing about a topic, without apostrophes; none for other languages."""
    file = resources.files("bethink.base.language") / "stop_words" / f"{language}.txt"
    if not language.isalpha() or not file.is_file():
        return frozenset()
    # The first line says where the words are from.
    listed = file.read_text(encoding="utf-8").partition("\n")[2]
    return frozenset(listed.replace("'", "").casefold().split())


@cache
def first_person(language: str) -> frozenset[str]:
    """Return the words with which people speak of themselves; none for English, which does not index them."""
    lines = (resources.files("bethink.base.language") / "first_person.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(next((words.split() for code, _, words in map(_partition, lines) if code == language), ()))


def _partition(line: str) -> tuple[str, str, str]:
    return line.partition(":")


@cache
def all_stop_words() -> frozenset[str]:
    """Return the stop words of every language together."""
    return frozenset[str]().union(*map(stop_words, STOP_LANGUAGES))
