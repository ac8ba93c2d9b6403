"""Recall and capture for model calls."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple, TypeVar

import anyio
from anyio.abc import TaskGroup

from bethink.agents.transcripts.lines import shorten
from bethink.base.logs import logger
from bethink.config.groups import ProxySettings
from bethink.http.context import Context
from bethink.http.proxy.callers import MemoryUse
from bethink.http.proxy.calls import ModelCallText, TypedLine, key_of
from bethink.http.proxy.capturing import CapturedMessages, CaptureQueues
from bethink.http.proxy.deadline import DeadlineRunner
from bethink.model.access import calling_as
from bethink.model.operations.erasures import LIST_ERASURES, ListErasuresRequest
from bethink.model.operations.memory import CONTEXT, ContextRequest
from bethink.model.operations.sessions import OPEN_SESSION, OpenSessionRequest
from bethink.model.records import Message

_MAX_MEMOS = 2_000
_SKEW = timedelta(minutes=1)
"""Maximum clock difference between two processes."""
_MAX_QUESTION = 4_000
_log = logger("server")


T = TypeVar("T")


class Memo(OrderedDict[str, T]):
    """The most recent values, by key."""

    def store(self, key: str, value: T) -> None:
        """Store a value, and drop the oldest if there are too many."""
        self[key] = value
        self.move_to_end(key)
        if len(self) > _MAX_MEMOS:
            self.popitem(last=False)


class _RecalledBlock(NamedTuple):
    """The memory block of a question, and its time."""

    block: str
    at: datetime


class Turn:
    """One call in its conversation."""

    def __init__(self, use: MemoryUse, conversation: str, call: ModelCallText) -> None:
        self.use = use
        self.conversation = conversation
        self.call = call

    def key(self, line: TypedLine) -> str:
        """Return the key of a line. It is the same in every call of the conversation."""
        # A call that only references the previous answer has no history.
        follows = self.call.value("previous_response_id")
        return key_of(self.use.space, self.conversation, follows, line.words, line.nth)


class IncomingCall:
    """A call that is being read. `turn` is None until then, and if it cannot be read."""

    def __init__(self, use: MemoryUse, reader: Callable[[], Awaitable[Turn | None]]) -> None:
        self.use = use
        self.read = reader
        self.turn: Turn | None = None
        self.is_late = False


class ProxyMemory:
    """Recall and capture for calls. It never exceeds the deadline and never fails a call."""

    def __init__(self, context: Context, settings: ProxySettings, tasks: TaskGroup) -> None:
        self._context = context
        self._budget = settings.budget
        self._capturing = CaptureQueues(context)
        self._recalled_blocks = Memo[_RecalledBlock]()
        self.answers = Memo[str]()
        """Conversations by answer ID, for calls that only reference the previous answer."""
        self.in_time = DeadlineRunner(tasks, seconds=settings.deadline)
        self._reading = DeadlineRunner(tasks, seconds=settings.deadline)
        self._capturing.start(tasks)

    async def end(self) -> None:
        """Store the remaining messages."""
        await self._capturing.end()

    async def with_memory(self, call: "IncomingCall", *, recalls: bool) -> str | None:
        """Read a call and store its question. Return it with recalled memory, or None if it has none.

        All of this has until the deadline. A call that could not be read by then is stored when it has been read.
        """
        began = anyio.current_time()
        try:
            await self._reading(partial(self._parse_call, call), space=call.use.space)
        except Exception as error:  # noqa: BLE001 - the call always continues
            call.is_late = True
            _log.warning("a call continues without memory: it was not read (%s)", type(error).__name__)
        turn = call.turn
        if turn is None or call.is_late:
            return None
        changed = await self.add_memory(turn, spent=anyio.current_time() - began) if recalls else None
        self.capture_question(turn)
        return changed

    async def _parse_call(self, call: "IncomingCall") -> None:
        call.turn = await call.read()
        if call.is_late and call.turn is not None:
            self.capture_question(call.turn)

    async def add_memory(self, turn: Turn, *, spent: float = 0.0) -> str | None:
        """Return the call with recalled memory, or None if there is none, or memory fails or is slow.

        `spent` are the seconds of the deadline that have passed.
        """
        last = turn.call.last
        if last is None or not turn.use.recalls:
            return None
        key = turn.key(last)
        # While a model uses tools, each of its calls has the same question: the same bytes keep its cache warm.
        earlier = self._recalled_blocks.get(key) if last.position < turn.call.first_new else None
        try:
            recalling = partial(self._block, turn, last, key, earlier)
            block = await self.in_time(recalling, space=turn.use.space, spent=spent)
            return turn.call.with_memory(block) if block else None
        except Exception as error:  # noqa: BLE001 - the call always continues
            _log.warning("a call continues without memory: %s", type(error).__name__)
            return None

    async def _block(self, turn: Turn, last: TypedLine, key: str, earlier: _RecalledBlock | None) -> str:
        """Return the earlier block unless something was erased since, or else recall a new one."""
        if earlier is not None:
            with calling_as(turn.use.caller):
                erased = await self._context.backend.run(LIST_ERASURES, turn.use.space, ListErasuresRequest(limit=1))
            if not erased or erased[0].requested_at < earlier.at - _SKEW:
                return earlier.block
        return await self._recall(turn, last, key)

    async def _recall(self, turn: Turn, last: TypedLine, key: str) -> str:
        began, run, use = time.perf_counter(), self._context.backend.run, turn.use
        at = datetime.now(UTC)
        with calling_as(use.caller):
            session_id = None
            if use.captures:
                opening = OpenSessionRequest(conversation=turn.conversation, agent=turn.call.agent)
                session_id = (await run(OPEN_SESSION, use.space, opening)).id
            question = shorten(last.words, _MAX_QUESTION)
            request = ContextRequest(question=question, budget=self._budget, session_id=session_id, citations=False)
            block = await run(CONTEXT, use.space, request)
        self._recalled_blocks.store(key, _RecalledBlock(block.text, at))
        self._context.metrics.time_recall(200, time.perf_counter() - began)
        return block.text

    def capture_question(self, turn: Turn) -> None:
        """Store the user messages since the last answer."""
        if turn.use.captures and turn.call.new:
            # No more than other requests may store: a call without answers has all its lines as new ones.
            lines = turn.call.new[-self._context.options.max_messages :]
            messages = [self._message("user", line.words, turn.key(line)) for line in lines]
            self._put(turn, messages, ends_turn=False)

    def capture_answer(self, turn: Turn, text: str, answer_id: str) -> None:
        """Store the answer of the model."""
        if answer_id:
            self.answers.store(answer_id, turn.conversation)
        if turn.use.captures and text:
            question_key = turn.key(turn.call.last) if turn.call.last else ""
            key = key_of(turn.use.space, turn.conversation, question_key, turn.call.length, text)
            self._put(turn, [self._message("assistant", text, key)], ends_turn=True)

    def _put(self, turn: Turn, messages: list[Message], *, ends_turn: bool) -> None:
        captured = CapturedMessages(
            use=turn.use,
            conversation=turn.conversation,
            agent=turn.call.agent,
            messages=tuple(messages),
            ends_turn=ends_turn,
        )
        self._capturing.put(captured)

    def _message(self, role: str, words: str, key: str, metadata: Mapping[str, object] | None = None) -> Message:
        max_bytes = self._context.options.max_message
        if len(words.encode()) > max_bytes:
            words = shorten(words, max_bytes // 4)
        return Message(role=role, content=words, idempotency_key=key, metadata=metadata or {})
