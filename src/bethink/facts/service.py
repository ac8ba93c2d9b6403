"""The facts of a space, to index and to search."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from bethink.errors import NotFound
from bethink.extend import Redactor
from bethink.forgetting.cascade import forget_fact
from bethink.model.framing import unframed
from bethink.model.moments import When, moment_or_none
from bethink.model.records import Fact, SourceMessage, checked_name
from bethink.model.text import clean
from bethink.store import facts
from bethink.store.db import Database, Tx, ask


class Facts:
    """What is known in one space. Safe to share between tasks."""

    def __init__(
        self,
        database: Database | None,
        *,
        space: str,
        redactor: Redactor,
        clear_files: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        self.space = space
        self._database = database
        self._redactor = redactor
        self._clear_files = clear_files

    async def index(self, fact: Fact, *, expected: int | None = None) -> None:
        """Store a fact, redacted; one with the same id is retired, and found as of the time before.

        Raises `Stale` unless `expected`, where given, is the version that stands.
        """
        cut = replace(
            fact,
            id=checked_name(fact.id, "a fact's id"),
            content=self._cut(fact.content),
            source=self._cut(fact.source),
            subject=None if fact.subject is None else self._cut(fact.subject),
            slot=None if fact.slot is None else self._cut(fact.slot),
            tags=tuple(self._cut(tag) for tag in fact.tags),
            metadata={self._cut(key): self._cut(value) for key, value in fact.metadata.items()},
            entities=tuple(self._cut(entity) for entity in fact.entities),
        )
        await ask(
            self._database, lambda tx: facts.put(tx, space=self.space, fact=cut, expected=expected), space=self.space,
            empty=None, repeatable=expected is None,
        )  # fmt: skip

    async def get(self, fact_id: str) -> Fact | None:
        """Return a fact as it stands. Raises `NotFound`."""

        def body(tx: Tx) -> Fact:
            found = facts.find(tx, space=self.space, fact_id=fact_id)
            if found is None:
                raise NotFound(f"no fact {fact_id!r} in space {self.space!r}.")
            return found

        return await ask(self._database, body, space=self.space, empty=None, read=True)

    async def all(self, *, as_of: When | None = None, limit: int = 100, after: str = "") -> list[Fact]:
        """Return facts by their ids, as they stand or stood at a time, from after one on."""
        return await ask(
            self._database,
            lambda tx: facts.page(tx, space=self.space, as_of=moment_or_none(as_of), limit=limit, after=after),
            space=self.space,
            empty=[],
            read=True,
        )

    async def search(self, query: str, top_k: int, *, as_of: When | None = None) -> list[Fact]:
        """Return at most `top_k` facts that share words with the query, the best match first.

        A piece in double quotes must occur just so. With `as_of`, from what was known at that time.
        """
        return await ask(
            self._database,
            lambda tx: facts.search(tx, space=self.space, question=query, limit=top_k, as_of=moment_or_none(as_of)),
            space=self.space,
            empty=[],
            read=True,
        )

    async def search_by_metadata(self, key: str, value: str) -> list[Fact]:
        """Return the facts whose metadata holds `value` under `key`, oldest first."""
        return await ask(
            self._database,
            lambda tx: facts.with_metadata(tx, space=self.space, key=key, value=value),
            space=self.space,
            empty=[],
            read=True,
        )

    async def delete(self, fact_id: str) -> None:
        """Remove a fact with every version it had, also from documents that rest on it. Raises `NotFound`."""
        name = checked_name(fact_id, "a fact's id")

        def body(tx: Tx) -> None:
            if forget_fact(tx, space=self.space, fact_id=name) is None:
                raise NotFound(f"no fact {name!r} in space {self.space!r}.")

        await ask(self._database, body, space=self.space, empty=None)
        if self._clear_files is not None:
            await self._clear_files(self.space)

    async def versions(self, fact_id: str) -> list[Fact]:
        """Return every version of a fact, oldest first; the last may be retired."""
        return await ask(
            self._database,
            lambda tx: facts.versions(tx, space=self.space, fact_id=fact_id),
            space=self.space,
            empty=[],
            read=True,
        )

    async def sources(self, fact_id: str) -> list[SourceMessage]:
        """Return the messages that a learnt fact rests on."""
        return await ask(
            self._database,
            lambda tx: facts.sources_of(tx, space=self.space, fact_id=fact_id),
            space=self.space,
            empty=[],
            read=True,
        )

    async def length(self) -> int:
        """Count the facts."""
        return await ask(
            self._database, lambda tx: facts.count(tx, space=self.space), space=self.space, empty=0, read=True
        )

    def _cut(self, text: str) -> str:
        return self._redactor.redact(clean(unframed(text)))
