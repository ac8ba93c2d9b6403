"""Operations on facts: list, search and save them, and read their versions and sources."""

import re
from dataclasses import replace
from typing import Annotated, Self

from bethink.base.frozen import frozen
from bethink.errors import InvalidFieldError
from bethink.model.access import Scope
from bethink.model.checks import KnownWord, any_of
from bethink.model.facts import Evidence, Fact, FactStatus, Quote, SourceMessage
from bethink.model.kinds import FactKind
from bethink.model.operations.base import (
    Cursor,
    Empty,
    Limit,
    Name,
    Number,
    Operation,
    Query,
    Request,
    Retry,
    SpanName,
    served_by,
)
from bethink.model.operations.narrowing import KnownOrigin
from bethink.model.operations.viewing import FilteredViewRequest, ViewRequest
from bethink.model.pages import FactEntry, Order
from bethink.model.paging import Page
from bethink.model.records import Origin

READ, WRITE = Scope.READ, Scope.WRITE
_IMPORT = Origin("import")
_FACT_REF = re.compile(r"fact:(.+):[0-9]+", re.DOTALL)


@frozen
class ListFactsRequest(FilteredViewRequest):
    """A page of facts."""

    pinned: bool = False
    """Whether to list only pinned facts, in the order they were pinned (default False). Excludes filters."""
    limit: Limit = 100
    """Maximum number of facts (default 100)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""

    def __post_init__(self) -> None:
        FilteredViewRequest.__post_init__(self)
        if self.pinned and (self.only is not None or self.after):
            raise InvalidFieldError("pinned", "cannot be combined with a filter or `after`.", hint="Pass it alone.")


@frozen
class FactHistoryRequest(ViewRequest):
    """A page of fact versions, including ended and replaced ones."""

    status: Annotated[FactStatus, KnownWord()] | None = None
    """Status: `current`, `upcoming`, `doubtful`, `ended`, `replaced`, `corrected` or `pending` (default: all)."""
    subject: Name | None = None
    """Subject of the facts (default: any)."""
    slot: Name | None = None
    """Slot of the facts, such as `home` (default: any)."""
    kind: FactKind | None = None
    """Kind of the facts (default: any)."""
    origin: Annotated[Name, KnownOrigin()] | None = None
    """Origin of the facts (default: any)."""
    order: Order = Order.NEWEST
    """`newest` (default) or `oldest` first, by `recorded_at`."""
    limit: Limit = 50
    """Maximum number of facts (default 50)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""

    def __post_init__(self) -> None:
        if self.status is not None:
            object.__setattr__(self, "status", any_of("status", (self.status,), FactStatus)[0])
        if self.kind is not None:
            object.__setattr__(self, "kind", any_of("kind", (self.kind,), FactKind)[0])
        object.__setattr__(self, "order", any_of("order", (self.order,), Order)[0])
        Request.__post_init__(self)


@frozen
class SearchFactsRequest(FilteredViewRequest):
    """Words to search for in facts."""

    query: Query
    """Words to search for. A phrase in double quotes must match exactly."""
    limit: Limit = 10
    """Maximum number of facts (default 10)."""


@frozen
class FactRequest(Request):
    """One fact."""

    fact_id: Name
    """Id of the fact, or its ref in any version."""

    def __post_init__(self) -> None:
        if ref := _FACT_REF.fullmatch(str(self.fact_id)):
            object.__setattr__(self, "fact_id", ref[1])
        Request.__post_init__(self)


@frozen
class SaveFactRequest(Request):
    """A fact to store."""

    fact: Fact
    """The fact. It replaces the current version with the same id, which `as_of` still finds."""
    if_version: Number | None = None
    """Version that the fact replaces; 0 if the fact is new (default: any version)."""

    def from_outside(self) -> Self:
        """Return the request with an imported fact. Only messages and people can create or confirm a user's fact."""
        return replace(self, fact=replace(self.fact, origin=_IMPORT, evidence=Evidence.IMPORTED, created_by=None))


_FACTS = "/spaces/{space}/facts"

LIST_FACTS: Operation[ListFactsRequest, Page[Fact]] = Operation(
    "space.facts.list", ListFactsRequest, Page[Fact], f"GET {_FACTS}", READ, Retry.SAFE,
    "List current facts, with upcoming and doubtful ones, ordered by id.",
    details="Facts that have ended, expired or been replaced or corrected are in `history`.",
)  # fmt: skip
FACT_HISTORY: Operation[FactHistoryRequest, Page[FactEntry]] = Operation(
    "space.facts.history", FactHistoryRequest, Page[FactEntry], "GET /spaces/{space}/fact_history", READ, Retry.SAFE,
    "List fact versions by time, including replaced ones, each with its replacement.",
    details="Each version is one entry. The cost of a page does not depend on the number of facts.",
)  # fmt: skip
SEARCH_FACTS: Operation[SearchFactsRequest, list[Fact]] = Operation(
    "space.facts.search", SearchFactsRequest, list[Fact], f"POST {_FACTS}/search", READ, Retry.SAFE,
    "Search facts by words. Best match first.",
    span_name=SpanName.SEARCH,
)  # fmt: skip
COUNT_FACTS: Operation[Empty, int] = Operation(
    "space.facts.count", Empty, int, "GET /spaces/{space}/fact_count", READ, Retry.SAFE,
    "Return the number of current facts: neither ended, expired nor replaced.",
)  # fmt: skip
GET_FACT: Operation[FactRequest, Fact] = Operation(
    "space.facts.get", FactRequest, Fact, f"GET {_FACTS}/{{fact_id}}", READ, Retry.SAFE,
    "Return the current version of a fact.",
    raises="NotFoundError: if the space has no such current fact.",
)  # fmt: skip
SAVE_FACT: Operation[SaveFactRequest, Fact] = Operation(
    "space.facts.save", SaveFactRequest, Fact, f"POST {_FACTS}", WRITE, Retry.IDEMPOTENT,
    "Store a fact and return it as stored.",
    status=201, span_name=SpanName.UPSERT,
    raises=(
        "VersionConflictError: if `if_version` is not the current version. "
        "ErasedKeyError: if `if_version` is 0 and the fact with this id was deleted in the last 30 days."
    ),
)  # fmt: skip
FACT_VERSIONS: Operation[FactRequest, list[Fact]] = Operation(
    "space.facts.versions", FactRequest, list[Fact], f"GET {_FACTS}/{{fact_id}}/versions", READ, Retry.SAFE,
    "Return all versions of a fact, including replaced ones. Oldest first.",
    details="An unknown or deleted fact has none.",
)  # fmt: skip
FACT_SOURCES: Operation[FactRequest, list[SourceMessage]] = Operation(
    "space.facts.sources", FactRequest, list[SourceMessage], f"GET {_FACTS}/{{fact_id}}/sources", READ, Retry.SAFE,
    "Return the messages that a learned fact is based on.",
)  # fmt: skip
FACT_QUOTES: Operation[FactRequest, list[Quote]] = Operation(
    "space.facts.quotes", FactRequest, list[Quote], f"GET {_FACTS}/{{fact_id}}/quotes", READ, Retry.SAFE,
    "Return the quotes that a learned fact is based on, one for each mention.",
)  # fmt: skip

OPERATIONS = served_by(
    "bethink.memory.facts.service",
    LIST_FACTS, FACT_HISTORY, SEARCH_FACTS, COUNT_FACTS, GET_FACT, SAVE_FACT, FACT_VERSIONS,
    FACT_SOURCES, FACT_QUOTES,
)  # fmt: skip
