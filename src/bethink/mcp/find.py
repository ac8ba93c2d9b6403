"""Finds one memory by its name and lists documents, inside one space."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, unquote

from bethink.api.space import Space
from bethink.errors import NotFound
from bethink.mcp.texts import IndexLine, entry_of
from bethink.model.documents import Document, DocumentEntry
from bethink.model.recall import Ref, RefKind
from bethink.model.records import Origin

SCHEME = "memory://"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMemory:
    """One memory with its whole text."""

    ref: Ref
    title: str
    text: str
    origin: Origin | None
    at: datetime | None
    path: str | None = None
    superseded_by: Ref | None = None


async def memory_named(space: Space, name: str) -> StoredMemory:
    """Return what a ref, the path of a document or an address names.

    Raises:
        NotFound: if the space has no such memory, or it was erased.
        Invalid: if the text is not a name.
    """
    name = name_in(unquote(name.removeprefix(SCHEME))) if name.startswith(SCHEME) else name
    if name.startswith("~/"):
        document = await space.documents.find(name)
        if document is None:
            raise NotFound(f"there is no document at {name[:200]!r}.", hint="Call list_memories to see the paths.")
        return _of_document(document, path=name)
    ref = Ref.parse(name)
    if ref.kind is RefKind.DOCUMENT:
        return await _version(space, ref)
    found = await space.explain(ref)
    if found.text is None:
        raise _erased(ref)
    return StoredMemory(
        ref=ref, title=found.text, text=found.text, origin=found.origin, at=found.at, superseded_by=found.superseded_by
    )


async def documents(
    space: Space, *, under: str, after: str, limit: int, as_of: str | None
) -> tuple[list[IndexLine], bool]:
    """Return lines for the documents below a path that come after another, and whether there are more."""
    tree = await space.documents.tree(as_of=as_of)
    below = under.rstrip("/")
    wanted = [
        (path, each)
        for path, each in tree.items()
        if path > after and (not below or path == below or path.startswith(f"{below}/"))
    ]
    return [_document_line(path, each) for path, each in wanted[:limit]], len(wanted) > limit


def uri_of(name: str) -> str:
    """Return the address of a ref or of a document's path."""
    return SCHEME + quote(name.removeprefix("~/"), safe="/:")


def name_in(address: str) -> str:
    """Return the ref or the document's path in an address without its scheme."""
    kind = address.partition(":")[0]
    return address if kind in set(RefKind) else f"~/{address.removeprefix('~/')}"


async def _version(space: Space, ref: Ref) -> StoredMemory:
    versions = await space.documents.versions(ref.id)
    found = next((each for each in versions if each.version == ref.number), None)
    if found is None:
        raise NotFound(f"{ref} was not found.", hint="Take the ref from a result.")
    if found.redacted:
        raise _erased(ref)
    following = next((each for each in versions if each.version > ref.number), None)
    return _of_document(found, superseded_by=None if following is None else _ref(following))


def _erased(ref: Ref) -> NotFound:
    return NotFound(f"{ref} was erased.", hint="Its text cannot be recovered.")


def _of_document(document: Document, *, path: str | None = None, superseded_by: Ref | None = None) -> StoredMemory:
    return StoredMemory(
        ref=_ref(document),
        title=document.title,
        text=document.body,
        origin=document.origin,
        at=document.valid_from,
        path=path,
        superseded_by=superseded_by,
    )


def _document_line(path: str, document: DocumentEntry) -> IndexLine:
    text = f"{path}: {document.title}. {document.description}".rstrip(". ")
    return IndexLine(entry_of(_ref(document), "document", document.origin, document.valid_from, path=path), text)


def _ref(document: DocumentEntry) -> Ref:
    return Ref(RefKind.DOCUMENT, document.id, document.version)
