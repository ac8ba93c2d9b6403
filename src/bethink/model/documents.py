"""Documents: a tree of nodes, each with a chain of versions, and the rules that need no database."""

import difflib
import re
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from bethink.base.frozen import frozen, short_repr
from bethink.errors import InvalidRequestError
from bethink.model.checks import tuple_from
from bethink.model.records import Origin, checked_name, checked_tags
from bethink.model.refs import Ref, RefKind, add_ref_to_schema
from bethink.model.text import JsonObject, clean

ROOT = "~/memory"
"""Root of the documents that Bethink maintains."""

CONSOLIDATED = f"{ROOT}/consolidated"
MEMORY = f"{CONSOLIDATED}/MEMORY.md"
SUMMARY = f"{CONSOLIDATED}/memory_summary.md"
"""The two overviews that consolidation maintains."""

MAX_BODY = 65_536
_MAX_TITLE = 200
_MAX_DESCRIPTION = 2_000
_MAX_LINKS = 200
_MAX_EFFORT = 4_000_000
"""Limit on the steps to compare two versions: about a fifth of a second, or some 1,400 lines that all differ."""
_CONTEXT = 3
_USER = Origin("user")
_LINK = re.compile(r"\[\[([^\[\]|\n]{1,500})(?:\|[^\[\]\n]{0,500})?\]\]")
_SLUG = re.compile(r"(?!~|\.+$)[^/\s\[\]|](?:[^/\s\[\]|]| )*")


class ReferenceKind(StrEnum):
    """Type of a reference between documents: child, explicit link, or mention in the text."""

    PARENT = "parent"
    LINK = "link"
    BODY = "body"


class SourceKind(StrEnum):
    """Type of a source of a document version."""

    SESSION_SUMMARY = "session_summary"
    FACT = "fact"
    MESSAGE = "message"


@frozen
class DocumentSource:
    """One source of a version. A message is identified by its session and its number."""

    kind: SourceKind
    id: str
    number: int = 0


@frozen
class Author:
    """Author of a version, with a reason: a user, an agent, or a job with the token of its lease."""

    kind: str = "user"
    id: str = ""
    reason: str = ""
    token: int | None = None
    run: str = ""


@frozen
class Provenance:
    """Author, sources and trust of a version."""

    author: Author = Author()
    origin: Origin = _USER
    sources: tuple[DocumentSource, ...] = ()


@frozen
class DocumentDraft:
    """The content of a document's next version, and its position in the tree. `parent` is None at the top."""

    slug: str
    title: str
    description: str = ""
    body: str = ""
    parent: str | None = None
    links: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: JsonObject = field(default_factory=dict[str, object])

    def __post_init__(self) -> None:
        object.__setattr__(self, "slug", checked_slug(self.slug))
        object.__setattr__(self, "links", tuple(sorted(set(tuple_from("links", self.links)))))
        object.__setattr__(self, "tags", checked_tags(self.tags))
        if not clean(self.title).strip():
            raise InvalidRequestError("`title` is empty.", hint="Describe the document in a few words.")
        limits = {"title": _MAX_TITLE, "description": _MAX_DESCRIPTION, "body": MAX_BODY}
        for name, limit in limits.items():
            if len(getattr(self, name)) > limit:
                raise InvalidRequestError(
                    f"The {name} is longer than {limit} characters.", hint="Split it into child documents."
                )
        if len(self.links) > _MAX_LINKS:
            raise InvalidRequestError(
                f"A document can have up to {_MAX_LINKS} links.", hint="Link to one document that lists the others."
            )


@frozen
class DocumentEntry:
    """A document in the tree, without its text and links. `documents.get` returns those."""

    id: str
    version: int
    slug: str
    title: str
    description: str
    parent: str | None
    valid_from: datetime
    valid_to: datetime | None
    created_at: datetime
    author: Author
    origin: Origin
    redacted: bool = False
    tags: tuple[str, ...] = ()
    metadata: JsonObject = field(default_factory=dict[str, object])

    @property
    def ref(self) -> Ref:
        """The permanent name of this version: `document:ID:VERSION`."""
        return Ref(RefKind.DOCUMENT, self.id, self.version)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Any) -> dict[str, Any]:
        return add_ref_to_schema(handler(source), handler, form="document:ID:VERSION")


