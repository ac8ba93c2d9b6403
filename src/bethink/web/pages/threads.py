"""Threads: the working memory of an agent, state by state."""

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
from bethink.web.visit import Goto, MenuItem, PageRoute, PageView, Twin, Visit

_PAGE = 50
_WINDOW = 120
"""Number of states in the chart around the selected one."""
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
    """Return the label of a chunk."""
    # In the working flow, only to-do items have no subtype.
    return _CHUNKS.get(chunk.subtype, "note") if chunk.subtype else _TYPES.get(chunk.type, "note")


def event_kind(kind: str | None) -> str:
    """Return the label of an event."""
    if kind is not None and kind.startswith("TODO_"):
        return "todo"
    return _EVENTS.get(EventType(kind), "note") if kind in set(EventType) else "note"


def _list_request(visit: Visit) -> Twin:
    return LIST_THREADS, ListThreadsRequest(limit=_PAGE, after=visit.query_value("after"))


async def threads(visit: Visit) -> PageView:
    """List the threads of a space."""
    entries = await visit.run(*_list_request(visit))
    more = visit.link("threads", after=entries.next) if entries.next else ""
    return PageView(template="threads.html", values={"threads": entries, "more": more})


def _state_request(visit: Visit) -> Twin:
    number = visit.query_number("at", 0) if visit.query_value("at") else None
    return STATE, StateRequest(thread_id=visit.names["thread"], number=number)


async def thread(visit: Visit) -> PageView:
    """Show one state of a thread, compared with another."""
    request = ThreadRequest(thread_id=visit.names["thread"])
    info = await visit.run(GET_THREAD, request)
    state = await visit.run(*_state_request(visit))
    at, last = state.info.number, info.state_number
    states = await _window(visit, request.thread_id, at=at, last=last)
    against = visit.query_number("against", max(at - 1, 0))
    diff = StateDiff(added=(), removed=(), moved=())
    if against != at and against <= last:
        compared = DiffStatesRequest(thread_id=request.thread_id, before=against, after=at)
        diff = await visit.run(DIFF_STATES, compared)
    queue = await visit.run(QUEUE, request)
    limits = _limits(visit, [entry.total_tokens for entry in states])
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
        "failed": await visit.run(FAILED_EVENTS, request),
        "others": await _others(visit, info),
        "delta": state.info.total_tokens - await _tokens(visit, request.thread_id, against, states),
        "limits": limits,
        "shown": (states[0].number, states[-1].number, last + 1),
        "may_step": visit.may_change(STEP) and info.mode is Mode.STEPPING,
        "may_fork": visit.may_change(FORK),
        "waits": bool(queue) or info.pending_compaction or info.pending_truncation,
        "link": partial(_state_link, visit, info.id),
        **_draw_charts(visit, state.info, states, state.chunks, limits),
    }
    return PageView(template="stepper.html", values=values)


def _state_link(visit: Visit, thread_id: str, number: int) -> str:
    return visit.link("threads", thread_id, at=number)


async def _window(visit: Visit, thread_id: str, *, at: int, last: int) -> Sequence[StateInfo]:
    """Return the states around one, as many as the chart has room for."""
    first = max(min(at - _WINDOW // 2, last + 1 - _WINDOW), 0)
    return await visit.run(
        STATES, StatesRequest(thread_id=thread_id, after=first - 1 if first else None, limit=_WINDOW)
    )


async def _tokens(visit: Visit, thread_id: str, number: int, states: Sequence[StateInfo]) -> int:
    """Return the token count of a state. A state outside the chart is loaded separately."""
    if not any(state.number == number for state in states):
        states = await visit.run(
            STATES, StatesRequest(thread_id=thread_id, after=number - 1 if number else None, limit=1)
        )
    return next((state.total_tokens for state in states if state.number == number), 0)


def _limits(visit: Visit, tokens: Sequence[int]) -> list[tuple[str, str, int]]:
    """Return the thresholds that are near enough to draw: name, label, tokens."""
    thresholds = visit.context.backend.local().working(visit.space).thresholds
    near = 2.5 * max([*tokens, 1])
    lines = [
        ("soft", "suggest", thresholds.soft),
        ("hard", "compact", thresholds.hard),
        ("cut", "cut", thresholds.truncation),
    ]
    return [line for line in lines if line[2] <= near]


def _draw_charts(
    visit: Visit,
    info: StateInfo,
    states: Sequence[StateInfo],
    chunks: Sequence[Chunk],
    limits: Sequence[tuple[str, str, int]],
) -> dict[str, Any]:
    lines = [(name, tokens) for name, _, tokens in limits]
    top = 1.05 * max([*(tokens for _, tokens in lines), *(state.total_tokens for state in states), 1])
    room = max([tokens for _, tokens in lines] or [int(1.2 * info.total_tokens) or 1])
    room = max(room, info.total_tokens)
    chart = draw.columns(
        [(state, event_kind(state.event_type)) for state in states],
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
    tokens_by_kind: Counter[str] = Counter()
    for chunk in chunks:
        tokens_by_kind[chunk_kind(chunk)] += chunk.tokens
    return list(tokens_by_kind.items())


def _payload(queued: QueuedEvent) -> str:
    text = queued.event.payload.get("text")
    return text if isinstance(text, str) else ""


async def _others(visit: Visit, info: Thread) -> list[Thread]:
    candidates = await visit.run(LIST_THREADS, ListThreadsRequest(limit=20))
    return [candidate for candidate in candidates if candidate.id != info.id][:8]


async def step(visit: Visit) -> Goto:
    """Process one event of a thread."""
    name = visit.names["thread"]
    await visit.run(STEP, ThreadRequest(thread_id=name))
    return Goto(visit.link("threads", name))


async def fork(visit: Visit) -> Goto:
    """Fork a thread at a state."""
    request = ForkRequest(
        thread_id=visit.names["thread"],
        at=visit.form_number("at") or 0,
        into=visit.form_value("into").strip() or None,
        mode=Mode.STEPPING,
    )
    new_thread = await visit.run(FORK, request)
    return Goto(visit.link("threads", new_thread.id))


def _prompt_request(visit: Visit) -> Twin:
    budget = max(visit.query_number("budget", _BUDGET), 1)
    return PROMPT, PromptRequest(thread_id=visit.names["thread"], budget=budget)


async def prompt(visit: Visit) -> PageView:
    """Show the exact prompt for the model, and what was cut."""
    operation, request = _prompt_request(visit)
    result = await visit.run(operation, request)
    state = await visit.run(STATE, StateRequest(thread_id=visit.names["thread"]))
    values = {
        "thread_id": visit.names["thread"],
        "prompt": result,
        "budget": request.budget,
        "chunks": {chunk.id: chunk for chunk in state.chunks},
        "chunk_kind": chunk_kind,
    }
    return PageView(template="prompt.html", values=values)


ROUTES = (
    PageRoute(path="/s/{space}/threads", handler=threads, twin=_list_request),
    PageRoute(path="/s/{space}/threads/{thread}", handler=thread, twin=_state_request),
    PageRoute(path="/s/{space}/threads/{thread}/step", handler=step, method="POST"),
    PageRoute(path="/s/{space}/threads/{thread}/fork", handler=fork, method="POST"),
    PageRoute(path="/s/{space}/threads/{thread}/prompt", handler=prompt, twin=_prompt_request),
)
MENU = (
    MenuItem(
        section="Working memory",
        name="Threads",
        step="threads",
        operation=LIST_THREADS,
        shortcut="t",
        position=10,
        templates=("threads", "stepper", "prompt"),
    ),
)
