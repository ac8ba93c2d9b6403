"""Who is told of what was stored."""

from collections.abc import Awaitable, Callable

from bethink.base.frozen import frozen
from bethink.model.records import SessionInfo


@frozen
class Listeners:
    """Who is told that a session was opened, and that something was said in one."""

    opened: Callable[[SessionInfo], Awaitable[None]]
    heard: Callable[[str, str], None]
    """Told the space and the id of the session."""
    advance: Callable[[str, str], Awaitable[None]]
    """Processes the events of a thread, given its space and id. It must not raise: the messages are already stored."""

    async def tell(self, space: str, session_id: str, *, thread_id: str | None) -> None:
        """Say that something was said in a session, and let its thread go on if it has one."""
        self.heard(space, session_id)
        if thread_id is not None:
            await self.advance(space, thread_id)