@frozen
class TreeEntry(DocumentEntry):
    """A document in the tree, with its path."""

    path: str


@frozen
class Document(DocumentEntry):
    """One version of a document. `valid_to` is None for the current version; a deleted document has no current one."""

    body: str
    links: tuple[str, ...]
    mentions: tuple[str, ...]

    def __repr__(self) -> str:
        return short_repr(self, self.ref, self.title)

    def draft(self) -> DocumentDraft:
        """Return the content of this version as a draft, to write it again or with changes."""
        return DocumentDraft(
            slug=self.slug,
            title=self.title,
            description=self.description,
            body=self.body,
            parent=self.parent,
            links=self.links,
            tags=self.tags,
            metadata=self.metadata,
        )


def checked_slug(value: str) -> str:
    """Return a slug that can be part of a path. Raises `InvalidRequestError` for any other."""
    slug = checked_name(value.strip(), "a slug")
    if not _SLUG.fullmatch(slug):
        raise InvalidRequestError(
            f"{slug!r} is not a valid `slug`.", hint="Use a file name without slashes, brackets and bars."
        )
    return slug


def steps_of(path: str) -> list[str] | None:
    """Split a path such as `~/memory/people` into its slugs. Returns None if the text is not a path."""
    if not path.startswith("~/"):
        return None
    return [step for step in (part.strip() for part in path[2:].split("/")) if step]


def mentions_in(body: str) -> list[str]:
    """Return the first 200 distinct mentions in double brackets, in order: ids, paths or slugs."""
    return list(dict.fromkeys(mention.strip() for mention in _LINK.findall(body) if mention.strip()))[:_MAX_LINKS]


def diff_of(before: Document | None, after: Document | None) -> str:
    """Return a unified diff of two versions, or an empty string if they are equal.

    If a comparison would take too long, the diff is a single change from the first differing line to the last.
    """
    old, new = _lines(before), _lines(after)
    titles = (
        f"{before.slug}@{before.version}" if before else "nothing",
        f"{after.slug}@{after.version}" if after else "nothing",
    )
    if effort_of(old, new) > _MAX_EFFORT:
        return "\n".join(_one_change(old, new, *titles))
    return "\n".join(difflib.unified_diff(old, new, *titles, lineterm=""))


def effort_of(old: list[str], new: list[str]) -> int:
    """Return an upper bound on the steps of a comparison: a pass over all matches for each shared line."""
    index: dict[str, list[int]] = cast("Any", difflib.SequenceMatcher(None, old, new)).b2j
    return min(len(old), len(new)) * (len(old) + sum(len(index.get(line, ())) for line in old))


def _one_change(old: list[str], new: list[str], old_title: str, new_title: str) -> list[str]:
    head = shared_lines(old, new)
    tail = shared_lines(old[head:][::-1], new[head:][::-1])
    if head == len(old) == len(new):
        return []
    start, end = max(0, head - _CONTEXT), max(0, tail - _CONTEXT)
    removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
    lead, trail = old[start:head], old[len(old) - tail : len(old) - end]
    around = len(lead) + len(trail)
    return [
        f"--- {old_title}",
        f"+++ {new_title}",
        f"@@ -{start + 1},{len(removed) + around} +{start + 1},{len(added) + around} @@",
        *(f" {line}" for line in lead),
        *(f"-{line}" for line in removed),
        *(f"+{line}" for line in added),
        *(f" {line}" for line in trail),
    ]


def shared_lines(old: list[str], new: list[str]) -> int:
    """Count the lines that both have in common at the start."""
    pairs = zip(old, new, strict=False)
    return next((number for number, (was, now) in enumerate(pairs) if was != now), min(len(old), len(new)))


def _lines(document: Document | None) -> list[str]:
    if document is None:
        return []
    head = [f"slug: {document.slug}", f"title: {document.title}"]
    head += [f"description: {line}" for line in document.description.splitlines()]
    head += [f"parent: {document.parent}"] if document.parent else []
    head += [f"link: {link}" for link in document.links]
    return [*head, "", *document.body.splitlines()]
