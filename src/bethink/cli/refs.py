"""Resolves the names of memories: refs such as `fact:ID:1`, and the paths of documents."""

import os
from typing import TYPE_CHECKING

from bethink.errors import NotFoundError

if TYPE_CHECKING:
    from bethink.api.space import Space
    from bethink.model.refs import Ref

_KINDS = {"fct_": "fact", "doc_": "document"}
"""The kinds of memory that have versions, by the start of their ids."""
LIST_HINT = "Run 'bethink fact list' to list facts, or 'bethink doc list' to list documents."


def parse_name(name: str) -> tuple[str, str]:
    """Split a name into the kind of memory, if the name has one, and its id or path."""
    kind, _, number = name.partition(":")
    if kind in ("document", "fact") and number:
        return kind, number.rpartition(":")[0] or number
    path = document_path(name)
    return ("", name) if path is None else ("document", path)


def document_path(name: str) -> str | None:
    """Return the path of a document, or None for another name. Puts back a tilde that a shell has expanded."""
    home = f"{os.path.expanduser('~')}/"  # noqa: PTH111 - unlike Path's, it never raises
    if name.startswith(home):
        return f"~/{name.removeprefix(home)}"
    return name if name.startswith("~/") else None


async def resolve_ref(space: "Space", name: str) -> "Ref":
    """Parse a ref. A path, an id alone and the version 0 mean the newest version of a document or fact."""
    from bethink.model.refs import Ref, RefKind  # noqa: PLC0415 - like every import here, for a quick --help

    path = document_path(name)
    if path is not None:
        document = await space.documents.find(path)
        if document is None:
            raise NotFoundError(f"No document {path!r} in space {space.name!r}.", hint=LIST_HINT)
        return document.ref
    kind = _KINDS.get(name[:4])
    ref = Ref.parse(name) if kind is None else Ref(RefKind(kind), name)
    if ref.number or ref.kind not in _KINDS.values():
        return ref
    versions = await (space.facts if ref.kind == RefKind.FACT else space.documents).versions(ref.id)
    if not versions:
        raise NotFoundError(f"No {ref.kind} {name!r} in space {space.name!r}.", hint=LIST_HINT)
    return Ref(ref.kind, ref.id, versions[-1].version)


def not_found(ref: "Ref", space: str) -> NotFoundError:
    """Return the error for a memory that a space does not have, with its ref as it was typed."""
    return NotFoundError(f"No {ref.kind.replace('_', ' ')} '{ref}' in space {space!r}.", hint=LIST_HINT)
