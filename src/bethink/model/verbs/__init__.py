"""The table of verbs: each is declared once, as a request with its result, scope and retry class."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bethink.model.verbs.base import Verb

    VERBS: tuple[Verb[Any, Any], ...]
    """Every verb, in the order of the reference."""


def __getattr__(name: str) -> object:
    # The whole table loads when it is asked for: a program that remembers and recalls needs a third of it.
    if name != "VERBS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from bethink.slices import every_verb  # noqa: PLC0415

    globals()["VERBS"] = found = every_verb()
    return found
