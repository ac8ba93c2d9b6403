"""The folder where hooks and the resident process meet: a socket, a spool, and how far each transcript was read."""

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
    """Return the file that hooks run, as it comes with this package."""
    return Path(__file__).parent / "plugin" / "hook.py"


def free_port() -> int:
    """Return a port of this machine that is free now."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return trial.getsockname()[1]


def hook_module() -> ModuleType:
    """Return what hooks run as a module, for what both sides share."""
    from bethink.agents.plugin import hook  # noqa: PLC0415 - it is a script first

    return hook


@dataclass(slots=True, kw_only=True)
class AgentSessionState:
    """How far one session of an agent was read, and where it is stored."""

    agent: str
    session: str
    transcript: str | None = None
    offsets: dict[str, int] = field(default_factory=dict[str, int])
    """For each transcript, its own and those of sub-agents, the offset after the last line that was stored."""
    spaces: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """For each transcript the space that it belongs to, None for none at all; under "" that of payloads."""
    ended: bool = False
    without_transcript: bool = False
    """Whether it is taken from payloads, because the agent keeps no transcript of it."""

    @property
    def space(self) -> str | None:
        """The space of the session; None if it is not stored, or if that is not known yet."""
        return self.spaces.get(self.transcript or "")


class AgentFolder:
    """The state of the hooks of one person. Everything in it is readable by its owner only."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or data_folder() / "agents"

    def make(self) -> None:
        """Create the folder."""
        for each in (self.path, self.spool, self.sessions):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.chmod(0o700)

    @property
    def spool(self) -> Path:
        """The folder of notes that were not worked off yet."""
        return self.path / "spool"

    @property
    def sessions(self) -> Path:
        """The folder of what is known about sessions."""
        return self.path / "sessions"

    @property
    def settings(self) -> Mapping[str, Any]:
        """What `connect` noted for the hooks: how to start the resident process, since when, for what."""
        try:
            found: object = json.loads((self.path / "hook.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}

    @property
    def port(self) -> int:
        """The port of the resident process on this machine; 0 if none was chosen yet."""
        try:
            return int((self.path / "port").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return 0

    @property
    def token(self) -> str:
        """The token that opens that port; empty if none was made yet."""
        try:
            return (self.path / "token").read_text(encoding="utf-8").strip()
        except OSError:
            return ""

    def note(self, note: Mapping[str, str]) -> Path:
        """Add a note to the spool."""
        return Path(hook_module().write_note(str(self.path), dict(note)))

    def notes(self) -> Iterator[tuple[Path, Mapping[str, str]]]:
        """Yield the notes of the spool, the oldest first. A note that cannot be read is removed."""
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
            given = cast("Mapping[object, object]", note)
            yield path, {str(name): value for name, value in given.items() if isinstance(value, str)}

    def session(self, agent: str, session: str) -> AgentSessionState:
        """Return what is known about a session, or a new state."""
        return self._read(self._file(agent, session)) or AgentSessionState(agent=agent, session=session)

    def behind(self) -> list[AgentSessionState]:
        """Return the sessions whose transcript was written to since it was last read."""
        found: list[AgentSessionState] = []
        for path in sorted(self.sessions.glob("*.json")):
            state = self._read(path)
            try:
                if state and state.transcript and Path(state.transcript).stat().st_mtime >= path.stat().st_mtime:
                    found.append(state)
            except (OSError, ValueError):
                continue
        return found

    def knows(self, agent: str, session: str) -> bool:
        """Return whether anything is known about a session."""
        return self._file(agent, session).is_file()

    def save(self, state: AgentSessionState) -> None:
        """Write what is known about a session; a crash leaves the old state or the new one."""
        self.write(self._file(state.agent, state.session), json.dumps(asdict(state)))

    def write(self, path: Path, text: str) -> None:
        """Write a whole file, readable by its owner only, in one step."""
        beside = path.with_name(f"{path.name}.{os.getpid()}.new")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        beside.replace(path)

    def _file(self, agent: str, session: str) -> Path:
        plain = session if _PLAIN.fullmatch(session) else hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()
        return self.sessions / f"{agent}-{plain}.json"

    @staticmethod
    def _read(path: Path) -> AgentSessionState | None:
        try:
            return AgentSessionState(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
