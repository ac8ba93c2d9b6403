"""The facts of a space, to index and to search."""

from bethink.errors import NotFound
from bethink.extend import Redactor
from bethink.model.records import Fact, checked_name
from bethink.model.text import clean
from bethink.store import facts
from bethink.store.db import Database, Tx, ask


class Facts:
    """What is known in one space. Safe to share between tasks."""

    def __init__(self, database: Database | None, *, space: str, redactor: Redactor) -> None:
        self.space = space
        self._database = database
        self._redactor = redactor

    async def index(self, fact: Fact) -> None:
        """Store a fact, replacing the one with the same id; its text is redacted first."""
        cut = Fact(
            id=checked_name(fact.id, "a fact's id"),
            content=self._cut(fact.content),
            source=fact.source,
            tags=tuple(self._cut(tag) for tag in fact.tags),
            metadata={self._cut(key): self._cut(value) for key, value in fact.metadata.items()},
            created_at=fact.created_at,
        )
        await ask(
            self._database, lambda tx: facts.put(tx, space=self.space, fact=cut), space=self.space, empty=None,
            repeatable=True,
        )  # fmt: skip

    async def search(self, query: str, top_k: int) -> list[Fact]:
        """Return at most `top_k` facts that share words with the query, the best match first."""
        return await ask(
            self._database,
            lambda tx: facts.search(tx, space=self.space, question=query, limit=top_k),
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
        """Remove a fact. Raises `NotFound` if there is none with this id."""

        def body(tx: Tx) -> None:
            if not facts.delete(tx, space=self.space, fact_id=checked_name(fact_id, "a fact's id")):
                raise NotFound(f"no fact {fact_id!r} in space {self.space!r}.")

        await ask(self._database, body, space=self.space, empty=None)

    async def length(self) -> int:
        """Count the facts."""
        return await ask(
            self._database, lambda tx: facts.count(tx, space=self.space), space=self.space, empty=0, read=True
        )

    def _cut(self, text: str) -> str:
        return self._redactor.redact(clean(text))
