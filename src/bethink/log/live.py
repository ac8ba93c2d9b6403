"""The history an agent holds in its hands: restored when a session begins, trimmed, written behind."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

import anyio

from bethink.errors import OutcomeUnknown, Unavailable
from bethink.log.history import History
from bethink.log.sessions import checked_conversation
from bethink.logs import logger
from bethink.model.ids import new_id
from bethink.model.records import Message, message_from

if TYPE_CHECKING:  # at run time they cost a third of our whole import, and most programs never write behind
    from anyio.abc import TaskGroup
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

MAX_HISTORY_LEN = 100

_BUFFER = 1000
_PATIENCE = 30.0
_log = logger("capture")


class LiveHistory:
    """The last messages of a conversation, kept in memory and written behind the caller's back.

    Storing never raises here: failures are logged and counted. Without a history it only remembers.
    """

    def __init__(
        self,
        history: History | None,
        key: str,
        *,
        max_history_len: int = MAX_HISTORY_LEN,
        held: Iterable[Message] | None = None,
    ) -> None:
        self._failures = 0
        self._history = history
        self._key = checked_conversation(key)
        self._limit = max_history_len
        self._held = held
        self._messages: deque[Message] = deque(maxlen=max_history_len)
        self._tasks: TaskGroup | None = None
        self._sender: MemoryObjectSendStream[Message] | None = None
        self._writing: anyio.CancelScope | None = None

    @property
    def messages(self) -> list[Message]:
        """What the agent sees now, oldest first."""
        return list(self._messages)

    @property
    def failures(self) -> int:
        """How many times restoring or storing failed."""
        return self._failures

    async def append(self, message: Message | Mapping[str, object]) -> None:
        """Add a message to what the agent sees, drop the oldest past the limit, and have it stored behind.

        It waits only while a thousand messages are still to be stored.
        """
        said = message_from(message)
        if self._history is not None and self._sender is None:
            raise Unavailable("the live history is not open.", hint="Use it inside a with block.")
        self._messages.append(said)
        if self._sender is not None:
            # With a key of its own a message can be sent again, whatever became of it the first time.
            await self._send(said if said.idempotency_key else replace(said, idempotency_key=new_id("msg")))

    async def _send(self, message: Message) -> None:
        assert self._sender is not None  # noqa: S101 - only called while it is open
        try:
            self._sender.send_nowait(message)  # not a place to be cancelled at
        except anyio.WouldBlock:
            try:
                await self._sender.send(message)
            except BaseException as error:
                self._failed("stored", error)
                raise

    async def __aenter__(self) -> "LiveHistory":
        """Restore what was said before, unless it was handed in, and start writing behind."""
        self._messages.clear()
        if self._held is not None:
            self._messages.extend(self._held)
        if self._history is not None:
            if self._held is None:
                await self._restore(self._history)
            self._sender, receiver = anyio.create_memory_object_stream[Message](_BUFFER)
            self._writing = anyio.CancelScope(shield=True)
            self._tasks = await anyio.create_task_group().__aenter__()
            self._tasks.start_soon(self._write, self._history, receiver, self._writing)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait up to half a minute until all is stored, then count the rest as failed; what has begun is waited for."""
        if self._sender is not None and self._tasks is not None and self._writing is not None:
            self._sender.close()
            self._writing.deadline = anyio.current_time() + _PATIENCE
            self._tasks.cancel_scope.shield = True
            await self._tasks.__aexit__(None, None, None)
            self._sender = self._tasks = None

    async def _restore(self, history: History) -> None:
        try:
            records = await history.recent(self._key, self._limit)
        except Exception as error:  # noqa: BLE001 - an agent never fails because of its memory
            self._failed("restored", error)
        else:
            self._messages.extend(record.message for record in records)

    async def _write(
        self, history: History, receiver: "MemoryObjectReceiveStream[Message]", writing: "anyio.CancelScope"
    ) -> None:
        # Shielded: when the agent is cancelled, what it said is still to be stored.
        with receiver, writing:
            async for message in receiver:
                try:
                    await _store(history, self._key, message)
                except Exception as error:  # noqa: BLE001 - the loop of a worker: the next message may be stored
                    self._failed("stored", error)
        if writing.cancelled_caught:
            for _ in range(receiver.statistics().current_buffer_used + 1):
                self._failed("stored", TimeoutError())

    def _failed(self, what: str, error: BaseException) -> None:
        self._failures += 1
        _log.error("a message could not be %s: %s", what, type(error).__name__)


async def _store(history: History, key: str, message: Message) -> None:
    """Store a message, trying again for as long as the database is away; whoever waits for it sets the limit."""
    pause = 0.1
    while True:
        try:
            await history.append(key, message)
        except (Unavailable, OutcomeUnknown):
            await anyio.sleep(pause)
            pause = min(2 * pause, 5.0)
        else:
            return
