"""Callbacks that run after messages are stored."""

from collections.abc import Awaitable, Callable

from bethink.base.frozen import frozen
from bethink.model.records import SessionInfo


@frozen
class Listeners:
    """Callbacks that run after a session is opened and after messages are stored."""

    on_session_opened: Callable[[SessionInfo], Awaitable[None]]
    on_messages_stored: Callable[[str, str], None]
    """Called with the space and the id of the session."""
    advance_thread: Callable[[str, str], Awaitable[None]]
    """Processes the events of a thread, given its space and id. It must not raise: the messages are already stored."""

    async def notify_stored(self, space: str, session_id: str, *, thread_id: str | None) -> None:
        """Report stored messages of a session, and process the events of its thread if it has one."""
        self.on_messages_stored(space, session_id)
        if thread_id is not None:
            await self.advance_thread(space, thread_id)
