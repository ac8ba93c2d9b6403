"""Commands that run servers: serve and mcp."""

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.base.installed import install_hint
from bethink.cli.command import DEFAULT_SPACE, NO_SPACE, CommandContext, command
from bethink.cli.results import Result
from bethink.errors import ConfigurationError, DatabaseUnavailableError

if TYPE_CHECKING:
    from bethink.config.settings import Settings
    from bethink.http.app import Mount

app = typer.Typer()

_MCP_SPACE = {
    "space": (Annotated[str | None, typer.Option(metavar="NAME", help="Space.  [default: 'default']")], None),
}


@command(app, effect="creates", opens=False, local=True, without=NO_SPACE)
def serve(
    ctx: CommandContext,
    *,
    host: Annotated[str | None, typer.Option(help="Address to listen on.  [default: from the settings]")] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on.  [default: from the settings]", min=0, max=65535)
    ] = None,
    workers: Annotated[int, typer.Option(help="Number of processes.", min=1, max=64)] = 1,
    proxy: Annotated[bool, typer.Option("--proxy", help="Also proxy model calls and store the conversations.")] = False,
    agents: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Serve only hooks of coding agents, with this state folder."),
    ] = None,
) -> Result:
    """Run the HTTP server. Stop it with Ctrl-C."""
    if agents is not None:
        return _serve_agents(ctx, Path(agents))
    try:
        from bethink.http.app import log_address  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_extra("server", error) from error
    address: dict[str, Any] = {"host": host, "port": port}
    settings = ctx.target.settings
    server = replace(settings.server, **{name: value for name, value in address.items() if value is not None})
    window, passing = web_mounts(), proxy_mounts(settings) if proxy else ()
    extras = ", ".join([*(["UI: /ui"] if window else []), *(["proxy: /v1"] if passing else [])])
    return run_server(
        replace(settings, server=server),
        ready=lambda address: log_address(f"{address} ({extras})" if extras else address),
        mounts=[*window, *passing],
        workers=workers,
    )


def run_server(
    settings: "Settings",
    *,
    ready: Callable[[str], None],
    mounts: "Sequence[Mount]" = (),
    terse: bool = False,
    workers: int = 1,
) -> Result:
    """Run the server until it is stopped. Calls `ready` with the address when it listens; `terse` logs errors only."""
    from bethink.http.app import serve as serve_http  # noqa: PLC0415 - an extra

    # Until the server listens, SIGTERM ends the process; after it has shut down, it raises the signal again.
    signal.signal(signal.SIGTERM, _exit)
    try:
        serve_http(settings, ready=ready, mounts=mounts, terse=terse, workers=workers)
    except SystemExit as error:
        if error.code:
            raise DatabaseUnavailableError("The server did not start.", hint="See its log for the reason.") from error
    return Result()


def _spaces_of(folder: str, read_spaces: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the space of a folder's project, or else the user's own, and the others that recall searches there."""
    from bethink.agents.folder import AgentFolder  # noqa: PLC0415 - few serve a project
    from bethink.agents.scopes import scope_of  # noqa: PLC0415

    project_only = bool(AgentFolder().settings.get("project_only"))
    names = scope_of(os.path.expandvars(folder), project_only=project_only).spaces
    if not names:
        hint = "See .bethinkignore there or above, and 'bethink connect --project-only'."
        raise ConfigurationError(f"Memory is off in {folder}.", hint=hint)
    return names[0], tuple(dict.fromkeys([*names[1:], *read_spaces]))


def _serve_agents(ctx: CommandContext, folder: Path) -> Result:
    """Serve hooks. The process ends after a while without any."""
    from bethink.agents.folder import AgentFolder  # noqa: PLC0415 - few serve hooks
    from bethink.agents.resident import serve as serve_hooks  # noqa: PLC0415

    memory = ctx.target.make(stays=True)
    signal.signal(signal.SIGTERM, _exit)
    if not serve_hooks(memory, AgentFolder(folder), learns_freely=not ctx.target.settings.model.name):
        ctx.note("another process serves the hooks already")
    return Result()


def web_mounts() -> "Sequence[Mount]":
    """Return the web UI as an interface of the server; nothing without the extra."""
    try:
        from bethink.web.mount import add_web_ui  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "bethink":
            raise
        return ()
    return (add_web_ui,)


def proxy_mounts(settings: "Settings") -> "Sequence[Mount]":
    """Return the proxy as an interface of the server."""
    from bethink.http.proxy import add_proxy  # noqa: PLC0415 - few run a proxy

    return (partial(add_proxy, settings.proxy),)


def _exit(number: int, frame: object) -> None:
    del number, frame
    raise SystemExit(0)


@command(app, effect="creates", opens=False, protocol=True, without=NO_SPACE, more=_MCP_SPACE)
async def mcp(
    ctx: CommandContext,
    *,
    read_only: Annotated[bool, typer.Option("--read-only", help="Expose read-only tools.")] = False,
    no_delete: Annotated[bool, typer.Option("--no-delete", help="Expose no tools that delete.")] = False,
    no_confirm: Annotated[
        bool, typer.Option("--no-confirm", help="Leave notes pending for 'bethink review' instead of asking.")
    ] = False,
    read_space: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Space that recall also reads. Repeatable.")
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Folder of the project to serve; recall also reads 'default'."),
    ] = None,
) -> Result:
    """Run an MCP server for one space, over stdio. The server stops when stdin closes."""
    try:
        import bethink.mcp.server  # noqa: PLC0415 - an extra
        from bethink.mcp.stdio import run_stdio  # noqa: PLC0415
    except ImportError as error:
        raise missing_extra("mcp", error) from error
    _ = bethink.mcp.server
    extra = tuple(read_space or ())
    space, others = (ctx.more["space"] or DEFAULT_SPACE, extra) if project is None else _spaces_of(project, extra)
    memory = ctx.target.make(stays=True)
    allowed = {"may_write": not read_only, "may_erase": not (read_only or no_delete), "may_confirm": not no_confirm}
    await run_stdio(memory, space=space, also=others, **allowed)
    return Result()


def missing_extra(extra: str, error: ImportError | None = None) -> ConfigurationError:
    """Return the error for a missing extra."""
    name = "" if error is None else error.name or ""
    ours = not name or name.startswith("bethink")
    message = f"This command needs the extra {extra!r}{'' if ours else f': {name} is not installed'}."
    return ConfigurationError(message, hint=install_hint(extra))
