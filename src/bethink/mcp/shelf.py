"""Finds one memory by its name, and lists documents and facts, inside one space."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, unquote

from bethink.errors import NotFound
from bethink.mcp.texts import Line
from bethink.memory import Memory
from bethink.model.documents import Document
from bethink.model.moments import EPOCH
from bethink.model.recall import Ref, RefKind
from bethink.model.records import Fact, Origin

SCHEME = "memory://"


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One memory with its whole text."""

    ref: Ref
    title: str
    text: str
    origin: Origin | None
    at: datetime | None
    path: str | None = None
    superseded_by: Ref | None = None


async def read(memory: Memory, space: str, name: str) -> Read:
    """Read what a ref, a document's path or an address names. Raises `NotFound`, and `Invalid` for no name."""
    name = named(unquote(name.removeprefix(SCHEME))) if name.startswith(SCHEME) else name
    if name.startswith("~/"):
        document = await memory.documents(space=space).find(name)
        if document is None:
            raise NotFound(f"no document is at {name[:200]!r}.", hint="list_memories gives the paths there are.")
        return _of_document(document, path=name)
    ref = Ref.parse(name)
    if ref.kind is RefKind.DOCUMENT:
        return await _version(memory, space, ref)
    found = await memory.explain(ref, space=space)
    if found.text is None:
        raise NotFound(f"{ref} was erased.", hint="Nothing of its text is left.")
    return Read(
        ref=ref, title=found.text, text=found.text, origin=found.origin, at=found.at, superseded_by=found.superseded_by
    )


async def documents(
    memory: Memory, space: str, *, under: str, after: str, limit: int, as_of: str | None
) -> tuple[list[Line], bool]:
    """Return lines for the documents below a path that follow another, and whether there are more."""
    tree = await memory.documents(space=space).tree(as_of=as_of)
    below = under.rstrip("/")
    wanted = [
        (path, each)
        for path, each in tree.items()
        if path > after and (not below or path == below or path.startswith(f"{below}/"))
    ]
    return [_document_line(path, each) for path, each in wanted[:limit]], len(wanted) > limit


def fact_line(fact: Fact) -> Line:
    """Write a fact as one line."""
    at = fact.recorded_at or fact.created_at or EPOCH
    return Line(Ref(RefKind.FACT, fact.id, fact.version), fact.kind, fact.origin, at, fact.content)


def uri_of(name: str) -> str:
    """Return the address of a document's path or of a ref."""
    return SCHEME + quote(name.removeprefix("~/"), safe="/:")


def named(address: str) -> str:
    """Return the ref or the document's path that stood in an address, after its scheme."""
    kind = address.partition(":")[0]
    return address if kind in set(RefKind) else f"~/{address.removeprefix('~/')}"


async def _version(memory: Memory, space: str, ref: Ref) -> Read:
    versions = await memory.documents(space=space).history(ref.id)
    found = next((each for each in versions if each.version == ref.number), None)
    if found is None:
        raise NotFound(f"nothing is named {ref}.", hint="Take the ref from a result.")
    if found.redacted:
        raise NotFound(f"{ref} was erased.", hint="Nothing of its text is left.")
    following = next((each for each in versions if each.version > ref.number), None)
    return _of_document(found, superseded_by=None if following is None else _ref(following))


def _of_document(document: Document, *, path: str | None = None, superseded_by: Ref | None = None) -> Read:
    return Read(
        ref=_ref(document),
        title=document.title,
        text=document.body,
        origin=document.origin,
        at=document.valid_from,
        path=path,
        superseded_by=superseded_by,
    )


def _document_line(path: str, document: Document) -> Line:
    text = f"{path}: {document.title}. {document.description}".rstrip(". ")
    return Line(_ref(document), "document", document.origin, document.valid_from, text, path=path)


def _ref(document: Document) -> Ref:
    return Ref(RefKind.DOCUMENT, document.id, document.version)
