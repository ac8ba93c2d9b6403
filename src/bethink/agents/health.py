"""Whether coding agents are connected as they should be: installed, trusted, and of this version."""

import json
import os
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from bethink.agents.clients import Client, clients
from bethink.agents.connect import Connector
from bethink.agents.folder import AgentFolder, hook_module
from bethink.base.frozen import frozen

_WAITING = 3_600.0
"""Seconds after which a note in the spool should have been worked off."""


@frozen
class Finding:
    """What was found about one program, and how to mend it."""

    name: str
    ok: bool
    found: str
    fix: str = ""


def findings(folder: AgentFolder | None = None) -> Iterator[Finding]:
    """Yield what is to be said about each program that is installed or connected."""
    folder = folder or AgentFolder()
    connector = Connector(folder)
    connected = False
    for client in clients().values():
        if connector.connected(client):
            connected = True
            yield _connected(client, connector, folder)
        elif client.found:
            yield Finding(name=client.name, ok=True, found=f"not connected; 'bethink connect {client.name}' does it")
    if connected:
        yield _process(folder)


def _connected(client: Client, connector: Connector, folder: AgentFolder) -> Finding:
    again = f"Run 'bethink connect {client.name}' again."
    if client.name not in ("claude-code", "codex"):
        return Finding(name=client.name, ok=True, found="connected by MCP")
    if connector.stale():
        return Finding(name=client.name, ok=False, found="connected by another version, or its hook is gone", fix=again)
    if _is_stale(client, connector):
        return Finding(name=client.name, ok=False, found="its hooks are not those of this installation", fix=again)
    if client.name == "codex" and not trusted(client):
        return Finding(
            name=client.name,
            ok=False,
            found="installed, but not trusted: Codex passes over hooks that you have not approved",
            fix="Start codex, and approve them with /hooks.",
        )
    return Finding(name=client.name, ok=True, found=f"connected, {_last(folder, client.name)}")


def _is_stale(client: Client, connector: Connector) -> bool:
    """Return whether the hooks name another interpreter, script or port than this installation has."""
    text = client.files[0].path.read_text(encoding="utf-8")
    wiring = connector.wiring
    missing = json.dumps(str(wiring.hook))[1:-1] not in text or wiring.python not in text
    return missing or ("http://127.0.0.1:" in text and f"127.0.0.1:{wiring.port}/hooks/" not in text)


def trusted(client: Client) -> bool:
    """Return whether Codex has noted that the person trusts our hooks."""
    config = client.files[0].path.with_name("config.toml")
    try:
        tree: Any = tomllib.loads(config.read_text(encoding="utf-8"))
        states = cast("dict[str, Any]", tree["hooks"]["state"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return any("hooks.json" in key and "trusted_hash" in state for key, state in states.items())


def _last(folder: AgentFolder, agent: str) -> str:
    times = [path.stat().st_mtime for path in folder.sessions.glob(f"{agent}-*.json")]
    if not times:
        return "no session yet"
    hours = (time.time() - max(times)) / 3_600
    return f"last heard of {hours:.0f} hours ago" if hours >= 1 else "last heard of within the hour"


def _process(folder: AgentFolder) -> Finding:
    waiting = [path for path in folder.spool.glob("*.json") if time.time() - path.stat().st_mtime > _WAITING]
    if waiting:
        return Finding(
            name="hooks",
            ok=False,
            found=f"{len(waiting)} notes wait in {folder.spool}",
            fix=f"Run 'bethink serve --agents {folder.path}' to see what keeps them.",
        )
    runs = _runs(folder.path)
    return Finding(name="hooks", ok=True, found="served now" if runs else "not running; the next hook starts it")


def _runs(path: Path) -> bool:
    before = Path.cwd()  # a socket is reached from its own folder
    try:
        link, _ = hook_module().connected(str(path), 1.0)
        link.close()
    except (OSError, ValueError):
        return False
    finally:
        os.chdir(before)
    return True
