"""Stores imported items. An interrupted import can be repeated: each item is stored once."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any

from bethink.api.session import Session
from bethink.api.space import Space
from bethink.errors import ConflictError, DuplicateError, ErasedKeyError, InvalidRequestError, VersionConflictError
from bethink.features.importers.items import (
    Destination,
    ImportedDocument,
    ImportedFact,
    ImportedMessage,
    Item,
    UnreadableItem,
    parse_time,
)
from bethink.model.facts import Fact

_BATCH = 100
_MAX_REASONS = 10


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """Counts and failures of an import."""

    found: int = 0
    stored: int = 0
    known: int = 0
    updated: int = 0
    """Facts that changed at their source since an earlier import. Each has a new version."""
    corrected: int = 0
    """Facts that changed both at their source and here. They are left as they are here."""
    forgotten: int = 0
    """Items that were deleted after an earlier import. They are skipped."""
    why: dict[str, str] = field(default_factory=dict[str, str])
    """Items that cannot be stored, with reasons for the first few."""
    spaces: Counter[str] = field(default_factory=Counter[str])
    """Number of items per space."""
    dry_run: bool = False

    def count(self, item: Item, space: str) -> None:
        """Count an item by its space, or by `space` if it names none."""
        self.found += 1
        if isinstance(item, UnreadableItem):
            if self.dry_run:
                self.refuse(item.location, item.reason)
            return
        to = _destination(item)
        own = item.space if isinstance(item, ImportedFact) else "" if to is None else to.space
        self.spaces[own or space] += 1

    def refuse(self, location: str, reason: str) -> None:
        """Count an item that cannot be stored."""
        self.why[location] = reason if len(self.why) < _MAX_REASONS else ""

    @property
    def refused(self) -> int:
        """Count the items that cannot be stored."""
        return len(self.why)

    @property
    def storable(self) -> int:
        """Count the items that can be stored."""
        return self.found - self.refused

    @property
    def refusals(self) -> list[str]:
        """Return the first few failures, with reasons."""
        return [f"{location}: {reason}" for location, reason in islice(self.why.items(), _MAX_REASONS)]


@dataclass(slots=True, kw_only=True)
class Importer:
    """Stores items in a space. Each message goes to the current session of its conversation.

    With `skip_copies`, a message whose key belongs to another conversation counts as stored, because agents copy
    lines between transcripts.
    """

    space: Space
    report: ImportReport
    skip_copies: bool = False
    other: Callable[[str], Space] | None = None
    """Returns a space by name, for items with their own space."""
    _open: dict[tuple[str, str, str], tuple[Session, str]] = field(default_factory=dict[Any, Any])
    _last: dict[str, int] = field(default_factory=dict[str, int])
    _used: set[str] = field(default_factory=set[str])

    async def store(self, items: Iterable[Item], done: Callable[[int], None]) -> None:
        """Store items in order, and report the size of each batch."""
        for to, group in groupby(items, key=_destination):
            while batch := list(islice(group, _BATCH)):
                messages = [item for item in batch if isinstance(item, ImportedMessage)]
                if to is not None and messages:
                    await self._store_messages(to, messages)
                for item in batch:
                    await self._store_item(item)
                done(len(batch))
        for session, _ in self._open.values():
            await session.checkpoint(force=True)  # queue them for learning

    async def _store_item(self, item: Item) -> None:
        try:
            if isinstance(item, UnreadableItem):
                self.report.refuse(item.location, item.reason)
            elif isinstance(item, ImportedFact):
                await self._store_fact(item)
            elif isinstance(item, ImportedDocument):
                await self.space.documents.create(item.draft, document_id=item.id)
                self.report.stored += 1
        except (VersionConflictError, DuplicateError):
            self.report.known += 1
        except ErasedKeyError:
            self.report.forgotten += 1
        except (ConflictError, InvalidRequestError) as error:
            self.report.refuse(item.location, str(error))

    async def _store_fact(self, item: ImportedFact) -> None:
        facts = self._named_space(item.space).facts
        try:
            await facts.save(item.fact, if_version=0)
            self.report.stored += 1
        except VersionConflictError:
            existing = await facts.get(item.fact.id)
            if not _is_newer(item, existing):
                self.report.known += 1
            elif _changed_here(existing, item.fact):
                self.report.corrected += 1
            else:
                await facts.save(item.fact, if_version=existing.version)
                self.report.updated += 1

    async def _store_messages(self, to: Destination, batch: list[ImportedMessage]) -> None:
        """Store a batch at once, or message by message if the batch is rejected."""
        session = await self._session(to)
        try:
            await self._append(self._named_space(to.space), session, batch)
        except (ConflictError, InvalidRequestError) as error:
            if len(batch) > 1:
                for message in batch:
                    await self._store_messages(to, [message])
            elif isinstance(error, ErasedKeyError):
                self.report.forgotten += 1
            elif self.skip_copies and isinstance(error, ConflictError):
                self.report.known += 1
            else:
                self.report.refuse(batch[0].location, str(error))

    async def _append(self, space: Space, session: Session, batch: list[ImportedMessage]) -> None:
        before = self._last[session.id]
        stored = await space.remember([item.message for item in batch], session_id=session.id)
        fresh = [ref.number for ref in stored.refs if ref.id == session.id and ref.number > before]
        self._last[session.id] = max([before, *fresh])
        self._used.update(ref.id for ref in stored.refs)
        self.report.stored += len(fresh)
        self.report.known += len(batch) - len(fresh)

    def _named_space(self, name: str) -> Space:
        return self.other(name) if name and self.other is not None else self.space

    async def _session(self, to: Destination) -> Session:
        key = (to.space, to.conversation, to.agent)
        session, tag = self._open.get(key, (None, ""))
        if session is not None and to.session in ("", tag):
            return session
        # Reuse an open session without messages of this run: its messages are already stored.
        if session is not None and session.id in self._used:
            await session.end()
        session = await self._named_space(to.space).session(
            to.conversation, agent=to.agent, kind=to.kind, ephemeral=not to.learns
        )
        self._open[key] = (session, to.session)
        self._last[session.id] = session.info.last_number
        return session


def _destination(item: Item) -> Destination | None:
    return item.to if isinstance(item, ImportedMessage) else None


def _is_newer(item: ImportedFact, existing: Fact) -> bool:
    imported_at = parse_time(existing.metadata.get("updated_at"))
    return item.changed_at is not None and (imported_at is None or item.changed_at > imported_at)


def _changed_here(existing: Fact, imported: Fact) -> bool:
    """Return whether a person corrected or confirmed the fact, or a later fact ended it."""
    at_import = (imported.source, imported.valid_to, imported.evidence)
    return (existing.source, existing.valid_to, existing.evidence) != at_import
