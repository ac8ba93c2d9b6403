"""Input and output of a consolidation."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from bethink.base.frozen import frozen
from bethink.model.documents import Document, DocumentDraft, DocumentSource, SourceKind
from bethink.model.facts import SessionSummary
from bethink.model.moments import Micros, to_micros


@frozen
class ConsolidationCandidate:
    """A session summary, its usage, and whether the last consolidation saw this version of it."""

    memory: SessionSummary
    usage_count: int
    last_usage: datetime | None
    selected: bool
    seen_at: datetime | None

    @property
    def is_retained(self) -> bool:
        """Return whether the last consolidation saw this version of it."""
        return self.selected and self.seen_at == self.memory.source_updated_at


@frozen
class Selection:
    """The session summaries of this consolidation compared with those of the last: added, retained and removed."""

    current: tuple[ConsolidationCandidate, ...]
    previous: tuple[ConsolidationCandidate, ...]

    @property
    def added_summaries(self) -> list[SessionSummary]:
        """Session summaries that are new, or that changed since the last consolidation."""
        return [candidate.memory for candidate in self.current if not candidate.is_retained]

    @property
    def retained_summaries(self) -> list[SessionSummary]:
        """Session summaries that have not changed since the last consolidation."""
        return [candidate.memory for candidate in self.current if candidate.is_retained]

    @property
    def removed_summaries(self) -> list[SessionSummary]:
        """Session summaries that are no longer selected: data that is based only on them must be deleted."""
        current_ids = {candidate.memory.session_id for candidate in self.current}
        return [candidate.memory for candidate in self.previous if candidate.memory.session_id not in current_ids]

    def snapshot(self, shown_ids: Collection[str]) -> list[tuple[str, Micros]]:
        """List the sessions that were seen before or are shown now, each with the time of its newest record."""
        return [
            (candidate.memory.session_id, to_micros(candidate.memory.source_updated_at))
            for candidate in self.current
            if candidate.is_retained or candidate.memory.session_id in shown_ids
        ]

    def fresh(self, shown_ids: Collection[str]) -> list[tuple[str, Micros]]:
        """List the sessions that are shown for the first time."""
        return [
            (summary.session_id, to_micros(summary.source_updated_at))
            for summary in self.added_summaries
            if summary.session_id in shown_ids
        ]


class ChangeStatus(StrEnum):
    """The status of a change set."""

    PENDING = "pending"
    APPLIED = "applied"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    UNDONE = "undone"


@frozen
class DocumentChange:
    """A change of one document. With `draft` None it is deleted; with `expected` None it does not exist yet.

    The document is identified by its path, because the same run may create its parent.
    """

    path: str
    draft: DocumentDraft | None
    document_id: str | None = None
    expected: int | None = None
    sources: tuple[DocumentSource, ...] = ()

    def to_json(self) -> Mapping[str, Any]:
        """Return the change as JSON values."""
        draft = self.draft
        return {
            "path": self.path,
            "document_id": self.document_id,
            "expected": self.expected,
            "sources": [[source.kind, source.id, source.number] for source in self.sources],
            "draft": draft
            and {
                "slug": draft.slug,
                "title": draft.title,
                "description": draft.description,
                "body": draft.body,
                "links": list(draft.links),
            },
        }

    @classmethod
    def from_json(cls, tree: Mapping[str, Any]) -> "DocumentChange":
        """Build a change from the result of `to_json`."""
        draft = tree["draft"]
        return cls(
            path=tree["path"],
            document_id=tree["document_id"],
            expected=tree["expected"],
            sources=tuple(
                DocumentSource(kind=SourceKind(kind), id=name, number=number) for kind, name, number in tree["sources"]
            ),
            draft=draft
            and DocumentDraft(
                slug=draft["slug"],
                title=draft["title"],
                description=draft["description"],
                body=draft["body"],
                links=tuple(draft["links"]),
            ),
        )


@frozen
class ChangeSet:
    """Document changes that a run applied or proposes."""

    run: str
    status: ChangeStatus
    changes: tuple[DocumentChange, ...]
    created_at: datetime
    settled_at: datetime | None


@frozen
class DocumentTree:
    """The documents below `~/memory` by path, before a run changes them."""

    documents: Mapping[str, Document]
    sources: Mapping[str, Sequence[DocumentSource]]
