"""The command that opens the web window: ui."""

import http.client
import webbrowser
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import NO_SPACE, CommandContext, Result, anyio_run, command
from bethink.cli.serve import missing_extra, run_server, window_doors

if TYPE_CHECKING:
    from bethink.api.connect import Memory
    from bethink.cli.target import Target

app = typer.Typer()

_NAME = "bethink ui"
"""The name of the key that the window is opened with. Its text is thrown away; to revoke it ends those sessions."""
_PATIENCE = 2.0


@command(app, effect="creates", opens=False, local=True, without=NO_SPACE)
def ui(
    ctx: CommandContext,
    *,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(help="The port to listen on.  [default: from the settings]", min=0, max=65535)
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the link instead of opening it.")] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Look at three made-up months of conversations, kept until you stop.")
    ] = False,
) -> Result:
    """Open the web window, already signed in. It starts a server on this machine if none serves this memory yet."""
    doors = window_doors()
    if not doors:
        raise missing_extra("web")
    if not demo:
        return _open(ctx.target, ctx.note, host=host, port=port, no_browser=no_browser)
    with TemporaryDirectory(prefix="bethink-demo-") as folder:
        target = _made_up(ctx, f"{folder}/demo.db")
        return _open(target, ctx.note, host=host, port=port, no_browser=no_browser)


def _made_up(ctx: CommandContext, path: str) -> "Target":
    """Make the memory of the demo in a file. It is asked no model of the user's, and sends nothing elsewhere."""
    from bethink.cli.demo import StoryClock, seed, settings_at  # noqa: PLC0415 - as every import here, for a quick --help
    from bethink.cli.target import Target  # noqa: PLC0415

    async def make() -> Result:
        await seed(path, StoryClock())
        return Result()

    ctx.note("making a memory of 31 sessions with Mira, who does not exist; it is gone when you stop…")
    anyio_run(make)
    settings = replace(settings_at(path), server=ctx.target.settings.server)
    return Target(settings=settings, file=None, named_by="--demo")


def _open(target: "Target", note: Callable[[str], None], *, host: str, port: int | None, no_browser: bool) -> Result:
    """Show the window of a memory, on a server that runs already or on one that runs until it is stopped."""
    settings = target.settings
    port = settings.server.port if port is None else port
    # It creates the database and the key, and says what is wrong with either before a server runs.
    anyio_run(_link_of, target)

    def show(address: str, more: str) -> None:
        link = f"{address}/ui/enter?once={_fresh(target)}"
        opened = not no_browser and webbrowser.open(link)
        note(f"the window is at {address}/ui{more}" if opened else f"open within a minute: {link}{more}")

    if port and _serves_this(host, port, lambda: _fresh(target)):
        show(f"http://{host}:{port}", " (a server was running already)")
        return Result()
    server = replace(settings.server, host=host, port=0 if _taken(host, port) else port)
    ready = partial(show, more=" (stop with Ctrl-C)")
    return run_server(replace(settings, server=server), ready=ready, doors=window_doors(), terse=True)


def _fresh(target: "Target") -> str:
    """Return a token for one sign-in."""
    found: list[str] = []

    async def make() -> Result:
        found.append((await _link_of(target)).data)
        return Result()

    # In a thread: where the server calls it, an event loop is running already.
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only here

    with ThreadPoolExecutor(1) as pool:
        pool.submit(anyio_run, make).result()
    return found[0]


async def _link_of(target: "Target") -> Result:
    async with target.make() as memory:
        return Result(data=await _token(memory))


async def _token(memory: "Memory") -> str:
    from bethink.model.access import Scope  # noqa: PLC0415
    from bethink.web.sessions import WebSessions  # noqa: PLC0415

    def fits(key: Any) -> bool:
        return (
            key.name == _NAME and key.revoked_at is None and key.expires_at is None and key.scopes == frozenset(Scope)
        )

    known = [each.prefix for each in await memory.keys.all() if fits(each) and each.spaces is None]
    prefix = known[0] if known else (await memory.keys.create(_NAME, tuple(Scope))).info.prefix
    return await WebSessions(memory.local().database).link(prefix)


def _serves_this(host: str, port: int, token: Callable[[], str]) -> bool:
    """Return whether the window of this very memory is served there: it then knows a token made here."""
    if not _taken(host, port):
        return False
    connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE)
    try:
        connection.request("GET", f"/ui/enter?once={token()}")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _taken(host: str, port: int) -> bool:
    import socket  # noqa: PLC0415 - only here

    try:
        socket.create_connection((host, port), timeout=_PATIENCE).close()
    except OSError:
        return False
    return port != 0
