"""The input and the output of a consolidation, as plain records."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from bethink.base.frozen import frozen
from bethink.model.documents import Document, DocumentDraft, DocumentSource, SourceKind
from bethink.model.facts import SessionMemory
from bethink.model.moments import Micros, to_micros


@frozen
class ConsolidationCandidate:
    """A session memory, how it was used, and whether the last consolidation saw this version of it."""

    memory: SessionMemory
    usage_count: int
    last_usage: datetime | None
    selected: bool
    seen_at: datetime | None

    @property
    def retained(self) -> bool:
        """Return whether the last consolidation saw this version of it."""
        return self.selected and self.seen_at == self.memory.source_updated_at


@frozen
class Selection:
    """The session memories of this consolidation compared with those of the last: added, retained and removed."""

    current: tuple[ConsolidationCandidate, ...]
    previous: tuple[ConsolidationCandidate, ...]

    @property
    def added(self) -> list[SessionMemory]:
        """Session memories that are new, or that changed since the last consolidation."""
        return [each.memory for each in self.current if not each.retained]

    @property
    def retained(self) -> list[SessionMemory]:
        """Session memories that have not changed since the last consolidation."""
        return [each.memory for each in self.current if each.retained]

    @property
    def removed(self) -> list[SessionMemory]:
        """Session memories that are no longer selected: whatever rests only on them must be forgotten."""
        now = {each.memory.session_id for each in self.current}
        return [each.memory for each in self.previous if each.memory.session_id not in now]

    def snapshot(self, shown: Collection[str]) -> list[tuple[str, Micros]]:
        """List each session that was seen before or is shown now, with the time of its newest record then."""
        return [
            (each.memory.session_id, to_micros(each.memory.source_updated_at))
            for each in self.current
            if each.retained or each.memory.session_id in shown
        ]

    def fresh(self, shown: Collection[str]) -> list[tuple[str, Micros]]:
        """List the sessions that are shown for the first time."""
        return [(each.session_id, to_micros(each.source_updated_at)) for each in self.added if each.session_id in shown]


class ChangeStatus(StrEnum):
    """The status of a change set."""

    HELD = "held"
    APPLIED = "applied"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    UNDONE = "undone"


@frozen
class Change:
    """One document as a run wants it. `draft` None deletes it; `expected` None means that it does not exist yet.

    It is identified by its path, because the same run may create its parent.
    """

    path: str
    draft: DocumentDraft | None
    document_id: str | None = None
    expected: int | None = None
    sources: tuple[DocumentSource, ...] = ()

    def to_json(self) -> Mapping[str, Any]:
        """Return it as plain JSON values."""
        draft = self.draft
        return {
            "path": self.path,
            "document_id": self.document_id,
            "expected": self.expected,
            "sources": [[each.kind, each.id, each.number] for each in self.sources],
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
    def from_json(cls, tree: Mapping[str, Any]) -> "Change":
        """Read what `to_json` returned."""
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
    """The changes that one run made to the tree, or proposes."""

    run: str
    status: ChangeStatus
    changes: tuple[Change, ...]
    created_at: datetime
    settled_at: datetime | None


@frozen
class DocumentTree:
    """The documents below `~/memory` by path, as a run finds them."""

    documents: Mapping[str, Document]
    sources: Mapping[str, Sequence[DocumentSource]]
