"""Routes of sessions: opened, written to, read, marked, ended."""

from collections.abc import Awaitable, Callable

from bethink.model.access import Scope
from bethink.model.records import Record, Session, SessionEntry, SessionMemory
from bethink.server.bodies import CitedBody, MessagesBody, OpenBody, ResetBody, messages_in
from bethink.server.names import Operation
from bethink.server.problems import refused
from bethink.server.route import Call, Verb, Verbs
from bethink.server.wire import (
    After,
    Answer,
    Cursor,
    Done,
    IdempotencyKey,
    Limit,
    Name,
    Numbers,
    Page,
    number_of,
    page,
    place_of,
)

verbs = Verbs("/v1/spaces/{space}/sessions", "sessions")
_READ = Scope.READ
_WRITE = Scope.WRITE


@verbs.add(
    "POST",
    "/{session_id}/messages",
    Verb(scope=_WRITE, answer=Numbers, status=201, operation=Operation.UPSERT),
    also=(409,),
)
async def append(
    call: Call, space: Name, session_id: Name, body: MessagesBody, idempotency_key: IdempotencyKey = None
) -> Numbers:
    """Store messages in one transaction; when it answers, they are durable."""
    drafts = messages_in(body.messages, idempotency_key, call.door.options)
    numbers = await call.memory.append(await call.session_to_write(session_id), drafts)
    call.trail.counted(len(numbers))
    del space
    return Numbers(numbers=numbers)


@verbs.add("GET", "/{session_id}/messages", Verb(scope=_READ, answer=Page[Record]))
async def read(  # noqa: PLR0917 - each is one word of the query
    call: Call, space: Name, session_id: Name, after: After = 0, limit: Limit = 100, cursor: Cursor = None
) -> Page[Record]:
    """Return the messages of a session after a number, in order."""
    del space
    session = await call.find_session(session_id)
    start = after if cursor is None else number_of(cursor)
    records = await call.memory.read(session, after=start, limit=limit)
    return page(records, limit=limit, place=lambda record: record.number)


@verbs.add("POST", "", Verb(scope=_WRITE, answer=Session, status=201))
async def open_session(call: Call, space: Name, body: OpenBody) -> Session:
    """Return the active session of a conversation, opening one if there is none."""
    return await call.memory.open_session(
        space=space, conversation=body.conversation, agent=body.agent, kind=body.kind, ephemeral=body.ephemeral
    )


@verbs.add("GET", "", Verb(scope=_READ, answer=Page[SessionEntry]))
async def sessions(call: Call, space: Name, limit: Limit = 100, cursor: Cursor = None) -> Page[SessionEntry]:
    """Return the sessions of a space, the newest first."""
    before = "" if cursor is None else place_of(cursor)
    found = await call.memory.sessions(space=space, limit=limit, before=before)
    return page(found, limit=limit, place=lambda entry: entry.session.id)


@verbs.add("GET", "/{session_id}", Verb(scope=_READ, answer=Session))
async def get_session(call: Call, space: Name, session_id: Name) -> Session:
    """Read a session as it stands now."""
    del space
    return await call.find_session(session_id)


@verbs.add("GET", "/{session_id}/memory", Verb(scope=_READ, answer=SessionMemory))
async def session_memory(call: Call, space: Name, session_id: Name) -> SessionMemory:
    """Return what is remembered of a whole session."""
    del space
    found = await call.memory.session_memory(await call.find_session(session_id))
    if found is None:
        raise refused(404, "Not found", "Nothing was made of this session yet.", code="NotFound")
    return found


@verbs.add("POST", "/{session_id}/cited", Verb(scope=_WRITE, answer=Answer))
async def cited(call: Call, space: Name, session_id: Name, body: CitedBody) -> Answer:
    """Count what an answer cites of what its session was shown, and return it without the citations."""
    del space
    return Answer(answer=await call.memory.cited(body.answer, session=await call.find_session(session_id)))


@verbs.add("POST", "/{session_id}/reset", Verb(scope=_WRITE, answer=Session), also=(409,))
async def reset(call: Call, space: Name, session_id: Name, body: ResetBody) -> Session:
    """End and mark a session and return the next one of its conversation. Repeating it does no harm."""
    del space
    return await call.memory.reset(await call.find_session(session_id), emergency=body.emergency)


def _declare(path: str, act: Callable[[Call, Session], Awaitable[bool]], about: str) -> None:
    async def mark(call: Call, space: Name, session_id: Name) -> Done:
        del space
        return Done(done=await act(call, await call.find_session(session_id)))

    mark.__name__, mark.__doc__ = path, about
    verbs.add("POST", f"/{{session_id}}/{path}", Verb(scope=_WRITE, answer=Done))(mark)


def _declare_end(path: str, name: str, act: Callable[[Call, Session], Awaitable[Session]], about: str) -> None:
    async def end(call: Call, space: Name, session_id: Name) -> Session:
        del space
        return await act(call, await call.find_session(session_id))

    end.__name__, end.__doc__ = name, about
    verbs.add("POST", f"/{{session_id}}/{path}", Verb(scope=_WRITE, answer=Session), also=(409,))(end)


_declare(
    "end_turn",
    lambda call, session: call.memory.end_turn(session),
    "Tell that a turn is over: marks the session past the threshold, and says whether it did.",
)
_declare(
    "idle",
    lambda call, session: call.memory.idle(session),
    "Tell that nothing more is waiting for the agent: marks the session if it has something to learn.",
)
_declare(
    "retry",
    lambda call, session: call.memory.retry(session),
    "Let learning from a session start over that failed or was given up.",
)
_declare_end(
    "compacted",
    "compacted",
    lambda call, session: call.memory.compacted(session),
    "Tell that a session's context was compacted: it is ended and marked, and the next one returned.",
)
_declare_end(
    "end",
    "end_session",
    lambda call, session: call.memory.end_session(session),
    "End a session and mark it, with nothing to follow.",
)
