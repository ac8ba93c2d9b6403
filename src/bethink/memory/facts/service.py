"""Handles the operations of facts."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Self, TypeVar

from bethink.errors import InvalidFieldError, NotFoundError, VersionConflictError
from bethink.extend import Redactor
from bethink.memory.registry import Host, handles
from bethink.model.facts import Evidence, Fact, Quote, SourceMessage
from bethink.model.framing import text_cleaner
from bethink.model.kinds import FactKind
from bethink.model.operations.base import Empty
from bethink.model.operations.facts import (
    COUNT_FACTS,
    FACT_HISTORY,
    FACT_QUOTES,
    FACT_SOURCES,
    FACT_VERSIONS,
    GET_FACT,
    LIST_FACTS,
    SAVE_FACT,
    SEARCH_FACTS,
    FactHistoryRequest,
    FactRequest,
    ListFactsRequest,
    SaveFactRequest,
    SearchFactsRequest,
)
from bethink.model.operations.memory import CorrectRequest
from bethink.model.pages import FactEntry
from bethink.model.paging import Page, page_of
from bethink.model.recall import Correction
from bethink.model.records import checked_name
from bethink.model.refs import Ref, RefKind
from bethink.model.text import canonical_json
from bethink.store import erasures, fact_pages, facts, learning_rules, search, visible_facts
from bethink.store.db import Database, Tx

T = TypeVar("T")


class FactService:
    """The facts of every space in one database."""

    def __init__(self, database: Database, *, redactor: Redactor) -> None:
        self._database = database
        self._cut = text_cleaner(redactor.redact)

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from an open memory."""
        return cls(host.database, redactor=host.redactor)

    @handles(LIST_FACTS)
    async def list_facts(self, space: str, request: ListFactsRequest) -> Page[Fact]:
        """List current facts by id, or the pinned ones."""
        if request.pinned:
            pinned = await self._query(
                space, lambda tx: search.pinned_facts(tx, space=space, view=request.view, limit=request.limit)
            )
            return Page(items=tuple(text.fact for text in pinned if text.fact is not None))
        rows = await self._query(
            space,
            lambda tx: facts.page(
                tx, space=space, view=request.view, limit=request.limit + 1, after=request.after, only=request.only
            ),
        )
        return page_of(rows, request.limit, lambda fact: fact.id)

    @handles(FACT_HISTORY)
    async def history(self, space: str, request: FactHistoryRequest) -> Page[FactEntry]:
        """List versions of facts by time, including ended and replaced ones."""
        filters = fact_pages.FactQuery(
            state=request.status,
            subject=request.subject,
            slot=request.slot,
            kind=request.kind,
            origin=request.origin,
            order=request.order,
        )
        return await self._query(
            space,
            lambda tx: fact_pages.page(
                tx, filters, space=space, view=request.view, after=request.after, limit=request.limit
            ),
        )

    @handles(SEARCH_FACTS)
    async def search(self, space: str, request: SearchFactsRequest) -> list[Fact]:
        """Return the facts that share words with a query."""
        return await self._query(
            space,
            lambda tx: facts.search(
                tx,
                space=space,
                question=request.query,
                limit=request.limit,
                view=request.view,
                only=request.only,
            ),
        )

    @handles(COUNT_FACTS)
    async def count(self, space: str, request: Empty) -> int:
        """Count the current facts."""
        del request
        return await self._query(space, lambda tx: facts.count(tx, space=space))

    @handles(GET_FACT)
    async def get(self, space: str, request: FactRequest) -> Fact:
        """Return the current version of a fact."""
        return await self._query(space, lambda tx: _get_fact(tx, space, request.fact_id))

    @handles(SAVE_FACT)
    async def save(self, space: str, request: SaveFactRequest) -> Fact:
        """Store a fact, redacted. It replaces the fact with the same id."""
        fact = request.fact
        size = len(fact.text) + (len(repr(fact.metadata)) if fact.metadata else 0)
        fact = await self._database.lanes.run(space, size, lambda: self._cut_all(request.fact))

        def body(tx: Tx) -> Fact:
            _check_kind(tx, space, fact)
            facts.put(tx, space=space, fact=fact, expected=request.if_version)
            if request.if_version == 0:  # a repeated import may contain facts that were deleted since
                erasures.check_fact(tx, fact.id, space=space)
            return _get_fact(tx, space, fact.id)

        return await self._database.transact(body, space=space, repeatable=request.if_version is None)

    async def correct(self, space: str, request: CorrectRequest) -> Correction:
        """Write a new version of a fact. If its text is the same, mark the fact as confirmed by a person."""
        text = await self._database.lanes.run(space, len(request.text), lambda: self._cut(request.text).rstrip("\n"))

        def body(tx: Tx) -> Correction:
            facts.lock(tx, space=space)
            fact = _get_fact(tx, space, request.ref.id)
            if fact.version != request.ref.number:
                raise VersionConflictError(f"Fact {fact.id} is now at version {fact.version}.", current=fact.version)
            expires_at = request.expires_at or fact.expires_at
            if text == fact.text and expires_at == fact.expires_at:
                facts.mark_stated(tx, space=space, fact_id=fact.id)
            else:
                _correct(tx, space, fact, text, expires_at)
                for twin in _twins(tx, space, fact):
                    _correct(tx, space, twin, text, twin.expires_at)
            new = _get_fact(tx, space, fact.id)
            return Correction(ref=Ref(RefKind.FACT, new.id, new.version), previous=request.ref, text=new.text)

        return await self._database.transact(body, space=space)

    @handles(FACT_VERSIONS)
    async def versions(self, space: str, request: FactRequest) -> list[Fact]:
        """Return every version of a fact, the oldest first."""
        return await self._query(space, lambda tx: visible_facts.versions(tx, space=space, fact_id=request.fact_id))

    @handles(FACT_SOURCES)
    async def sources(self, space: str, request: FactRequest) -> list[SourceMessage]:
        """Return the source messages of a learned fact."""
        return await self._query(space, lambda tx: visible_facts.sources_of(tx, space=space, fact_id=request.fact_id))

    @handles(FACT_QUOTES)
    async def quotes(self, space: str, request: FactRequest) -> list[Quote]:
        """Return the quotes of a learned fact."""
        return await self._query(space, lambda tx: visible_facts.quotes_of(tx, space=space, fact_id=request.fact_id))

    def _cut_all(self, fact: Fact) -> Fact:
        cut = self._cut
        return replace(
            fact,
            id=checked_name(fact.id, "a fact's id"),
            text=cut(fact.text),
            source=cut(fact.source),
            subject=None if fact.subject is None else cut(fact.subject),
            slot=None if fact.slot is None else cut(fact.slot),
            tags=tuple(map(cut, fact.tags)),
            metadata=json.loads(canonical_json(fact.metadata, cut)),
            entities=tuple(map(cut, fact.entities)),
        )

    async def _query(self, space: str, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, space=space, read_only=True)


