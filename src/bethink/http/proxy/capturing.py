"""Store the messages of model calls in the background, in order and once."""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from zlib import crc32

import anyio
from anyio.abc import TaskGroup

from bethink.base.backoff import pause_after
from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.errors import (
    BethinkError,
    ConflictError,
    DatabaseUnavailableError,
    ErasedKeyError,
    InvalidRequestError,
    OutcomeUnknownError,
)
from bethink.http.context import Context
from bethink.http.proxy.callers import MemoryUse
from bethink.model.access import calling_as
from bethink.model.operations.sessions import (
    APPEND,
    CHECKPOINT,
    OPEN_SESSION,
    AppendRequest,
    CheckpointRequest,
    OpenSessionRequest,
)
from bethink.model.records import Message

_QUEUES = 4
_MAX_QUEUED = 1_000
"""Maximum items of a queue while the database is unavailable. Then the oldest is dropped."""
_FIRST_PAUSE, _MAX_PAUSE = 0.2, 15.0
_SHUTDOWN_SECONDS = 5.0
"""Seconds to store remaining messages when the server stops."""
_log = logger("server")


@frozen
class CapturedMessages:
    """Messages of one call, from the user or the model."""

    use: MemoryUse
    conversation: str
    agent: str
    messages: tuple[Message, ...]
    ends_turn: bool = False


class CaptureQueues:
    """Queues of messages to store. The messages of a space stay in order and rarely wait for other spaces."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._queues = [_Queue() for _ in range(_QUEUES)]
        self._ending = False

    def start(self, tasks: TaskGroup) -> None:
        """Start storing messages."""
        for queue in self._queues:
            tasks.start_soon(self._run, queue)

    def put(self, captured: CapturedMessages) -> None:
        """Queue messages. It returns immediately."""
        queue = self._queues[crc32(captured.use.space.encode()) % _QUEUES]
        if len(queue.waiting) >= _MAX_QUEUED:
            queue.waiting.popleft()
            _log.error("messages of a call were dropped: memory was unavailable for too long")
        queue.waiting.append(captured)
        queue.wake.set()

    async def end(self) -> None:
        """Store the remaining messages, for a few seconds at most."""
        self._ending = True
        with anyio.move_on_after(_SHUTDOWN_SECONDS):
            while any(queue.waiting for queue in self._queues):
                for queue in self._queues:
                    queue.wake.set()
                await anyio.sleep(0.01)
        remaining = sum(len(queue.waiting) for queue in self._queues)
        if remaining:
            _log.error("messages of %s calls were dropped: memory was unavailable", remaining)

    async def _run(self, queue: "_Queue") -> None:
        failures = 0
        while True:
            if not queue.waiting:
                queue.wake = anyio.Event()
                await queue.wake.wait()
                continue
            first = queue.waiting[0]
            try:
                await self._store(first)
            except (DatabaseUnavailableError, OutcomeUnknownError) as error:  # safe to repeat: each message has its key
                _log.warning("messages of a call will be stored later: %s", type(error).__name__)
                failures = 0 if self._ending else failures
                await anyio.sleep(pause_after(failures, first=_FIRST_PAUSE, max_pause=_MAX_PAUSE))
                failures += 1
                continue
            except Exception as error:  # noqa: BLE001 - one call must not block others
                _log.warning("messages of a call were not stored: %s", type(error).__name__)
            failures = 0
            if queue.waiting[0] is first:  # else it was dropped from a full queue
                queue.waiting.popleft()

    async def _store(self, captured: CapturedMessages) -> None:
        use, run = captured.use, self._context.backend.run
        with calling_as(use.caller):
            opening = OpenSessionRequest(conversation=captured.conversation, agent=captured.agent)
            session = await run(OPEN_SESSION, use.space, opening)
            await self._append(use.space, session.id, captured.messages)
            if captured.ends_turn:
                await run(CHECKPOINT, use.space, CheckpointRequest(session_id=session.id))

    async def _append(self, space: str, session_id: str, messages: Sequence[Message]) -> None:
        try:
            await self._context.backend.run(
                APPEND, space, AppendRequest(session_id=session_id, messages=tuple(messages))
            )
        except (ConflictError, InvalidRequestError) as error:
            if len(messages) == 1 and isinstance(error, ErasedKeyError):
                return  # it was deleted, and is sent again only as part of a history
            if len(messages) == 1:
                raise
            for message in messages:
                with suppress(BethinkError):
                    await self._append(space, session_id, [message])


class _Queue:
    def __init__(self) -> None:
        self.waiting: deque[CapturedMessages] = deque()
        self.wake = anyio.Event()
