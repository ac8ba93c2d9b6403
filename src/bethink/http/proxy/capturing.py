"""Stores what was said in calls to models, in the background, in its order, and once."""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from zlib import crc32

import anyio
from anyio.abc import TaskGroup

from bethink.base.backoff import pause_after
from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.errors import BethinkError, Conflict, ErasedKey, Invalid, OutcomeUnknown, Unavailable
from bethink.http.context import Context
from bethink.http.proxy.callers import MemoryUse
from bethink.model.access import asked_by
from bethink.model.operations.sessions import (
    APPEND,
    END_TURN,
    OPEN_SESSION,
    AppendRequest,
    OpenSessionRequest,
    SessionRequest,
)
from bethink.model.records import Message

_QUEUES = 4
_MOST = 1_000
"""What one queue holds while memory is down; after that the oldest is lost."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 15.0
_LEAVING = 5.0
"""Seconds that what is left has to be stored when the server stops."""
_log = logger("server")


@frozen
class Captured:
    """What was said in one call, by the person or by the model."""

    use: MemoryUse
    conversation: str
    agent: str
    messages: tuple[Message, ...]
    ends_turn: bool = False


class Capturing:
    """Queues of what is to be stored. What a space is told stays in order, and few wait for another space."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._queues = [_Queue() for _ in range(_QUEUES)]
        self._ending = False

    def start(self, tasks: TaskGroup) -> None:
        """Begin to store what is put in."""
        for queue in self._queues:
            tasks.start_soon(self._run, queue)

    def put(self, captured: Captured) -> None:
        """Take something to store. It returns at once."""
        queue = self._queues[crc32(captured.use.space.encode()) % _QUEUES]
        if len(queue.waiting) >= _MOST:
            queue.waiting.popleft()
            _log.error("what was said in a call was lost: memory was away for too long")
        queue.waiting.append(captured)
        queue.wake.set()

    async def end(self) -> None:
        """Store what is left, for a few seconds at most."""
        self._ending = True
        with anyio.move_on_after(_LEAVING):
            while any(queue.waiting for queue in self._queues):
                for queue in self._queues:
                    queue.wake.set()
                await anyio.sleep(0.01)
        left = sum(len(queue.waiting) for queue in self._queues)
        if left:
            _log.error("what was said in %s calls was lost: memory was away", left)

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
            except (Unavailable, OutcomeUnknown) as error:  # safe to repeat: each message has its key
                _log.warning("what was said in a call is stored later: %s", type(error).__name__)
                failures = 0 if self._ending else failures
                await anyio.sleep(pause_after(failures, first=_FIRST_PAUSE, max_pause=_LONGEST_PAUSE))
                failures += 1
                continue
            except Exception as error:  # noqa: BLE001 - one call must not keep others from being stored
                _log.warning("what was said in a call was not stored: %s", type(error).__name__)
            failures = 0
            if queue.waiting[0] is first:  # else it went as the oldest of too many
                queue.waiting.popleft()

    async def _store(self, captured: Captured) -> None:
        use, run = captured.use, self._context.backend.run
        with asked_by(use.caller):
            opening = OpenSessionRequest(conversation=captured.conversation, agent=captured.agent)
            session = await run(OPEN_SESSION, use.space, opening)
            await self._append(use.space, session.id, captured.messages)
            if captured.ends_turn:
                await run(END_TURN, use.space, SessionRequest(session_id=session.id))

    async def _append(self, space: str, session_id: str, messages: Sequence[Message]) -> None:
        try:
            await self._context.backend.run(
                APPEND, space, AppendRequest(session_id=session_id, messages=tuple(messages))
            )
        except (Conflict, Invalid) as error:
            if len(messages) == 1 and isinstance(error, ErasedKey):
                return  # it was forgotten, and is sent again only as a part of a history
            if len(messages) == 1:
                raise
            for each in messages:
                with suppress(BethinkError):
                    await self._append(space, session_id, [each])


class _Queue:
    def __init__(self) -> None:
        self.waiting: deque[Captured] = deque()
        self.wake = anyio.Event()
