"""Consolidate without a model: group facts by topic, newest first, and give every line its source."""

import hashlib
from collections.abc import Collection, Mapping, Sequence

from bethink.base.frozen import frozen
from bethink.memory.documents.overviews import OWNER, by_kind_text, memory_text, summary_text
from bethink.model.consolidation import Change, DocumentTree, Selection
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
class Known:
    """The input of a consolidation: the selected session memories, and the facts with their source messages."""

    selection: Selection
    facts: Sequence[Fact]
    sources: Mapping[str, Sequence[SourceMessage]]

    def supported(self) -> list[Fact]:
        """Return the facts that a selected session supports, newest first, and those without any source."""
        selected = {each.memory.session_id for each in self.selection.current}
        kept = [
            fact
            for fact in self.facts
            if not self.sources.get(fact.id) or any(each.session_id in selected for each in self.sources[fact.id])
        ]
        return sorted(kept, key=lambda fact: (-to_micros(fact.created_at or EPOCH), fact.id))


def build_documents(known: Known, tree: DocumentTree) -> list[Change]:
    """Return the changes that bring the tree up to date: a document for each topic, and the overviews."""
    wanted = {**_topics(known.supported()), **overviews(known)} if known.selection.current else {}
    changes = changes_to(wanted, tree)
    return [*changes, *unsupported(known, tree, kept={*wanted, *(each.path for each in changes)})]


def known_sources(known: Known) -> dict[str, DocumentSource]:
    """Return every source a document can have now, by id."""
    sessions = {
        each.memory.session_id: DocumentSource(kind=SourceKind.SESSION_MEMORY, id=each.memory.session_id)
        for each in known.selection.current
    }
    return sessions | {fact.id: DocumentSource(kind=SourceKind.FACT, id=fact.id) for fact in known.supported()}


def unsupported(known: Known, tree: DocumentTree, *, kept: Collection[str]) -> list[Change]:
    """Return deletions for the derived documents that have lost all their sources."""
    available = known_sources(known)
    return [
        Change(path=path, draft=None, document_id=each.id, expected=each.version, sources=tuple(sources))
        for path, each in tree.documents.items()
        if path not in kept and path != ROOT and each.author.kind == "job"
        for sources in [tree.sources.get(path, ())]
        if not any(source.id in available for source in sources)
    ]


def overviews(known: Known) -> "dict[str, tuple[DocumentDraft, tuple[DocumentSource, ...]]]":
    """Return the overview documents: everything that is known, and a summary of what matters most."""
    memories = sorted(
        (each.memory for each in known.selection.current),
        key=lambda each: (-to_micros(each.last_said), each.session_id),
    )
    sessions = tuple(DocumentSource(kind=SourceKind.SESSION_MEMORY, id=each.session_id) for each in memories)
    facts = known.supported()
    fact_sources = tuple(DocumentSource(kind=SourceKind.FACT, id=fact.id) for fact in facts)
    return {
        CONSOLIDATED: (_draft(CONSOLIDATED, "Consolidated memory", "All of it in short."), sessions),
        MEMORY: (
            _draft(MEMORY, "Memory", "Everything that is known.", memory_text(facts, memories)),
            (*sessions, *fact_sources),
        ),
        SUMMARY: (
            _draft(SUMMARY, "Memory summary", "What matters most.", summary_text(facts, memories)),
            (*sessions, *fact_sources),
        ),
    }


def changes_to(
    wanted: "Mapping[str, tuple[DocumentDraft, tuple[DocumentSource, ...]]]", tree: DocumentTree
) -> list[Change]:
    """Return the changes that turn the built documents into `wanted`. Documents last written by others stay."""
    changes: list[Change] = []
    for path, (draft, sources) in wanted.items():
        now = tree.documents.get(path)
        if now is not None and (
            not _may_replace(path, now.author) or _says(now.draft(), draft, tree.sources.get(path, ()), sources)
        ):
            continue
        changes.append(
            Change(
                path=path,
                draft=draft,
                document_id=now and now.id,
                expected=now and now.version,
                sources=sources,
            )
        )
    for path, now in tree.documents.items():
        if path != ROOT and path not in wanted and now.author.id == BUILDER:
            sources = tuple(tree.sources.get(path, ()))
            changes.append(Change(path=path, draft=None, document_id=now.id, expected=now.version, sources=sources))
    return changes


def _may_replace(path: str, author: Author) -> bool:
    # The overviews are always rebuilt, unless a user wrote them. Other documents may be curated by a model.
    return author.id == BUILDER or (path in (CONSOLIDATED, MEMORY, SUMMARY) and author.kind != "user")


def _says(
    now: DocumentDraft, draft: DocumentDraft, before: Sequence[DocumentSource], sources: Sequence[DocumentSource]
) -> bool:
    if (now.title, now.description, now.body) != (draft.title, draft.description, draft.body):
        return False
    # A document without a body only groups others, so any one of its sources is enough.
    return set(before) == set(sources) if draft.body else bool(set(before) & set(sources))


def _topics(facts: Sequence[Fact]) -> "dict[str, tuple[DocumentDraft, tuple[DocumentSource, ...]]]":
    about: dict[str, tuple[str, list[Fact]]] = {}
    for fact in facts:
        for name in [each for each in fact.entities if each.strip()] or [fact.subject or OWNER]:
            about.setdefault(_slug(name), (name, []))[1].append(fact)
    found: dict[str, tuple[DocumentDraft, tuple[DocumentSource, ...]]] = {}
    for slug, (name, about_it) in sorted(about.items()):
        sources = tuple(DocumentSource(kind=SourceKind.FACT, id=fact.id) for fact in about_it)
        body = by_kind_text(about_it)
        path = f"{ROOT}/{slug}"
        found[path] = (_draft(path, name, f"What is known about {name}.", body), sources)
    return found


def _slug(name: str) -> str:
    """Return the slug of a topic. If characters had to be dropped, a short hash keeps it unique."""
    plain = "-".join(name.casefold().split())
    slug = "-".join(WORD.findall(plain))[:60]
    if slug == plain and f"{ROOT}/{slug}" != CONSOLIDATED:
        return slug
    return f"{slug or 'thing'}-{hashlib.blake2b(plain.encode(), digest_size=3).hexdigest()}"


def _draft(path: str, title: str, description: str, body: str = "") -> DocumentDraft:
    return DocumentDraft(slug=path.rpartition("/")[2], title=title[:200], description=description[:2_000], body=body)
