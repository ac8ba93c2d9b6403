"""Health checks of connected coding agents: installed, trusted, and of this version."""

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

_MAX_NOTE_AGE = 3_600.0
"""Seconds after which a spool note should have been processed."""


@frozen
class Finding:
    """The result of checking one program, with the fix."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


def findings(folder: AgentFolder | None = None) -> Iterator[Finding]:
    """Yield a finding for each program that is installed or connected."""
    folder = folder or AgentFolder()
    connector = Connector(folder)
    connected = False
    for client in clients().values():
        if connector.is_connected(client):
            connected = True
            yield _connected_finding(client, connector, folder)
        elif client.is_installed:
            yield Finding(name=client.name, ok=True, detail=f"not connected; run 'bethink connect {client.name}'")
    if connected:
        yield _process_finding(folder)


def _connected_finding(client: Client, connector: Connector, folder: AgentFolder) -> Finding:
    again = f"Run 'bethink connect {client.name}' again."
    if client.name not in ("claude-code", "codex"):
        return Finding(name=client.name, ok=True, detail="connected by MCP")
    if connector.is_stale():
        return Finding(name=client.name, ok=False, detail="hook script missing or of another version", fix=again)
    if _is_stale(client, connector):
        return Finding(name=client.name, ok=False, detail="its hooks belong to another installation", fix=again)
    if client.name == "codex" and not is_trusted(client):
        return Finding(
            name=client.name,
            ok=False,
            detail="installed, but not trusted: Codex skips hooks that you have not approved",
            fix="Start codex, and approve the hooks with /hooks.",
        )
    return Finding(name=client.name, ok=True, detail=f"connected, {_last_activity(folder, client.name)}")


def _is_stale(client: Client, connector: Connector) -> bool:
    """Return whether the hooks use another interpreter, script or port than this installation."""
    text = client.files[0].path.read_text(encoding="utf-8")
    wiring = connector.wiring
    missing = json.dumps(str(wiring.hook))[1:-1] not in text or wiring.python not in text
    return missing or ("http://127.0.0.1:" in text and f"127.0.0.1:{wiring.port}/hooks/" not in text)


def is_trusted(client: Client) -> bool:
    """Return whether the user approved our hooks in Codex."""
    config = client.files[0].path.with_name("config.toml")
    try:
        tree: Any = tomllib.loads(config.read_text(encoding="utf-8"))
        states = cast("dict[str, Any]", tree["hooks"]["state"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return any("hooks.json" in key and "trusted_hash" in state for key, state in states.items())


def _last_activity(folder: AgentFolder, agent: str) -> str:
    times = [path.stat().st_mtime for path in folder.sessions.glob(f"{agent}-*.json")]
    if not times:
        return "no session yet"
    hours = (time.time() - max(times)) / 3_600
    return f"last active {hours:.0f} hours ago" if hours >= 1 else "active within the last hour"


def _process_finding(folder: AgentFolder) -> Finding:
    waiting = [path for path in folder.spool.glob("*.json") if time.time() - path.stat().st_mtime > _MAX_NOTE_AGE]
    if waiting:
        return Finding(
            name="hooks",
            ok=False,
            detail=f"{len(waiting)} unprocessed notes in {folder.spool}",
            fix=f"Run 'bethink serve --agents {folder.path}' to see the cause.",
        )
    runs = _is_running(folder.path)
    return Finding(name="hooks", ok=True, detail="running" if runs else "not running; the next hook starts it")


def _is_running(path: Path) -> bool:
    before = Path.cwd()  # the socket is opened from its own folder
    try:
        link, _ = hook_module().open_connection(str(path), 1.0)
        link.close()
    except (OSError, ValueError):
        return False
    finally:
        os.chdir(before)
    return True
