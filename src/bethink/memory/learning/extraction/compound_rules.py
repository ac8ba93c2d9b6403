"""The words by which compound claims are split, for each language with spaces between words."""

import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources

from bethink.base.frozen import frozen


@frozen
class CompoundRules:
    """The words of one language. `genitive` makes a name an owner; it is empty where that takes more than an ending."""

    conjunctions: frozenset[str]
    verbs: frozenset[str]
    copulas: frozenset[str]
    have: frozenset[str]
    years: frozenset[str]
    fractions: frozenset[str]
    heads: frozenset[str]
    determiners: frozenset[str]
    pronouns: frozenset[str]
    anaphors: frozenset[str]
    possessives: frozenset[str]
    openers: frozenset[str]
    blocking: frozenset[str]
    genitive: str = ""


def rules_for(words: Collection[str]) -> list[CompoundRules]:
    """Return the rules of the languages in which a sentence with these words may be a compound."""
    present = frozenset(words)
    return [
        rules
        for rules in _all_rules().values()
        if not rules.conjunctions.isdisjoint(present) and not rules.verbs.isdisjoint(present)
    ]


@cache
def _all_rules() -> Mapping[str, CompoundRules]:
    path = resources.files("bethink.memory.learning.extraction") / "compound_words.toml"
    tree: dict[str, dict[str, str]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        language: CompoundRules(
            genitive=lists.get("genitive", ""),
            **{name: frozenset(words.split()) for name, words in lists.items() if name != "genitive"},
        )
        for language, lists in tree.items()
    }
