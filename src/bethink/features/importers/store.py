"""Stores what an importer yields: each item once, however often and wherever it was interrupted."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any

from bethink.api.session import Session
from bethink.api.space import Space
from bethink.errors import Conflict, Duplicate, ErasedKey, Invalid, Stale
from bethink.features.importers.items import (
    Destination,
    ImportedDocument,
    ImportedFact,
    ImportedMessage,
    Item,
    UnreadableItem,
)

_BATCH = 100
_SHOWN = 10


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """What an import found and did."""

    found: int = 0
    stored: int = 0
    known: int = 0
    forgotten: int = 0
    """The items that were stored before and forgotten since: they are left out."""
    why: dict[str, str] = field(default_factory=dict[str, str])
    """The items that cannot be stored, and the reason for the first few."""
    dry_run: bool = False

    def refuse(self, place: str, why: str) -> None:
        """Count an item that cannot be stored."""
        self.why[place] = why if len(self.why) < _SHOWN else ""

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
        """Return the reasons for the first of them."""
        return [f"{place}: {why}" for place, why in islice(self.why.items(), _SHOWN)]


@dataclass(slots=True, kw_only=True)
class Importer:
    """Stores items in a space, each message in the current session of its conversation.

    With `copies_are_known`, a message whose key belongs to another conversation counts as stored: agents copy lines
    from one transcript to another.
    """

    space: Space
    report: ImportReport
    copies_are_known: bool = False
    other: Callable[[str], Space] | None = None
    """Returns another space by its name, for messages that belong to one."""
    _open: dict[tuple[str, str, str], tuple[Session, str]] = field(default_factory=dict[Any, Any])
    _last: dict[str, int] = field(default_factory=dict[str, int])
    _used: set[str] = field(default_factory=set[str])

    async def store(self, items: Iterable[Item], done: Callable[[int], None]) -> None:
        """Store items in their order, and tell after each batch how many it was."""
        for to, group in groupby(items, key=_destination):
            while batch := list(islice(group, _BATCH)):
                messages = [each for each in batch if isinstance(each, ImportedMessage)]
                if to is not None and messages:
                    await self._messages(to, messages)
                for each in batch:
                    await self._other(each)
                done(len(batch))
        for session, _ in self._open.values():
            await session.idle()  # so that they are learnt from

    async def _other(self, item: Item) -> None:
        try:
            if isinstance(item, UnreadableItem):
                self.report.refuse(item.place, item.why)
            elif isinstance(item, ImportedFact):
                await self.space.facts.save(item.fact, expected=0)
                self.report.stored += 1
            elif isinstance(item, ImportedDocument):
                await self.space.documents.create(item.draft, document_id=item.id)
                self.report.stored += 1
        except (Stale, Duplicate):
            self.report.known += 1
        except ErasedKey:
            self.report.forgotten += 1
        except (Conflict, Invalid) as error:
            self.report.refuse(item.place, str(error))

    async def _messages(self, to: Destination, batch: list[ImportedMessage]) -> None:
        """Store a batch at once; if that is refused, message by message."""
        session = await self._session(to)
        try:
            await self._append(self._space(to), session, batch)
        except (Conflict, Invalid) as error:
            if len(batch) > 1:
                for each in batch:
                    await self._messages(to, [each])
            elif isinstance(error, ErasedKey):
                self.report.forgotten += 1
            elif self.copies_are_known and isinstance(error, Conflict):
                self.report.known += 1
            else:
                self.report.refuse(batch[0].place, str(error))

    async def _append(self, space: Space, session: Session, batch: list[ImportedMessage]) -> None:
        before = self._last[session.id]
        stored = await space.remember([each.message for each in batch], session_id=session.id)
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
        # An open session without a message of this run is used on: its messages are stored already.
        if session is not None and session.id in self._used:
            await session.end()
        session = await self._space(to).session(to.conversation, agent=to.agent, kind=to.kind, ephemeral=not to.learns)
        self._open[key] = (session, to.session)
        self._last[session.id] = session.info.last_number
        return session


def _destination(item: Item) -> Destination | None:
    return item.to if isinstance(item, ImportedMessage) else None
