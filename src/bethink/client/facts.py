"""The facts of a space on a server."""

from bethink.client.place import AGAIN, ONCE, Place
from bethink.model.moments import When, moment_or_none
from bethink.model.records import Fact, SourceMessage, checked_name

_GIVEN = ("source", "tags", "metadata", "created_at", "kind", "entities", "subject", "slot", "valid_from", "valid_to")
_BARE = Fact(id="bare", content="")


class RemoteFacts:
    """What is known in one space of a server; `Memory.facts` says what each verb does."""

    def __init__(self, place: Place, *, space: str) -> None:
        self.space = space
        self._place = place

    async def index(self, fact: Fact, *, expected: int | None = None) -> None:
        """Store a fact; one with the same id is retired. Its origin is for the server to say."""
        more = {name: getattr(fact, name) for name in _GIVEN if getattr(fact, name) != getattr(_BARE, name)}
        name = checked_name(fact.id, "a fact's id")
        how = AGAIN if expected is None else ONCE
        await self._place.send(
            dict[str, object], "facts", name, method="PUT", how=how, content=fact.content, expected=expected, **more
        )

    async def get(self, fact_id: str) -> Fact | None:
        """Return a fact as it stands. Raises `NotFound`."""
        return await self._place.get(Fact, "facts", fact_id)

    async def all(self, *, as_of: When | None = None, limit: int = 100, after: str = "") -> list[Fact]:
        """Return facts by their ids, as they stand or stood at a time, from after one on."""
        return await self._place.pages(Fact, "facts", limit=limit, as_of=moment_or_none(as_of), start=after)

    async def search(self, query: str, top_k: int, *, as_of: When | None = None) -> list[Fact]:
        """Return at most `top_k` facts that share words with the query, the best match first."""
        return await self._place.items(Fact, "facts", query=query, top_k=top_k, as_of=moment_or_none(as_of))

    async def delete(self, fact_id: str) -> None:
        """Remove a fact with every version it had, also from documents that rest on it. Raises `NotFound`."""
        await self._place.remove("facts", fact_id)

    async def versions(self, fact_id: str) -> list[Fact]:
        """Return every version of a fact, oldest first; the last may be retired."""
        return await self._place.items(Fact, "facts", fact_id, "versions")

    async def sources(self, fact_id: str) -> list[SourceMessage]:
        """Return the messages that a learnt fact rests on."""
        return await self._place.items(SourceMessage, "facts", fact_id, "sources")
