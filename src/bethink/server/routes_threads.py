"""Routes of working memory: threads, their events, states and prompts."""

from bethink.model.access import Scope
from bethink.model.working import State, StateInfo, Thread
from bethink.server.bodies import EventBody, ForkBody, ModeBody, ThreadBody
from bethink.server.route import Call, Verb, Verbs
from bethink.server.wire import Cursor, Items, Limit, Name, Number, Page, Tokens, Version, page, place_of
from bethink.working.memory import DispatchResult, StepResult
from bethink.working.prompt import Prompt
from bethink.working.travel import StateDiff

verbs = Verbs("/v1/spaces/{space}/threads", "threads")
_READ = Scope.READ
_WRITE = Scope.WRITE


@verbs.add("POST", "", Verb(scope=_WRITE, answer=Thread, status=201), also=(409,))
async def open_thread(call: Call, space: Name, body: ThreadBody) -> Thread:
    """Return a thread, making it if there is none by this id."""
    desk = call.memory.desk(space=space)
    return await desk.open_thread(body.thread_id, session_id=body.session_id, mode=body.mode)


@verbs.add("GET", "", Verb(scope=_READ, answer=Page[Thread]))
async def threads(call: Call, space: Name, limit: Limit = 100, cursor: Cursor = None) -> Page[Thread]:
    """Return the threads of a space, by id."""
    after = "" if cursor is None else place_of(cursor)
    found = await call.memory.desk(space=space).threads(limit=limit, after=after)
    return page(found, limit=limit, place=lambda thread: thread.id)


@verbs.add("GET", "/{thread_id}", Verb(scope=_READ, answer=Thread))
async def get_thread(call: Call, space: Name, thread_id: Name) -> Thread:
    """Read a thread as it stands now."""
    return await call.memory.desk(space=space).get_thread(thread_id)


@verbs.add("DELETE", "/{thread_id}", Verb(scope=Scope.ERASE, status=204))
async def delete_thread(call: Call, space: Name, thread_id: Name) -> None:
    """Remove a thread and all it holds."""
    await call.memory.desk(space=space).delete_thread(thread_id)


@verbs.add("POST", "/{thread_id}/events", Verb(scope=_WRITE, tells=True, answer=DispatchResult), also=(409, 502))
async def dispatch(call: Call, space: Name, thread_id: Name, body: EventBody) -> DispatchResult:
    """Queue an event; in auto mode process it, and what its length makes necessary, at once.

    An event has no id of the caller's, so repeating this queues it again: read the thread first.
    """
    return await call.memory.desk(space=space).dispatch(thread_id, body.event.to_event())


@verbs.add("POST", "/{thread_id}/step", Verb(scope=_WRITE, tells=True, answer=StepResult), also=(409, 502))
async def step(call: Call, space: Name, thread_id: Name) -> StepResult:
    """Process one event; with none waiting, truncate or compact if that is due."""
    return await call.memory.desk(space=space).step(thread_id)


@verbs.add("PUT", "/{thread_id}/mode", Verb(scope=_WRITE, tells=True, answer=DispatchResult), also=(409, 502))
async def set_mode(call: Call, space: Name, thread_id: Name, body: ModeBody) -> DispatchResult:
    """Change how a thread takes its events; back to auto processes what has been waiting."""
    return await call.memory.desk(space=space).set_mode(thread_id, body.mode)


@verbs.add("GET", "/{thread_id}/states", Verb(scope=_READ, answer=Items[StateInfo]))
async def states(call: Call, space: Name, thread_id: Name) -> Items[StateInfo]:
    """Return every state a thread has had, without the chunks."""
    return Items(items=await call.memory.desk(space=space).history(thread_id))


@verbs.add("GET", "/{thread_id}/states/{number}", Verb(scope=_READ, answer=State))
async def state_at(call: Call, space: Name, thread_id: Name, number: Number) -> State:
    """Return one state of a thread with its chunks."""
    return await call.memory.desk(space=space).state_at(thread_id, number)


@verbs.add("GET", "/{thread_id}/diff", Verb(scope=_READ, answer=StateDiff))
async def state_diff(call: Call, space: Name, thread_id: Name, before: Version, after: Version) -> StateDiff:
    """Compare two states of a thread."""
    return await call.memory.desk(space=space).diff(thread_id, before, after)


@verbs.add("GET", "/{thread_id}/prompt", Verb(scope=_READ, answer=Prompt))
async def prompt(call: Call, space: Name, thread_id: Name, budget: Tokens) -> Prompt:
    """Return the current state as messages within a token budget, with a report on every chunk."""
    return await call.memory.desk(space=space).prompt(thread_id, budget=budget)


@verbs.add("POST", "/{thread_id}/fork", Verb(scope=_WRITE, answer=Thread, status=201), also=(409,))
async def fork(call: Call, space: Name, thread_id: Name, body: ForkBody) -> Thread:
    """Open a new thread that begins where this one was at a state."""
    return await call.memory.desk(space=space).fork(thread_id, at=body.at, into=body.into, mode=body.mode)
