"""Tells whether a space is empty, for notes under empty lists and for exports."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bethink.api.space import Space


async def is_empty(space: "Space") -> bool:
    """Return whether a space has no sessions, facts or documents, not even facts that ended or need review."""
    if await space.sessions.list(limit=1) or await space.facts.history(limit=1):
        return False
    return not await space.documents.children()
