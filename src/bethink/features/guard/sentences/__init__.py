"""Reads statements of people: whether they bind, and which programs, paths, flags and limits they name."""

from collections.abc import Mapping

from bethink.features.guard.sentences import english, german, spanish

VOCABULARIES = (english, german, spanish)
"""One module per language, each with WORDS, LANGUAGES, NUMBERS and BINDING."""


def alternatives(concept: str) -> str:
    """Return one pattern for a concept in all languages."""
    return "|".join(vocabulary.WORDS[concept] for vocabulary in VOCABULARIES)


def merge(name: str) -> Mapping[str, str] | Mapping[str, int]:
    """Return a table of all languages: LANGUAGES or NUMBERS."""
    return {word: value for vocabulary in VOCABULARIES for word, value in getattr(vocabulary, name).items()}
