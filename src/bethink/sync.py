"""The blocking API: the same verbs for code without an event loop.

Written by tools/make_sync.py; change the async source and run it again.
"""

import os
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import anyio
from anyio.from_thread import BlockingPortal

from bethink import build
from bethink.capture.history import History as AsyncHistory
from bethink.capture.live import LiveHistory as AsyncLiveHistory
from bethink.errors import Unavailable
from bethink.extend import Redactor
from bethink.memory import Memory as AsyncMemory
from bethink.model.records import AgentKind, ConversationKey, Fact, Message, Record, Session
from bethink.recall.facts import Facts as AsyncFacts

T = TypeVar("T")
ContextT = TypeVar("ContextT")


class _Loop:
    """A private event loop on a thread of its own. Open it after a fork, never before."""

    def __init__(self) -> None:
        self._portal: BlockingPortal | None = None
        self._process = 0

    def start(self, opening: Callable[[], Awaitable[None]]) -> None:
        ready = threading.Event()
        # A daemon: a memory that nobody closed must not keep the interpreter from ending.
        self._thread = threading.Thread(target=anyio.run, args=(self._serve, ready), name="bethink-loop", daemon=True)
        self._thread.start()
        ready.wait()
        try:
            self.run(opening)
        except BaseException:
            self._end()
            raise

    def stop(self, closing: Callable[[], Awaitable[None]]) -> None:
        if self._portal is not None:
            try:
                self.run(closing)
            finally:
                self._end()

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        return self._open_portal().call(call)

    def context(self, inner: AbstractAsyncContextManager[ContextT]) -> AbstractContextManager[ContextT]:
        return self._open_portal().wrap_async_context_manager(inner)

    def _open_portal(self) -> BlockingPortal:
        if self._portal is None:
            raise Unavailable("the memory is not open.", hint="Use it inside a with block.")
        if self._process != os.getpid():
            raise Unavailable("the memory was opened before a fork.", hint="Open it in the process that uses it.")
        return self._portal

    async def _serve(self, ready: threading.Event) -> None:
        async with BlockingPortal() as portal:
            self._portal, self._process = portal, os.getpid()
            ready.set()
            await portal.sleep_until_stopped()

    def _end(self) -> None:
        portal, self._portal = self._portal, None
        if portal is not None:
            portal.call(portal.stop)
            self._thread.join()


def connect(target: str | Path = "", *, redactor: Redactor | None = None, **arguments: object) -> "Memory":
    """Return a blocking Memory on a file, on `:memory:`, or on a `postgresql://` address; open it with `with`."""
    return Memory(build.connect(target, redactor=redactor, **arguments), _Loop())


