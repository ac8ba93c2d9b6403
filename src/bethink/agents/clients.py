"""Supported programs: their configuration files, and how Bethink's entries are added and removed."""

import json
import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from bethink.agents.payloads import END, EVENTS, PROMPT, START
from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError

SERVER = "bethink"
"""The name of our MCP server in programs."""
_BEGIN, _END = "# bethink: begin", "# bethink: end"
_QUICK, _SLOW = 5, 10


@frozen
class Wiring:
    """The values written into a program's configuration files."""

    hook: Path
    """The script that hooks run."""
    python: str
    mcp: tuple[str, ...]
    """Command of the MCP server, without the project folder; empty to omit the server."""
    port: int
    token: str
    http: bool = True

    def command(self, agent: str, event: str) -> str:
        """Return the command of a hook. It succeeds even if the script is missing."""
        words = shlex.join([self.python, "-I", "-S", str(self.hook), agent, event])
        return words if sys.platform == "win32" else f"{words} || true"


@frozen
class ConfigFile:
    """A configuration file: functions to add and remove our entries. Other content is preserved."""

    path: Path
    add: Callable[[bytes | None, Wiring], bytes]
    remove: Callable[[bytes], bytes]
    mcp: bool = False
    """True if it contains only the MCP server."""


@frozen
class Client:
    """A program that can be connected."""

    name: str
    title: str
    folders: tuple[Path, ...]
    programs: tuple[str, ...]
    files: tuple[ConfigFile, ...]
    after: str = ""
    """Next step for the user."""

    @property
    def is_installed(self) -> bool:
        """True if the program seems to be installed."""
        return any(item.is_dir() for item in self.folders) or any(shutil.which(item) for item in self.programs)


def clients() -> dict[str, Client]:
    """Return the programs that can be connected, by name."""
    home = Path.home()
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    state = claude if os.environ.get("CLAUDE_CONFIG_DIR") else home
    codex = Path(os.environ.get("CODEX_HOME") or home / ".codex")
    code = _vscode(home)
    return {
        client.name: client
        for client in (
            Client(
                name="claude-code",
                title="Claude Code",
                folders=(claude,),
                programs=("claude",),
                files=(
                    ConfigFile(path=claude / "settings.json", add=_claude_hooks, remove=_without_hooks),
                    _mcp_file(state / ".claude.json", "mcpServers", "."),
                ),
                after="Sessions that start from now on are remembered.",
            ),
            Client(
                name="codex",
                title="Codex",
                folders=(codex,),
                programs=("codex",),
                files=(
                    ConfigFile(path=codex / "hooks.json", add=_codex_hooks, remove=_without_hooks),
                    ConfigFile(path=codex / "config.toml", add=_codex_mcp, remove=_without_block, mcp=True),
                ),
                after="Codex runs only approved hooks: start it, and approve them with /hooks.",
            ),
            Client(
                name="cursor",
                title="Cursor",
                folders=(home / ".cursor",),
                programs=("cursor",),
                files=(_mcp_file(home / ".cursor" / "mcp.json", "mcpServers", "${workspaceFolder}"),),
            ),
            Client(
                name="vscode",
                title="VS Code",
                folders=(code,),
                programs=("code",),
                files=(_mcp_file(code / "mcp.json", "servers", "${workspaceFolder}"),),
            ),
        )
    }


def _vscode(home: Path) -> Path:
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Code" / "User"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or home) / "Code" / "User"
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "Code" / "User"


def _mcp_file(path: Path, key: str, folder: str) -> ConfigFile:
    def add(old: bytes | None, wiring: Wiring) -> bytes:
        tree = _tree(old, path)
        command, *args = (*wiring.mcp, "--project", folder)
        servers = _section(tree, key, path)
        servers[SERVER] = {"type": "stdio", "command": command, "args": args}
        return _serialize(tree, old)

    def remove(old: bytes) -> bytes:
        tree = _tree(old, path)
        servers = _section(tree, key, path)
        if servers.pop(SERVER, None) is None:
            return old
        if not servers:
            del tree[key]
        return _serialize(tree, old)

    return ConfigFile(path=path, add=add, remove=remove, mcp=True)


