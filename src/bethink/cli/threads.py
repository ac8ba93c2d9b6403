"""The command that inspects or steps through working memory: learn thread."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import CommandContext, command
from bethink.cli.results import Result
from bethink.cli.terminal import OutputLine, columns, one_line, when
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.model.paging import Page
    from bethink.model.thread_results import StepResult
    from bethink.model.working import StateInfo, Thread

app = typer.Typer()

_WIDTH = 100


@command(app, "learn thread", effect="changes")
async def thread_command(
    ctx: CommandContext,
    thread: Annotated[str | None, typer.Argument(help="Thread. Omit to list all threads.")] = None,
    *,
    show: Annotated[bool, typer.Option("--show", help="Show the states of the thread without stepping.")] = False,
    state: Annotated[int | None, typer.Option(metavar="N", help="State whose content to show.", min=0)] = None,
) -> Result:
    """Inspect or step through an agent's working memory. In stepping mode, it runs one step of the thread."""
    threads = ctx.space.threads
    if thread is None:
        entries = await threads.list()
        return Result(data=entries, lines=_threads(ctx, entries))
    if state is not None:
        return await _state(ctx, thread, state)
    if show:
        states = await threads.states(thread)
        return Result(data=states, lines=_states(states) or ctx.table([], head=()))
    step = await threads.step(thread)
    states = await threads.states(thread)
    data = {
        "event_processed": step.event_processed,
        "compaction_performed": step.compaction_performed,
        "truncation_performed": step.truncation_performed,
        "has_pending_operations": step.has_pending_operations,
        "queued_event_count": step.queued_event_count,
        "state": states[-1] if states else None,
    }
    return Result(data=data, lines=[OutputLine(_summary(step)), *_states(states[-1:])])


async def _state(ctx: CommandContext, thread: str, number: int) -> Result:
    state = await ctx.space.threads.state(thread, number)
    rows = [
        [chunk.type, chunk.subtype or "", str(chunk.tokens), one_line(chunk.text, _WIDTH)] for chunk in state.chunks
    ]
    return Result(data=state, lines=ctx.table(rows, head=["CHUNK", "KIND", "TOKENS", "TEXT"]))


def _summary(step: "StepResult") -> str:
    actions = {
        "processed an event": step.event_processed,
        "compacted": step.compaction_performed,
        "truncated": step.truncation_performed,
    }
    action = next((words for words, happened in actions.items() if happened), "nothing to do")
    return f"{action}; {plural(step.queued_event_count, 'event')} waiting"


def _states(states: "list[StateInfo]") -> list[OutputLine]:
    rows = [
        [str(state.number), when(state.recorded_at), state.source, state.event_type or "", str(state.total_tokens)]
        for state in states
    ]
    return columns(rows, head=["STATE", "TIME", "SOURCE", "EVENT", "TOKENS"]) if rows else []


def _threads(ctx: CommandContext, threads: "Page[Thread]") -> list[OutputLine]:
    rows = [
        [
            thread.id,
            thread.mode,
            str(thread.state_number),
            str(thread.last_event - thread.applied),
            str(thread.total_tokens),
        ]
        for thread in threads
    ]
    return ctx.table(rows, head=["THREAD", "MODE", "STATE", "WAITING", "TOKENS"])
