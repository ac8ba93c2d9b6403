"""The command that steps through the working memory of a thread: step."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, Result, command
from bethink.cli.terminal import OutputLine, columns, one_line, when
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.thread_results import StepResult
    from bethink.model.working import StateInfo, Thread

app = typer.Typer()

_WIDTH = 100


@command(app, effect="changes")
async def step(
    ctx: CommandContext,
    thread: Annotated[str | None, typer.Argument(help="The thread. Without one, list all threads.")] = None,
    *,
    show: Annotated[bool, typer.Option("--show", help="List its states, and run no step.")] = False,
    state: Annotated[int | None, typer.Option(metavar="N", help="Show the content of a state.", min=0)] = None,
) -> Result:
    """Run one step of a thread in stepping mode, or inspect a thread."""
    threads = ctx.space.threads
    if thread is None:
        found = await threads.all()
        return Result(data=found, lines=_threads(ctx, found))
    if state is not None:
        return await _state(ctx, thread, state)
    if show:
        states = await threads.states(thread)
        return Result(data=states, lines=_states(states) or ctx.table([], head=()))
    done = await threads.step(thread)
    states = await threads.states(thread)
    data = {
        "event_processed": done.event_processed,
        "compaction_performed": done.compaction_performed,
        "truncation_performed": done.truncation_performed,
        "has_pending_operations": done.has_pending_operations,
        "queued_event_count": done.queued_event_count,
        "state": states[-1] if states else None,
    }
    return Result(data=data, lines=[OutputLine(_summary(done)), *_states(states[-1:])])


async def _state(ctx: CommandContext, thread: str, number: int) -> Result:
    found = await ctx.space.threads.state(thread, number)
    rows = [[each.type, each.subtype or "", str(each.tokens), one_line(each.text, _WIDTH)] for each in found.chunks]
    return Result(data=found, lines=ctx.table(rows, head=["CHUNK", "KIND", "TOKENS", "TEXT"]))


def _summary(done: "StepResult") -> str:
    what = {
        "processed an event": done.event_processed,
        "compacted": done.compaction_performed,
        "truncated": done.truncation_performed,
    }
    did = next((words for words, happened in what.items() if happened), "nothing to do")
    return f"{did}; {plural(done.queued_event_count, 'event')} waiting"


def _states(states: "list[StateInfo]") -> list[OutputLine]:
    rows = [
        [str(each.number), when(each.recorded_at), each.source, each.event_type or "", str(each.total_tokens)]
        for each in states
    ]
    return columns(rows, head=["STATE", "AT", "SOURCE", "EVENT", "TOKENS"]) if rows else []


def _threads(ctx: CommandContext, found: "list[Thread]") -> list[OutputLine]:
    rows = [
        [each.id, each.mode, str(each.state_number), str(each.last_event - each.applied), str(each.total_tokens)]
        for each in found
    ]
    return ctx.table(rows, head=["THREAD", "MODE", "STATE", "WAITING", "TOKENS"])
