"""Memory beside one call: what is added to it, and what of it is captured."""

import time
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeVar

from anyio.abc import TaskGroup

from bethink.agents.transcripts.lines import shortened
from bethink.base.logs import logger
from bethink.config.groups import ProxySettings
from bethink.http.context import Context
from bethink.http.proxy.callers import MemoryUse
from bethink.http.proxy.calls import ModelCallText, TypedLine, key_of
from bethink.http.proxy.capturing import Captured, Capturing
from bethink.http.proxy.in_time import InTime
from bethink.model.access import asked_by
from bethink.model.operations.erasures import ERASURES, ErasuresRequest
from bethink.model.operations.memory import CONTEXT, ContextRequest
from bethink.model.operations.sessions import OPEN_SESSION, OpenSessionRequest
from bethink.model.records import Message

_KEPT = 2_000
_SKEW = timedelta(minutes=1)
"""How far the clocks of two processes may be apart."""
_LONGEST_QUESTION = 4_000
_log = logger("server")


T = TypeVar("T")


class Memo(OrderedDict[str, T]):
    """The latest of some things, by their keys."""

    def keep(self, key: str, value: T) -> None:
        """Keep something, and let the oldest go if there are too many."""
        self[key] = value
        self.move_to_end(key)
        if len(self) > _KEPT:
            self.popitem(last=False)


class _Told(NamedTuple):
    """What was recalled for a question, and when."""

    block: str
    at: datetime


class Turn:
    """One call in its conversation."""

    def __init__(self, use: MemoryUse, conversation: str, call: ModelCallText) -> None:
        self.use = use
        self.conversation = conversation
        self.call = call

    def key(self, line: TypedLine) -> str:
        """Return the key of a line: the same in every call of the conversation that has it."""
        # A call that only names the answer it follows has no history to count in.
        follows = self.call.value("previous_response_id")
        return key_of(self.use.space, self.conversation, follows, line.words, line.nth)


class Remembering:
    """What memory does for calls. Nothing of it is waited for beyond the deadline, and nothing of it fails a call."""

    def __init__(self, context: Context, settings: ProxySettings, tasks: TaskGroup) -> None:
        self._context = context
        self._budget = settings.budget
        self._capturing = Capturing(context)
        self._told = Memo[_Told]()
        self.answers = Memo[str]()
        """The conversations of answers, for calls that only name the answer they follow."""
        self.in_time = InTime(tasks, seconds=settings.deadline)
        self._capturing.start(tasks)

    async def end(self) -> None:
        """Store what is left."""
        await self._capturing.end()

    async def added(self, turn: Turn) -> str | None:
        """Return the call with what is remembered for it; None if there is nothing, or memory fails or is slow."""
        last = turn.call.last
        if last is None or not turn.use.recalls:
            return None
        key = turn.key(last)
        # While a model uses tools, each of its calls has the same question: the same bytes keep its cache warm.
        told = self._told.get(key) if last.place < turn.call.first_new else None
        try:
            block = await self.in_time(lambda: self._block(turn, last, key, told))
            return turn.call.with_memory(block) if block else None
        except Exception as error:  # noqa: BLE001 - whatever it is, the call goes on
            _log.warning("a call goes on without memory: %s", type(error).__name__)
            return None

    async def _block(self, turn: Turn, last: TypedLine, key: str, told: _Told | None) -> str:
        """Return what was told before, unless something was erased since; else what is recalled now."""
        if told is not None:
            with asked_by(turn.use.caller):
                erased = await self._context.backend.run(ERASURES, turn.use.space, ErasuresRequest(limit=1))
            if not erased or erased[0].requested_at < told.at - _SKEW:
                return told.block
        return await self._recalled(turn, last, key)

    async def _recalled(self, turn: Turn, last: TypedLine, key: str) -> str:
        began, run, use = time.perf_counter(), self._context.backend.run, turn.use
        at = datetime.now(UTC)
        with asked_by(use.caller):
            session_id = None
            if use.captures:
                opening = OpenSessionRequest(conversation=turn.conversation, agent=turn.call.agent)
                session_id = (await run(OPEN_SESSION, use.space, opening)).id
            question = shortened(last.words, _LONGEST_QUESTION)
            asked = ContextRequest(question=question, budget=self._budget, session_id=session_id)
            block = await run(CONTEXT, use.space, asked)
        self._told.keep(key, _Told(block.text, at))
        self._context.metrics.recalled(200, time.perf_counter() - began)
        return block.text

    def said(self, turn: Turn) -> None:
        """Capture what the person typed since the last answer."""
        if turn.use.captures and turn.call.new:
            messages = [self._message("user", line.words, turn.key(line)) for line in turn.call.new]
            self._put(turn, messages, ends_turn=False)

    def answered(self, turn: Turn, text: str, answer_id: str) -> None:
        """Capture what the model answered."""
        if answer_id:
            self.answers.keep(answer_id, turn.conversation)
        if turn.use.captures and text:
            asked = turn.key(turn.call.last) if turn.call.last else ""
            key = key_of(turn.use.space, turn.conversation, asked, turn.call.length, text)
            self._put(turn, [self._message("assistant", text, key)], ends_turn=True)

    def _put(self, turn: Turn, messages: list[Message], *, ends_turn: bool) -> None:
        captured = Captured(
            use=turn.use,
            conversation=turn.conversation,
            agent=turn.call.agent,
            messages=tuple(messages),
            ends_turn=ends_turn,
        )
        self._capturing.put(captured)

    def _message(self, role: str, words: str, key: str, metadata: Mapping[str, object] | None = None) -> Message:
        longest = self._context.options.max_message
        if len(words.encode()) > longest:
            words = shortened(words, longest // 4)
        return Message(role=role, content=words, idempotency_key=key, metadata=metadata or {})
