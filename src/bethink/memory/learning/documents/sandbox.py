"""The two tools of the memory writer. They work on a copy of the tree and cannot reach outside `~/memory`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from bethink.errors import Invalid
from bethink.model.consolidation import Change, DocumentTree
from bethink.model.documents import ROOT, DocumentDraft, DocumentSource, steps_of
from bethink.model.text import JsonObject

READ, WRITE = "document_read", "document_write"
_PREVIEW = 160
_LONGEST = 12_000
_MOST_CHILDREN = 200
_DONE = ("# ", "Written: ", "Edited: ", "Moved: ", "Removed: ")
"""How the results of calls begin that were carried out."""

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
    users: bool = False
    changed: bool = False
    read: bool = False


class SandboxedTree:
    """A copy of the documents below `~/memory` to read and write. A wrong call returns a message and raises nothing."""

    tools: Sequence[str] = (READ, WRITE)

    def __init__(
        self, tree: DocumentTree, sources: Mapping[str, DocumentSource], *, redact: Callable[[str], str]
    ) -> None:
        self._sources = sources
        self._redact = redact
        self.failed = 0
        """How many calls could not be carried out."""
        self._read_sources: dict[DocumentSource, None] = {}
        self._pages: dict[str, DraftPage] = {
            path: DraftPage(
                draft=each.draft(),
                document_id=each.id,
                expected=each.version,
                # A redacted document has no content left that needs sources.
                sources=() if each.redacted else tuple(tree.sources.get(path, ())),
                users=each.author.kind == "user",
            )
            for path, each in tree.documents.items()
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
        full_path = normalised(path)
        if full_path is None:
            return f"{str(path)[:200]!r} is not a path below {ROOT}. Nothing else can be read or written."
        return self._carry_out(str(tool), full_path, fields)

    def _carry_out(self, tool: str, path: str, fields: Mapping[str, Any]) -> str:
        return self._read(path) if tool == READ else self._write(path, fields)

    def changes(self) -> list[Change]:
        """Return what the model wrote as changes to the tree."""
        return [
            Change(
                path=path,
                draft=page.draft,
                document_id=page.document_id,
                expected=page.expected,
                sources=page.sources,
            )
            for path, page in sorted(self._pages.items())
            if page.changed
        ]

    def _read(self, path: str) -> str:
        page = self._pages.get(path)
        if page is None:
            return f"There is no document {path}."
        page.read = True
        self._read_sources |= dict.fromkeys(page.sources)
        lines = [f"# {page.draft.title}", f"path: {path}", f"description: {page.draft.description}"]
        lines += [f"sources: {', '.join(map(_name, page.sources))}"] if page.sources else []
        children = [each for each in self._pages if each.rpartition("/")[0] == path]
        lines += [f"- {each}: {self._preview(each)}" for each in sorted(children)[:_MOST_CHILDREN]]
        return "\n".join([*lines, "", page.draft.body[:_LONGEST]]).strip()

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
        sources = self._known(fields.get("sources"))
        if not sources:
            return "None of these sources is known. Name the sessions and facts it rests on, as you were given them."
        try:
            draft = draft_of(path, fields, page, redact=self._redact)
        except Invalid as problem:
            return str(problem)
        self._pages[path] = DraftPage(
            draft=draft,
            document_id=page and page.document_id,
            expected=page and page.expected,
            # It may repeat its old text, every page that was read and all that was told, whatever sources it names.
            sources=tuple(
                dict.fromkeys((*sources, *self._sources.values(), *(page.sources if page else ()), *self._read_sources))
            ),
            changed=True,
            read=True,
        )
        return f"Written: {path}."

    def _known(self, names: object) -> tuple[DocumentSource, ...]:
        if not isinstance(names, list):
            return ()
        given = dict.fromkeys(name for name in cast("Sequence[object]", names) if isinstance(name, str))
        return tuple(self._sources[name] for name in given if name in self._sources)


def draft_of(
    path: str, fields: Mapping[str, Any], page: DraftPage | None, *, redact: Callable[[str], str]
) -> DocumentDraft:  # fmt: skip
    """Return a draft with the given fields, and the rest as it was. Raises `Invalid`."""

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
        return None if above.read else f"Read {parent} before you create something below it."
    if page.users:
        return f"{path} was last written by the user and stays as it is. Write beside it."
    return None if page.read or page.changed else f"Read {path} before you change it."


def _name(source: DocumentSource) -> str:
    return f"{source.id}:{source.number}" if source.number else source.id


def normalised(path: object) -> str | None:
    """Return a path below `~/memory` in its normal form; None for any other path."""
    steps = steps_of(path) if isinstance(path, str) else None
    if not steps or steps[0] != "memory" or any(step in (".", "..") for step in steps):
        return None
    return "~/" + "/".join(steps)
