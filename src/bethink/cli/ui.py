"""The command that opens the web UI: ui."""

import http.client
import webbrowser
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bethink.cli.command import NO_SPACE, CommandContext, anyio_run, command
from bethink.cli.results import Result
from bethink.cli.serve import missing_extra, run_server, web_mounts

if TYPE_CHECKING:
    from bethink.api.connect import Memory
    from bethink.cli.target import Target

app = typer.Typer()

_NAME = "bethink ui"
"""The name of the key that signs in. Its text is discarded; revoking it ends the sessions."""
_TIMEOUT = 2.0


@command(app, effect="creates", opens=False, local=True, without=NO_SPACE)
def ui(
    ctx: CommandContext,
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(help="Port to listen on.  [default: from the settings]", min=0, max=65535)
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the link only.")] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Show three months of sample conversations.")] = False,
) -> Result:
    """Open the web UI. It starts a server if none serves this database yet, and signs you in."""
    mounts = web_mounts()
    if not mounts:
        raise missing_extra("web")
    if not demo:
        return _open(ctx.target, ctx.note, host=host, port=port, no_browser=no_browser)
    with TemporaryDirectory(prefix="bethink-demo-") as folder:
        target = _demo_target(ctx, f"{folder}/demo.db")
        return _open(target, ctx.note, host=host, port=port, no_browser=no_browser)


def _demo_target(ctx: CommandContext, path: str) -> "Target":
    """Create the database of the demo in a file, without the user's model. Nothing leaves this machine."""
    from bethink.cli.demo import StoryClock, seed, settings_at  # noqa: PLC0415 - as every import here, for a quick --help
    from bethink.cli.target import Target  # noqa: PLC0415

    async def make() -> Result:
        await seed(path, StoryClock())
        return Result()

    ctx.note("storing 31 sample sessions; they are deleted when you stop…")
    anyio_run(make)
    settings = replace(settings_at(path), server=ctx.target.settings.server)
    return Target(settings=settings, file=None, named_by="--demo")


def _open(target: "Target", note: Callable[[str], None], *, host: str, port: int | None, no_browser: bool) -> Result:
    """Open the UI on a server that is running, or on a new one that runs until it is stopped."""
    settings = target.settings
    port = settings.server.port if port is None else port
    # This creates the database and the key, and reports errors of either before a server runs.
    anyio_run(_new_token, target)

    def show(address: str, more: str) -> None:
        link = f"{address}/ui/enter?once={_sign_in_token(target)}"
        opened = not no_browser and webbrowser.open(link)
        note(f"the UI is at {address}/ui{more}" if opened else f"open within a minute: {link}{more}")

    if port and _serves_this(host, port, lambda: _sign_in_token(target)):
        show(f"http://{host}:{port}", " (a server was running already)")
        return Result()
    server = replace(settings.server, host=host, port=0 if _is_in_use(host, port) else port)
    ready = partial(show, more=" (stop with Ctrl-C)")
    return run_server(replace(settings, server=server), ready=ready, mounts=web_mounts(), terse=True)


def _sign_in_token(target: "Target") -> str:
    """Return a token for one sign-in."""
    tokens: list[str] = []

    async def make() -> Result:
        tokens.append((await _new_token(target)).data)
        return Result()

    # In a thread: where the server calls it, an event loop is running already.
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only here

    with ThreadPoolExecutor(1) as pool:
        pool.submit(anyio_run, make).result()
    return tokens[0]


async def _new_token(target: "Target") -> Result:
    async with target.make() as memory:
        return Result(data=await _token(memory))


async def _token(memory: "Memory") -> str:
    from bethink.model.access import Scope  # noqa: PLC0415
    from bethink.web.sessions import WebSessions  # noqa: PLC0415

    def fits(key: Any) -> bool:
        return (
            key.name == _NAME and key.revoked_at is None and key.expires_at is None and key.scopes == frozenset(Scope)
        )

    prefixes = [key.prefix for key in await memory.admin.keys.list() if fits(key) and key.spaces is None]
    prefix = prefixes[0] if prefixes else (await memory.admin.keys.create(_NAME, tuple(Scope))).info.prefix
    return await WebSessions(memory.backend.local().database).link(prefix)


def _serves_this(host: str, port: int, token: Callable[[], str]) -> bool:
    """Return whether the UI of this database is served there: that server accepts a token made here."""
    if not _is_in_use(host, port):
        return False
    connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT)
    try:
        connection.request("GET", f"/ui/enter?once={token()}")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _is_in_use(host: str, port: int) -> bool:
    import socket  # noqa: PLC0415 - only here

    try:
        socket.create_connection((host, port), timeout=_TIMEOUT).close()
    except OSError:
        return False
    return port != 0
