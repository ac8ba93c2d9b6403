"""Connects programs to memory and takes them off again: what would change, a backup, and the way back."""

import base64
import difflib
import hashlib
import importlib.util
import json
import os
import secrets
import stat
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bethink.agents.clients import Client, Wiring
from bethink.agents.folder import AgentFolder, free_port, hook_file
from bethink.base.frozen import frozen

_SHARED = ("hook.py", "hook.json", "token", "port", "lock", "socket")
"""What belongs to all connected programs, and goes with the last of them."""


@frozen
class FileChange:
    """What a file holds, and what it would hold. None means that there is no file."""

    path: Path
    before: bytes | None
    after: bytes | None
    exact: bool = True
    """Whether this restores the file as it was, byte for byte."""

    def diff(self) -> list[str]:
        """Return the change as a unified diff, without the token."""
        old, new = ((each or b"").decode("utf-8", "replace").splitlines() for each in (self.before, self.after))
        names = [str(self.path) if each is not None else "/dev/null" for each in (self.before, self.after)]
        lines = difflib.unified_diff(old, new, names[0], names[1], lineterm="")
        return [_masked(line) for line in lines]


def _masked(line: str) -> str:
    head, found, _ = line.partition('"Bearer ')
    return f'{head}{found}***"' if found else line


class Connector:
    """Connects programs for one person. Nothing is written before `apply`."""

    def __init__(
        self, folder: AgentFolder, *, more: Sequence[str] = (), http: bool = True, project_only: bool = False
    ) -> None:
        self._folder = folder
        self._more = tuple(more)
        """Options that name the database, for every command that is started."""
        self._project_only = project_only

        self.wiring = Wiring(
            hook=folder.path / "hook.py",
            python=sys.executable,
            mcp=(sys.executable, "-m", "bethink", "mcp", *more) if importlib.util.find_spec("mcp") else (),
            port=folder.port or free_port(),
            token=folder.token or secrets.token_urlsafe(32),
            http=http,
        )
        """What is written into the files of programs."""

    def changes(self, client: Client) -> list[FileChange]:
        """Return what connecting would change.

        Raises:
            Misconfigured: if a file cannot be read as what it should be.
        """
        backup = self._backup(client)
        found: list[FileChange] = []
        for file in client.files:
            if file.mcp and not self.wiring.mcp:
                continue
            held = _held(file.path)
            base = held
            if _same(held, backup.get(str(file.path))):  # connected before, and untouched since
                base = _original(backup[str(file.path)])
            after = file.put(base, self.wiring)
            if after != held:
                found.append(FileChange(path=file.path, before=held, after=after))
        return found

    def apply(self, client: Client, changes: Sequence[FileChange]) -> None:
        """Write the changes, each after a backup of what was there."""
        backup = dict(self._backup(client))
        made = [str(each) for change in changes for each in _missing(change.path.parent)]
        self._install()
        for change in changes:
            known = backup.get(str(change.path))
            before = change.before
            if _same(before, known):
                before = _original(known or {})
            elif known is not None and before is not None:  # changed since: the way back keeps what was changed
                before = next(file.take(before) for file in client.files if file.path == change.path)
            backup[str(change.path)] = {
                "before": None if before is None else base64.b64encode(before).decode(),
                "after": _digest(change.after or b""),
                "made": [*made, *(known or {}).get("made", ())],
            }
        self._save(client, backup)  # before anything is changed: a crash in between can be undone
        for change in changes:
            _write(change.path, change.after)

    def undo(self, client: Client) -> list[FileChange]:
        """Return what taking a program off would change: each file as it was, or without ours if it changed since."""
        backup, found = self._backup(client), list[FileChange]()
        for file in client.files:
            held, known = _held(file.path), backup.get(str(file.path))
            if held is None or (known is None and file.take(held) == held):
                continue
            exact = _same(held, known)
            after = _original(known or {}) if exact else file.take(held)
            if after != held:
                found.append(FileChange(path=file.path, before=held, after=after, exact=exact))
        return found

    def apply_undo(self, client: Client, changes: Sequence[FileChange]) -> None:
        """Take a program off, and with the last one what they shared. What was remembered stays."""
        backup = self._backup(client)
        for change in changes:
            _write(change.path, change.after)
        for made in dict.fromkeys(each for known in backup.values() for each in known.get("made", ())):
            _remove_empty(Path(made))
        self._backup_file(client).unlink(missing_ok=True)
        _remove_empty(self._folder.path / "backups")
        if not (self._folder.path / "backups").is_dir():
            made = self._folder.settings.get("made", ())
            for name in _SHARED:
                (self._folder.path / name).unlink(missing_ok=True)
            for each in (self._folder.spool, self._folder.sessions, *map(Path, made)):
                _remove_empty(each)

    def connected(self, client: Client) -> bool:
        """Return whether a program is connected, by us or by hand."""
        held = _held(client.files[0].path)
        try:
            return held is not None and client.files[0].take(held) != held
        except Exception:  # noqa: BLE001 - whatever is wrong with the file, ours is not in it
            return False

    def stale(self) -> bool:
        """Return whether the script that hooks run is missing, or of another version than this one."""
        return _held(self._folder.path / "hook.py") != hook_file().read_bytes()

    def _install(self) -> None:
        path = self._folder.path
        made = self._folder.settings.get("made") or [str(each) for each in _missing(path)]
        since = self._folder.settings.get("since") or time.time()
        self._folder.make()
        settings: dict[str, Any] = {
            "start": [sys.executable, "-m", "bethink", "serve", "--agents", str(path), *self._more],
            "since": since,
            "project_only": self._project_only,
            "made": made,
        }
        self._folder.write(path / "port", str(self.wiring.port))
        self._folder.write(path / "token", self.wiring.token)
        self._folder.write(path / "hook.py", hook_file().read_text(encoding="utf-8"))
        self._folder.write(path / "hook.json", json.dumps(settings))

    def _backup_file(self, client: Client) -> Path:
        return self._folder.path / "backups" / f"{client.name}.json"

    def _backup(self, client: Client) -> Mapping[str, Mapping[str, Any]]:
        try:
            return json.loads(self._backup_file(client).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def _save(self, client: Client, backup: Mapping[str, Any]) -> None:
        path = self._backup_file(client)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        self._folder.write(path, json.dumps(backup))


def _held(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _same(held: bytes | None, known: Mapping[str, Any] | None) -> bool:
    return held is not None and known is not None and known["after"] == _digest(held)


def _original(known: Mapping[str, Any]) -> bytes | None:
    before = known.get("before")
    return None if before is None else base64.b64decode(before)


def _missing(folder: Path) -> list[Path]:
    """Return the folders that have to be made for one, the innermost first."""
    return [each for each in (folder, *folder.parents) if not each.exists()]


def _write(path: Path, content: bytes | None) -> None:
    """Write a file in one step. A link stays one, and the file's mode stays; a new file is its owner's only."""
    if content is None:
        path.unlink(missing_ok=True)
        return
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
    beside = target.with_name(f".{target.name}.{os.getpid()}.new")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(content)
        os.fchmod(file.fileno(), mode)
    beside.replace(target)


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return
