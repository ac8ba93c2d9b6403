"""Commands that let Bethink work: consolidate, worker, serve and mcp."""

import signal
from collections.abc import Awaitable, Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.exporting import every_session
from bethink.cli.forgetting import DryRun, Yes
from bethink.cli.frame import SPACE, Answer, Door, command
from bethink.cli.terminal import Line, many
from bethink.cli.watching import every_space
from bethink.errors import Misconfigured, Unavailable

if TYPE_CHECKING:
    from bethink.memory import Memory
    from bethink.worker import RunReport

app = typer.Typer()

_DUE = ("queued", "failed")
_NO_MODEL = "no model: documents will quote"


@command(app, does="changes")
async def consolidate(door: Door, *, dry_run: DryRun = False, yes: Yes = False) -> Answer:
    """Turn what a space has learnt into documents, now, and learn what else is due, in all spaces.

    With a model this costs money, up to the daily cap.
    """
    if dry_run:
        return await _would(door)
    door.confirm(f"Consolidate space {door.space}, and learn what else is due, in all spaces?", yes=yes)
    await door.memory.consolidate(space=door.space)
    report = await learn_all(door.memory)
    return Answer(data=report, lines=run_lines(report))


async def _would(door: Door) -> Answer:
    """Say what a run would take up: it works in all spaces, so what waits in one is not what it costs."""
    settings = door.place.settings

    def due(kind: str, status: str) -> bool:
        return status in _DUE and (kind != "index" or bool(settings.embedder))  # nothing is indexed without one

    waiting = [job for job in await door.memory.jobs(space=door.space) if due(job.kind, job.status)]
    everywhere: dict[str, int] = {}
    if settings.learn:
        for (kind, status), count in (await door.memory.audit()).counts.items():
            everywhere[kind] = everywhere.get(kind, 0) + (count if due(kind, status) else 0)
    everywhere = {kind: count for kind, count in everywhere.items() if count}
    data = {"space": door.space, "model": settings.model or None, "waiting": waiting, "dry_run": True}
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(everywhere.items()))
    all_told = many(sum(everywhere.values()), "job waits", "jobs wait") + (f" ({kinds})" if kinds else "")
    lines = [
        f"{many(len(waiting), 'job waits', 'jobs wait')} in {door.space}; {settings.model or _NO_MODEL}",
        f"{all_told} in all spaces: --yes learns them, too",
    ]
    return Answer(data=data | {"waiting_in_all_spaces": everywhere}, lines=[Line(line) for line in lines])


@command(app, does="makes", without=SPACE)
async def worker(
    door: Door,
    *,
    once: Annotated[bool, typer.Option("--once", help="Do what is due, then end.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Learn anew, with the model, from what was only quoted without one.")
    ] = False,
) -> Answer:
    """Learn from whatever is marked, until told to stop. It serves all spaces; SIGINT or SIGTERM ends it cleanly."""
    if again:
        if not door.place.settings.model:
            raise Misconfigured("there is no model to learn with.", hint="Name one in the setting model first.")
        door.note(f"{many(await _start_over(door.memory), 'session')} to be learnt from anew")
    if once:
        report = await learn_all(door.memory)
        return Answer(data=report, lines=run_lines(report))
    door.note("working; stop with Ctrl-C")
    stopped_by = await until_told(door.memory.work)
    door.note("stopped; what was claimed is handed back")
    return Answer(data={"stopped_by": stopped_by})


async def _start_over(memory: "Memory") -> int:
    """Promise to learn again from every session, in all spaces, that was only quoted; say how many."""
    count = 0
    async for space in every_space(memory):
        for entry in await every_session(memory, space):
            made = await memory.session_memory(entry.session)
            if made is not None and made.made_by.quotes:
                count += await memory.retry(entry.session)
    return count


async def learn_all(memory: "Memory") -> "RunReport":
    """Learn until nothing more is due or something stands in the way, and sum up what was done."""
    from bethink.worker import RunReport  # noqa: PLC0415

    total = RunReport()
    while True:
        report = await memory.learn()
        for each in fields(RunReport):
            if each.name != "held":
                setattr(total, each.name, getattr(total, each.name) + getattr(report, each.name))
        total.held = report.held
        if not report.claimed:
            return total


def run_lines(report: "RunReport") -> list[Line]:
    """Say what a run did."""
    did = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(report.outcomes.items()))
    lines = [Line(f"{many(report.claimed, 'job')}: {did or 'nothing was due'}")]
    for what, counts in (("facts", report.settled), ("refused claims", report.refused)):
        told = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(counts.items()) if count)
        if told:
            lines.append(Line(f"{what}: {told}"))
    if report.held:
        lines.append(Line(f"held: {report.held.replace('_', ' ')}"))
    return lines


async def until_told(work: Callable[[], Awaitable[None]]) -> str | None:
    """Run something until a signal asks for the end, then cancel it and wait until it is over; say which it was."""
    import anyio  # noqa: PLC0415

    told: str | None = None

    async def listen(scope: anyio.CancelScope) -> None:
        nonlocal told
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                told = signal.Signals(number).name
                scope.cancel()
                return

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen, tasks.cancel_scope)
        await work()
        tasks.cancel_scope.cancel()
    return told


@command(app, does="makes", opens=False, without=SPACE)
def serve(
    door: Door,
    *,
    host: Annotated[str | None, typer.Option(help="The address to listen at.  [default: from the settings]")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen at.", min=0, max=65535)] = None,
) -> Answer:
    """Serve memory over HTTP, until told to stop."""
    try:
        from bethink.server.app import serve as serve_http  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise _missing("server", error) from error
    given: dict[str, Any] = {"server_host": host, "server_port": port}
    settings = replace(door.place.settings, **{name: value for name, value in given.items() if value is not None})
    # Before the server listens this ends the process; when it is done, it raises the signal once more, and we end well.
    signal.signal(signal.SIGTERM, _leave)
    try:
        serve_http(settings, ready=lambda address: door.note(f"serving at {address}; stop with Ctrl-C"))
    except SystemExit as error:
        if error.code:
            raise Unavailable("the server did not start.", hint="Its log says why.") from error
    return Answer()


def _leave(number: int, frame: object) -> None:
    del number, frame
    raise SystemExit(0)


@command(app, does="makes", opens=False, protocol=True)
async def mcp(
    door: Door,
    *,
    read_only: Annotated[bool, typer.Option("--read-only", help="Let nothing be written or forgotten.")] = False,
    no_erase: Annotated[bool, typer.Option("--no-erase", help="Let nothing be forgotten.")] = False,
) -> Answer:
    """Offer one space as MCP tools on stdin and stdout. It ends with stdin."""
    try:
        import bethink.mcp.server  # noqa: PLC0415 - an extra
        from bethink.mcp.stdio import run_stdio  # noqa: PLC0415
    except ImportError as error:
        raise _missing("mcp", error) from error
    _ = bethink.mcp.server
    memory = door.place.make(lasts=True)
    await run_stdio(memory, space=door.space, may_write=not read_only, may_erase=not (read_only or no_erase))
    return Answer()


def _missing(extra: str, error: ImportError) -> Misconfigured:
    ours = not error.name or error.name.startswith("bethink")
    what = f"this needs the extra {extra}{'' if ours else f': {error.name} is not installed'}."
    return Misconfigured(what, hint=f"pip install 'bethink[{extra}]', or '.[{extra}]' from a clone.")
