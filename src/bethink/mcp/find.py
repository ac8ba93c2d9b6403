"""Reads a memory by name, and lists notes, documents and facts of a space."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any
from urllib.parse import quote, unquote

from bethink.api.space import Space
from bethink.base.frozen import frozen
from bethink.errors import NotFoundError
from bethink.mcp.results import IndexEntry
from bethink.mcp.texts import IndexLine, entry_of, fact_line, message_line
from bethink.model.documents import Document, DocumentEntry
from bethink.model.moments import moment
from bethink.model.records import Origin
from bethink.model.refs import Ref, RefKind
from bethink.model.rules import NOTES

SCHEME = "memory://"
_SESSIONS = 100


@frozen
class StoredMemory:
    """A memory with its complete text."""

    ref: Ref
    title: str
    text: str
    origin: Origin | None
    at: datetime | None
    path: str | None = None
    replaced_by: Ref | None = None


async def get_memory(space: Space, name: str) -> StoredMemory:
    """Return a memory by ref, document path or `memory://` address.

    Raises:
        NotFoundError: if the space has no such memory, or it was deleted.
        InvalidRequestError: if the name is invalid.
    """
    name = name_in(unquote(name.removeprefix(SCHEME))) if name.startswith(SCHEME) else name
    if name.startswith("~/"):
        document = await space.documents.find(name)
        if document is None:
            raise NotFoundError(f"No document at {name[:200]!r}.", hint="Call list_memories for the paths.")
        return _from_document(document, path=name)
    ref = Ref.parse(name)
    if ref.kind is RefKind.DOCUMENT:
        return await _version(space, ref)
    lineage = await space.explain(ref)
    if lineage.text is None:
        raise _deleted_error(ref)
    return StoredMemory(
        ref=ref,
        title=lineage.text,
        text=lineage.text,
        origin=lineage.origin,
        at=lineage.at,
        replaced_by=lineage.replaced_by,
    )


@frozen
class ListPage:
    """Request for a page of a list: cursor, number of lines and filters."""

    after: str
    limit: int
    as_of: str | None
    known_at: str | None
    under: str = ""
    only: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def until(self) -> datetime | None:
        """The last moment at which a listed message was said; None for now."""
        return min((moment(at) for at in (self.as_of, self.known_at) if at is not None), default=None)


async def list_lines(space: Space, kind: str, page: ListPage) -> tuple[list[IndexLine], bool]:
    """Return lines for the notes, documents or facts of a space, and whether there are more."""
    return await _LISTS[kind](space, page)


def cursor_of(entry: IndexEntry) -> str:
    """Return the cursor of the page after an entry."""
    if entry.path is not None:
        return f"document:{entry.path}"
    return f"fact:{entry.ref.id}" if entry.ref.kind is RefKind.FACT else f"note:{entry.ref.id}:{entry.ref.number}"


async def note_sessions(space: Space) -> list[str]:
    """Return the ids of the sessions with notes of the assistant, newest first."""
    return [entry.session.id for entry in await space.sessions.list(conversation=NOTES, limit=_SESSIONS)]


async def _documents(space: Space, page: ListPage) -> tuple[list[IndexLine], bool]:
    tree = await space.documents.list(as_of=page.as_of, known_at=page.known_at)
    below = page.under.rstrip("/")
    matches = [
        (document.path, document)
        for document in tree
        if document.path > page.after and (not below or document.path == below or document.path.startswith(f"{below}/"))
    ]
    return [_document_line(path, document) for path, document in matches[: page.limit]], len(matches) > page.limit


async def _facts(space: Space, page: ListPage) -> tuple[list[IndexLine], bool]:
    facts = await space.facts.list(
        as_of=page.as_of, known_at=page.known_at, limit=page.limit, after=page.after, **page.only
    )
    return list(map(fact_line, facts)), bool(facts.next)


async def _notes(space: Space, page: ListPage) -> tuple[list[IndexLine], bool]:
    """List notes by session, newest session first, in the order they were written."""
    within, _, number = page.after.partition(":")
    lines: list[IndexLine] = []
    for session_id in await note_sessions(space):
        if within and session_id > within:  # ids increase with time
            continue
        after = int(number) if session_id == within and number.isdigit() else 0
        session = await space.sessions.get(session_id)
        remaining = page.limit + 1 - len(lines)
        records = await session.messages(
            after=after, limit=remaining, origin=["assistant"], until=page.until, visible=True
        )  # fmt: skip
        lines += [message_line(record, is_note=True) for record in records]
        if len(lines) > page.limit:
            break
    return lines[: page.limit], len(lines) > page.limit


_LISTS = {"note": _notes, "document": _documents, "fact": _facts}
LIST_KINDS = tuple(_LISTS)
"""Kinds that can be listed, in this order."""


def uri_of(name: str) -> str:
    """Return the address of a ref or of a document's path."""
    return SCHEME + quote(name.removeprefix("~/"), safe="/:")


def name_in(address: str) -> str:
    """Return the ref or the document's path in an address without its scheme."""
    kind = address.partition(":")[0]
    return address if kind in set(RefKind) else f"~/{address.removeprefix('~/')}"


async def _version(space: Space, ref: Ref) -> StoredMemory:
    versions = await space.documents.versions(ref.id)
    document = next((version for version in versions if version.version == ref.number), None)
    if document is None:
        raise NotFoundError(f"{ref} not found.", hint="Use a ref from a result.")
    if document.redacted:
        raise _deleted_error(ref)
    following = next((version for version in versions if version.version > ref.number), None)
    return _from_document(document, replaced_by=None if following is None else _ref(following))


def _deleted_error(ref: Ref) -> NotFoundError:
    return NotFoundError(f"{ref} was deleted.", hint="Its text cannot be recovered.")


def _from_document(document: Document, *, path: str | None = None, replaced_by: Ref | None = None) -> StoredMemory:
    return StoredMemory(
        ref=_ref(document),
        title=document.title,
        text=document.body,
        origin=document.origin,
        at=document.valid_from,
        path=path,
        replaced_by=replaced_by,
    )


def _document_line(path: str, document: DocumentEntry) -> IndexLine:
    text = f"{path}: {document.title}. {document.description}".rstrip(". ")
    return IndexLine(entry_of(_ref(document), "document", document.origin, document.valid_from, path=path), text)


def _ref(document: DocumentEntry) -> Ref:
    return document.ref
