"""Carries out the verbs of facts."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Self, TypeVar

from bethink.errors import NotFound, Stale
from bethink.extend import Redactor
from bethink.memory.registry import Host, handles
from bethink.model.checks import InvalidField
from bethink.model.facts import Evidence, Fact, Quote, SourceMessage
from bethink.model.framing import text_cleaner
from bethink.model.kinds import FactKind
from bethink.model.operations.base import Empty
from bethink.model.operations.facts import (
    COUNT_FACTS,
    FACT_QUOTES,
    FACT_SOURCES,
    FACT_VERSIONS,
    FACTS_BY_METADATA,
    GET_FACT,
    LIST_FACTS,
    PAGE_FACTS,
    SAVE_FACT,
    SEARCH_FACTS,
    FactRequest,
    FactsByMetadataRequest,
    ListFactsRequest,
    PageFactsRequest,
    SaveFactRequest,
    SearchFactsRequest,
)
from bethink.model.operations.memory import CorrectRequest
from bethink.model.pages import FactPage
from bethink.model.recall import Corrected, Ref, RefKind
from bethink.model.records import checked_name
from bethink.model.text import canonical_json
from bethink.store import erasures, fact_pages, facts, learning_rules
from bethink.store.db import Database, Tx

T = TypeVar("T")


class FactService:
    """The facts of every space in one database."""

    def __init__(self, database: Database, *, redactor: Redactor) -> None:
        self._database = database
        self._cut = text_cleaner(redactor.redact)

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database, redactor=host.redactor)

    @handles(LIST_FACTS)
    async def all(self, space: str, request: ListFactsRequest) -> list[Fact]:
        """List facts, ordered by id."""
        return await self._read(
            space,
            lambda tx: facts.page(
                tx, space=space, as_of=request.as_of, limit=request.limit, after=request.after, only=request.only
            ),
        )

    @handles(PAGE_FACTS)
    async def page(self, space: str, request: PageFactsRequest) -> FactPage:
        """List facts by time, also those that were retired."""
        wanted = fact_pages.Wanted(
            state=request.state,
            subject=request.subject,
            slot=request.slot,
            kind=request.kind,
            origin=request.origin,
            order=request.order,
        )
        return await self._read(
            space,
            lambda tx: fact_pages.page(
                tx, wanted, space=space, as_of=request.as_of, after=request.after, limit=request.limit
            ),
        )

    @handles(SEARCH_FACTS)
    async def search(self, space: str, request: SearchFactsRequest) -> list[Fact]:
        """Return the facts that share words with a query."""
        return await self._read(
            space,
            lambda tx: facts.search(
                tx,
                space=space,
                question=request.query,
                limit=request.limit,
                as_of=request.as_of,
                only=request.only,
            ),
        )

    @handles(FACTS_BY_METADATA)
    async def by_metadata(self, space: str, request: FactsByMetadataRequest) -> list[Fact]:
        """Return the facts whose metadata has a value under a key."""
        return await self._read(
            space, lambda tx: facts.with_metadata(tx, space=space, key=request.key, value=request.value)
        )

    @handles(COUNT_FACTS)
    async def count(self, space: str, request: Empty) -> int:
        """Count the facts that hold now."""
        del request
        return await self._read(space, lambda tx: facts.count(tx, space=space))

    @handles(GET_FACT)
    async def get(self, space: str, request: FactRequest) -> Fact:
        """Return a fact as it stands now."""
        return await self._read(space, lambda tx: _found(tx, space, request.fact_id))

    @handles(SAVE_FACT)
    async def save(self, space: str, request: SaveFactRequest) -> Fact:
        """Store a fact, redacted. One with the same id is retired."""
        fact = self._cut_all(request.fact)

        def body(tx: Tx) -> Fact:
            _check_kind(tx, space, fact)
            facts.put(tx, space=space, fact=fact, expected=request.expected)
            if request.expected == 0:  # who expects none repeats an import, which may hold what was forgotten since
                erasures.check_fact(tx, fact.id, space=space)
            return _found(tx, space, fact.id)

        return await self._database.transact(body, space=space, repeatable=request.expected is None)

    async def correct(self, space: str, request: CorrectRequest) -> Corrected:
        """Write what a fact shall say from now on. If it says so already, a person has confirmed it."""
        text = self._cut(request.text).rstrip("\n")

        def body(tx: Tx) -> Corrected:
            facts.lock(tx, space=space)
            fact = _found(tx, space, request.ref.id)
            if fact.version != request.ref.number:
                raise Stale(f"fact {fact.id} is now at version {fact.version}.", current=fact.version)
            expires_at = request.expires_at or fact.expires_at
            if text == fact.content and expires_at == fact.expires_at:
                facts.mark_stated(tx, space=space, fact_id=fact.id)
            else:
                stated = replace(fact, content=text, expires_at=expires_at, evidence=Evidence.STATED, made_by=None)
                facts.put(tx, space=space, fact=stated, expected=fact.version)
            new = _found(tx, space, fact.id)
            return Corrected(ref=Ref(RefKind.FACT, new.id, new.version), previous=request.ref, text=new.content)

        return await self._database.transact(body, space=space)

    @handles(FACT_VERSIONS)
    async def versions(self, space: str, request: FactRequest) -> list[Fact]:
        """Return every version of a fact, the oldest first."""
        return await self._read(space, lambda tx: facts.versions(tx, space=space, fact_id=request.fact_id))

    @handles(FACT_SOURCES)
    async def sources(self, space: str, request: FactRequest) -> list[SourceMessage]:
        """Return the messages that a learnt fact rests on."""
        return await self._read(space, lambda tx: facts.sources_of(tx, space=space, fact_id=request.fact_id))

    @handles(FACT_QUOTES)
    async def quotes(self, space: str, request: FactRequest) -> list[Quote]:
        """Return the exact words that a learnt fact rests on."""
        return await self._read(space, lambda tx: facts.quotes_of(tx, space=space, fact_id=request.fact_id))

    def _cut_all(self, fact: Fact) -> Fact:
        cut = self._cut
        return replace(
            fact,
            id=checked_name(fact.id, "a fact's id"),
            content=cut(fact.content),
            source=cut(fact.source),
            subject=None if fact.subject is None else cut(fact.subject),
            slot=None if fact.slot is None else cut(fact.slot),
            tags=tuple(map(cut, fact.tags)),
            metadata=json.loads(canonical_json(fact.metadata, cut)),
            entities=tuple(map(cut, fact.entities)),
        )

    async def _read(self, space: str, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, space=space, read=True)


def _check_kind(tx: Tx, space: str, fact: Fact) -> None:
    """Raise `Invalid` for a kind that neither everyone has nor the rules of the space name."""
    if isinstance(fact.kind, FactKind):
        return
    own = {name for rules in learning_rules.everyone(tx, space=space).values() for name in rules.kinds}
    known = facts.find(tx, space=space, fact_id=fact.id)
    if fact.kind not in own and (known is None or known.kind != fact.kind):
        hint = f"Use {', '.join([*FactKind, *sorted(own)])}, or name it in the learning rules."
        raise InvalidField("kind", f"cannot be {str(fact.kind)!r}.", hint=hint)


def _found(tx: Tx, space: str, fact_id: str) -> Fact:
    found = facts.find(tx, space=space, fact_id=fact_id)
    if found is None:
        raise NotFound(f"no fact {fact_id!r} in space {space!r}.")
    return found
