"""Reads how somebody names a memory: by its ref, or a document by its path."""

import os
from typing import TYPE_CHECKING

from bethink.errors import NotFound

if TYPE_CHECKING:
    from bethink.memory import Memory
    from bethink.model.recall import Ref

LISTED = "Run 'bethink log' for the documents there are, 'bethink recall QUESTION --kind fact' for facts."


def named(name: str) -> tuple[str, str]:
    """Read a name: a ref says its kind; a shell may have put the home folder where a tilde was."""
    kind, _, rest = name.partition(":")
    if kind in ("document", "fact") and rest:
        return kind, rest.rpartition(":")[0] or rest
    path = path_in(name)
    return ("", name) if path is None else ("document", path)


def path_in(name: str) -> str | None:
    """Return the path of a document, its tilde put back; None for any other name."""
    home = f"{os.path.expanduser('~')}/"  # noqa: PTH111 - unlike Path's, it raises nothing where there is none
    if name.startswith(home):
        return f"~/{name.removeprefix(home)}"
    return name if name.startswith("~/") else None


async def ref_of(memory: "Memory", name: str, *, space: str) -> "Ref":
    """Read a ref; the path of a document stands for its newest version. Raises `NotFound`, and `Invalid`."""
    from bethink.model.recall import Ref, RefKind  # noqa: PLC0415 - as every import here, for a quick --help

    path = path_in(name)
    if path is None:
        return Ref.parse(name)
    document = await memory.documents(space=space).find(path)
    if document is None:
        raise NotFound(f"no document {path!r} in space {space!r}.", hint=LISTED)
    return Ref(RefKind.DOCUMENT, document.id, document.version)