def _correct(tx: Tx, space: str, fact: Fact, text: str, expires_at: datetime | None) -> None:
    """Write what a person says as the next version of a fact. Its words are settled by that."""
    stated = replace(fact, text=text, expires_at=expires_at, evidence=Evidence.STATED, created_by=None)
    facts.put(tx, space=space, fact=stated, expected=fact.version)
    if text != fact.text:
        facts.mark_corrected(tx, space=space, fact_id=fact.id, version=fact.version)


def _twins(tx: Tx, space: str, fact: Fact) -> list[Fact]:
    """Return the other facts that say the same about the same, such as the same words for another time."""
    same = facts.with_same_text(tx, space=space, content=fact.text)
    return [twin for twin in same if twin.id != fact.id and (twin.subject, twin.slot) == (fact.subject, fact.slot)]


def _check_kind(tx: Tx, space: str, fact: Fact) -> None:
    """Raise `InvalidFieldError` for a kind that is neither built in nor in the rules of the space."""
    if isinstance(fact.kind, FactKind):
        return
    own = {name for rules in learning_rules.list_all(tx, space=space).values() for name in rules.kinds}
    existing = facts.find(tx, space=space, fact_id=fact.id)
    if fact.kind not in own and (existing is None or existing.kind != fact.kind):
        hint = f"Use {', '.join([*FactKind, *sorted(own)])}, or name it in the learning rules."
        raise InvalidFieldError("kind", f"cannot be {str(fact.kind)!r}.", hint=hint)


def _get_fact(tx: Tx, space: str, fact_id: str) -> Fact:
    fact = facts.find(tx, space=space, fact_id=fact_id)
    if fact is None:
        raise NotFoundError(f"No fact {fact_id!r} in space {space!r}.")
    return fact
