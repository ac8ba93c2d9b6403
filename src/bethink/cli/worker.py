"""Commands that run background jobs: worker and doc update."""

import signal
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from bethink.cli.command import NO_SPACE, CommandContext, DryRun, Yes, command
from bethink.cli.results import Result
from bethink.cli.serve import missing_extra
from bethink.cli.terminal import OutputLine, in_words
from bethink.model.plural import plural

if TYPE_CHECKING:
    from bethink.api.connect import Memory
    from bethink.api.space_admin import SpaceAdmin
    from bethink.jobs.worker import Worker
    from bethink.model.jobs import LearnReport

app = typer.Typer()
RunWorker = Callable[["Memory", "Worker"], Awaitable[None]]

_DUE = ("queued", "failed")
_NO_MODEL = "no model: messages only"


@command(app, "doc update", effect="changes")
async def update_documents(ctx: CommandContext, *, dry_run: DryRun = False, yes: Yes = False) -> Result:
    """Update documents from learned facts. It first learns from pending sessions.

    With a model this costs money, up to the daily budget.
    """
    if dry_run:
        return await _preview(ctx)
    ctx.confirm(f"Update the documents of space {ctx.space_name}?", yes=yes)
    await ctx.space.documents.refresh()
    report = await learn_all(ctx.space.admin)
    return Result(data=report, lines=run_lines(report))


async def _preview(ctx: CommandContext) -> Result:
    """Count the jobs that a run would take."""
    from bethink.memory.plugins import embedder_in_use  # noqa: PLC0415

    settings, server = ctx.target.settings, ctx.target.server
    indexes = bool(server or embedder_in_use(settings))
    jobs = await ctx.space.admin.jobs.list(limit=1_000)
    pending = [job for job in jobs if job.status in _DUE and (indexes or job.kind != "index")]
    data = {"space": ctx.space_name, "model": settings.model.name or None, "waiting": pending, "dry_run": True}
    model = "" if server else f"; {settings.model.name or _NO_MODEL}"
    return Result(data=data, lines=[OutputLine(f"{plural(len(pending), 'job')} pending in {ctx.space_name}{model}")])


@command(app, effect="creates", opens=False, local=True, without=NO_SPACE)
async def worker(
    ctx: CommandContext,
    *,
    once: Annotated[bool, typer.Option("--once", help="Run due jobs, then exit.")] = False,
    health: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Address of /healthz, /readyz and /metrics.  [default: none]"),
    ] = None,
) -> Result:
    """Run background jobs: learning, indexing, webhooks.

    It serves all spaces until SIGINT or SIGTERM. If other processes learn with a model, configure it here, too.
    """
    if not once:
        return await run_until_stopped(ctx, lambda _, runner: runner.run(), health=health)
    from bethink.host.waiting import wait_for_database  # noqa: PLC0415 - it loads the databases

    memory = ctx.target.make()
    await wait_for_database(ctx.target.settings)
    async with memory:
        report = await learn_all(memory)
        return Result(data=report, lines=run_lines(report))


async def run_until_stopped(ctx: CommandContext, run: RunWorker, *, health: str | None = None) -> Result:
    """Run jobs until a signal arrives, and serve health and metrics if there is an address for them.

    `run` receives the memory and its worker, and works until it is canceled.
    """
    from bethink.host.waiting import wait_for_database  # noqa: PLC0415 - as above

    ctx.log_as_service()
    settings = ctx.target.settings
    memory = ctx.target.make()
    await wait_for_database(settings)
    address = settings.worker.health_address if health is None else health
    async with memory:
        ctx.note("working; stop with Ctrl-C")
        stopped_by = await until_signal(partial(_work, ctx, memory, run, address))
        ctx.note("stopped; unfinished jobs were released")
        return Result(data={"stopped_by": stopped_by})


async def _work(ctx: CommandContext, memory: "Memory", run: RunWorker, address: str) -> None:
    """Run jobs until canceled, and serve health and metrics at the address, if there is one."""
    runner = memory.backend.local().worker()
    if not address:
        await run(memory, runner)
        return
    try:
        from bethink.http.options import options_from  # noqa: PLC0415
        from bethink.http.worker_health import serve_health  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra("server", error) from error
    async with serve_health(memory, runner, address, options=options_from(ctx.target.settings)) as url:
        ctx.note(f"health and metrics at {url}")
        await run(memory, runner)


async def learn_all(learner: "Memory | SpaceAdmin") -> "LearnReport":
    """Run jobs of all spaces or of one until none is due or they are blocked, and sum up the reports."""
    from bethink.model.jobs import LearnReport  # noqa: PLC0415

    total = LearnReport()
    while True:
        report = await learner.learn()
        total.add(report)
        if not report.leased:
            return total


def run_lines(report: "LearnReport") -> list[OutputLine]:
    """Summarize a run."""
    from bethink.model.jobs import summary_of  # noqa: PLC0415

    lines = [OutputLine(f"{plural(report.leased, 'job')}: {_counts(report.outcomes) or 'nothing was due'}")]
    if learned := summary_of(report.settled):
        lines.append(OutputLine(learned))
    for label, counts in (("pending review", report.for_review), ("rejected claims", report.refused)):
        if _counts(counts):
            lines.append(OutputLine(f"{label}: {_counts(counts)}"))
    if report.blocked:
        lines.append(OutputLine(f"blocked: {report.blocked.replace('_', ' ')}"))
    return lines


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {in_words(name)}" for name, count in sorted(counts.items()) if count)


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
