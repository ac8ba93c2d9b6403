"""Commands that look at what is going on: sessions, spaces, step and jobs."""

import shlex
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.frame import SPACE, Answer, Door, command
from bethink.cli.terminal import Line, columns, many, one_line

if TYPE_CHECKING:
    from bethink.memory import Memory
    from bethink.model.working import StateInfo, Thread
    from bethink.working.memory import StepResult, WorkingMemory

app = typer.Typer()

Limit = Annotated[int, typer.Option(metavar="N", help="At most so many.", min=1)]
_WIDTH = 100


@command(app)
async def sessions(
    door: Door,
    *,
    limit: Limit = 20,
    before: Annotated[str, typer.Option(metavar="ID", help="The id that the page before ended with.")] = "",
) -> Answer:
    """List the sessions of a space, the newest first."""
    from bethink.cli.plain import when  # noqa: PLC0415

    found = await door.memory.sessions(space=door.space, limit=limit, before=before)
    rows = [
        [
            entry.session.id,
            when(entry.session.created_at if entry.begun_at is None else entry.begun_at),
            entry.session.end_reason or "open",
            str(entry.session.last_number),
            "waits to be learnt" if entry.session.invalidated_at is not None else "",
            entry.agent,
            entry.conversation,
        ]
        for entry in found
    ]
    head = ["SESSION", "BEGUN", "STATE", "MESSAGES", "MARK", "AGENT", "CONVERSATION"]
    return Answer(data=found, lines=door.table(rows, head=head))


@command(app, without=SPACE)
async def spaces(
    door: Door,
    *,
    limit: Limit = 100,
    after: Annotated[str, typer.Option(metavar="NAME", help="The space that the page before ended with.")] = "",
    every: Annotated[bool, typer.Option("--all", help="All of them, page after page.")] = False,
) -> Answer:
    """List the spaces that hold anything, by name."""
    if every:
        found = [space async for space in every_space(door.memory, after=after, page=limit)]
    else:
        found = await door.memory.spaces(limit=limit, after=after)
    if not every and len(found) == limit:
        door.note(f"note: there may be more; go on with --after {shlex.quote(found[-1])}, or give --all")
    return Answer(data=found, lines=door.table([[name] for name in found], head=["SPACE"]))


async def every_space(memory: "Memory", *, after: str = "", page: int = 1_000) -> AsyncIterator[str]:
    """Give the name of every space, in order, reading so many at a time."""
    while names := await memory.spaces(limit=page, after=after):
        for name in names:
            yield name
        after = names[-1]


@command(app)
async def jobs(door: Door, *, limit: Limit = 20) -> Answer:
    """List the jobs of a space, the newest promise first."""
    from bethink.cli.plain import when  # noqa: PLC0415

    found = await door.memory.jobs(space=door.space, limit=limit)
    rows = [
        [
            each.kind,
            each.status,
            (each.outcome or "").replace("_", " "),
            str(each.attempts),
            when(each.queued_at),
            when(each.finished_at),
            f"${each.usage.cost / 1e6:.4f}",
            each.key,
            one_line(each.last_error or "", _WIDTH),
        ]
        for each in found
    ]
    head = ["KIND", "STATUS", "OUTCOME", "TRIES", "PROMISED", "FINISHED", "COST", "OF", "ERROR"]
    if any(each.status == "waiting" for each in found):
        door.note("note: what is waiting is done for now, and looked at again when it is due")
    if not door.place.settings.embedder and any(each.kind == "index" and each.status == "queued" for each in found):
        door.note("note: an index job is queued until an embedder is set; without one, recall finds by words")
    return Answer(data=found, lines=door.table(rows, head=head))


@command(app, does="changes")
async def step(
    door: Door,
    thread: Annotated[str | None, typer.Argument(help="A thread in stepping mode; nothing lists all threads.")] = None,
    *,
    show: Annotated[bool, typer.Option("--show", help="Show the states it has had, and take no step.")] = False,
    state: Annotated[int | None, typer.Option(metavar="N", help="Show what it held in a state.", min=0)] = None,
) -> Answer:
    """Take a step of a thread's working memory, or look at it."""
    desk = door.memory.desk(space=door.space)
    if thread is None:
        found = await desk.threads()
        return Answer(data=found, lines=_threads(door, found))
    if state is not None:
        return await _state(door, desk, thread, state)
    if show:
        history = await desk.history(thread)
        return Answer(data=history, lines=_states(history) or door.table([], head=()))
    done = await desk.step(thread)
    history = await desk.history(thread)
    data = {
        "event_processed": done.event_processed,
        "compaction_performed": done.compaction_performed,
        "truncation_performed": done.truncation_performed,
        "has_pending_operations": done.has_pending_operations,
        "queued_event_count": done.queued_event_count,
        "state": history[-1] if history else None,
    }
    return Answer(data=data, lines=[Line(_stepped(done)), *_states(history[-1:])])


async def _state(door: Door, desk: "WorkingMemory", thread: str, number: int) -> Answer:
    found = await desk.state_at(thread, number)
    rows = [[each.type, each.subtype or "", str(each.tokens), one_line(each.text, _WIDTH)] for each in found.chunks]
    return Answer(data=found, lines=door.table(rows, head=["CHUNK", "KIND", "TOKENS", "TEXT"]))


def _stepped(done: "StepResult") -> str:
    what = {"an event": done.event_processed, "a compaction": done.compaction_performed}
    what |= {"a truncation": done.truncation_performed}
    did = next((name for name, happened in what.items() if happened), "nothing to do")
    return f"{did}; {many(done.queued_event_count, 'event waits', 'events wait')}"


def _states(history: "list[StateInfo]") -> list[Line]:
    from bethink.cli.plain import when  # noqa: PLC0415

    rows = [
        [str(each.number), when(each.recorded_at), each.source, each.event_type or "", str(each.total_tokens)]
        for each in history
    ]
    return columns(rows, head=["STATE", "AT", "SOURCE", "EVENT", "TOKENS"]) if rows else []


def _threads(door: Door, found: "list[Thread]") -> list[Line]:
    rows = [
        [each.id, each.mode, str(each.state_number), str(each.last_event - each.applied), str(each.total_tokens)]
        for each in found
    ]
    return door.table(rows, head=["THREAD", "MODE", "STATE", "WAITING", "TOKENS"])
