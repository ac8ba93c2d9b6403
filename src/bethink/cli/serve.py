"""Commands that serve memory to other programs: serve and mcp."""

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import NO_SPACE, CommandContext, Result, command
from bethink.errors import Misconfigured, Unavailable

if TYPE_CHECKING:
    from bethink.config.settings import Settings
    from bethink.http.app import Door

app = typer.Typer()


@command(app, effect="creates", opens=False, local=True, without=NO_SPACE)
def serve(
    ctx: CommandContext,
    *,
    host: Annotated[str | None, typer.Option(help="The address to listen on.  [default: from the settings]")] = None,
    port: Annotated[
        int | None, typer.Option(help="The port to listen on.  [default: from the settings]", min=0, max=65535)
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes that share the address.", min=1, max=64)] = 1,
    proxy: Annotated[
        bool, typer.Option("--proxy", help="Pass calls to models on, too, and remember what is said in them.")
    ] = False,
    agents: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Serve only hooks of coding agents, with their state in this folder."),
    ] = None,
) -> Result:
    """Run the HTTP server until stopped."""
    if agents is not None:
        return _serve_agents(ctx, Path(agents))
    try:
        import bethink.http.app  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra("server", error) from error
    _ = bethink.http.app
    given: dict[str, Any] = {"host": host, "port": port}
    settings = ctx.target.settings
    server = replace(settings.server, **{name: value for name, value in given.items() if value is not None})
    window, passing = window_doors(), proxy_doors(settings) if proxy else ()
    beside = ", ".join([*(["window: /ui"] if window else []), *(["proxy: /v1"] if passing else [])])
    return run_server(
        replace(settings, server=server),
        ready=lambda address: ctx.note(f"serving at {address}{f' ({beside})' if beside else ''}; stop with Ctrl-C"),
        doors=[*window, *passing],
        workers=workers,
    )


def run_server(
    settings: "Settings",
    *,
    ready: Callable[[str], None],
    doors: "Sequence[Door]" = (),
    terse: bool = False,
    workers: int = 1,
) -> Result:
    """Run the server until stopped. `ready` is called with the address when it listens; `terse` logs errors only."""
    from bethink.http.app import serve as serve_http  # noqa: PLC0415 - an extra

    # Until the server listens, SIGTERM ends the process; after it has shut down, it raises the signal again.
    signal.signal(signal.SIGTERM, _exit)
    try:
        serve_http(settings, ready=ready, doors=doors, terse=terse, workers=workers)
    except SystemExit as error:
        if error.code:
            raise Unavailable("the server did not start.", hint="See its log for the reason.") from error
    return Result()


def _spaces_of(folder: str, also: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the space of a folder's project, or else its person's, and the others that may be asked there."""
    from bethink.agents.folder import AgentFolder  # noqa: PLC0415 - few serve a project
    from bethink.agents.scopes import scope_of  # noqa: PLC0415

    project_only = bool(AgentFolder().settings.get("project_only"))
    found = scope_of(os.path.expandvars(folder), project_only=project_only).spaces
    if not found:
        hint = "See .bethinkignore there or above, and 'bethink connect --project-only'."
        raise Misconfigured(f"nothing is remembered in {folder}.", hint=hint)
    return found[0], tuple(dict.fromkeys([*found[1:], *also]))


def _serve_agents(ctx: CommandContext, folder: Path) -> Result:
    """Serve hooks. It ends by itself when there were none for a while."""
    from bethink.agents.folder import AgentFolder  # noqa: PLC0415 - few serve hooks
    from bethink.agents.resident import serve as serve_hooks  # noqa: PLC0415

    memory = ctx.target.make(stays=True)
    signal.signal(signal.SIGTERM, _exit)
    if not serve_hooks(memory, AgentFolder(folder), learns_freely=not ctx.target.settings.model.name):
        ctx.note("another process serves the hooks already")
    return Result()


def window_doors() -> "Sequence[Door]":
    """Return the web window as a door of the server; nothing where the extra is not installed."""
    try:
        from bethink.web.door import add_window  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "bethink":
            raise
        return ()
    return (add_window,)


def proxy_doors(settings: "Settings") -> "Sequence[Door]":
    """Return the proxy as a door of the server."""
    from bethink.http.proxy import add_proxy  # noqa: PLC0415 - few run a proxy

    return (partial(add_proxy, settings.proxy),)


def _exit(number: int, frame: object) -> None:
    del number, frame
    raise SystemExit(0)


@command(app, effect="creates", opens=False, protocol=True)
async def mcp(
    ctx: CommandContext,
    *,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer no tools that write or delete.")] = False,
    no_erase: Annotated[bool, typer.Option("--no-erase", help="Offer no tools that delete.")] = False,
    no_ask: Annotated[
        bool, typer.Option("--no-ask", help="Never ask the user to confirm a note; it waits for 'bethink review'.")
    ] = False,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another space that recall asks, too; it is never written. Repeatable."),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Serve the space of a folder's project; recall asks the person's, too."),
    ] = None,
) -> Result:
    """Serve one space as MCP tools over stdin and stdout. It ends when stdin is closed."""
    try:
        import bethink.mcp.server  # noqa: PLC0415 - an extra
        from bethink.mcp.stdio import run_stdio  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra("mcp", error) from error
    _ = bethink.mcp.server
    space, others = (ctx.space_name, tuple(also or ())) if project is None else _spaces_of(project, also or ())
    memory = ctx.target.make(stays=True)
    allowed = {"may_write": not read_only, "may_erase": not (read_only or no_erase), "may_confirm": not no_ask}
    await run_stdio(memory, space=space, also=others, **allowed)
    return Result()


def missing_extra(extra: str, error: ImportError | None = None) -> Misconfigured:
    """Return the error for a command whose extra is not installed."""
    name = "" if error is None else error.name or ""
    ours = not name or name.startswith("bethink")
    what = f"this command needs the extra {extra!r}{'' if ours else f': {name} is not installed'}."
    return Misconfigured(what, hint=f"Run pip install 'bethink[{extra}]', or '.[{extra}]' in a clone.")