class History:
    """What was said in the conversations of one agent. Safe to share between tasks."""

    def __init__(self, inner: AsyncHistory, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    def append(self, key: ConversationKey, message: Message | Mapping[str, object]) -> int | None:
        """Add a message to the active session of a conversation, opening one if needed; return its number."""
        return self._loop.run(lambda: self._inner.append(key, message))

    def recent(self, key: ConversationKey, n: int) -> list[Record]:
        """Return the newest `n` messages in the order they were said; none for `n` of zero or less."""
        return self._loop.run(lambda: self._inner.recent(key, n))

    def all(self, key: ConversationKey) -> list[Record]:
        """Return every message of a conversation in the order it was said."""
        return self._loop.run(lambda: self._inner.all(key))

    def length(self, key: ConversationKey) -> int:
        """Count the messages of a conversation."""
        return self._loop.run(lambda: self._inner.length(key))

    def set_summary(self, key: ConversationKey, summary: str) -> None:
        """Store the summary of a conversation, replacing the one before."""
        return self._loop.run(lambda: self._inner.set_summary(key, summary))

    def get_summary(self, key: ConversationKey) -> str:
        """Return the summary of a conversation, empty if it has none."""
        return self._loop.run(lambda: self._inner.get_summary(key))

    def purge(self, key: ConversationKey) -> int:
        """Remove all messages and the summary of a conversation; return how many messages there were.

        Numbers are not given out again, and nothing is left marked."""
        return self._loop.run(lambda: self._inner.purge(key))


class LiveHistory:
    """The last messages of a conversation, kept in memory and written behind the caller's back.

    Storing never raises here: failures are logged and counted. Without a history it only remembers."""

    def __init__(self, inner: AsyncLiveHistory, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    @property
    def messages(self) -> list[Message]:
        """What the agent sees now, oldest first."""
        return self._inner.messages

    @property
    def failures(self) -> int:
        """How many times restoring or storing failed."""
        return self._inner.failures

    def append(self, message: Message | Mapping[str, object]) -> None:
        """Add a message to what the agent sees, drop the oldest past the limit, and have it stored behind.

        It waits only while a thousand messages are still to be stored."""
        return self._loop.run(lambda: self._inner.append(message))

    def __enter__(self) -> "LiveHistory":
        self._context = self._loop.context(self._inner)
        self._context.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._context.__exit__(kind, error, trace)


class Facts:
    """What is known in one space. Safe to share between tasks."""

    def __init__(self, inner: AsyncFacts, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    def index(self, fact: Fact) -> None:
        """Store a fact, replacing the one with the same id; its text is redacted first."""
        return self._loop.run(lambda: self._inner.index(fact))

    def search(self, query: str, top_k: int) -> list[Fact]:
        """Return at most `top_k` facts that share words with the query, the best match first."""
        return self._loop.run(lambda: self._inner.search(query, top_k))

    def search_by_metadata(self, key: str, value: str) -> list[Fact]:
        """Return the facts whose metadata holds `value` under `key`, oldest first."""
        return self._loop.run(lambda: self._inner.search_by_metadata(key, value))

    def delete(self, fact_id: str) -> None:
        """Remove a fact. Raises `NotFound` if there is none with this id."""
        return self._loop.run(lambda: self._inner.delete(fact_id))

    def length(self) -> int:
        """Count the facts."""
        return self._loop.run(lambda: self._inner.length())


class Memory:
    """Stores what was said and says what is still to be learnt. Without a database every verb does nothing."""

    def __init__(self, inner: AsyncMemory, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    @property
    def enabled(self) -> bool:
        """Say whether anything is stored at all."""
        return self._inner.enabled

    def open(self) -> None:
        """Open the database and bring its schema up to date. Entering a with block does this."""
        self._loop.start(self._inner.open)

    def close(self) -> None:
        """Finish what is running and close the database."""
        self._loop.stop(self._inner.close)

    def open_session(
        self,
        *,
        space: str,
        conversation: ConversationKey,
        agent: str = "assistant",
        kind: AgentKind = AgentKind.PRIMARY,
    ) -> Session:
        """Return the active session of a conversation, opening one if there is none.

        Space, agent and conversation come into being at first use; an agent keeps the kind it first had."""
        return self._loop.run(
            lambda: self._inner.open_session(space=space, conversation=conversation, agent=agent, kind=kind)
        )

    def get_session(self, *, space: str, session_id: str) -> Session | None:
        """Read a session as it stands now. Raises `NotFound` for an id that is not in the space."""
        return self._loop.run(lambda: self._inner.get_session(space=space, session_id=session_id))

    def append(self, session: Session, messages: Iterable[Message | Mapping[str, object]]) -> list[int]:
        """Store messages in one transaction and return their numbers; when it returns, they are durable.

        A message whose idempotency key is known in the space is not stored again: it keeps its number."""
        return self._loop.run(lambda: self._inner.append(session, messages))

    def read(self, session: Session, *, after: int = 0, limit: int | None = None) -> list[Record]:
        """Return the messages of a session that follow a number, in order."""
        return self._loop.run(lambda: self._inner.read(session, after=after, limit=limit))

    def count_since(self, session: Session, number: int) -> int:
        """Count the messages of a session that follow a number."""
        return self._loop.run(lambda: self._inner.count_since(session, number))

    def max_number(self, session: Session) -> int | None:
        """Return the number of the last message of a session, or None if it holds none."""
        return self._loop.run(lambda: self._inner.max_number(session))

    def end_turn(self, session: Session) -> bool:
        """Tell that a turn is over: marks the session past the threshold, and says whether it did."""
        return self._loop.run(lambda: self._inner.end_turn(session))

    def idle(self, session: Session) -> bool:
        """Tell that nothing more is waiting for the agent: marks the session if it has something to learn."""
        return self._loop.run(lambda: self._inner.idle(session))

    def reset(self, session: Session, *, emergency: bool = False) -> Session:
        """End and mark a session and return the next one of its conversation. Repeating it does no harm."""
        return self._loop.run(lambda: self._inner.reset(session, emergency=emergency))

    def compacted(self, session: Session) -> Session:
        """Tell that a session's context was compacted: it is ended and marked, and the next one returned."""
        return self._loop.run(lambda: self._inner.compacted(session))

    def end_session(self, session: Session) -> Session:
        """End a session and mark it, with nothing to follow."""
        return self._loop.run(lambda: self._inner.end_session(session))

    def invalidate(self, session: Session, number: int) -> bool:
        """Set or raise a session's mark to a number; false if it stands there or above. It is never lowered."""
        return self._loop.run(lambda: self._inner.invalidate(session, number))

    def find_invalidated(self, limit: int = 10) -> list[Session]:
        """Return marked sessions of all spaces, at most `limit`, the oldest mark first."""
        return self._loop.run(lambda: self._inner.find_invalidated(limit))

    def mark_processed(self, session: Session, *, until: int, expected: int) -> bool:
        """Clear the mark and set `processed_until`, only if the mark is still `expected`; else change nothing."""
        return self._loop.run(lambda: self._inner.mark_processed(session, until=until, expected=expected))

    def history(self, *, space: str, agent: str = "assistant", kind: AgentKind = AgentKind.PRIMARY) -> History:
        """Return the history of an agent's conversations, addressed by conversation key."""
        return History(self._inner.history(space=space, agent=agent, kind=kind), self._loop)

    def facts(self, *, space: str) -> Facts:
        """Return what is known in a space."""
        return Facts(self._inner.facts(space=space), self._loop)

    def live(self, conversation: ConversationKey, *, space: str, agent: str = "assistant") -> LiveHistory:
        """Return the history an agent works on: restored, trimmed, and written behind without ever raising."""
        return LiveHistory(self._inner.live(conversation, space=space, agent=agent), self._loop)

    def __enter__(self) -> "Memory":
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
