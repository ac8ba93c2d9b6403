"""The history an agent holds in its hands: restored when a session begins, trimmed, written behind."""

import logging
from collections import deque
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING

import anyio

from bethink.capture.history import History
from bethink.errors import BethinkError
from bethink.model.records import ConversationKey, Message, message_from

if TYPE_CHECKING:  # at run time they cost a third of our whole import, and most programs never write behind
    from anyio.abc import TaskGroup
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

MAX_HISTORY_LEN = 100

_BUFFER = 1000
_log = logging.getLogger("bethink.capture")


class LiveHistory:
    """The last messages of a conversation, kept in memory and written behind the caller's back.

    Storing never raises here: failures are logged and counted in `failures`. Without a history it only remembers.
    """

    def __init__(
        self, history: History | None, key: ConversationKey, *, max_history_len: int = MAX_HISTORY_LEN
    ) -> None:
        self._failures = 0
        self._history = history
        self._key = key
        self._limit = max_history_len
        self._messages: deque[Message] = deque(maxlen=max_history_len)
        self._tasks: TaskGroup | None = None
        self._sender: MemoryObjectSendStream[Message] | None = None

    @property
    def messages(self) -> list[Message]:
        """What the agent sees now, oldest first."""
        return list(self._messages)

    @property
    def failures(self) -> int:
        """How many times restoring or storing failed."""
        return self._failures

    async def append(self, message: Message | Mapping[str, object]) -> None:
        """Add a message to what the agent sees, drop the oldest past the limit, and have it stored behind."""
        said = message_from(message)
        self._messages.append(said)
        if self._sender is not None:
            await self._sender.send(said)

    async def __aenter__(self) -> "LiveHistory":
        """Restore what was said before and start writing behind."""
        if self._history is not None:
            await self._restore(self._history)
            self._sender, receiver = anyio.create_memory_object_stream[Message](_BUFFER)
            self._tasks = await anyio.create_task_group().__aenter__()
            self._tasks.start_soon(self._write, self._history, receiver)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait until everything handed in has been stored or counted as failed."""
        if self._sender is not None and self._tasks is not None:
            self._sender.close()
            self._tasks.cancel_scope.shield = True
            await self._tasks.__aexit__(None, None, None)
            self._sender = self._tasks = None

    async def _restore(self, history: History) -> None:
        try:
            records = await history.recent(self._key, self._limit)
        except BethinkError as error:
            self._failed("restored", error)
        else:
            self._messages.extend(record.message for record in records)

    async def _write(self, history: History, receiver: "MemoryObjectReceiveStream[Message]") -> None:
        async with receiver:
            async for message in receiver:
                try:
                    await history.append(self._key, message)
                except BethinkError as error:
                    self._failed("stored", error)

    def _failed(self, what: str, error: BethinkError) -> None:
        self._failures += 1
        _log.error("a message could not be %s: %s", what, type(error).__name__)
