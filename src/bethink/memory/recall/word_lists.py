"""Word lists for parsing questions, by language: stop words, irregular forms, and for English also related words."""

import tomllib
from functools import cache
from importlib import resources

Groups = tuple[tuple[str, ...], ...]


@cache
def vague_words(language: str) -> frozenset[str]:
    """Return words that describe the kind of answer rather than its topic; English ones only."""
    return frozenset(_english("vague").split() if language == "en" else ())


@cache
def forms(language: str) -> Groups:
    """Return groups of words that count as one, but that a stemmer does not reduce to the same stem.

    They are the irregular forms of a word (`tools/make_forms.py` names the sources); in English also synonyms.
    """
    return _groups(_list("forms", language)) + (_groups(_english("same")) if language == "en" else ())


@cache
def related_words(language: str) -> Groups:
    """Return groups of a word and the words that answers often use instead; English ones only."""
    return _groups(_english("related")) if language == "en" else ()


def _list(folder: str, language: str) -> str:
    file = resources.files("bethink.memory.recall") / folder / f"{language}.txt"
    # The first line names the source of the words.
    return file.read_text(encoding="utf-8").partition("\n")[2] if language.isalpha() and file.is_file() else ""


def _english(name: str) -> str:
    return tomllib.loads((resources.files("bethink.memory.recall") / "english.toml").read_text(encoding="utf-8"))[name]


def _groups(text: str) -> Groups:
    return tuple(tuple(group.split()) for group in text.split("|") if group.strip())
