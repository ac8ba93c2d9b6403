"""The programs that can be connected: which files of theirs say what, and how ours is put in and taken out again."""

import json
import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from bethink.agents.payloads import END, EVENTS, START
from bethink.base.frozen import frozen
from bethink.errors import Misconfigured

SERVER = "bethink"
"""The name under which programs know our MCP server."""
_BEGIN, _END = "# bethink: begin", "# bethink: end"
_QUICK, _SLOW = 5, 10


@frozen
class Wiring:
    """What is written into the files of a program."""

    hook: Path
    """The script that hooks run."""
    python: str
    mcp: tuple[str, ...]
    """The command of the MCP server, without the project's folder; empty to leave it out."""
    port: int
    token: str
    http: bool = True

    def command(self, agent: str, event: str) -> str:
        """Return the command of a hook. Should the script be gone, the shell still reports no failure."""
        words = shlex.join([self.python, "-I", "-S", str(self.hook), agent, event])
        return words if sys.platform == "win32" else f"{words} || true"


@frozen
class ConfigFile:
    """A file of a program: how ours is put in, and how it is taken out. Both keep everything else."""

    path: Path
    put: Callable[[bytes | None, Wiring], bytes]
    take: Callable[[bytes], bytes]
    mcp: bool = False
    """Whether it only names the MCP server."""


@frozen
class Client:
    """A program that can be connected."""

    name: str
    title: str
    folders: tuple[Path, ...]
    programs: tuple[str, ...]
    files: tuple[ConfigFile, ...]
    after: str = ""
    """What is left for the person to do."""

    @property
    def found(self) -> bool:
        """Whether the program seems to be installed."""
        return any(each.is_dir() for each in self.folders) or any(shutil.which(each) for each in self.programs)


