"""The two tools of the memory writer. They work on a copy of the tree and cannot reach outside `~/memory`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from bethink.errors import InvalidRequestError
from bethink.model.consolidation import DocumentChange, DocumentTree
from bethink.model.documents import ROOT, DocumentDraft, DocumentSource, steps_of
from bethink.model.text import JsonObject

READ, WRITE = "document_read", "document_write"
_PREVIEW = 160
_MAX_BODY_SHOWN = 12_000
_MAX_CHILDREN = 200
_DONE = ("# ", "Written: ", "Edited: ", "Moved: ", "Removed: ")
"""Prefixes of the results of successful calls."""

_TEXT: JsonObject = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_CALL: JsonObject = {
    "type": "object",
    "properties": {
        "tool": {"type": "string", "enum": [READ, WRITE]},
        "path": {"type": "string"},
        "title": _TEXT,
        "description": _TEXT,
        "body": _TEXT,
        "sources": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["tool", "path", "title", "description", "body", "sources"],
    "additionalProperties": False,
}
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"calls": {"type": "array", "items": _CALL}, "done": {"type": "boolean"}},
    "required": ["calls", "done"],
    "additionalProperties": False,
}


@dataclass(slots=True, kw_only=True)
class DraftPage:
    """A document while a model works on it."""

    draft: DocumentDraft
    document_id: str | None
    expected: int | None
    sources: tuple[DocumentSource, ...]
    is_by_user: bool = False
    is_changed: bool = False
    is_read: bool = False


class SandboxedTree:
    """A copy of the documents below `~/memory` to read and write. A wrong call returns a message and raises nothing."""

    tools: Sequence[str] = (READ, WRITE)

    def __init__(
        self, tree: DocumentTree, sources: Mapping[str, DocumentSource], *, redact: Callable[[str], str]
    ) -> None:
        self._sources = sources
        self._redact = redact
        self.failed = 0
        """Number of failed calls."""
        self._read_sources: dict[DocumentSource, None] = {}
        self._pages: dict[str, DraftPage] = {
            path: DraftPage(
                draft=document.draft(),
                document_id=document.id,
                expected=document.version,
                # A redacted document has no content left that needs sources.
                sources=() if document.redacted else tuple(tree.sources.get(path, ())),
                is_by_user=document.author.kind == "user",
            )
            for path, document in tree.documents.items()
        }
        self._pages.setdefault(
            ROOT,
            DraftPage(draft=DocumentDraft(slug="memory", title="Memory"), document_id=None, expected=None, sources=()),
        )

    def do(self, call: object) -> str:
        """Carry out one call, and return its result in words that the model can act on."""
        fields = cast("Mapping[str, Any]", call if isinstance(call, Mapping) else {})
        result = self._do(fields)
        self.failed += not result.startswith(_DONE)
        return result

    def _do(self, fields: Mapping[str, Any]) -> str:
        tool, path = fields.get("tool"), fields.get("path")
        if tool not in self.tools:
            return f"There is no tool {str(tool)[:50]!r}. There are {', '.join(self.tools)}."
        full_path = normalize_path(path)
        if full_path is None:
            return f"{str(path)[:200]!r} is not a path below {ROOT}. Nothing else can be read or written."
        return self._carry_out(str(tool), full_path, fields)

    def _carry_out(self, tool: str, path: str, fields: Mapping[str, Any]) -> str:
        return self._read_page(path) if tool == READ else self._write(path, fields)

    def changes(self) -> list[DocumentChange]:
        """Return the documents that the model wrote as changes to the tree."""
        return [
            DocumentChange(
                path=path,
                draft=page.draft,
                document_id=page.document_id,
                expected=page.expected,
                sources=page.sources,
            )
            for path, page in sorted(self._pages.items())
            if page.is_changed
        ]

    def _read_page(self, path: str) -> str:
        page = self._pages.get(path)
        if page is None:
            return f"There is no document {path}."
        page.is_read = True
        self._read_sources |= dict.fromkeys(page.sources)
        lines = [f"# {page.draft.title}", f"path: {path}", f"description: {page.draft.description}"]
        lines += [f"sources: {', '.join(map(_name, page.sources))}"] if page.sources else []
        children = [child for child in self._pages if child.rpartition("/")[0] == path]
        lines += [f"- {child}: {self._preview(child)}" for child in sorted(children)[:_MAX_CHILDREN]]
        return "\n".join([*lines, "", page.draft.body[:_MAX_BODY_SHOWN]]).strip()

    def _preview(self, path: str) -> str:
        draft = self._pages[path].draft
        # Without the body: reading a body makes its sources count for everything written later.
        return " ".join(f"{draft.title}. {draft.description}".split())[:_PREVIEW]

    def _write(self, path: str, fields: Mapping[str, Any]) -> str:
        if path == ROOT:
            return f"{ROOT} itself cannot be written. Write a document below it."
        page = self._pages.get(path)
        above = self._pages.get(path.rpartition("/")[0])
        refusal = refusal_of(path, page, above)
        if refusal is not None:
            return refusal
        sources = self._valid_sources(fields.get("sources"))
        if not sources:
            return "Unknown sources. Cite the sessions and facts it is based on by the ids you were given."
        try:
            draft = draft_of(path, fields, page, redact=self._redact)
        except InvalidRequestError as problem:
            return str(problem)
        self._pages[path] = DraftPage(
            draft=draft,
            document_id=page and page.document_id,
            expected=page and page.expected,
            # It may repeat its old text, every page that was read and the whole task, whatever sources it names.
            sources=tuple(
                dict.fromkeys((*sources, *self._sources.values(), *(page.sources if page else ()), *self._read_sources))
            ),
            is_changed=True,
            is_read=True,
        )
        return f"Written: {path}."

    def _valid_sources(self, names: object) -> tuple[DocumentSource, ...]:
        if not isinstance(names, list):
            return ()
        unique_names = dict.fromkeys(name for name in cast("Sequence[object]", names) if isinstance(name, str))
        return tuple(self._sources[name] for name in unique_names if name in self._sources)


def draft_of(
    path: str, fields: Mapping[str, Any], page: DraftPage | None, *, redact: Callable[[str], str]
) -> DocumentDraft:  # fmt: skip
    """Return a draft with the given fields, and the others unchanged. Raises `InvalidRequestError`."""

    def text(name: str, before: str) -> str:
        value = fields.get(name)
        return redact(value) if isinstance(value, str) else before

    return DocumentDraft(
        slug=path.rpartition("/")[2],
        title=text("title", page.draft.title if page else path.rpartition("/")[2]),
        description=text("description", page.draft.description if page else ""),
        body=text("body", page.draft.body if page else ""),
        links=page.draft.links if page else (),
    )


def refusal_of(path: str, page: DraftPage | None, above: DraftPage | None) -> str | None:
    """Return why a page cannot be written; None if it can."""
    parent = path.rpartition("/")[0]
    if above is None:
        return f"There is no document {parent} to hang it below. Write that first."
    if page is None:
        return None if above.is_read else f"Read {parent} before you create something below it."
    if page.is_by_user:
        return f"{path} was last written by the user and stays as it is. Write next to it."
    return None if page.is_read or page.is_changed else f"Read {path} before you change it."


def _name(source: DocumentSource) -> str:
    return f"{source.id}:{source.number}" if source.number else source.id


def normalize_path(path: object) -> str | None:
    """Return a path below `~/memory` in its normal form; None for any other path."""
    steps = steps_of(path) if isinstance(path, str) else None
    if not steps or steps[0] != "memory" or any(step in (".", "..") for step in steps):
        return None
    return "~/" + "/".join(steps)
