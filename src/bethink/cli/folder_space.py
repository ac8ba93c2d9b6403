"""The space of the repository that a command runs in, as hooks and `mcp --project .` choose it."""

from pathlib import Path
from typing import TYPE_CHECKING

from bethink.errors import PermissionDeniedError

if TYPE_CHECKING:
    from bethink.api.connect import Memory


def folder_project() -> str | None:
    """Return the space name for the repository around the working directory; None outside, or if it is ignored."""
    from bethink.agents.scopes import scope_of  # noqa: PLC0415 - --help must not wait for it

    try:
        scope = scope_of(Path.cwd())
    except OSError:  # the working directory was deleted
        return None
    return None if scope.ignored else scope.project


async def find_folder_space(memory: "Memory") -> str | None:
    """Return the space of this repository if the database has it, and the key may read it."""
    name = folder_project()
    if name is None:
        return None
    space = memory.space(name)
    try:
        exists = bool(await space.sessions.list(limit=1) or await space.facts.history(limit=1))
    except PermissionDeniedError:
        return None
    return name if exists else None
