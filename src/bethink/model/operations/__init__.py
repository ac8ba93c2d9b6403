"""The table of operations: each is declared once, as a request with its result, scope and retry class."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bethink.base.features import modules_named

if TYPE_CHECKING:
    from bethink.model.operations.base import Verb

    VERBS: tuple[Verb[Any, Any], ...]
    """Every operation, in the order of the reference."""

_CORE = (
    "memory",
    "erasures",
    "timeline",
    "steering",
    "sessions",
    "facts",
    "reviews",
    "rules",
    "documents",
    "threads",
    "changes",
    "monitoring",
    "installation",
)
"""The operations of the core, in the order of the reference; those of the features follow."""


def __getattr__(name: str) -> object:
    # The whole table loads when it is asked for: a program that remembers and recalls needs a third of it.
    if name != "VERBS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    core = (import_module(f"{__name__}.{module}") for module in _CORE)
    globals()["VERBS"] = table = tuple(
        verb for module in (*core, *modules_named("operations")) for verb in module.VERBS
    )
    return table
