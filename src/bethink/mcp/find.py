"""Finds one memory by its name and lists documents, inside one space."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any
from urllib.parse import quote, unquote

from bethink.api.space import Space
from bethink.base.frozen import frozen
from bethink.errors import NotFound
from bethink.mcp.results import IndexEntry
from bethink.mcp.texts import IndexLine, entry_of, fact_line, message_line
from bethink.model.documents import Document, DocumentEntry
from bethink.model.recall import Ref, RefKind
from bethink.model.records import Origin
from bethink.model.rules import NOTES

SCHEME = "memory://"
_SESSIONS = 100


@frozen
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
            raise NotFound(f"no document at {name[:200]!r}.", hint="Call list_memories to see the paths.")
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


@frozen
class ListPage:
    """A page of a list: how many lines, after which, and what they are narrowed to."""

    after: str
    limit: int
    as_of: str | None
    under: str = ""
    only: Mapping[str, Any] = field(default_factory=dict[str, Any])


async def listed(space: Space, kind: str, page: ListPage) -> tuple[list[IndexLine], bool]:
    """Return lines for the notes, documents or facts of a space, and whether there are more."""
    return await _LISTS[kind](space, page)


def cursor_of(entry: IndexEntry) -> str:
    """Return what continues a list after an entry."""
    if entry.path is not None:
        return f"document:{entry.path}"
    return f"fact:{entry.ref.id}" if entry.ref.kind is RefKind.FACT else f"note:{entry.ref.id}:{entry.ref.number}"


async def note_sessions(space: Space) -> list[str]:
    """Return the ids of the sessions in which the assistant kept its notes, the newest first."""
    return [each.session.id for each in await space.sessions(conversation=NOTES, limit=_SESSIONS)]


async def _documents(space: Space, page: ListPage) -> tuple[list[IndexLine], bool]:
    tree = await space.documents.tree(as_of=page.as_of)
    below = page.under.rstrip("/")
    wanted = [
        (path, each)
        for path, each in tree.items()
        if path > page.after and (not below or path == below or path.startswith(f"{below}/"))
    ]
    return [_document_line(path, each) for path, each in wanted[: page.limit]], len(wanted) > page.limit


async def _facts(space: Space, page: ListPage) -> tuple[list[IndexLine], bool]:
    facts = await space.facts.all(as_of=page.as_of, limit=page.limit + 1, after=page.after, **page.only)
    return list(map(fact_line, facts[: page.limit])), len(facts) > page.limit


async def _notes(space: Space, page: ListPage) -> tuple[list[IndexLine], bool]:
    """List notes in the order they were written, those of the newest session first."""
    within, _, number = page.after.partition(":")
    lines: list[IndexLine] = []
    for session_id in await note_sessions(space):
        if within and session_id > within:  # ids grow with time
            continue
        after = int(number) if session_id == within and number.isdigit() else 0
        session = await space.get_session(session_id)
        wanted = page.limit + 1 - len(lines)
        read = await session.read(after=after, limit=wanted, origins=["assistant"], until=page.as_of)
        lines += [message_line(record, is_note=True) for record in read]
        if len(lines) > page.limit:
            break
    return lines[: page.limit], len(lines) > page.limit


_LISTS = {"note": _notes, "document": _documents, "fact": _facts}
LISTED = tuple(_LISTS)
"""The kinds that can be listed, in this order."""


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
