"""Stores imported items. An interrupted import can be repeated: each item is stored once."""

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
)

_BATCH = 100
_MAX_REASONS = 10


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """Counts and failures of an import."""

    found: int = 0
    stored: int = 0
    known: int = 0
    forgotten: int = 0
    """Items that were deleted after an earlier import. They are skipped."""
    why: dict[str, str] = field(default_factory=dict[str, str])
    """Items that cannot be stored, with reasons for the first few."""
    dry_run: bool = False

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
    """Returns a space by name, for messages with their own space."""
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
                await self.space.facts.save(item.fact, if_version=0)
                self.report.stored += 1
            elif isinstance(item, ImportedDocument):
                await self.space.documents.create(item.draft, document_id=item.id)
                self.report.stored += 1
        except (VersionConflictError, DuplicateError):
            self.report.known += 1
        except ErasedKeyError:
            self.report.forgotten += 1
        except (ConflictError, InvalidRequestError) as error:
            self.report.refuse(item.location, str(error))

    async def _store_messages(self, to: Destination, batch: list[ImportedMessage]) -> None:
        """Store a batch at once, or message by message if the batch is rejected."""
        session = await self._session(to)
        try:
            await self._append(self._space(to), session, batch)
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

    def _space(self, to: Destination) -> Space:
        return self.other(to.space) if to.space and self.other is not None else self.space

    async def _session(self, to: Destination) -> Session:
        key = (to.space, to.conversation, to.agent)
        session, tag = self._open.get(key, (None, ""))
        if session is not None and to.session in ("", tag):
            return session
        # Reuse an open session without messages of this run: its messages are already stored.
        if session is not None and session.id in self._used:
            await session.end()
        session = await self._space(to).session(to.conversation, agent=to.agent, kind=to.kind, ephemeral=not to.learns)
        self._open[key] = (session, to.session)
        self._last[session.id] = session.info.last_number
        return session


def _destination(item: Item) -> Destination | None:
    return item.to if isinstance(item, ImportedMessage) else None
