"""Commands for workers on Temporal: admin temporal worker, pause and resume."""

from typing import TYPE_CHECKING, Annotated

import typer

from bethink.extensions.commands import NO_SPACE, CommandContext, Result, command, run_until_stopped
from bethink_temporal.names import TemporalOptions, queues_from

if TYPE_CHECKING:
    from bethink.extensions.backends import Memory
    from bethink.extensions.jobs import Worker

app = typer.Typer(help="Run jobs on a Temporal cluster.")

Address = Annotated[str, typer.Option(metavar="HOST:PORT", envvar="TEMPORAL_ADDRESS", help="Address of the cluster.")]
Namespace = Annotated[str, typer.Option(metavar="NAME", envvar="TEMPORAL_NAMESPACE", help="Namespace of the cluster.")]
TaskQueue = Annotated[
    str,
    typer.Option(metavar="NAME", envvar="BETHINK_TEMPORAL_TASK_QUEUE", help="Task queue. Each database needs its own."),
]
Rates = Annotated[
    str,
    typer.Option(
        metavar="RATES", envvar="BETHINK_TEMPORAL_RATES", help="Jobs per second for each provider: openai=5,voyage=20."
    ),
]
Drain = Annotated[
    float,
    typer.Option(metavar="SECONDS", envvar="BETHINK_TEMPORAL_DRAIN", help="Time to finish running jobs when stopped."),
]
Health = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="Address of /healthz, /readyz and /metrics.  [default: none]")
]
_DEFAULT = TemporalOptions()


@command(app, effect="creates", opens=False, local=True, without=NO_SPACE)
async def worker(
    ctx: CommandContext,
    *,
    address: Address = _DEFAULT.address,
    namespace: Namespace = _DEFAULT.namespace,
    task_queue: TaskQueue = _DEFAULT.task_queue,
    rates: Rates = _DEFAULT.rates,
    drain: Drain = _DEFAULT.drain,
    health: Health = None,
) -> Result:
    """Run the jobs that Temporal assigns, until stopped. Stop it with SIGINT or SIGTERM."""
    from bethink_temporal import fleet  # noqa: PLC0415 - `--help` does not load Temporal's client

    options = TemporalOptions(address=address, namespace=namespace, task_queue=task_queue, rates=rates, drain=drain)
    settings = ctx.target.settings

    async def run(memory: "Memory", runner: "Worker") -> None:
        client = await fleet.connect_client(options, identity=runner.name)
        database = memory.backend.local().database
        await runner.run(fleet.Fleet(client, database, runner, settings=settings, options=options).run)

    queues_from(settings, options)  # rates of another form fail before anything is opened
    return await run_until_stopped(ctx, run, health=health)


@command(app, effect="changes", opens=False, local=True, without=NO_SPACE)
async def pause(
    ctx: CommandContext,
    *,
    address: Address = _DEFAULT.address,
    namespace: Namespace = _DEFAULT.namespace,
    task_queue: TaskQueue = _DEFAULT.task_queue,
) -> Result:
    """Pause all workers on a task queue."""
    return await _pause(ctx, TemporalOptions(address=address, namespace=namespace, task_queue=task_queue))


@command(app, effect="changes", opens=False, local=True, without=NO_SPACE)
async def resume(
    ctx: CommandContext,
    *,
    address: Address = _DEFAULT.address,
    namespace: Namespace = _DEFAULT.namespace,
    task_queue: TaskQueue = _DEFAULT.task_queue,
) -> Result:
    """Resume all workers on a task queue."""
    options = TemporalOptions(address=address, namespace=namespace, task_queue=task_queue)
    return await _pause(ctx, options, resume=True)


async def _pause(ctx: CommandContext, options: TemporalOptions, *, resume: bool = False) -> Result:
    from bethink_temporal import fleet  # noqa: PLC0415 - as above

    queues = queues_from(ctx.target.settings, options)
    await fleet.pause(await fleet.connect_client(options), queues, resume=resume)
    ctx.note(
        "Resumed: workers relay jobs again"
        if resume
        else "Paused: running jobs finish, and no further jobs are relayed"
    )
    return Result(data={"task_queue": options.task_queue, "paused": not resume})