def clients() -> dict[str, Client]:
    """Return the programs that can be connected, by name."""
    home = Path.home()
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    state = claude if os.environ.get("CLAUDE_CONFIG_DIR") else home
    codex = Path(os.environ.get("CODEX_HOME") or home / ".codex")
    code = _vscode(home)
    return {
        each.name: each
        for each in (
            Client(
                name="claude-code",
                title="Claude Code",
                folders=(claude,),
                programs=("claude",),
                files=(
                    ConfigFile(path=claude / "settings.json", put=_claude_hooks, take=_without_hooks),
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
                    ConfigFile(path=codex / "hooks.json", put=_codex_hooks, take=_without_hooks),
                    ConfigFile(path=codex / "config.toml", put=_codex_mcp, take=_without_block, mcp=True),
                ),
                after="Codex runs hooks only after you trusted them: start it, and approve them with /hooks.",
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
    def put(old: bytes | None, wiring: Wiring) -> bytes:
        tree = _tree(old, path)
        command, *args = (*wiring.mcp, "--project", folder)
        servers = _below(tree, key, path)
        servers[SERVER] = {"type": "stdio", "command": command, "args": args}
        return _written(tree, old)

    def take(old: bytes) -> bytes:
        tree = _tree(old, path)
        servers = _below(tree, key, path)
        if servers.pop(SERVER, None) is None:
            return old
        if not servers:
            del tree[key]
        return _written(tree, old)

    return ConfigFile(path=path, put=put, take=take, mcp=True)


def _claude_hooks(old: bytes | None, wiring: Wiring) -> bytes:
    def handler(event: str) -> dict[str, Any]:
        # An HTTP hook at a session's start is never called by Claude Code, so that one is a command.
        if wiring.http and event != START:
            url = f"http://127.0.0.1:{wiring.port}/hooks/claude-code/{event}"
            headers = {"Authorization": f"Bearer {wiring.token}"}
            return {"type": "http", "url": url, "headers": headers, "timeout": _QUICK}
        command = {"type": "command", "command": wiring.command("claude-code", event)}
        # Nothing is waited for but the start, which shows something, and the end, after which nothing may run on.
        return command | ({"timeout": _SLOW} if event in (START, END) else {"timeout": _QUICK, "async": True})

    return _with_hooks(old, handler, "settings.json")


def _codex_hooks(old: bytes | None, wiring: Wiring) -> bytes:
    def handler(event: str) -> dict[str, Any]:
        timeout = _SLOW if event == START else _QUICK
        return {"type": "command", "command": wiring.command("codex", event), "timeout": timeout}

    return _with_hooks(old, handler, "hooks.json")


def _with_hooks(old: bytes | None, handler: Callable[[str], dict[str, Any]], name: str) -> bytes:
    tree = _tree(None if old is None else _without_hooks(old), Path(name))
    hooks = _below(tree, "hooks", Path(name))
    for event in EVENTS:
        groups = hooks.setdefault(event, [])
        if not isinstance(groups, list):
            raise _odd(Path(name))
        cast("list[Any]", groups).append({"hooks": [handler(event)]})
    return _written(tree, old)


def _without_hooks(old: bytes) -> bytes:
    tree = _tree(old, Path("hooks"))
    hooks = tree.get("hooks")
    if not isinstance(hooks, dict):
        return old
    every, found = cast("dict[str, Any]", hooks), False
    for event, groups in list(every.items()):
        kept = (
            [group for group in cast("list[Any]", groups) if not is_ours(group)] if isinstance(groups, list) else groups
        )
        if kept != groups:
            found, every[event] = True, kept
            if not kept:
                del every[event]
    if not every:
        del tree["hooks"]
    return _written(tree, old) if found else old


def is_ours(group: Any) -> bool:
    """Return whether a group of hooks is one that we put there."""
    text = json.dumps(group)
    return any(f"/hooks/{agent}/" in text for agent in ("claude-code", "codex")) or (
        "hook.py" in text and "bethink" in text
    )


def _codex_mcp(old: bytes | None, wiring: Wiring) -> bytes:
    text = (b"" if old is None else _without_block(old)).decode("utf-8")
    _check_toml(text)
    if SERVER in cast("Mapping[str, Any]", tomllib.loads(text).get("mcp_servers", {})):
        return text.encode()  # the person's own entry
    command, *args = (*wiring.mcp, "--project", ".")
    block = f"[mcp_servers.{SERVER}]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\n"
    gap = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{gap}{_BEGIN}\n{block}{_END}\n".encode()


def _without_block(old: bytes) -> bytes:
    text = old.decode("utf-8")
    before, begun, rest = text.partition(f"{_BEGIN}\n")
    _, ended, after = rest.partition(f"{_END}\n")
    return f"{before}{after}".encode() if begun and ended else old


def _check_toml(text: str) -> None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(
            f"config.toml cannot be read: {error}.", hint="Mend it first; nothing was changed."
        ) from error


def _tree(old: bytes | None, path: Path) -> dict[str, Any]:
    try:
        tree: object = json.loads(old) if old and old.strip() else {}
    except ValueError as error:
        hint = "Take the comments out of it, or add the entry by hand; nothing was changed."
        raise Misconfigured(f"{path} is not plain JSON.", hint=hint) from error
    if not isinstance(tree, dict):
        raise _odd(path)
    return cast("dict[str, Any]", tree)


def _below(tree: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
    found = tree.setdefault(key, {})
    if not isinstance(found, dict):
        raise _odd(path)
    return cast("dict[str, Any]", found)


def _odd(path: Path) -> Misconfigured:
    return Misconfigured(f"{path} does not look as expected.", hint="Mend it first; nothing was changed.")


def _written(tree: dict[str, Any], old: bytes | None) -> bytes:
    """Return JSON in the way in which the file was indented, so that the diff shows what is new."""
    text = (old or b"").decode("utf-8", "replace")
    line = next((each for each in text.splitlines()[1:] if each.strip()), "  ")
    indent = line[: len(line) - len(line.lstrip())] or "  "
    return (
        json.dumps(tree, indent=indent, ensure_ascii=False) + ("\n" if text.endswith("\n") or not text else "")
    ).encode()
