"""Connects and disconnects programs: previews changes, makes backups, and restores them."""

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
"""Files shared by all connected programs, deleted with the last one."""


@frozen
class FileChange:
    """The current and new content of a file. None means that the file does not exist."""

    path: Path
    before: bytes | None
    after: bytes | None
    exact: bool = True
    """True if this restores the original file exactly."""

    def diff(self) -> list[str]:
        """Return the change as a unified diff, without the token."""
        old, new = ((content or b"").decode("utf-8", "replace").splitlines() for content in (self.before, self.after))
        names = [str(self.path) if content is not None else "/dev/null" for content in (self.before, self.after)]
        lines = difflib.unified_diff(old, new, names[0], names[1], lineterm="")
        return [_mask_token(line) for line in lines]


def _mask_token(line: str) -> str:
    head, marker, _ = line.partition('"Bearer ')
    return f'{head}{marker}***"' if marker else line


class Connector:
    """Connects programs for one user. Only `apply` and `apply_undo` write files."""

    def __init__(
        self, folder: AgentFolder, *, more: Sequence[str] = (), http: bool = True, project_only: bool = False
    ) -> None:
        self._folder = folder
        self._more = tuple(more)
        """Database options for every command that is started."""
        self._project_only = project_only

        self.wiring = Wiring(
            hook=folder.path / "hook.py",
            python=sys.executable,
            mcp=(sys.executable, "-m", "bethink", "mcp", *more) if importlib.util.find_spec("mcp") else (),
            port=folder.port or free_port(),
            token=folder.token or secrets.token_urlsafe(32),
            http=http,
        )
        """The values written into configuration files."""

    def changes(self, client: Client) -> list[FileChange]:
        """Return the changes that connecting would make.

        Raises:
            ConfigurationError: if a file has an invalid format.
        """
        backup = self._backup(client)
        result: list[FileChange] = []
        for file in client.files:
            if file.mcp and not self.wiring.mcp:
                continue
            current = _read_content(file.path)
            base = current
            if _is_unchanged(current, backup.get(str(file.path))):  # already connected, and unchanged since
                base = _original_content(backup[str(file.path)])
            after = file.add(base, self.wiring)
            if after != current:
                result.append(FileChange(path=file.path, before=current, after=after))
        return result

    def apply(self, client: Client, changes: Sequence[FileChange]) -> None:
        """Save a backup, then write the changes."""
        backup = dict(self._backup(client))
        created = [str(parent) for change in changes for parent in _missing_folders(change.path.parent)]
        self._install()
        for change in changes:
            saved = backup.get(str(change.path))
            before = change.before
            if _is_unchanged(before, saved):
                before = _original_content(saved or {})
            elif saved is not None and before is not None:  # changed since: undo must keep these changes
                before = next(file.remove(before) for file in client.files if file.path == change.path)
            backup[str(change.path)] = {
                "before": None if before is None else base64.b64encode(before).decode(),
                "after": _digest(change.after or b""),
                "made": [*created, *(saved or {}).get("made", ())],
            }
        self._save(client, backup)  # first, so that a crash during writing can be undone
        for change in changes:
            _write(change.path, change.after)

    def undo(self, client: Client) -> list[FileChange]:
        """Return the changes that disconnecting would make: original files, or without our entries if changed since."""
        backup, result = self._backup(client), list[FileChange]()
        for file in client.files:
            current, saved = _read_content(file.path), backup.get(str(file.path))
            if current is None or (saved is None and file.remove(current) == current):
                continue
            exact = _is_unchanged(current, saved)
            after = _original_content(saved or {}) if exact else file.remove(current)
            if after != current:
                result.append(FileChange(path=file.path, before=current, after=after, exact=exact))
        return result

    def apply_undo(self, client: Client, changes: Sequence[FileChange]) -> None:
        """Disconnect a program, and delete shared files with the last one. Stored memory is not deleted."""
        backup = self._backup(client)
        for change in changes:
            _write(change.path, change.after)
        for created in dict.fromkeys(item for saved in backup.values() for item in saved.get("made", ())):
            _remove_empty(Path(created))
        self._backup_file(client).unlink(missing_ok=True)
        _remove_empty(self._folder.path / "backups")
        if not (self._folder.path / "backups").is_dir():
            created = self._folder.settings.get("made", ())
            for name in _SHARED:
                (self._folder.path / name).unlink(missing_ok=True)
            for item in (self._folder.spool, self._folder.sessions, *map(Path, created)):
                _remove_empty(item)

    def is_connected(self, client: Client) -> bool:
        """Return whether a program is connected, by us or by hand."""
        current = _read_content(client.files[0].path)
        try:
            return current is not None and client.files[0].remove(current) != current
        except Exception:  # noqa: BLE001 - an unreadable file does not contain our entries
            return False

    def is_stale(self) -> bool:
        """Return whether the hook script is missing or of another version."""
        return _read_content(self._folder.path / "hook.py") != hook_file().read_bytes()

    def _install(self) -> None:
        path = self._folder.path
        created = self._folder.settings.get("made") or [str(parent) for parent in _missing_folders(path)]
        since = self._folder.settings.get("since") or time.time()
        self._folder.make()
        settings: dict[str, Any] = {
            "start": [sys.executable, "-m", "bethink", "serve", "--agents", str(path), *self._more],
            "since": since,
            "project_only": self._project_only,
            "made": created,
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


def _read_content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _is_unchanged(content: bytes | None, saved: Mapping[str, Any] | None) -> bool:
    return content is not None and saved is not None and saved["after"] == _digest(content)


def _original_content(saved: Mapping[str, Any]) -> bytes | None:
    before = saved.get("before")
    return None if before is None else base64.b64decode(before)


def _missing_folders(folder: Path) -> list[Path]:
    """Return the folders to create for a path, innermost first."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


def _write(path: Path, content: bytes | None) -> None:
    """Write a file atomically. Preserves links and the file mode; a new file is readable only by its owner."""
    if content is None:
        path.unlink(missing_ok=True)
        return
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
    temporary = target.with_name(f".{target.name}.{os.getpid()}.new")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(content)
        os.fchmod(file.fileno(), mode)
    temporary.replace(target)


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return
