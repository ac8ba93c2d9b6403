"""The facts of a space.

Written by tools/make_api.py from the table of operations; change a request there and run it again.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from bethink.api.handles import Handle, tuple_of
from bethink.model.facts import Fact, Quote, SourceMessage
from bethink.model.kinds import FactKind
from bethink.model.moments import When, beginning, moment
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
from bethink.model.pages import FactPage, FactState, Order


class Facts(Handle):
    """The facts of a space."""

    async def all(
        self,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: When | None = None,
        limit: int = 100,
        after: str = "",
    ) -> list[Fact]:
        """List facts, ordered by id.

        Args:
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            as_of: The facts that held at this time. A day means its end.
            limit: How many facts to return at most.
            after: Only facts that follow this one: the last id of the previous page.
        """
        return await self._run(
            LIST_FACTS,
            ListFactsRequest(
                origins=None if origins is None else tuple_of(origins),
                tags=tuple_of(tags),
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                where=where,
                as_of=None if as_of is None else moment(as_of),
                limit=limit,
                after=after,
            ),
        )

    async def page(
        self,
        *,
        state: FactState | None = None,
        subject: str | None = None,
        slot: str | None = None,
        kind: FactKind | None = None,
        origin: str | None = None,
        order: Order = Order.NEWEST,
        as_of: When | None = None,
        limit: int = 50,
        after: str = "",
    ) -> FactPage:
        """List facts by time, also those that were retired, each with what took its place.

        Each version of a fact is one row. A page costs the same however many facts there are.

        Args:
            state: Only facts that hold, that ended, or versions that were retired; all of them, if left out.
            subject: Only facts about this.
            slot: Only facts about the value of this slot, such as `home`.
            kind: Only facts of this kind.
            origin: Only facts of this origin.
            order: The newest or the oldest first: by when they were recorded, or retired ones alone by when they
                were retired.
            as_of: What was known at this time. A day means its end.
            limit: How many facts to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        return await self._run(
            PAGE_FACTS,
            PageFactsRequest(
                state=state,
                subject=subject,
                slot=slot,
                kind=kind,
                origin=origin,
                order=order,
                as_of=None if as_of is None else moment(as_of),
                limit=limit,
                after=after,
            ),
        )

    async def search(
        self,
        query: str,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 10,
        as_of: When | None = None,
    ) -> list[Fact]:
        """Return the facts that share words with a query, the best match first.

        Args:
            query: Words that the facts share. A part in double quotes must occur as it is.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            limit: How many facts to return at most.
            as_of: Search what was known at this time. A day means its end.
        """
        return await self._run(
            SEARCH_FACTS,
            SearchFactsRequest(
                origins=None if origins is None else tuple_of(origins),
                tags=tuple_of(tags),
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                where=where,
                query=query,
                limit=limit,
                as_of=None if as_of is None else moment(as_of),
            ),
        )

    async def by_metadata(self, key: str, value: str) -> list[Fact]:
        """Return the facts whose metadata has a value under a key, the oldest first.

        Args:
            key: The key in the metadata of a fact.
            value: The value that it must have.
        """
        return await self._run(FACTS_BY_METADATA, FactsByMetadataRequest(key=key, value=value))

    async def count(self) -> int:
        """Count the facts that hold now."""
        return await self._run(COUNT_FACTS, Empty())

    async def get(self, fact_id: str) -> Fact:
        """Return a fact as it stands now.

        Args:
            fact_id: The fact.

        Raises:
            NotFound: if the space has no such fact, or it was retired.
        """
        return await self._run(GET_FACT, FactRequest(fact_id=fact_id))

    async def save(self, fact: Fact, *, expected: int | None = None) -> Fact:
        """Store a fact and return it as stored.

        Args:
            fact: The fact. One with the same id is retired, and still found as of the time before.
            expected: The version that it replaces, 0 for none. Any version, if left out.

        Raises:
            Stale: if `expected` is not the current version.
            ErasedKey: if `expected` is 0 and the fact with this id was erased in the last 30 days.
        """
        return await self._run(SAVE_FACT, SaveFactRequest(fact=fact, expected=expected))

    async def versions(self, fact_id: str) -> list[Fact]:
        """Return every version of a fact, the oldest first. The last may be retired.

        Args:
            fact_id: The fact.
        """
        return await self._run(FACT_VERSIONS, FactRequest(fact_id=fact_id))

    async def sources(self, fact_id: str) -> list[SourceMessage]:
        """Return the messages that a learnt fact rests on.

        Args:
            fact_id: The fact.
        """
        return await self._run(FACT_SOURCES, FactRequest(fact_id=fact_id))

    async def quotes(self, fact_id: str) -> list[Quote]:
        """Return the exact words that a learnt fact rests on, each time it was said.

        Args:
            fact_id: The fact.
        """
        return await self._run(FACT_QUOTES, FactRequest(fact_id=fact_id))
