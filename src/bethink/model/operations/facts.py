"""The verbs of facts: list, search, save, and follow them through their versions."""

from dataclasses import replace
from typing import Annotated, Self

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.checks import KnownWord, any_of
from bethink.model.facts import Evidence, Fact, Quote, SourceMessage
from bethink.model.kinds import FactKind
from bethink.model.moments import Moment
from bethink.model.operations.base import (
    Cursor,
    Empty,
    Limit,
    MemoryOperation,
    Name,
    Number,
    Query,
    Request,
    Retry,
    Verb,
    served_by,
)
from bethink.model.operations.narrowing import Narrowed
from bethink.model.pages import FactPage, FactState, Order
from bethink.model.records import Origin

READ, WRITE = Scope.READ, Scope.WRITE
_IMPORT = Origin("import")


@frozen
class ListFactsRequest(Narrowed):
    """A page of facts."""

    as_of: Moment | None = None
    """The facts that held at this time. A day means its end."""
    limit: Limit = 100
    """How many facts to return at most."""
    after: str = ""
    """Only facts that follow this one: the last id of the previous page."""


@frozen
class PageFactsRequest(Request):
    """Which facts to list, retired ones too."""

    state: Annotated[FactState, KnownWord()] | None = None
    """Only facts that hold, that ended, or versions that were retired; all of them, if left out."""
    subject: Name | None = None
    """Only facts about this."""
    slot: Name | None = None
    """Only facts about the value of this slot, such as `home`."""
    kind: FactKind | None = None
    """Only facts of this kind."""
    origin: Name | None = None
    """Only facts of this origin."""
    order: Order = Order.NEWEST
    """The newest or the oldest first: by when they were recorded, or retired ones alone by when they were retired."""
    as_of: Moment | None = None
    """What was known at this time. A day means its end."""
    limit: Limit = 50
    """How many facts to return at most."""
    after: Cursor = ""
    """Only what follows: the `next` of the previous page."""

    def __post_init__(self) -> None:
        if self.state is not None:
            object.__setattr__(self, "state", any_of("state", (self.state,), FactState)[0])
        if self.kind is not None:
            object.__setattr__(self, "kind", any_of("kind", (self.kind,), FactKind)[0])
        object.__setattr__(self, "order", any_of("order", (self.order,), Order)[0])
        Request.__post_init__(self)


@frozen
class SearchFactsRequest(Narrowed):
    """Words to look for."""

    query: Query
    """Words that the facts share. A part in double quotes must occur as it is."""
    limit: Limit = 10
    """How many facts to return at most."""
    as_of: Moment | None = None
    """Search what was known at this time. A day means its end."""


@frozen
class FactsByMetadataRequest(Request):
    """A key and its value."""

    key: str
    """The key in the metadata of a fact."""
    value: str
    """The value that it must have."""


@frozen
class FactRequest(Request):
    """One fact."""

    fact_id: Name
    """The fact."""


@frozen
class SaveFactRequest(Request):
    """A fact to store."""

    fact: Fact
    """The fact. One with the same id is retired, and still found as of the time before."""
    expected: Number | None = None
    """The version that it replaces, 0 for none. Any version, if left out."""

    def from_outside(self) -> Self:
        """Return it as imported: only messages and persons can make a fact the user's own, or confirm it."""
        return replace(self, fact=replace(self.fact, origin=_IMPORT, evidence=Evidence.IMPORTED, made_by=None))


_FACTS = "/spaces/{space}/facts"

LIST_FACTS: Verb[ListFactsRequest, list[Fact]] = Verb(
    "facts.all", ListFactsRequest, list[Fact], f"GET {_FACTS}", READ, Retry.SAFE,
    "List facts, ordered by id.",
)  # fmt: skip
PAGE_FACTS: Verb[PageFactsRequest, FactPage] = Verb(
    "facts.page", PageFactsRequest, FactPage, "GET /spaces/{space}/fact_page", READ, Retry.SAFE,
    "List facts by time, also those that were retired, each with what took its place.",
    details="Each version of a fact is one row. A page costs the same however many facts there are.",
)  # fmt: skip
SEARCH_FACTS: Verb[SearchFactsRequest, list[Fact]] = Verb(
    "facts.search", SearchFactsRequest, list[Fact], f"POST {_FACTS}/search", READ, Retry.SAFE,
    "Return the facts that share words with a query, the best match first.",
    operation=MemoryOperation.SEARCH,
)  # fmt: skip
FACTS_BY_METADATA: Verb[FactsByMetadataRequest, list[Fact]] = Verb(
    "facts.by_metadata", FactsByMetadataRequest, list[Fact], f"POST {_FACTS}/by_metadata", READ, Retry.SAFE,
    "Return the facts whose metadata has a value under a key, the oldest first.",
    operation=MemoryOperation.SEARCH,
)  # fmt: skip
COUNT_FACTS: Verb[Empty, int] = Verb(
    "facts.count", Empty, int, "GET /spaces/{space}/fact_count", READ, Retry.SAFE,
    "Count the facts that hold now.",
)  # fmt: skip
GET_FACT: Verb[FactRequest, Fact] = Verb(
    "facts.get", FactRequest, Fact, f"GET {_FACTS}/{{fact_id}}", READ, Retry.SAFE,
    "Return a fact as it stands now.",
    raises="NotFound: if the space has no such fact, or it was retired.",
)  # fmt: skip
SAVE_FACT: Verb[SaveFactRequest, Fact] = Verb(
    "facts.save", SaveFactRequest, Fact, f"POST {_FACTS}", WRITE, Retry.IDEMPOTENT,
    "Store a fact and return it as stored.",
    status=201, operation=MemoryOperation.UPSERT,
    raises=(
        "Stale: if `expected` is not the current version. "
        "ErasedKey: if `expected` is 0 and the fact with this id was erased in the last 30 days."
    ),
)  # fmt: skip
FACT_VERSIONS: Verb[FactRequest, list[Fact]] = Verb(
    "facts.versions", FactRequest, list[Fact], f"GET {_FACTS}/{{fact_id}}/versions", READ, Retry.SAFE,
    "Return every version of a fact, the oldest first. The last may be retired.",
)  # fmt: skip
FACT_SOURCES: Verb[FactRequest, list[SourceMessage]] = Verb(
    "facts.sources", FactRequest, list[SourceMessage], f"GET {_FACTS}/{{fact_id}}/sources", READ, Retry.SAFE,
    "Return the messages that a learnt fact rests on.",
)  # fmt: skip
FACT_QUOTES: Verb[FactRequest, list[Quote]] = Verb(
    "facts.quotes", FactRequest, list[Quote], f"GET {_FACTS}/{{fact_id}}/quotes", READ, Retry.SAFE,
    "Return the exact words that a learnt fact rests on, each time it was said.",
)  # fmt: skip

VERBS = served_by(
    "bethink.memory.facts.service",
    LIST_FACTS, PAGE_FACTS, SEARCH_FACTS, FACTS_BY_METADATA, COUNT_FACTS, GET_FACT, SAVE_FACT, FACT_VERSIONS,
    FACT_SOURCES, FACT_QUOTES,
)  # fmt: skip
