"""Asks features who holds words of what is deleted: a module `deletion.py` of a feature answers as `HOLDER`."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Protocol

from bethink.base.features import modules_named
from bethink.store.db import Tx


class TextHolder(Protocol):
    """A feature whose items people wrote: they are named when a text they repeat is deleted, not deleted with it."""

    def ids(self, tx: Tx, *, space: str) -> list[str]:
        """Return the ids of its items in a space."""
        ...

    def naming(self, tx: Tx, texts: Callable[[], Iterable[str]], *, space: str) -> list[str]:
        """Return the ids of its items that repeat one of some texts. Call `texts` only if there are items."""
        ...


@cache
def holders() -> tuple[TextHolder, ...]:
    """Return every feature that holds texts."""
    return tuple(module.HOLDER for module in modules_named("deletion"))
