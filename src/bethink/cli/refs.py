"""Resolves the names of memories: refs such as `fact:ID:1`, and the paths of documents."""

import os
from typing import TYPE_CHECKING

from bethink.errors import NotFound

if TYPE_CHECKING:
    from bethink.api.space import Space
    from bethink.model.recall import Ref

LIST_HINT = "Run 'bethink log' to list documents, or 'bethink recall QUESTION --kind fact' to find facts."


def parse_name(name: str) -> tuple[str, str]:
    """Split a name into the kind of memory, if it tells, and its id or path."""
    kind, _, rest = name.partition(":")
    if kind in ("document", "fact") and rest:
        return kind, rest.rpartition(":")[0] or rest
    path = document_path(name)
    return ("", name) if path is None else ("document", path)


def document_path(name: str) -> str | None:
    """Return the path of a document, or None for another name. Puts back a tilde that a shell has expanded."""
    home = f"{os.path.expanduser('~')}/"  # noqa: PTH111 - unlike Path's, it never raises
    if name.startswith(home):
        return f"~/{name.removeprefix(home)}"
    return name if name.startswith("~/") else None


async def resolve_ref(space: "Space", name: str) -> "Ref":
    """Parse a ref; the path of a document means its newest version. Raises `NotFound` and `Invalid`."""
    from bethink.model.recall import Ref, RefKind  # noqa: PLC0415 - like every import here, for a quick --help

    path = document_path(name)
    if path is None:
        return Ref.parse(name)
    document = await space.documents.find(path)
    if document is None:
        raise NotFound(f"no document {path!r} in space {space.name!r}.", hint=LIST_HINT)
    return Ref(RefKind.DOCUMENT, document.id, document.version)
