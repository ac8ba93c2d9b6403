"""The live history of an agent: restored when a session begins, trimmed, and stored in the background."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING

import anyio

from bethink.base.backoff import pause_after
from bethink.base.logs import logger
from bethink.errors import DatabaseUnavailableError, OutcomeUnknownError
from bethink.memory.log.history import History
from bethink.memory.log.names import checked_conversation
from bethink.model.ids import new_id
from bethink.model.records import Message, message_from

if TYPE_CHECKING:  # a third of the import time, and most programs never use them
    from anyio.abc import TaskGroup
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

MAX_HISTORY_LEN = 100

_BUFFER = 1000
_CLOSE_TIMEOUT = 30.0
_log = logger("capture")


class LiveHistory:
    """The last messages of a conversation, kept in memory and stored in the background.

    Storing never raises here: failures are logged and counted. Without a history, messages are only kept in memory.
    """

    def __init__(
        self,
        history: History | None,
        key: str,
        *,
        max_history_len: int = MAX_HISTORY_LEN,
        initial_messages: Iterable[Message] | None = None,
    ) -> None:
        self._failures = 0
        self._history = history
        self._key = checked_conversation(key)
        self._limit = max_history_len
        self._initial_messages = initial_messages
        self._messages: deque[Message] = deque(maxlen=max_history_len)
        self._tasks: TaskGroup | None = None
        self._sender: MemoryObjectSendStream[Message] | None = None
        self._writing: anyio.CancelScope | None = None

    @property
    def messages(self) -> list[Message]:
        """The messages that the agent sees now, the oldest first."""
        return list(self._messages)

    @property
    def failures(self) -> int:
        """The number of times that restoring or storing failed."""
        return self._failures

    async def append(self, message: Message | Mapping[str, object]) -> None:
        """Append a message, drop the oldest beyond the limit, and store it in the background.

        It blocks only while a thousand messages are waiting to be stored.

        Raises:
            DatabaseUnavailableError: Outside of its `async with` block.
        """
        parsed = message_from(message)
        if self._history is not None and self._sender is None:
            raise DatabaseUnavailableError("The live history is not open.", hint="Use it inside an `async with` block.")
        self._messages.append(parsed)
        if self._sender is not None:
            # A message with its own key can be sent again, whatever happened to the first attempt.
            await self._send(parsed if parsed.idempotency_key else replace(parsed, idempotency_key=new_id("msg")))

    async def _send(self, message: Message) -> None:
        assert self._sender is not None  # noqa: S101 - only called while it is open
        try:
            self._sender.send_nowait(message)  # never canceled, unlike a send that waits
        except anyio.WouldBlock:
            try:
                await self._sender.send(message)
            except BaseException as error:
                self._count_failure("stored", error)
                raise

    async def __aenter__(self) -> "LiveHistory":
        """Restore earlier messages, unless they were passed in, and start storing in the background."""
        self._messages.clear()
        if self._initial_messages is not None:
            self._messages.extend(self._initial_messages)
        if self._history is not None:
            if self._initial_messages is None:
                await self._restore(self._history)
            self._sender, receiver = anyio.create_memory_object_stream[Message](_BUFFER)
            self._writing = anyio.CancelScope(shield=True)
            self._tasks = await anyio.create_task_group().__aenter__()
            self._tasks.start_soon(self._write, self._history, receiver, self._writing)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait up to 30 seconds until all is stored, then count the others as failed. A running store is awaited."""
        if self._sender is not None and self._tasks is not None and self._writing is not None:
            self._sender.close()
            self._writing.deadline = anyio.current_time() + _CLOSE_TIMEOUT
            self._tasks.cancel_scope.shield = True
            await self._tasks.__aexit__(None, None, None)
            self._sender = self._tasks = None

    async def _restore(self, history: History) -> None:
        try:
            records = await history.recent(self._key, self._limit)
        except Exception as error:  # noqa: BLE001 - an agent never fails because of its memory
            self._count_failure("restored", error)
        else:
            self._messages.extend(record.message for record in records)

    async def _write(
        self, history: History, receiver: "MemoryObjectReceiveStream[Message]", writing: "anyio.CancelScope"
    ) -> None:
        # Shielded: when the agent is canceled, its messages must still be stored.
        with receiver, writing:
            async for message in receiver:
                try:
                    await _store(history, self._key, message)
                except Exception as error:  # noqa: BLE001 - the next message may still be stored
                    self._count_failure("stored", error)
        if writing.cancelled_caught:
            for _ in range(receiver.statistics().current_buffer_used + 1):
                self._count_failure("stored", TimeoutError())

    def _count_failure(self, action: str, error: BaseException) -> None:
        self._failures += 1
        _log.error("A message could not be %s: %s", action, type(error).__name__)


async def _store(history: History, key: str, message: Message) -> None:
    """Store a message, retrying as long as the database is unavailable; the caller sets the time limit."""
    for failures in count():
        try:
            await history.append(key, message)
        except (DatabaseUnavailableError, OutcomeUnknownError):
            await anyio.sleep(pause_after(failures, first=0.1, max_pause=5.0))
        else:
            return
