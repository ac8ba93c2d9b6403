"""Tools for a model to maintain pages: read, write, edit, move and remove, based on facts alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bethink.errors import InvalidRequestError
from bethink.memory.documents.overviews import OWNER
from bethink.memory.learning.documents.edits import count_parts, replace_part
from bethink.memory.learning.documents.grounded import check_body, heading_refusal, path_refusal
from bethink.memory.learning.documents.sandbox import (
    READ,
    WRITE,
    DraftPage,
    SandboxedTree,
    draft_of,
    normalize_path,
    refusal_of,
)
from bethink.model.consolidation import DocumentChange, DocumentTree
from bethink.model.documents import CONSOLIDATED, ROOT, DocumentDraft, DocumentSource, SourceKind
from bethink.model.facts import Fact
from bethink.model.text import JsonObject
from bethink.model.words import key_words, stem

EDIT, MOVE, REMOVE = "document_edit", "document_move", "document_remove"
_MAX_SHOWN = 12_000
_TEXT: JsonObject = {"type": ["string", "null"]}
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
    """A copy of the pages below `~/memory`. A page is based on the facts that its paragraphs cite.

    If a page has words that those facts lack, its sources include everything else shown to the model with these words.
    """

    tools = (READ, WRITE, EDIT, MOVE, REMOVE)

    def __init__(self, tree: DocumentTree, facts: Mapping[str, Fact], *, redact: Callable[[str], str]) -> None:
        """Take a tree, and the facts that may be cited, by the labels shown to the model."""
        super().__init__(tree, {}, redact=redact)
        self._facts = facts
        self._owners = {fact.speaker for fact in facts.values() if fact.speaker and fact.subject == OWNER}
        self._removed: list[DocumentChange] = []
        self._behind = [
            (_stems(page.draft.title, page.draft.description, page.draft.body), page.sources)
            for page in self._pages.values()
            if page.sources
        ]
        for page in self._pages.values():
            page.is_read = True  # the model was given the tree and what it may change

    def changes(self) -> list[DocumentChange]:
        """Return the pages that the model wrote, moved and removed as changes to the tree."""
        return [*super().changes(), *self._removed]

    def _carry_out(self, tool: str, path: str, fields: Mapping[str, Any]) -> str:
        if tool == READ:
            return self._read_page(path)
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
        old, new, body = fields.get("old"), fields.get("body"), page.draft.body
        if old is not None and (count := count_parts(body, str(old))) != 1:
            problem = "no part" if not count else "more than one part"
            return f"Refused: {problem} of {path} reads so. It reads:\n{body[:_MAX_SHOWN]}"
        result = check_body(new if isinstance(new, str) else "", self._facts, allowed_texts=self._names(path, page))
        if result.refusal is not None:
            return result.refusal
        body = f"{body}\n\n{result.body}" if old is None else replace_part(body, str(old), result.body)
        if not body.strip():
            return f"Refused: nothing would be left of {path}. Use {REMOVE}."
        # The other paragraphs keep the sources that the page had before.
        sources = tuple(dict.fromkeys((*page.sources, *_sources(result.facts))))
        return self._store(path, page, {**fields, "body": body}, sources, done="Edited")

    def _put(
        self, path: str, page: DraftPage | None, fields: Mapping[str, Any], before: tuple[DocumentSource, ...]
    ) -> str:
        body = fields.get("body")
        result = check_body(body if isinstance(body, str) else "", self._facts, allowed_texts=self._names(path, page))
        if result.refusal is not None:
            return result.refusal
        if not result.facts:
            return "Refused: a page needs a paragraph that rests on a fact."
        title, about = (fields.get(name) for name in ("title", "description"))
        refusal = path_refusal(_words_of(path.rpartition("/")[2]), result.facts, [*self._owners]) or heading_refusal(
            title if isinstance(title, str) else "", about if isinstance(about, str) else "", result.body, result.facts,
            [_words_of(path), *self._owners],
        )  # fmt: skip
        if refusal is not None:
            return refusal
        sources = tuple(dict.fromkeys((*before, *_sources(result.facts))))
        return self._store(path, page, {**fields, "body": result.body}, sources, done="Written")

    def _store(
        self,
        path: str,
        page: DraftPage | None,
        fields: Mapping[str, Any],
        sources: tuple[DocumentSource, ...],
        *,
        done: str,
    ) -> str:
        values = fields if done == "Written" else {"body": fields["body"]}
        try:
            draft = draft_of(path, values, page, redact=self._redact)
        except InvalidRequestError as problem:
            return str(problem)
        sources = tuple(dict.fromkeys((*sources, *self._other_sources(draft, sources))))
        self._pages[path] = DraftPage(
            draft=draft, document_id=page and page.document_id, expected=page and page.expected, sources=sources,
            is_changed=True, is_read=True,
        )  # fmt: skip
        return f"{done}: {path}."

    def _move(self, path: str, page: DraftPage, to: object) -> str:
        target = normalize_path(to)
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
        except InvalidRequestError as problem:
            return str(problem)
        for old in [other for other in self._pages if other == path or other.startswith(f"{path}/")]:
            self._pages[target + old.removeprefix(path)] = self._pages.pop(old)
        moved = self._pages[target]
        moved.draft = draft_of(target, {}, moved, redact=self._redact)
        moved.is_changed = True
        return f"Moved: {path} is {target} now."

    def _remove(self, path: str, page: DraftPage) -> str:
        if any(other.startswith(f"{path}/") for other in self._pages):
            return f"Refused: there are pages below {path}. Move or remove them first."
        del self._pages[path]
        if page.document_id is not None:
            document = page.document_id, page.expected
            self._removed.append(
                DocumentChange(
                    path=path, draft=None, document_id=document[0], expected=document[1], sources=page.sources
                )
            )
        return f"Removed: {path}."

    def _other_sources(self, draft: DocumentDraft, sources: Sequence[DocumentSource]) -> list[DocumentSource]:
        """Return other sources shown to the model that have words of the page which its cited facts lack."""
        cited_ids = {source.id for source in sources}
        fact_stems = _stems(
            *(text for fact in self._facts.values() if fact.id in cited_ids for text in _texts_of(fact))
        )
        own = _stems(draft.title, draft.description, draft.body) - fact_stems
        if not own:
            return []
        facts = [fact for fact in self._facts.values() if fact.id not in cited_ids]
        others = _sources(tuple(fact for fact in facts if not own.isdisjoint(_stems(*_texts_of(fact)))))
        for words, behind in self._behind:
            if not own.isdisjoint(words):
                others += behind
        return others

    def _names(self, path: str, page: DraftPage | None) -> list[str]:
        """Return the names that a paragraph may use in addition to its facts: its own page, and the owner."""
        return [_words_of(path), *self._owners, *([page.draft.title] if page is not None else [])]


def _words_of(path: str) -> str:
    return path.removeprefix(f"{ROOT}/").replace("/", " ").replace("-", " ")


def _stems(*texts: str) -> set[str]:
    return {stem(word) for text in texts for word in key_words(text)}


def _texts_of(fact: Fact) -> list[str]:
    return [text for text in (fact.text, fact.speaker, fact.subject, fact.scope, *fact.entities) if text]


def _sources(facts: tuple[Fact, ...]) -> list[DocumentSource]:
    return [DocumentSource(kind=SourceKind.FACT, id=fact.id) for fact in facts]
