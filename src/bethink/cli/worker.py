"""Commands that learn: consolidate and worker."""

import signal
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, DryRun, Result, Yes, command
from bethink.cli.serve import missing_extra
from bethink.cli.terminal import OutputLine
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.api.connect import Memory
    from bethink.api.space import Space
    from bethink.jobs.worker import Worker
    from bethink.model.jobs import RunReport

app = typer.Typer()
RunWorker = Callable[["Memory", "Worker"], Awaitable[None]]

_DUE = ("queued", "failed")
_NO_MODEL = "no model: documents will quote"


@command(app, effect="changes")
async def consolidate(ctx: CommandContext, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Learn from what is marked in a space, and update its documents.

    With a model this costs money, up to the daily cap.
    """
    if dry_run:
        return await _preview(ctx)
    ctx.confirm(f"Consolidate space {ctx.space_name}?", yes=yes)
    await ctx.space.consolidate()
    report = await learn_all(ctx.space)
    return Result(data=report, lines=run_lines(report))


async def _preview(ctx: CommandContext) -> Result:
    """Count the jobs that a run would take."""
    from bethink.memory.plugins import embedder_in_use  # noqa: PLC0415

    settings, server = ctx.target.settings, ctx.target.server
    indexes = bool(server or embedder_in_use(settings))
    jobs = await ctx.space.jobs(limit=1_000)
    waiting = [job for job in jobs if job.status in _DUE and (indexes or job.kind != "index")]
    data = {"space": ctx.space_name, "model": settings.model.name or None, "waiting": waiting, "dry_run": True}
    model = "" if server else f"; {settings.model.name or _NO_MODEL}"
    return Result(data=data, lines=[OutputLine(f"{plural(len(waiting), 'job')} waiting in {ctx.space_name}{model}")])


@command(app, effect="creates", opens=False, local=True, without=NO_SPACE)
async def worker(
    ctx: CommandContext,
    *,
    once: Annotated[bool, typer.Option("--once", help="Run the jobs that are due, then exit.")] = False,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Answer /healthz, /readyz and /metrics there.  [default: from the settings]"
        ),
    ] = None,
) -> Result:
    """Run background jobs until stopped. It works on all spaces. Stop it with SIGINT or SIGTERM.

    Where a model learns from the database, the worker needs a model, too: without one it refuses to quote instead.
    """
    if not once:
        return await run_until_stopped(ctx, lambda _, runner: runner.run(), listen=listen)
    from bethink.host.waiting import wait_for_database  # noqa: PLC0415 - it loads the databases

    memory = ctx.target.make()
    await wait_for_database(ctx.target.settings)
    async with memory:
        report = await learn_all(memory)
        return Result(data=report, lines=run_lines(report))


async def run_until_stopped(ctx: CommandContext, run: RunWorker, *, listen: str | None = None) -> Result:
    """Run the jobs of a memory until a signal arrives, and serve health and metrics if there is an address for them.

    `run` receives the memory and its worker, and works until it is canceled.
    """
    from bethink.host.waiting import wait_for_database  # noqa: PLC0415 - as above

    ctx.log_as_service()
    settings = ctx.target.settings
    memory = ctx.target.make()
    await wait_for_database(settings)
    address = settings.worker.listen if listen is None else listen
    async with memory:
        ctx.note("working; stop with Ctrl-C")
        stopped_by = await until_signal(partial(_work, ctx, memory, run, address))
        ctx.note("stopped; unfinished jobs were released")
        return Result(data={"stopped_by": stopped_by})


async def _work(ctx: CommandContext, memory: "Memory", run: RunWorker, address: str) -> None:
    """Run jobs until canceled, and serve health and metrics at the address, if there is one."""
    runner = memory.local().worker()
    if not address:
        await run(memory, runner)
        return
    try:
        from bethink.http.beside import answering_probes  # noqa: PLC0415 - an extra
        from bethink.http.options import options_from  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra("server", error) from error
    async with answering_probes(memory, runner, address, options=options_from(ctx.target.settings)) as place:
        ctx.note(f"health and metrics at {place}")
        await run(memory, runner)


async def learn_all(learner: "Memory | Space") -> "RunReport":
    """Run jobs of all spaces or of one until none is due or something stands in the way, and sum up the reports."""
    from bethink.model.jobs import RunReport  # noqa: PLC0415

    total = RunReport()
    while True:
        report = await learner.learn()
        total.add(report)
        if not report.claimed:
            return total


def run_lines(report: "RunReport") -> list[OutputLine]:
    """Summarize a run."""

    def listed(counts: dict[str, int]) -> str:
        return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(counts.items()) if count)

    lines = [OutputLine(f"{plural(report.claimed, 'job')}: {listed(report.outcomes) or 'nothing was due'}")]
    claims = (("held claims", report.for_review), ("refused claims", report.refused))
    for what, counts in (("facts", report.settled), *claims):
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
