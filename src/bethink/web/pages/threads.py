"""The working memory of an agent, state by state: what it held, what made it, and what if."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from bethink.model.operations.threads import (
    DIFF_STATES,
    FAILED_EVENTS,
    FORK,
    GET_THREAD,
    LIST_THREADS,
    PROMPT,
    QUEUE,
    STATE,
    STATES,
    STEP,
    DiffStatesRequest,
    ForkRequest,
    ListThreadsRequest,
    PromptRequest,
    StateRequest,
    StatesRequest,
    ThreadRequest,
)
from bethink.model.thread_results import StateDiff
from bethink.model.working import Chunk, ChunkType, EventType, Mode, QueuedEvent, StateInfo, SubType, Thread
from bethink.web import draw
from bethink.web.visit import Goto, MenuItem, Page, PageRoute, Twin, Visit

_PAGE = 50
_WINDOW = 120
"""How many states the chart shows around the chosen one."""
_BUDGET = 4_000

_CHUNKS = {
    SubType.USER: "user",
    SubType.RESPONSE: "answer",
    SubType.THINKING: "thinking",
    SubType.AGENT_ACTION: "call",
    SubType.ACTION_RESPONSE: "result",
    SubType.COMPACTED: "summary",
}
_TYPES = {
    ChunkType.SYSTEM: "system",
    ChunkType.AGENT: "agent",
    ChunkType.WORKFLOW: "workflow",
    ChunkType.DELEGATION: "delegation",
    ChunkType.ENVIRONMENT: "injected",
    ChunkType.OUTPUT: "output",
    ChunkType.WORKING_FLOW: "todo",
}
_EVENTS = {
    EventType.USER_MESSAGE: "user",
    EventType.LLM_TEXT_RESPONSE: "answer",
    EventType.LLM_CLARIFICATION: "answer",
    EventType.LLM_TOOL_CALL: "call",
    EventType.LLM_SKILL_CALL: "call",
    EventType.TOOL_RESULT: "result",
    EventType.SKILL_RESULT: "result",
    EventType.SUBAGENT_RESULT: "result",
    EventType.EXTERNAL_INJECT: "injected",
    EventType.ENVIRONMENT_CHANGE: "injected",
    EventType.MEMORY_COMPACT_MANUAL: "summary",
    EventType.MEMORY_COMPACT_AUTO: "summary",
}


def chunk_kind(chunk: Chunk) -> str:
    """Return the word for what a chunk is."""
    # In the flow of work, only what is to be done has no subtype.
    return _CHUNKS.get(chunk.subtype, "note") if chunk.subtype else _TYPES.get(chunk.type, "note")


def event_kind(kind: str | None) -> str:
    """Return the word for what an event is."""
    if kind is not None and kind.startswith("TODO_"):
        return "todo"
    return _EVENTS.get(EventType(kind), "note") if kind in set(EventType) else "note"


def _listed(visit: Visit) -> Twin:
    return LIST_THREADS, ListThreadsRequest(limit=_PAGE, after=visit.ask("after"))


async def threads(visit: Visit) -> Page:
    """List the threads of a space."""
    found = await visit.run(*_listed(visit))
    more = visit.link("threads", after=found[-1].id) if len(found) == _PAGE else ""
    return Page(template="threads.html", values={"threads": found, "more": more})


def _state(visit: Visit) -> Twin:
    number = visit.number("at", 0) if visit.ask("at") else None
    return STATE, StateRequest(thread_id=visit.names["thread"], number=number)


async def thread(visit: Visit) -> Page:
    """Show one state of a thread, compared with another, among all that it had."""
    asked = ThreadRequest(thread_id=visit.names["thread"])
    info = await visit.run(GET_THREAD, asked)
    state = await visit.run(*_state(visit))
    at, last = state.info.number, info.state_number
    shown = await _window(visit, asked.thread_id, at=at, last=last)
    against = visit.number("against", max(at - 1, 0))
    diff = StateDiff(added=(), removed=(), moved=())
    if against != at and against <= last:
        compared = DiffStatesRequest(thread_id=asked.thread_id, before=against, after=at)
        diff = await visit.run(DIFF_STATES, compared)
    queue = await visit.run(QUEUE, asked)
    limits = _limits(visit, [each.total_tokens for each in shown])
    values: dict[str, Any] = {
        "thread": info,
        "state": state,
        "at": at,
        "last": last,
        "against": against,
        "diff": diff,
        "fresh": {chunk.id for chunk in diff.added},
        "kinds": _kinds(state.chunks),
        "chunk_kind": chunk_kind,
        "queue": queue,
        "payload": _payload,
        "failed": await visit.run(FAILED_EVENTS, asked),
        "others": await _others(visit, info),
        "delta": state.info.total_tokens - await _tokens(visit, asked.thread_id, against, shown),
        "limits": limits,
        "shown": (shown[0].number, shown[-1].number, last + 1),
        "may_step": visit.may_change(STEP) and info.mode is Mode.STEPPING,
        "may_fork": visit.may_change(FORK),
        "waits": bool(queue) or info.pending_compaction or info.pending_truncation,
        "link": partial(_state_link, visit, info.id),
        **_drawn(visit, state.info, shown, state.chunks, limits),
    }
    return Page(template="stepper.html", values=values)


def _state_link(visit: Visit, thread_id: str, number: int) -> str:
    return visit.link("threads", thread_id, at=number)


async def _window(visit: Visit, thread_id: str, *, at: int, last: int) -> Sequence[StateInfo]:
    """Return the states around one: as many as the chart has room for, however many there are."""
    first = max(min(at - _WINDOW // 2, last + 1 - _WINDOW), 0)
    return await visit.run(
        STATES, StatesRequest(thread_id=thread_id, after=first - 1 if first else None, limit=_WINDOW)
    )


async def _tokens(visit: Visit, thread_id: str, number: int, shown: Sequence[StateInfo]) -> int:
    """Return how long a state was; one far away is read by itself."""
    if not any(each.number == number for each in shown):
        shown = await visit.run(
            STATES, StatesRequest(thread_id=thread_id, after=number - 1 if number else None, limit=1)
        )
    return next((each.total_tokens for each in shown if each.number == number), 0)


def _limits(visit: Visit, tokens: Sequence[int]) -> list[tuple[str, str, int]]:
    """Return the thresholds that are near enough to be drawn: name, word, tokens."""
    found = visit.context.backend.local().working(visit.space).thresholds
    near = 2.5 * max([*tokens, 1])
    lines = [("soft", "suggest", found.soft), ("hard", "compact", found.hard), ("cut", "cut", found.truncation)]
    return [each for each in lines if each[2] <= near]


def _drawn(
    visit: Visit,
    info: StateInfo,
    states: Sequence[StateInfo],
    chunks: Sequence[Chunk],
    limits: Sequence[tuple[str, str, int]],
) -> dict[str, Any]:
    lines = [(name, tokens) for name, _, tokens in limits]
    top = 1.05 * max([*(tokens for _, tokens in lines), *(each.total_tokens for each in states), 1])
    room = max([tokens for _, tokens in lines] or [int(1.2 * info.total_tokens) or 1])
    room = max(room, info.total_tokens)
    chart = draw.columns(
        [(each, event_kind(each.event_type)) for each in states],
        info.number,
        partial(_state_link, visit, info.thread_id),
        top=top,
        limits=lines,
    )
    parts = [(chunk_kind(chunk), chunk.tokens) for chunk in chunks]
    bar = draw.token_bar(parts, room, lines, f"{info.total_tokens} tokens in {len(chunks)} chunks")
    places = [(word, tokens, round(4 + 120 - 120 * tokens / top, 1)) for _, word, tokens in limits]
    return {"chart": chart, "bar": bar, "places": places}


def _kinds(chunks: Sequence[Chunk]) -> list[tuple[str, int]]:
    found: Counter[str] = Counter()
    for chunk in chunks:
        found[chunk_kind(chunk)] += chunk.tokens
    return list(found.items())


def _payload(queued: QueuedEvent) -> str:
    text = queued.event.payload.get("text")
    return text if isinstance(text, str) else ""


async def _others(visit: Visit, info: Thread) -> list[Thread]:
    found = await visit.run(LIST_THREADS, ListThreadsRequest(limit=20))
    return [each for each in found if each.id != info.id][:8]


async def step(visit: Visit) -> Goto:
    """Process one event of a thread."""
    name = visit.names["thread"]
    await visit.run(STEP, ThreadRequest(thread_id=name))
    return Goto(visit.link("threads", name))


async def fork(visit: Visit) -> Goto:
    """Begin another thread from a state."""
    request = ForkRequest(
        thread_id=visit.names["thread"],
        at=visit.filled_number("at") or 0,
        into=visit.filled("into").strip() or None,
        mode=Mode.STEPPING,
    )
    made = await visit.run(FORK, request)
    return Goto(visit.link("threads", made.id))


def _prompted(visit: Visit) -> Twin:
    budget = max(visit.number("budget", _BUDGET), 1)
    return PROMPT, PromptRequest(thread_id=visit.names["thread"], budget=budget)


async def prompt(visit: Visit) -> Page:
    """Show what exactly goes to the model, and what was cut."""
    verb, request = _prompted(visit)
    made = await visit.run(verb, request)
    state = await visit.run(STATE, StateRequest(thread_id=visit.names["thread"]))
    values = {
        "thread_id": visit.names["thread"],
        "prompt": made,
        "budget": request.budget,
        "chunks": {each.id: each for each in state.chunks},
        "chunk_kind": chunk_kind,
    }
    return Page(template="prompt.html", values=values)


ROUTES = (
    PageRoute(path="/s/{space}/threads", handler=threads, twin=_listed),
    PageRoute(path="/s/{space}/threads/{thread}", handler=thread, twin=_state),
    PageRoute(path="/s/{space}/threads/{thread}/step", handler=step, method="POST"),
    PageRoute(path="/s/{space}/threads/{thread}/fork", handler=fork, method="POST"),
    PageRoute(path="/s/{space}/threads/{thread}/prompt", handler=prompt, twin=_prompted),
)
MENU = (
    MenuItem(
        section="Working",
        name="Threads",
        step="threads",
        operation=LIST_THREADS,
        shortcut="t",
        position=10,
        templates=("threads", "stepper", "prompt"),
    ),
)
