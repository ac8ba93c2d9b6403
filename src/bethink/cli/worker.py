"""Commands that learn: consolidate and worker."""

import signal
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, DryRun, Result, Yes, command
from bethink.cli.terminal import OutputLine, many

if TYPE_CHECKING:
    from bethink.memory import Memory
    from bethink.model.jobs import RunReport

app = typer.Typer()

_DUE = ("queued", "failed")
_NO_MODEL = "no model: documents will quote"


@command(app, effect="changes")
async def consolidate(ctx: CommandContext, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Update the documents of a space, and run every other job that is due. The other jobs are those of all spaces.

    With a model this costs money, up to the daily cap.
    """
    if dry_run:
        return await _preview(ctx)
    ctx.confirm(f"Consolidate space {ctx.space_name}, and run every job that is due in all spaces?", yes=yes)
    await ctx.space.consolidate()
    report = await learn_all(ctx.memory)
    return Result(data=report, lines=run_lines(report))


async def _preview(ctx: CommandContext) -> Result:
    """Count the jobs that a run would take: it works on all spaces, so one space does not show what it costs."""
    from bethink.plugins import embedder_in_use  # noqa: PLC0415

    settings, server = ctx.target.settings, ctx.target.server
    indexes = bool(server or embedder_in_use(settings))

    def due(kind: str, status: str) -> bool:
        return status in _DUE and (indexes or kind != "index")

    waiting = [job for job in await ctx.space.jobs(limit=1_000) if due(job.kind, job.status)]
    everywhere: dict[str, int] = {}
    if settings.learning.enabled or server:
        for kind, statuses in (await ctx.memory.audit()).counts.items():
            everywhere[kind] = sum(count for status, count in statuses.items() if due(kind, status))
    everywhere = {kind: count for kind, count in everywhere.items() if count}
    data = {"space": ctx.space_name, "model": settings.model.name or None, "waiting": waiting, "dry_run": True}
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(everywhere.items()))
    total = many(sum(everywhere.values()), "job") + (f" ({kinds})" if kinds else "")
    model = "" if server else f"; {settings.model.name or _NO_MODEL}"
    lines = [
        f"{many(len(waiting), 'job')} waiting in {ctx.space_name}{model}",
        f"{total} waiting in all spaces; --yes runs them all",
    ]
    return Result(data=data | {"waiting_in_all_spaces": everywhere}, lines=[OutputLine(line) for line in lines])


@command(app, effect="creates", local=True, without=NO_SPACE)
async def worker(
    ctx: CommandContext,
    *,
    once: Annotated[bool, typer.Option("--once", help="Run the jobs that are due, then exit.")] = False,
) -> Result:
    """Run background jobs until stopped. It works on all spaces. Stop it with SIGINT or SIGTERM.

    Where a model learns from the database, the worker needs a model, too: without one it refuses to quote instead.
    """
    if once:
        report = await learn_all(ctx.memory)
        return Result(data=report, lines=run_lines(report))
    ctx.note("working; stop with Ctrl-C")
    stopped_by = await until_signal(ctx.memory.work)
    ctx.note("stopped; unfinished jobs were released")
    return Result(data={"stopped_by": stopped_by})


async def learn_all(memory: "Memory") -> "RunReport":
    """Run jobs until none is due or something stands in the way, and sum up the reports."""
    from bethink.model.jobs import RunReport  # noqa: PLC0415

    total = RunReport()
    while True:
        report = await memory.learn()
        total.add(report)
        if not report.claimed:
            return total


def run_lines(report: "RunReport") -> list[OutputLine]:
    """Summarize a run."""

    def listed(counts: dict[str, int]) -> str:
        return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(counts.items()) if count)

    lines = [OutputLine(f"{many(report.claimed, 'job')}: {listed(report.outcomes) or 'nothing was due'}")]
    for what, counts in (("facts", report.settled), ("refused claims", report.refused)):
        if listed(counts):
            lines.append(OutputLine(f"{what}: {listed(counts)}"))
    if report.held:
        lines.append(OutputLine(f"held: {report.held.replace('_', ' ')}"))
    return lines


async def until_signal(work: Callable[[], Awaitable[None]]) -> str | None:
    """Run something until SIGINT or SIGTERM, cancel it and wait for its end. Returns the signal's name."""
    import anyio  # noqa: PLC0415

    name: str | None = None

    async def listen(scope: anyio.CancelScope) -> None:
        nonlocal name
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                name = signal.Signals(number).name
                scope.cancel()
                return

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen, tasks.cancel_scope)
        await work()
        tasks.cancel_scope.cancel()
    return name