def _claude_hooks(old: bytes | None, wiring: Wiring) -> bytes:
    def handler(event: str) -> dict[str, Any]:
        # Claude Code never calls HTTP hooks at session start, so that one is a command. So is the end: if the process
        # has ended, Claude Code would print that it refused the connection.
        if wiring.http and event not in (START, END):
            url = f"http://127.0.0.1:{wiring.port}/hooks/claude-code/{event}"
            headers = {"Authorization": f"Bearer {wiring.token}"}
            return {"type": "http", "url": url, "headers": headers, "timeout": _QUICK}
        command = {"type": "command", "command": wiring.command("claude-code", event)}
        # The start and a prompt return context, and after the end nothing may run. All others need not be waited for.
        waits = {START: _SLOW, END: _SLOW, PROMPT: _QUICK}
        return command | ({"timeout": waits[event]} if event in waits else {"timeout": _QUICK, "async": True})

    return _with_hooks(old, handler, "settings.json")


def _codex_hooks(old: bytes | None, wiring: Wiring) -> bytes:
    def handler(event: str) -> dict[str, Any]:
        timeout = _SLOW if event == START else _QUICK
        return {"type": "command", "command": wiring.command("codex", event), "timeout": timeout}

    return _with_hooks(old, handler, "hooks.json")


def _with_hooks(old: bytes | None, handler: Callable[[str], dict[str, Any]], name: str) -> bytes:
    tree = _tree(None if old is None else _without_hooks(old), Path(name))
    hooks = _section(tree, "hooks", Path(name))
    for event in EVENTS:
        groups = hooks.setdefault(event, [])
        if not isinstance(groups, list):
            raise _unexpected_content(Path(name))
        cast("list[Any]", groups).append({"hooks": [handler(event)]})
    return _serialize(tree, old)


def _without_hooks(old: bytes) -> bytes:
    tree = _tree(old, Path("hooks"))
    hooks = tree.get("hooks")
    if not isinstance(hooks, dict):
        return old
    events, changed = cast("dict[str, Any]", hooks), False
    for event, groups in list(events.items()):
        remaining = (
            [group for group in cast("list[Any]", groups) if not is_ours(group)] if isinstance(groups, list) else groups
        )
        if remaining != groups:
            changed, events[event] = True, remaining
            if not remaining:
                del events[event]
    if not events:
        del tree["hooks"]
    return _serialize(tree, old) if changed else old


def is_ours(group: Any) -> bool:
    """Return whether a group of hooks was added by us."""
    text = json.dumps(group)
    return any(f"/hooks/{agent}/" in text for agent in ("claude-code", "codex")) or (
        "hook.py" in text and "bethink" in text
    )


def _codex_mcp(old: bytes | None, wiring: Wiring) -> bytes:
    text = (b"" if old is None else _without_block(old)).decode("utf-8")
    _check_toml(text)
    if SERVER in cast("Mapping[str, Any]", tomllib.loads(text).get("mcp_servers", {})):
        return text.encode()  # the user's own entry
    command, *args = (*wiring.mcp, "--project", ".")
    block = f"[mcp_servers.{SERVER}]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\n"
    gap = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{gap}{_BEGIN}\n{block}{_END}\n".encode()


def _without_block(old: bytes) -> bytes:
    text = old.decode("utf-8")
    before, start_marker, remainder = text.partition(f"{_BEGIN}\n")
    _, end_marker, after = remainder.partition(f"{_END}\n")
    return f"{before}{after}".encode() if start_marker and end_marker else old


def _check_toml(text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"Cannot parse config.toml: {error}.", hint="Fix the file, then run the command again. Nothing was changed."
        ) from error


def _tree(old: bytes | None, path: Path) -> dict[str, Any]:
    try:
        tree: object = json.loads(old) if old and old.strip() else {}
    except ValueError as error:
        hint = "Remove the comments, or add the entry by hand. Nothing was changed."
        raise ConfigurationError(f"{path} is not plain JSON.", hint=hint) from error
    if not isinstance(tree, dict):
        raise _unexpected_content(path)
    return cast("dict[str, Any]", tree)


def _section(tree: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
    section = tree.setdefault(key, {})
    if not isinstance(section, dict):
        raise _unexpected_content(path)
    return cast("dict[str, Any]", section)


def _unexpected_content(path: Path) -> ConfigurationError:
    return ConfigurationError(f"{path} has unexpected content.", hint="Fix the file, then run the command again.")


def _serialize(tree: dict[str, Any], old: bytes | None) -> bytes:
    """Return JSON with the indentation of the file, so that the diff shows only changes."""
    text = (old or b"").decode("utf-8", "replace")
    line = next((candidate for candidate in text.splitlines()[1:] if candidate.strip()), "  ")
    indent = line[: len(line) - len(line.lstrip())] or "  "
    return (
        json.dumps(tree, indent=indent, ensure_ascii=False) + ("\n" if text.endswith("\n") or not text else "")
    ).encode()
