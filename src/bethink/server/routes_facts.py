"""Routes of facts: listed, searched, written, and followed through their versions."""

from bethink.model.access import Scope
from bethink.model.records import Fact, SourceMessage
from bethink.server.bodies import FactBody
from bethink.server.names import Operation
from bethink.server.problems import nothing
from bethink.server.route import Call, Verb, Verbs
from bethink.server.wire import AsOf, Cursor, Items, Limit, Name, Page, Question, TopK, page, place_of
from bethink.store.db import under_way

verbs = Verbs("/v1/spaces/{space}/facts", "facts")


def _there(found: Fact | None) -> Fact:
    if found is None:
        raise nothing()
    return found


@verbs.add("GET", "", Verb(scope=Scope.READ, answer=Page[Fact], operation=Operation.SEARCH))
async def facts(  # noqa: PLR0917 - each is one word of the query
    call: Call,
    space: Name,
    query: Question = None,
    top_k: TopK = 10,
    as_of: AsOf = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[Fact]:
    """Return the facts that share words with a query, the best first; without a query all of them, by id."""
    shelf = call.memory.facts(space=space)
    if query is not None:
        call.trail.asked(query)
        found = Page(items=await shelf.search(query, top_k, as_of=as_of))
    else:
        after = "" if cursor is None else place_of(cursor)
        listed = await shelf.all(as_of=as_of, limit=limit, after=after)
        found = page(listed, limit=limit, place=lambda fact: fact.id)
    call.trail.counted(len(found.items))
    return found


@verbs.add("GET", "/{fact_id}", Verb(scope=Scope.READ, answer=Fact))
async def get_fact(call: Call, space: Name, fact_id: Name) -> Fact:
    """Return a fact as it stands now."""
    return _there(await call.memory.facts(space=space).get(fact_id))


@verbs.add("PUT", "/{fact_id}", Verb(scope=Scope.WRITE, answer=Fact, operation=Operation.UPSERT), also=(409,))
async def put_fact(call: Call, space: Name, fact_id: Name, body: FactBody) -> Fact:
    """Store a fact; one with the same id is retired, and found as of the time before."""
    shelf = call.memory.facts(space=space)
    await shelf.index(body.fact(fact_id), expected=body.expected)
    call.trail.named(fact_id)
    call.trail.counted(1)
    with under_way():
        return _there(await shelf.get(fact_id))


@verbs.add("DELETE", "/{fact_id}", Verb(scope=Scope.ERASE, status=204, operation=Operation.DELETE))
async def delete_fact(call: Call, space: Name, fact_id: Name) -> None:
    """Remove a fact with every version it had, also from documents that rest on it."""
    await call.memory.facts(space=space).delete(fact_id)
    call.trail.named(fact_id)
    call.trail.counted(1)


@verbs.add("GET", "/{fact_id}/versions", Verb(scope=Scope.READ, answer=Items[Fact]))
async def fact_versions(call: Call, space: Name, fact_id: Name) -> Items[Fact]:
    """Return every version of a fact, oldest first; the last may be retired."""
    return Items(items=await call.memory.facts(space=space).versions(fact_id))


@verbs.add("GET", "/{fact_id}/sources", Verb(scope=Scope.READ, answer=Items[SourceMessage]))
async def fact_sources(call: Call, space: Name, fact_id: Name) -> Items[SourceMessage]:
    """Return the messages that a learnt fact rests on."""
    return Items(items=await call.memory.facts(space=space).sources(fact_id))
