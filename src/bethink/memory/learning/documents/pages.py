"""The tools by which a model keeps pages: it reads, writes, edits, moves and removes them, on facts alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bethink.errors import Invalid
from bethink.memory.documents.overviews import OWNER
from bethink.memory.learning.documents.grounded import checked, heading_refusal, paragraphs, path_refusal
from bethink.memory.learning.documents.sandbox import (
    READ,
    WRITE,
    DraftPage,
    SandboxedTree,
    draft_of,
    normalised,
    refusal_of,
)
from bethink.model.consolidation import Change, DocumentTree
from bethink.model.documents import CONSOLIDATED, ROOT, DocumentDraft, DocumentSource, SourceKind
from bethink.model.facts import Fact
from bethink.model.text import JsonObject
from bethink.model.words import key_words, stem

EDIT, MOVE, REMOVE = "document_edit", "document_move", "document_remove"
_TEXT: JsonObject = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_FIELDS: JsonObject = {
    "tool": {"type": "string", "enum": [READ, WRITE, EDIT, MOVE, REMOVE]},
    "path": {"type": "string"},
    "title": _TEXT,
    "description": _TEXT,
    "body": _TEXT,
    "old": _TEXT,
    "to": _TEXT,
}
PAGE_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _FIELDS,
                "required": list(_FIELDS),
                "additionalProperties": False,
            },
        },
        "done": {"type": "boolean"},
    },
    "required": ["calls", "done"],
    "additionalProperties": False,
}


class PageSandbox(SandboxedTree):
    """A copy of the pages below `~/memory`. A page rests on the facts that its paragraphs name.

    Where it has words that those facts have not, it also rests on whatever else the model was shown with these words.
    """

    tools = (READ, WRITE, EDIT, MOVE, REMOVE)

    def __init__(self, tree: DocumentTree, told: Mapping[str, Fact], *, redact: Callable[[str], str]) -> None:
        """Take a tree, and the facts that may be written by the labels under which the model was told of them."""
        super().__init__(tree, {}, redact=redact)
        self._told = told
        self._owners = {fact.speaker for fact in told.values() if fact.speaker and fact.subject == OWNER}
        self._removed: list[Change] = []
        self._behind = [
            (_stems(page.draft.title, page.draft.description, page.draft.body), page.sources)
            for page in self._pages.values()
            if page.sources
        ]
        for page in self._pages.values():
            page.read = True  # the model was given the tree and what it may change

    def changes(self) -> list[Change]:
        """Return what the model wrote, moved and removed as changes to the tree."""
        return [*super().changes(), *self._removed]

    def _carry_out(self, tool: str, path: str, fields: Mapping[str, Any]) -> str:
        if tool == READ:
            return self._read(path)
        if path == CONSOLIDATED or path.startswith(f"{CONSOLIDATED}/"):
            return f"{CONSOLIDATED} is kept by code. Write elsewhere."
        if tool == WRITE:
            return self._write(path, fields)
        page = self._pages.get(path)
        if page is None or path == ROOT:
            return f"There is no page {path} to change."
        refusal = refusal_of(path, page, self._pages.get(path.rpartition("/")[0]))
        if refusal is not None:
            return refusal
        if tool == EDIT:
            return self._edit(path, page, fields)
        return self._move(path, page, fields.get("to")) if tool == MOVE else self._remove(path, page)

    def _write(self, path: str, fields: Mapping[str, Any]) -> str:
        if path == ROOT:
            return f"{ROOT} itself cannot be written. Write a page below it."
        page = self._pages.get(path)
        refusal = refusal_of(path, page, self._pages.get(path.rpartition("/")[0]))
        if refusal is not None:
            return refusal
        return self._put(path, page, fields, before=())

    def _edit(self, path: str, page: DraftPage, fields: Mapping[str, Any]) -> str:
        old, new = fields.get("old"), fields.get("body")
        now = paragraphs(page.draft.body)
        if old is None:
            now = [*now, ""]
            place = len(now) - 1
        else:
            same = [place for place, each in enumerate(now) if each.split() == str(old).split()]
            if len(same) != 1:
                return (
                    f"Refused: {'no' if not same else 'more than one'} paragraph of {path} reads so. Give it as it is."
                )
            place = same[0]
        found = checked(new if isinstance(new, str) else "", self._told, known=self._names(path, page))
        if found.refusal is not None:
            return found.refusal
        now[place] = found.body
        body = "\n\n".join(part for part in now if part.strip())
        if not body:
            return f"Refused: nothing would be left of {path}. Use {REMOVE}."
        # What stands in the other paragraphs rests on what the page rested on before.
        sources = tuple(dict.fromkeys((*page.sources, *_sources(found.facts))))
        return self._store(path, page, {**fields, "body": body}, sources, done="Edited")

    def _put(
        self, path: str, page: DraftPage | None, fields: Mapping[str, Any], before: tuple[DocumentSource, ...]
    ) -> str:
        body = fields.get("body")
        found = checked(body if isinstance(body, str) else "", self._told, known=self._names(path, page))
        if found.refusal is not None:
            return found.refusal
        if not found.facts:
            return "Refused: a page needs a paragraph that rests on a fact."
        title, about = (fields.get(name) for name in ("title", "description"))
        refusal = path_refusal(_words_of(path.rpartition("/")[2]), found.facts, [*self._owners]) or heading_refusal(
            title if isinstance(title, str) else "", about if isinstance(about, str) else "", found.body, found.facts,
            [_words_of(path), *self._owners],
        )  # fmt: skip
        if refusal is not None:
            return refusal
        sources = tuple(dict.fromkeys((*before, *_sources(found.facts))))
        return self._store(path, page, {**fields, "body": found.body}, sources, done="Written")

    def _store(
        self,
        path: str,
        page: DraftPage | None,
        fields: Mapping[str, Any],
        sources: tuple[DocumentSource, ...],
        *,
        done: str,
    ) -> str:
        given = fields if done == "Written" else {"body": fields["body"]}
        try:
            draft = draft_of(path, given, page, redact=self._redact)
        except Invalid as problem:
            return str(problem)
        sources = tuple(dict.fromkeys((*sources, *self._also_shown(draft, sources))))
        self._pages[path] = DraftPage(
            draft=draft, document_id=page and page.document_id, expected=page and page.expected, sources=sources,
            changed=True, read=True,
        )  # fmt: skip
        return f"{done}: {path}."

    def _move(self, path: str, page: DraftPage, to: object) -> str:
        target = normalised(to)
        if target is None or target in (ROOT, path) or target.startswith((f"{path}/", f"{CONSOLIDATED}/")):
            return f"Refused: {path} cannot be moved to {str(to)[:200]!r}."
        refusal = path_refusal(
            _words_of(target.rpartition("/")[2]), (), [page.draft.title, page.draft.body, *self._owners]
        )
        if refusal is not None:
            return refusal
        above = self._pages.get(target.rpartition("/")[0])
        if target in self._pages or above is None:
            return f"Refused: {target} exists already, or there is nothing to hang it below."
        try:
            draft_of(target, {}, page, redact=self._redact)
        except Invalid as problem:
            return str(problem)
        for old in [each for each in self._pages if each == path or each.startswith(f"{path}/")]:
            self._pages[target + old.removeprefix(path)] = self._pages.pop(old)
        moved = self._pages[target]
        moved.draft = draft_of(target, {}, moved, redact=self._redact)
        moved.changed = True
        return f"Moved: {path} is {target} now."

    def _remove(self, path: str, page: DraftPage) -> str:
        if any(each.startswith(f"{path}/") for each in self._pages):
            return f"Refused: there are pages below {path}. Move or remove them first."
        del self._pages[path]
        if page.document_id is not None:
            gone = page.document_id, page.expected
            self._removed.append(
                Change(path=path, draft=None, document_id=gone[0], expected=gone[1], sources=page.sources)
            )
        return f"Removed: {path}."

    def _also_shown(self, draft: DocumentDraft, sources: Sequence[DocumentSource]) -> list[DocumentSource]:
        """Return the sources of what else the model was shown that has words of a page which its own facts have not."""
        named = {source.id for source in sources}
        said = _stems(*(text for fact in self._told.values() if fact.id in named for text in _texts_of(fact)))
        own = _stems(draft.title, draft.description, draft.body) - said
        if not own:
            return []
        facts = [fact for fact in self._told.values() if fact.id not in named]
        found = _sources(tuple(fact for fact in facts if not own.isdisjoint(_stems(*_texts_of(fact)))))
        for words, behind in self._behind:
            if not own.isdisjoint(words):
                found += behind
        return found

    def _names(self, path: str, page: DraftPage | None) -> list[str]:
        """Return what a paragraph may name besides its facts: its own page, and the owner."""
        return [_words_of(path), *self._owners, *([page.draft.title] if page is not None else [])]


def _words_of(path: str) -> str:
    return path.removeprefix(f"{ROOT}/").replace("/", " ").replace("-", " ")


def _stems(*texts: str) -> set[str]:
    return {stem(word) for text in texts for word in key_words(text)}


def _texts_of(fact: Fact) -> list[str]:
    return [text for text in (fact.content, fact.speaker, fact.subject, fact.scope, *fact.entities) if text]


def _sources(facts: tuple[Fact, ...]) -> list[DocumentSource]:
    return [DocumentSource(kind=SourceKind.FACT, id=fact.id) for fact in facts]
