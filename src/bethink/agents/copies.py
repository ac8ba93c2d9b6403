"""Copies of answers to session starts, so that a session is told at once while the resident process still starts."""

import hashlib
from contextlib import suppress

from bethink.agents.context import AgentContext
from bethink.agents.folder import AgentFolder
from bethink.agents.scopes import ProjectScope
from bethink.api.connect import Memory
from bethink.host.local import Local

_MAX_FOLDERS = 50


class Copies:
    """Writes a copy for each folder in which a session started. They are next to the database.

    A deletion removes them with the texts, in whichever process it happens. Without a database file, there are none.
    """

    def __init__(self, memory: Memory, folder: AgentFolder, context: AgentContext) -> None:
        backend = memory.backend
        self._path = backend.database.copies_path if isinstance(backend, Local) else None
        self._folder = folder
        self._context = context
        self._scopes: dict[str, ProjectScope] = {}
        self.is_outdated = False

    def add(self, cwd: str, scope: ProjectScope) -> None:
        """Keep a copy for a folder from now on."""
        if cwd and scope.spaces:
            self._scopes[cwd] = scope
            self.is_outdated = True

    async def write(self) -> None:
        """Write the copies again if they are outdated."""
        if self._path is None or not self.is_outdated:
            return
        self.is_outdated = False
        for cwd, scope in list(self._scopes.items())[-_MAX_FOLDERS:]:
            answer = await self._context.copy(scope)
            with suppress(OSError):
                self._path.mkdir(mode=0o700, exist_ok=True)
                self._folder.write(self._path / _name(cwd), answer)
        with suppress(OSError):
            self._folder.write(self._folder.path / "copies", str(self._path))


def _name(cwd: str) -> str:
    return hashlib.sha256(cwd.encode("utf-8", "replace")).hexdigest()[:32]
