"""Texts that nearly match a pattern, generated from the pattern: its beginnings, repeated."""

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, cast

_parser: Any = import_module("re._parser")  # not public, but nothing else reads a pattern
_LETTERS = "a1A -.:='\"x_/@\n"
_CATEGORIES = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w", "NOT_DIGIT": r"\D", "NOT_SPACE": r"\S", "NOT_WORD": r"\W"}
_OFTEN = 1000
_MODULES = ("commands", "features", "judge", "personal", "tokens", "views", "windows")


def rule_patterns() -> dict[re.Pattern[str], str]:
    """Return all patterns of the redactor, with a name for each."""
    modules = (import_module(f"bethink.providers.redaction.{name}") for name in _MODULES)
    return {pattern: name for module in modules for name, pattern in _patterns_of(module).items()}


def _patterns_of(module: ModuleType) -> dict[str, re.Pattern[str]]:
    """Return every pattern of a module, also those in its tables, by a name and a number."""
    found: dict[str, re.Pattern[str]] = {}
    for name, value in vars(module).items():
        for number, pattern in enumerate(_patterns_in(value)):
            found[f"{module.__name__.rpartition('.')[2]}{name}-{number}"] = pattern
    return found


def _patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield cast("re.Pattern[str]", value)
    elif isinstance(value, list | tuple):
        for one in cast("Iterable[object]", value):
            yield from _patterns_in(one)


def beginnings(pattern: re.Pattern[str]) -> list[str]:
    """Return texts that a pattern matches or nearly does: ways through it, whole and cut short, and what it repeats."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    shortest, longer = ("".join(_walk(tree, way)) for way in (0, 1))
    cut = [shortest, shortest[:-1], longer, longer[: -len(longer) // 3]]
    return [text for text in dict.fromkeys([*_loops(tree), *cut]) if text]


def _loops(tree: Any) -> Iterator[str]:
    """Find what a pattern may repeat very often."""
    for operation, argument in tree:
        name = str(operation)
        if name.endswith("_REPEAT"):
            if argument[1] > _OFTEN:
                yield "".join(_walk(argument[2], 1))
            yield from _loops(argument[2])
        elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
            yield from _loops(argument[-1] if name == "SUBPATTERN" else argument)
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from _loops(branch)


def _walk(tree: Any, way: int) -> Iterator[str]:
    for operation, argument in tree:
        name = str(operation)
        if name == "LITERAL":
            yield chr(argument)
        elif name in ("NOT_LITERAL", "ANY"):
            yield "a" if argument != ord("a") else "b"
        elif name == "IN":
            yield _letter(argument, way)
        elif name == "BRANCH":
            yield from _walk(argument[1][way * 7 % len(argument[1])], way)
        elif name == "SUBPATTERN":
            yield from _walk(argument[-1], way)
        elif name == "ATOMIC_GROUP":
            yield from _walk(argument, way)
        elif name.endswith("_REPEAT"):
            least, most, inner = argument
            for _ in range(max(least, min(most, 2 * way))):
                yield from _walk(inner, way)


def _letter(items: list[tuple[Any, Any]], way: int) -> str:
    """Return a letter of a class. Different ways take different ones."""
    known = [letter for letter in _LETTERS if _is_in(letter, items)]
    if known:
        return known[way % len(known)]
    return next(chr(given if str(kind) == "LITERAL" else given[0]) for kind, given in items if str(kind) != "NEGATE")


def _is_in(letter: str, items: list[tuple[Any, Any]]) -> bool:
    inside = negated = False
    for kind, given in items:
        match str(kind):
            case "NEGATE":
                negated = True
            case "LITERAL":
                inside |= ord(letter) == given
            case "RANGE":
                inside |= given[0] <= ord(letter) <= given[1]
            case _:
                inside |= re.match(_CATEGORIES[str(given).removeprefix("CATEGORY_")], letter) is not None
    return inside is not negated
