"""The state folder of hooks and the resident process: socket, spool, and read offsets of transcripts."""

import hashlib
import json
import os
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from bethink.base.folders import data_folder

_PLAIN = re.compile(r"[\w.-]{1,80}")


def hook_file() -> Path:
    """Return the path of the packaged hook script."""
    return Path(__file__).parent / "plugin" / "hook.py"


def free_port() -> int:
    """Return a free local port."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return trial.getsockname()[1]


def hook_module() -> ModuleType:
    """Return the hook script as a module, for shared code."""
    from bethink.agents.plugin import hook  # noqa: PLC0415 - mainly a script

    return hook


@dataclass(slots=True, kw_only=True)
class AgentSessionState:
    """Read offsets and spaces of one agent session."""

    agent: str
    session: str
    transcript: str | None = None
    offsets: dict[str, int] = field(default_factory=dict[str, int])
    """Offset after the last stored line, by transcript (including sub-agents)."""
    spaces: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Space by transcript; None if not stored. The key "" is for payloads."""
    ended: bool = False
    without_transcript: bool = False
    """True if messages come from payloads, because there is no transcript."""

    @property
    def space(self) -> str | None:
        """The space of the session; None if it is not stored or not yet known."""
        return self.spaces.get(self.transcript or "")


class AgentFolder:
    """The hook state of one user. All files are readable only by their owner."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or data_folder() / "agents"

    def make(self) -> None:
        """Create the folder."""
        for folder in (self.path, self.spool, self.sessions):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.chmod(0o700)

    @property
    def spool(self) -> Path:
        """The folder of unprocessed notes."""
        return self.path / "spool"

    @property
    def sessions(self) -> Path:
        """The folder of session states."""
        return self.path / "sessions"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings written by `connect`: start command, start time and options."""
        try:
            tree: object = json.loads((self.path / "hook.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return cast("Mapping[str, Any]", tree) if isinstance(tree, dict) else {}

    @property
    def port(self) -> int:
        """The local port of the resident process; 0 if not chosen yet."""
        try:
            return int((self.path / "port").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return 0

    @property
    def token(self) -> str:
        """The token for that port; empty if not created yet."""
        try:
            return (self.path / "token").read_text(encoding="utf-8").strip()
        except OSError:
            return ""

    def note(self, note: Mapping[str, str]) -> Path:
        """Add a note to the spool."""
        return Path(hook_module().write_note(str(self.path), dict(note)))

    def notes(self) -> Iterator[tuple[Path, Mapping[str, str]]]:
        """Yield the notes of the spool, oldest first. Unreadable notes are deleted."""
        for path in sorted(self.spool.glob("*.json")):
            try:
                note: object = json.loads(path.read_text(encoding="utf-8"))
            except FileNotFoundError:
                continue
            except (OSError, ValueError, RecursionError):
                note = None
            if not isinstance(note, dict):
                path.unlink(missing_ok=True)
                continue
            values = cast("Mapping[object, object]", note)
            yield path, {str(name): value for name, value in values.items() if isinstance(value, str)}

    def session(self, agent: str, session: str) -> AgentSessionState:
        """Return the state of a session, or a new one."""
        return self._load_state(self._file(agent, session)) or AgentSessionState(agent=agent, session=session)

    def outdated_sessions(self) -> list[AgentSessionState]:
        """Return the sessions whose transcript changed since it was last read."""
        states: list[AgentSessionState] = []
        for path in sorted(self.sessions.glob("*.json")):
            state = self._load_state(path)
            try:
                if state and state.transcript and Path(state.transcript).stat().st_mtime >= path.stat().st_mtime:
                    states.append(state)
            except (OSError, ValueError):
                continue
        return states

    def has_session(self, agent: str, session: str) -> bool:
        """Return whether a session has a stored state."""
        return self._file(agent, session).is_file()

    def save(self, state: AgentSessionState) -> None:
        """Save the state of a session atomically."""
        self.write(self._file(state.agent, state.session), json.dumps(asdict(state)))

    def write(self, path: Path, text: str) -> None:
        """Write a file atomically, readable only by its owner."""
        temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        temporary.replace(path)

    def _file(self, agent: str, session: str) -> Path:
        plain = session if _PLAIN.fullmatch(session) else hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()
        return self.sessions / f"{agent}-{plain}.json"

    @staticmethod
    def _load_state(path: Path) -> AgentSessionState | None:
        try:
            return AgentSessionState(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
