"""Commands that serve memory to other programs: serve and mcp."""

import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import NO_SPACE, CommandContext, Result, command
from bethink.errors import Misconfigured, Unavailable

if TYPE_CHECKING:
    from bethink.server.app import Door
    from bethink.settings import Settings

app = typer.Typer()


@command(app, effect="creates", opens=False, local=True, without=NO_SPACE)
def serve(
    ctx: CommandContext,
    *,
    host: Annotated[str | None, typer.Option(help="The address to listen on.  [default: from the settings]")] = None,
    port: Annotated[
        int | None, typer.Option(help="The port to listen on.  [default: from the settings]", min=0, max=65535)
    ] = None,
) -> Result:
    """Run the HTTP server until stopped."""
    try:
        import bethink.server.app  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra("server", error) from error
    _ = bethink.server.app
    given: dict[str, Any] = {"host": host, "port": port}
    settings = ctx.target.settings
    server = replace(settings.server, **{name: value for name, value in given.items() if value is not None})
    doors = window_doors()
    beside = " (window: /ui)" if doors else ""
    return run_server(
        replace(settings, server=server),
        ready=lambda address: ctx.note(f"serving at {address}{beside}; stop with Ctrl-C"),
        doors=doors,
    )


def run_server(settings: "Settings", *, ready: Callable[[str], None], doors: "Sequence[Door]" = ()) -> Result:
    """Run the HTTP server until stopped. `ready` is called with the address when it listens."""
    from bethink.server.app import serve as serve_http  # noqa: PLC0415 - an extra

    # Until the server listens, SIGTERM ends the process; after it has shut down, it raises the signal again.
    signal.signal(signal.SIGTERM, _exit)
    try:
        serve_http(settings, ready=ready, doors=doors)
    except SystemExit as error:
        if error.code:
            raise Unavailable("the server did not start.", hint="See its log for the reason.") from error
    return Result()


def window_doors() -> "Sequence[Door]":
    """Return the web window as a door of the server; nothing where the extra is not installed."""
    try:
        from bethink.web import add_window  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "bethink":
            raise
        return ()
    return (add_window,)


def _exit(number: int, frame: object) -> None:
    del number, frame
    raise SystemExit(0)


@command(app, effect="creates", opens=False, protocol=True)
async def mcp(
    ctx: CommandContext,
    *,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer no tools that write or delete.")] = False,
    no_erase: Annotated[bool, typer.Option("--no-erase", help="Offer no tools that delete.")] = False,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another space that recall asks, too; it is never written. Repeatable."),
    ] = None,
) -> Result:
    """Serve one space as MCP tools over stdin and stdout. It ends when stdin is closed."""
    try:
        import bethink.mcp.server  # noqa: PLC0415 - an extra
        from bethink.mcp.stdio import run_stdio  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra("mcp", error) from error
    _ = bethink.mcp.server
    memory = ctx.target.make(stays=True)
    allowed = {"may_write": not read_only, "may_erase": not (read_only or no_erase)}
    await run_stdio(memory, space=ctx.space_name, also=tuple(also or ()), **allowed)
    return Result()


def missing_extra(extra: str, error: ImportError | None = None) -> Misconfigured:
    """Return the error for a command whose extra is not installed."""
    name = "" if error is None else error.name or ""
    ours = not name or name.startswith("bethink")
    what = f"this command needs the extra {extra!r}{'' if ours else f': {name} is not installed'}."
    return Misconfigured(what, hint=f"Run pip install 'bethink[{extra}]', or '.[{extra}]' in a clone.")
