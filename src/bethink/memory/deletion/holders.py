"""Features whose items may repeat deleted texts. A feature declares its `HOLDER` in a module `deletion.py`."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Protocol

from bethink.base.features import modules_named
from bethink.store.db import Tx


class TextHolder(Protocol):
    """A feature with items that people wrote: if they repeat a deleted text, they are reported, not deleted."""

    def ids(self, tx: Tx, *, space: str) -> list[str]:
        """Return the ids of its items in a space."""
        ...

    def naming(self, tx: Tx, texts: Callable[[], Iterable[str]], *, space: str) -> list[str]:
        """Return the ids of its items that repeat one of some texts. Call `texts` only if there are items."""
        ...


@cache
def holders() -> tuple[TextHolder, ...]:
    """Return the holder of every feature that has one."""
    return tuple(module.HOLDER for module in modules_named("deletion"))
