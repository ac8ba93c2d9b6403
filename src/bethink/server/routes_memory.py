"""Routes of memory as a whole: remember, recall, context, explain, use, forget."""

from bethink.model.access import Scope
from bethink.model.recall import Block, Lineage, Recall, RefKind, Remembered, Showing
from bethink.model.records import Forgotten
from bethink.server.bodies import ContextBody, ForgetBody, RecallBody, RememberBody, UsedBody, one_of
from bethink.server.names import Operation
from bethink.server.route import Call, Verb, Verbs
from bethink.server.wire import AsOf, Counted, IdempotencyKey, Items, Limit, Name, RefText, SessionId

verbs = Verbs("/v1/spaces/{space}", "memory")


@verbs.add(
    "POST",
    "/remember",
    Verb(scope=Scope.WRITE, answer=Remembered, status=201, operation=Operation.UPSERT),
    also=(409,),
)
async def remember(call: Call, space: Name, body: RememberBody, idempotency_key: IdempotencyKey = None) -> Remembered:
    """Store a text of the user's, or messages, for good. With a session they go there, else into the conversation."""
    stored = await call.memory.remember(
        one_of(body, call.door.options),
        space=space,
        session=await call.session_or_none(body.session_id),
        conversation=body.conversation,
        agent=body.agent,
        idempotency_key=idempotency_key,
    )
    call.trail.counted(len(stored.refs))
    return stored


@verbs.add("POST", "/recall", Verb(scope=Scope.READ, answer=Recall, operation=Operation.SEARCH))
async def recall(call: Call, space: Name, body: RecallBody) -> Recall:
    """Return what answers a question, the best first; if nothing does, `missing` says why."""
    call.trail.asked(body.question)
    found = await call.memory.recall(
        body.question,
        space=space,
        limit=body.limit,
        budget=body.budget,
        as_of=body.as_of,
        kinds=tuple(RefKind) if body.kinds is None else body.kinds,
        origins=body.origins,
        session=await call.session_or_none(body.session_id),
        explain=body.explain,
    )
    call.trail.counted(len(found.items))
    call.trail.found(found.items)
    return found


@verbs.add("POST", "/context", Verb(scope=Scope.READ, answer=Block, operation=Operation.SEARCH))
async def context(call: Call, space: Name, body: ContextBody) -> Block:
    """Return a block of memory to begin a prompt with: the same bytes for as long as memory does not change."""
    call.trail.asked(body.question)
    block = await call.memory.context(
        space=space,
        question=body.question,
        budget=body.budget,
        as_of=body.as_of,
        session=await call.session_or_none(body.session_id),
    )
    call.trail.counted(len(block.items))
    call.trail.found(block.items)
    return block


@verbs.add("GET", "/memories/{ref}", Verb(scope=Scope.READ, answer=Lineage))
async def explain(call: Call, space: Name, ref: RefText) -> Lineage:
    """Follow a memory to its messages, job, model and prompt, and on to where it was shown."""
    return await call.memory.explain(ref, space=space)


@verbs.add("POST", "/used", Verb(scope=Scope.WRITE, answer=Counted))
async def used(call: Call, space: Name, body: UsedBody) -> Counted:
    """Tell that memories were of use."""
    return Counted(counted=await call.memory.used(body.refs, space=space))


@verbs.add("GET", "/shown", Verb(scope=Scope.READ, answer=Items[Showing]))
async def shown(
    call: Call, space: Name, session_id: SessionId = None, as_of: AsOf = None, limit: Limit = 100
) -> Items[Showing]:
    """Read the ledger: what was shown, when, and to which session, the newest first."""
    session = await call.session_or_none(session_id)
    return Items(items=await call.memory.shown(space=space, session=session, as_of=as_of, limit=limit))


@verbs.add("POST", "/forget", Verb(scope=Scope.ERASE, answer=Forgotten, operation=Operation.DELETE), also=(409,))
async def forget(call: Call, space: Name, body: ForgetBody) -> Forgotten:
    """Remove one memory, session, conversation or all of a space for good, with what was made of it."""
    if body.everything:
        call.trail.turned_into(Operation.DELETE_STORE)
    gone = await call.memory.forget(
        body.ref,
        space=space,
        session=await call.session_or_none(body.session_id),
        conversation=body.conversation,
        agent=body.agent,
        everything=body.everything,
        dry_run=body.dry_run,
    )
    call.trail.counted(gone.messages + gone.facts + gone.session_memories + gone.documents + gone.threads)
    return gone
