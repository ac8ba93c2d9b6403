"""The operations table. Each operation is declared once, with its request, result, scope and retry class."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bethink.base.features import modules_named

if TYPE_CHECKING:
    from bethink.model.operations.base import Operation

    OPERATIONS: tuple[Operation[Any, Any], ...]
    """All operations, in the order of the reference."""

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
"""Modules of the core operations, in the order of the reference. Operations of features follow."""


def __getattr__(name: str) -> object:
    # Loaded on first access: a program that only remembers and recalls needs a third of the table.
    if name != "OPERATIONS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    core = (import_module(f"{__name__}.{module}") for module in _CORE)
    globals()["OPERATIONS"] = table = tuple(
        operation for module in (*core, *modules_named("operations")) for operation in module.OPERATIONS
    )
    return table
