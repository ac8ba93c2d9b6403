"""Consolidate without a model: group facts by topic, newest first, with a source on every line."""

import hashlib
from collections.abc import Collection, Mapping, Sequence

from bethink.base.frozen import frozen
from bethink.memory.documents.overviews import OWNER, by_kind_text, memory_text, summary_text
from bethink.model.consolidation import DocumentChange, DocumentTree, Selection
from bethink.model.documents import (
    CONSOLIDATED,
    MEMORY,
    ROOT,
    SUMMARY,
    Author,
    DocumentDraft,
    DocumentSource,
    SourceKind,
)
from bethink.model.facts import Fact, SourceMessage
from bethink.model.moments import EPOCH, to_micros
from bethink.model.words import WORD

BUILDER = "gather"
"""The author id of documents that are written without a model."""


@frozen
class Knowledge:
    """The input of a consolidation: the selected session summaries, and the facts with their source messages."""

    selection: Selection
    facts: Sequence[Fact]
    sources: Mapping[str, Sequence[SourceMessage]]

    def sorted_facts(self) -> list[Fact]:
        """Return the facts, the newest first. A current fact is written down no matter how long it went unused."""
        return sorted(self.facts, key=lambda fact: (-to_micros(fact.created_at or EPOCH), fact.id))


def build_documents(knowledge: Knowledge, tree: DocumentTree) -> list[DocumentChange]:
    """Return the changes that bring the tree up to date: a document for each topic, and the overviews."""
    drafts = {**_topics(knowledge.sorted_facts()), **overviews(knowledge)}
    changes = changes_to(drafts, tree)
    return [*changes, *unsupported_deletions(knowledge, tree, retained={*drafts, *(change.path for change in changes)})]


def available_sources(knowledge: Knowledge) -> dict[str, DocumentSource]:
    """Return every source that a document may cite now, by id."""
    sessions = {
        entry.memory.session_id: DocumentSource(kind=SourceKind.SESSION_SUMMARY, id=entry.memory.session_id)
        for entry in knowledge.selection.current
    }
    return sessions | {fact.id: DocumentSource(kind=SourceKind.FACT, id=fact.id) for fact in knowledge.sorted_facts()}


def unsupported_deletions(
    knowledge: Knowledge, tree: DocumentTree, *, retained: Collection[str]
) -> list[DocumentChange]:
    """Return deletions for the derived documents that have lost all their sources."""
    available = available_sources(knowledge)
    return [
        DocumentChange(
            path=path, draft=None, document_id=document.id, expected=document.version, sources=tuple(sources)
        )
        for path, document in tree.documents.items()
        if path not in retained and path != ROOT and document.author.kind == "job"
        for sources in [tree.sources.get(path, ())]
        if not any(source.id in available for source in sources)
    ]


def overviews(knowledge: Knowledge) -> "dict[str, tuple[DocumentDraft, tuple[DocumentSource, ...]]]":
    """Return the overview documents: all facts, and a summary of the most important ones. None if there is nothing."""
    if not knowledge.facts and not knowledge.selection.current:
        return {}
    memories = sorted(
        (item.memory for item in knowledge.selection.current),
        key=lambda item: (-to_micros(item.last_said), item.session_id),
    )
    sessions = tuple(DocumentSource(kind=SourceKind.SESSION_SUMMARY, id=item.session_id) for item in memories)
    facts = knowledge.sorted_facts()
    fact_sources = tuple(DocumentSource(kind=SourceKind.FACT, id=fact.id) for fact in facts)
    return {
        CONSOLIDATED: (_draft(CONSOLIDATED, "Consolidated memory", "A short overview."), sessions or fact_sources),
        MEMORY: (
            _draft(MEMORY, "Memory", "All facts and sessions.", memory_text(facts, memories)),
            (*sessions, *fact_sources),
        ),
        SUMMARY: (
            _draft(SUMMARY, "Memory summary", "What matters most.", summary_text(facts, memories)),
            (*sessions, *fact_sources),
        ),
    }


def changes_to(
    drafts: "Mapping[str, tuple[DocumentDraft, tuple[DocumentSource, ...]]]", tree: DocumentTree
) -> list[DocumentChange]:
    """Return the changes that turn the built documents into `drafts`. Documents last written by others stay."""
    changes: list[DocumentChange] = []
    for path, (draft, sources) in drafts.items():
        now = tree.documents.get(path)
        if now is not None and (
            not _may_replace(path, now.author) or _is_same(now.draft(), draft, tree.sources.get(path, ()), sources)
        ):
            continue
        changes.append(
            DocumentChange(
                path=path,
                draft=draft,
                document_id=now and now.id,
                expected=now and now.version,
                sources=sources,
            )
        )
    for path, now in tree.documents.items():
        if path != ROOT and path not in drafts and now.author.id == BUILDER:
            sources = tuple(tree.sources.get(path, ()))
            changes.append(
                DocumentChange(path=path, draft=None, document_id=now.id, expected=now.version, sources=sources)
            )
    return changes


def _may_replace(path: str, author: Author) -> bool:
    # The overviews are always rebuilt, unless a user wrote them. Other documents may be curated by a model.
    return author.id == BUILDER or (path in (CONSOLIDATED, MEMORY, SUMMARY) and author.kind != "user")


def _is_same(
    now: DocumentDraft, draft: DocumentDraft, before: Sequence[DocumentSource], sources: Sequence[DocumentSource]
) -> bool:
    if (now.title, now.description, now.body) != (draft.title, draft.description, draft.body):
        return False
    # A document without a body only groups others, so any one of its sources is enough.
    return set(before) == set(sources) if draft.body else bool(set(before) & set(sources))


def _topics(facts: Sequence[Fact]) -> "dict[str, tuple[DocumentDraft, tuple[DocumentSource, ...]]]":
    about: dict[str, tuple[str, list[Fact]]] = {}
    for fact in facts:
        for name in [entity for entity in fact.entities if entity.strip()] or [fact.subject or OWNER]:
            about.setdefault(_slug(name), (name, []))[1].append(fact)
    drafts: dict[str, tuple[DocumentDraft, tuple[DocumentSource, ...]]] = {}
    for slug, (name, about_it) in sorted(about.items()):
        sources = tuple(DocumentSource(kind=SourceKind.FACT, id=fact.id) for fact in about_it)
        body = by_kind_text(about_it)
        path = f"{ROOT}/{slug}"
        drafts[path] = (_draft(path, name, f"What is known about {name}.", body), sources)
    return drafts


def _slug(name: str) -> str:
    """Return the slug of a topic. If characters had to be dropped, a short hash keeps it unique."""
    plain = "-".join(name.casefold().split())
    slug = "-".join(WORD.findall(plain))[:60]
    if slug == plain and f"{ROOT}/{slug}" != CONSOLIDATED:
        return slug
    return f"{slug or 'thing'}-{hashlib.blake2b(plain.encode(), digest_size=3).hexdigest()}"


def _draft(path: str, title: str, description: str, body: str = "") -> DocumentDraft:
    return DocumentDraft(slug=path.rpartition("/")[2], title=title[:200], description=description[:2_000], body=body)
