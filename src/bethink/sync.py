"""The blocking API: the same verbs for code without an event loop.

Written by tools/make_sync.py; change the async source and run it again.
"""

import os
import threading
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import anyio
from anyio.from_thread import BlockingPortal

from bethink import build
from bethink.audit.keys import Access as AsyncAccess
from bethink.client.access import RemoteAccess as AsyncRemoteAccess
from bethink.client.client import Client as AsyncClient
from bethink.client.desk import RemoteDesk as AsyncRemoteDesk
from bethink.client.documents import RemoteDocuments as AsyncRemoteDocuments
from bethink.client.facts import RemoteFacts as AsyncRemoteFacts
from bethink.documents.service import Documents as AsyncDocuments
from bethink.errors import Unavailable
from bethink.extend import Embedder, Model, Redactor
from bethink.facts.service import Facts as AsyncFacts
from bethink.log.history import History as AsyncHistory
from bethink.log.live import LiveHistory as AsyncLiveHistory
from bethink.log.marks import Marks as AsyncMarks
from bethink.memory import Memory as AsyncMemory
from bethink.model.access import KeyInfo, NewKey, Scope
from bethink.model.consolidation import ChangeSet
from bethink.model.documents import Document, DocumentSource, Draft, Provenance
from bethink.model.jobs import Job, JobKind
from bethink.model.moments import When
from bethink.model.recall import Block, Lineage, Recall, Ref, RefKind, Remembered, Showing
from bethink.model.records import (
    AgentKind,
    ConversationKey,
    Fact,
    Forgotten,
    Message,
    Record,
    Session,
    SessionEntry,
    SessionMemory,
    SourceMessage,
)
from bethink.model.working import Chunk, Event, FailedEvent, Mode, QueuedEvent, State, StateInfo, Thread
from bethink.recall.reindex import Vectors as AsyncVectors
from bethink.store import vectors
from bethink.store.vectors import VectorIndex
from bethink.worker import Audit, RunReport
from bethink.working.ladder import Compactor, Thresholds, TokenUsage
from bethink.working.memory import DispatchResult, StepResult
from bethink.working.memory import WorkingMemory as AsyncDesk
from bethink.working.observers import Watch
from bethink.working.process import Engine
from bethink.working.prompt import Prompt
from bethink.working.travel import StateDiff

T = TypeVar("T")
ContextT = TypeVar("ContextT")


class _Loop:
    """A private event loop on a thread of its own. Open it after a fork, never before."""

    def __init__(self) -> None:
        self._portal: BlockingPortal | None = None
        self._process = 0

    def start(self, opening: Callable[[], Awaitable[None]]) -> None:
        if self._portal is not None and self._process == os.getpid():
            return
        ready = threading.Event()
        # A daemon: a memory that nobody closed must not keep the interpreter from ending.
        self._thread = threading.Thread(target=self._live, args=(ready,), name="bethink-loop", daemon=True)
        self._thread.start()
        ready.wait()
        if self._portal is None:
            raise Unavailable("the event loop could not be started.", hint="Is the limit of open files reached?")
        try:
            self.run(opening)
        except BaseException:
            self._end()
            raise

    def stop(self, closing: Callable[[], Awaitable[None]]) -> None:
        if self._process != os.getpid():
            self._portal = None  # the loop stayed behind in the process that opened it
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

    def _live(self, ready: threading.Event) -> None:
        try:
            anyio.run(self._serve, ready)
        finally:
            ready.set()

    async def _serve(self, ready: threading.Event) -> None:
        async with BlockingPortal() as portal:
            self._portal, self._process = portal, os.getpid()
            ready.set()
            await portal.sleep_until_stopped()

    def _end(self) -> None:
        portal, self._portal = self._portal, None
        if portal is not None:
            portal.call(partial(portal.stop, cancel_remaining=True))  # what is still open has lost its database
            self._thread.join()


def connect(
    target: str | Path = "",
    *,
    redactor: Redactor | None = None,
    engine: Engine | None = None,
    compactor: Compactor | None = None,
    model: Model | str | None = None,
    embedder: Embedder | str | None = None,
    **arguments: object,
) -> "Memory":
    """Return a blocking Memory on a file, on `:memory:`, or on a `postgresql://` address; open it with `with`."""
    inner = build.connect(
        target, redactor=redactor, engine=engine, compactor=compactor, model=model, embedder=embedder, **arguments
    )
    return Memory(inner, _Loop())


class History:
    """What was said in the conversations of one agent. Safe to share between tasks."""

    def __init__(self, inner: AsyncHistory, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    def append(self, key: ConversationKey | str, message: Message | Mapping[str, object]) -> int | None:
        """Add a message to the active session of a conversation, opening one if needed; return its number."""
        return self._loop.run(lambda: self._inner.append(key, message))

    def recent(self, key: ConversationKey | str, n: int) -> list[Record]:
        """Return the newest `n` messages in the order they were said; none for `n` of zero or less."""
        return self._loop.run(lambda: self._inner.recent(key, n))

    def all(self, key: ConversationKey | str) -> list[Record]:
        """Return every message of a conversation in the order it was said."""
        return self._loop.run(lambda: self._inner.all(key))

    def length(self, key: ConversationKey | str) -> int:
        """Count the messages of a conversation."""
        return self._loop.run(lambda: self._inner.length(key))

    def set_summary(self, key: ConversationKey | str, summary: str) -> None:
        """Store the summary of a conversation, replacing the one before."""
        return self._loop.run(lambda: self._inner.set_summary(key, summary))

    def get_summary(self, key: ConversationKey | str) -> str:
        """Return the summary of a conversation, empty if it has none."""
        return self._loop.run(lambda: self._inner.get_summary(key))

    def purge(self, key: ConversationKey | str) -> int:
        """Remove all messages of a conversation and what was made of them; return how many messages there were.

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


class Marks:
    """Which sessions have something to learn, and how far each was learnt from; `Memory.learn` sees to both."""

    def __init__(self, inner: AsyncMarks, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    def find_invalidated(self, limit: int = 10) -> list[Session]:
        """Return marked sessions of all spaces, at most `limit`, the oldest mark first."""
        return self._loop.run(lambda: self._inner.find_invalidated(limit))

    def invalidate(self, session: Session, number: int) -> bool:
        """Set or raise a session's mark to a number; false if it stands there or above. It is never lowered."""
        return self._loop.run(lambda: self._inner.invalidate(session, number))

    def mark_processed(self, session: Session, *, until: int, expected: int) -> bool:
        """Clear the mark and set `processed_until`, only if the mark is still `expected`; else change nothing."""
        return self._loop.run(lambda: self._inner.mark_processed(session, until=until, expected=expected))

    def count_since(self, session: Session, number: int) -> int:
        """Count the messages of a session that follow a number."""
        return self._loop.run(lambda: self._inner.count_since(session, number))

    def max_number(self, session: Session) -> int | None:
        """Return the number of the last message of a session, or None if it holds none."""
        return self._loop.run(lambda: self._inner.max_number(session))


class Facts:
    """What is known in one space. Safe to share between tasks."""

    def __init__(self, inner: AsyncFacts, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    def index(self, fact: Fact, *, expected: int | None = None) -> None:
        """Store a fact, redacted; one with the same id is retired, and found as of the time before.

        Raises `Stale` unless `expected`, where given, is the version that stands."""
        return self._loop.run(lambda: self._inner.index(fact, expected=expected))

    def get(self, fact_id: str) -> Fact | None:
        """Return a fact as it stands. Raises `NotFound`."""
        return self._loop.run(lambda: self._inner.get(fact_id))

    def all(self, *, as_of: When | None = None, limit: int = 100, after: str = "") -> list[Fact]:
        """Return facts by their ids, as they stand or stood at a time, from after one on."""
        return self._loop.run(lambda: self._inner.all(as_of=as_of, limit=limit, after=after))

    def search(self, query: str, top_k: int, *, as_of: When | None = None) -> list[Fact]:
        """Return at most `top_k` facts that share words with the query, the best match first.

        A piece in double quotes must occur just so. With `as_of`, from what was known at that time."""
        return self._loop.run(lambda: self._inner.search(query, top_k, as_of=as_of))

    def search_by_metadata(self, key: str, value: str) -> list[Fact]:
        """Return the facts whose metadata holds `value` under `key`, oldest first."""
        return self._loop.run(lambda: self._inner.search_by_metadata(key, value))

    def delete(self, fact_id: str) -> None:
        """Remove a fact with every version it had, also from documents that rest on it. Raises `NotFound`."""
        return self._loop.run(lambda: self._inner.delete(fact_id))

    def versions(self, fact_id: str) -> list[Fact]:
        """Return every version of a fact, oldest first; the last may be retired."""
        return self._loop.run(lambda: self._inner.versions(fact_id))

    def sources(self, fact_id: str) -> list[SourceMessage]:
        """Return the messages that a learnt fact rests on."""
        return self._loop.run(lambda: self._inner.sources(fact_id))

    def length(self) -> int:
        """Count the facts."""
        return self._loop.run(lambda: self._inner.length())


class Vectors:
    """The vectors of one embedder, which workers make and which can always be made anew."""

    def __init__(self, inner: AsyncVectors, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    def reindex(self, *, progress: Callable[[int], None] | None = None) -> VectorIndex:
        """Promise to embed what is not yet, in every space, for an embedder that may be new here; workers do it.

        With `progress` it waits for them, and says how many spaces are left. Raises `Misconfigured` without pgvector."""
        return self._loop.run(lambda: self._inner.reindex(progress=progress))

    def left(self) -> int:
        """Count the spaces that are still to be indexed."""
        return self._loop.run(lambda: self._inner.left())

    def grow(self, *, space: str, above: int = vectors.GROWN) -> bool:
        """Build an HNSW index for a space that has more than `above` vectors, while it is used; say whether it did.

        Only PostgreSQL has such. It takes seconds for each ten thousand vectors, and makes writing them slower."""
        return self._loop.run(lambda: self._inner.grow(space=space, above=above))


class Documents:
    """The tree of one space. A write names the version that was read; a stale one is refused with the current."""

    def __init__(self, inner: AsyncDocuments, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    def create(self, draft: Draft, *, document_id: str | None = None, by: Provenance | None = None) -> Document | None:
        """Write a new document. Its text is redacted first; None where nothing is stored."""
        return self._loop.run(lambda: self._inner.create(draft, document_id=document_id, by=by))

    def update(self, document_id: str, draft: Draft, *, expected: int, by: Provenance | None = None) -> Document | None:
        """Write the next version. Raises `Stale` unless `expected` is the current one.

        Unless told otherwise it rests on what the version before rested on, and is trusted no more than that."""
        return self._loop.run(lambda: self._inner.update(document_id, draft, expected=expected, by=by))

    def delete(self, document_id: str, *, expected: int) -> None:
        """End a document that nothing hangs on; its versions stay. Raises `Stale`, or `Conflict` if it is held."""
        return self._loop.run(lambda: self._inner.delete(document_id, expected=expected))

    def restore(self, document_id: str, version: int, *, expected: int | None) -> Document | None:
        """Write an old version again as the newest. A deleted document comes back with `expected` None."""
        return self._loop.run(lambda: self._inner.restore(document_id, version, expected=expected))

    def redact(self, document_id: str, version: int) -> None:
        """Take the text out of a version that is past, for good, and out of what writers said and of held changes.

        Raises `NotFound` for the current one."""
        return self._loop.run(lambda: self._inner.redact(document_id, version))

    def change_sets(self, *, limit: int = 100) -> list[ChangeSet]:
        """Return what consolidations changed, or want to change, the newest first."""
        return self._loop.run(lambda: self._inner.change_sets(limit=limit))

    def approve(self, run: str) -> None:
        """Put a change set that was held into the tree. Raises `Stale` if the tree has changed since."""
        return self._loop.run(lambda: self._inner.approve(run))

    def reject(self, run: str) -> None:
        """Let a change set that was held never come about; of its text nothing is kept."""
        return self._loop.run(lambda: self._inner.reject(run))

    def undo(self, run: str) -> None:
        """Restore the tree to what it was before a run. Raises `Conflict` if it was changed again since."""
        return self._loop.run(lambda: self._inner.undo(run))

    def files(self) -> dict[str, str]:
        """Return a space's memory as files by their names: what the last consolidation that succeeded has seen."""
        return self._loop.run(lambda: self._inner.files())

    def archive(self) -> bytes:
        """Return the same files as one archive in memory; the same memory gives the same bytes."""
        return self._loop.run(lambda: self._inner.archive())

    def get(self, document_id: str, *, as_of: When | None = None) -> Document | None:
        """Return a document as it stands, or stood at a time. Raises `NotFound`."""
        return self._loop.run(lambda: self._inner.get(document_id, as_of=as_of))

    def find(self, path: str, *, as_of: When | None = None) -> Document | None:
        """Follow a path such as `~/memory/people`; None where it leads nowhere."""
        return self._loop.run(lambda: self._inner.find(path, as_of=as_of))

    def children(self, document_id: str | None = None, *, as_of: When | None = None) -> list[Document]:
        """Return what hangs below a document, or at the top, by name."""
        return self._loop.run(lambda: self._inner.children(document_id, as_of=as_of))

    def tree(self, *, as_of: When | None = None) -> dict[str, Document]:
        """Return every document by its path, as the tree stands or stood at a time."""
        return self._loop.run(lambda: self._inner.tree(as_of=as_of))

    def history(self, document_id: str) -> list[Document]:
        """Return every version of a document, oldest first: what it said, who wrote it, and why."""
        return self._loop.run(lambda: self._inner.history(document_id))

    def diff(self, document_id: str, before: int, after: int) -> str:
        """Write what changed between two versions, line by line; version 0 is nothing."""
        return self._loop.run(lambda: self._inner.diff(document_id, before, after))

    def sources(self, document_id: str, version: int) -> list[DocumentSource]:
        """Return what a version rests on: session memories, facts and messages."""
        return self._loop.run(lambda: self._inner.sources(document_id, version))

    def search(self, query: str, top_k: int, *, as_of: When | None = None) -> list[Document]:
        """Return at most `top_k` documents that share words with the query, the best match first."""
        return self._loop.run(lambda: self._inner.search(query, top_k, as_of=as_of))


class WorkingMemory:
    """Working memory of one space. Events are always queued first and leave the queue with their effect."""

    def __init__(self, inner: AsyncDesk, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    @property
    def thresholds(self) -> Thresholds:
        """The ladder of lengths."""
        return self._inner.thresholds

    def register_compactor(self, compactor: Compactor) -> None:
        """Let another compactor write the summaries."""
        return self._inner.register_compactor(compactor)

    def watch(self, watch: Watch) -> Callable[[], None]:
        """Tell somebody what happens to threads; call what is returned to stop."""
        return self._inner.watch(watch)

    def open_thread(
        self, thread_id: str | None = None, *, session_id: str | None = None, mode: Mode | None = None
    ) -> Thread:
        """Return a thread, making it if there is none by this id."""
        return self._loop.run(lambda: self._inner.open_thread(thread_id, session_id=session_id, mode=mode))

    def get_thread(self, thread_id: str) -> Thread:
        """Read a thread as it stands now."""
        return self._loop.run(lambda: self._inner.get_thread(thread_id))

    def threads(self, *, limit: int = 100, after: str = "") -> list[Thread]:
        """Return the threads of the space by their ids, from after one on."""
        return self._loop.run(lambda: self._inner.threads(limit=limit, after=after))

    def delete_thread(self, thread_id: str) -> None:
        """Remove a thread and all it holds."""
        return self._loop.run(lambda: self._inner.delete_thread(thread_id))

    def push_event(self, thread_id: str, event: Event) -> QueuedEvent:
        """Queue an event and leave it there; its texts are redacted first."""
        return self._loop.run(lambda: self._inner.push_event(thread_id, event))

    def pop_event(self, thread_id: str) -> QueuedEvent | None:
        """Take the first event out of the queue without processing it."""
        return self._loop.run(lambda: self._inner.pop_event(thread_id))

    def peek_event(self, thread_id: str) -> QueuedEvent | None:
        """Look at the first event of the queue."""
        return self._loop.run(lambda: self._inner.peek_event(thread_id))

    def queue(self, thread_id: str) -> list[QueuedEvent]:
        """Return the events that wait, in the order in which they will be processed."""
        return self._loop.run(lambda: self._inner.queue(thread_id))

    def queue_length(self, thread_id: str) -> int:
        """Count the events that wait."""
        return self._loop.run(lambda: self._inner.queue_length(thread_id))

    def clear_queue(self, thread_id: str) -> int:
        """Take every event out of the queue and return how many there were."""
        return self._loop.run(lambda: self._inner.clear_queue(thread_id))

    def failed_events(self, thread_id: str) -> list[FailedEvent]:
        """Return the events that could not be processed and were set aside, each with the reason."""
        return self._loop.run(lambda: self._inner.failed_events(thread_id))

    def get_mode(self, thread_id: str) -> Mode:
        """Say how a thread takes its events."""
        return self._loop.run(lambda: self._inner.get_mode(thread_id))

    def set_mode(self, thread_id: str, mode: Mode) -> DispatchResult:
        """Change how a thread takes its events; back to auto processes what has been waiting."""
        return self._loop.run(lambda: self._inner.set_mode(thread_id, mode))

    def acquire_step_lock(self, thread_id: str) -> str:
        """Take the step lock and return its id. Raises `Conflict` while another holds it."""
        return self._loop.run(lambda: self._inner.acquire_step_lock(thread_id))

    def release_step_lock(self, thread_id: str, step_id: str) -> None:
        """Give the step lock back. Raises `Conflict` if it is not held by this id."""
        return self._loop.run(lambda: self._inner.release_step_lock(thread_id, step_id))

    def is_step_locked(self, thread_id: str) -> bool:
        """Say whether a step holds the thread."""
        return self._loop.run(lambda: self._inner.is_step_locked(thread_id))

    def current_step_id(self, thread_id: str) -> str | None:
        """Return the id of the step that holds the thread, while its lease lasts."""
        return self._loop.run(lambda: self._inner.current_step_id(thread_id))

    def dispatch(self, thread_id: str, event: Event) -> DispatchResult:
        """Queue an event; in auto mode process it, and what its length makes necessary, at once.

        Raises `Invalid` if it cannot be processed: it is set aside, and the thread goes on without it."""
        return self._loop.run(lambda: self._inner.dispatch(thread_id, event))

    def step(self, thread_id: str) -> StepResult:
        """Process one event; with none waiting, truncate if that is due; else compact if that is due.

        Raises `Conflict` in auto mode and while another step holds the thread, `Invalid` for an event it sets aside."""
        return self._loop.run(lambda: self._inner.step(thread_id))

    def trigger_compaction(self, thread_id: str, chunks: list[Chunk] | None = None) -> DispatchResult:
        """Compact now: these chunks, or all that may be but for the newest."""
        return self._loop.run(lambda: self._inner.trigger_compaction(thread_id, chunks))

    def execute_truncation(self, thread_id: str, chunk_ids: list[str]) -> DispatchResult:
        """Take these chunks away; those that are gone already are passed over."""
        return self._loop.run(lambda: self._inner.execute_truncation(thread_id, chunk_ids))

    def emergency(self, thread_id: str) -> DispatchResult:
        """Keep only the newest of the working flow, without asking any model, and go on in a new session."""
        return self._loop.run(lambda: self._inner.emergency(thread_id))

    def advance(self, thread_id: str) -> DispatchResult:
        """Process what is waiting if the thread is in auto mode; else leave it to `step`. It sets aside what fails."""
        return self._loop.run(lambda: self._inner.advance(thread_id))

    def consume_pending_compaction(self, thread_id: str) -> list[Chunk]:
        """Take over a compaction that is due: return its chunks, and let it be due no longer."""
        return self._loop.run(lambda: self._inner.consume_pending_compaction(thread_id))

    def prompt(self, thread_id: str, *, budget: int) -> Prompt:
        """Return the current state as messages within a token budget, with a report on every chunk."""
        return self._loop.run(lambda: self._inner.prompt(thread_id, budget=budget))

    def has_pending_compaction(self, thread_id: str) -> bool:
        """Say whether a compaction is due."""
        return self._loop.run(lambda: self._inner.has_pending_compaction(thread_id))

    def has_pending_truncation(self, thread_id: str) -> bool:
        """Say whether a truncation is due."""
        return self._loop.run(lambda: self._inner.has_pending_truncation(thread_id))

    def check_token_usage(self, thread_id: str) -> TokenUsage:
        """Measure a thread against the ladder."""
        return self._loop.run(lambda: self._inner.check_token_usage(thread_id))

    def current_state(self, thread_id: str) -> State:
        """Return the current state with its chunks, from the cache if nothing has changed since."""
        return self._loop.run(lambda: self._inner.current_state(thread_id))

    def clear_state_cache(self, thread_id: str) -> None:
        """Forget the cached state; the next read comes from the database."""
        return self._inner.clear_state_cache(thread_id)

    def history(self, thread_id: str) -> list[StateInfo]:
        """Return every state a thread has had, without the chunks."""
        return self._loop.run(lambda: self._inner.history(thread_id))

    def state_at(self, thread_id: str, number: int) -> State:
        """Return one state of a thread with its chunks."""
        return self._loop.run(lambda: self._inner.state_at(thread_id, number))

    def diff(self, thread_id: str, before: int, after: int) -> StateDiff:
        """Compare two states of a thread."""
        return self._loop.run(lambda: self._inner.diff(thread_id, before, after))

    def fork(self, thread_id: str, *, at: int, into: str | None = None, mode: Mode | None = None) -> Thread:
        """Open a new thread that begins where this one was at a state.

        It is forgotten with the conversation this one works on."""
        return self._loop.run(lambda: self._inner.fork(thread_id, at=at, into=into, mode=mode))

    def replay(self, thread_id: str) -> tuple[Chunk, ...]:
        """Make the current state again from the events alone, with no model."""
        return self._loop.run(lambda: self._inner.replay(thread_id))


class Access:
    """The keys of one deployment. Keep one and share it: it remembers for a moment which keys are good."""

    def __init__(self, inner: AsyncAccess, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    def create(
        self,
        *,
        name: str,
        scopes: Collection[Scope | str],
        spaces: Collection[str] | None = None,
        expires_at: When | None = None,
    ) -> NewKey:
        """Make a key for some spaces, or for all with None. Its text is returned here and can never be read again.

        With a bare day as `expires_at`, that is the last day it is good for."""
        return self._loop.run(
            lambda: self._inner.create(name=name, scopes=scopes, spaces=spaces, expires_at=expires_at)
        )

    def find(self, key: str) -> KeyInfo | None:
        """Return what a key's text is good for; None if it is unknown, expired or revoked.

        Neither is looked up again for some seconds, so another process's revocation takes that long."""
        return self._loop.run(lambda: self._inner.find(key))

    def list(self) -> list[KeyInfo]:
        """Return every key there ever was, the oldest first, those that are no longer good included."""
        return self._loop.run(lambda: self._inner.list())

    def rotate(self, prefix: str, *, overlap: float = 86400.0) -> NewKey:
        """Make a key that may do the same, for as long; the old one expires after `overlap` seconds.

        Raises `NotFound` for a prefix nobody has, and `Conflict` for a key that is no longer good."""
        return self._loop.run(lambda: self._inner.rotate(prefix, overlap=overlap))

    def revoke(self, prefix: str) -> None:
        """Let a key in no more, here at once and in other processes within seconds. Raises `NotFound`."""
        return self._loop.run(lambda: self._inner.revoke(prefix))


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
        space: str | None = None,
        user_id: str | None = None,
        conversation: ConversationKey | str,
        agent: str = "assistant",
        kind: AgentKind = AgentKind.PRIMARY,
        ephemeral: bool = False,
    ) -> Session:
        """Return the active session of a conversation, opening one if there is none.

        Space, agent and conversation come into being at first use; an agent keeps the kind it first had. Nothing is
        learnt from an `ephemeral` session, which ends one of the other sort. Opening one lets others be learnt from."""
        return self._loop.run(
            lambda: self._inner.open_session(
                space=space, user_id=user_id, conversation=conversation, agent=agent, kind=kind, ephemeral=ephemeral
            )
        )

    def get_session(self, *, space: str | None = None, user_id: str | None = None, session_id: str) -> Session | None:
        """Read a session as it stands now. Raises `NotFound` for an id that is not in the space."""
        return self._loop.run(lambda: self._inner.get_session(space=space, user_id=user_id, session_id=session_id))

    def sessions(
        self, *, space: str | None = None, user_id: str | None = None, limit: int = 100, before: str = ""
    ) -> list[SessionEntry]:
        """Return the sessions of a space, the newest first; `before` is the id that the page before ended with."""
        return self._loop.run(lambda: self._inner.sessions(space=space, user_id=user_id, limit=limit, before=before))

    def remember(
        self,
        what: str | Iterable[Message | Mapping[str, object]],
        *,
        space: str | None = None,
        user_id: str | None = None,
        session: Session | None = None,
        conversation: ConversationKey | str | None = None,
        agent: str = "assistant",
        idempotency_key: str | None = None,
    ) -> Remembered:
        """Store a text of the user's, or messages, for good, and say by which names they can be explained.

        Without a session they go into the conversation and are marked to be learnt from; a repeated key stores nothing."""
        return self._loop.run(
            lambda: self._inner.remember(
                what,
                space=space,
                user_id=user_id,
                session=session,
                conversation=conversation,
                agent=agent,
                idempotency_key=idempotency_key,
            )
        )

    def append(self, session: Session, messages: Iterable[Message | Mapping[str, object]]) -> list[int]:
        """Store messages in one transaction and return their numbers; when it returns, they are durable.

        A message whose idempotency key is known in the space is not stored again: it keeps its number."""
        return self._loop.run(lambda: self._inner.append(session, messages))

    def read(self, session: Session, *, after: int = 0, limit: int | None = None) -> list[Record]:
        """Return the messages of a session that follow a number, in order."""
        return self._loop.run(lambda: self._inner.read(session, after=after, limit=limit))

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

    def learn(self, *, only: Collection[JobKind] | None = None) -> RunReport:
        """Learn once from what is marked, in all spaces, and say what came of it; `only` some kinds of jobs if named.

        What the start of a session has begun in the background is waited for; what other processes do is not."""
        return self._loop.run(lambda: self._inner.learn(only=only))

    def work(self) -> None:
        """Learn from whatever is marked from now on, until cancelled. Any number of processes may do this."""
        return self._loop.run(lambda: self._inner.work())

    def audit(self) -> Audit:
        """Count what waits, what was given up, what was spent today, and what must never be."""
        return self._loop.run(lambda: self._inner.audit())

    def jobs(self, *, space: str | None = None, user_id: str | None = None, limit: int = 100) -> list[Job]:
        """Return the jobs of a space, the newest promise first: where each stands, what it took, why it failed."""
        return self._loop.run(lambda: self._inner.jobs(space=space, user_id=user_id, limit=limit))

    def consolidate(self, *, space: str | None = None, user_id: str | None = None) -> None:
        """Promise a consolidation of a space; `learn`, or a worker, does it. Raises `NotFound` for no such space."""
        return self._loop.run(lambda: self._inner.consolidate(space=space, user_id=user_id))

    def spaces(self, *, limit: int = 100, after: str = "") -> list[str]:
        """Return the names of all spaces that hold anything, in order, from after one on."""
        return self._loop.run(lambda: self._inner.spaces(limit=limit, after=after))

    def retry(self, session: Session) -> bool:
        """Let learning from a session start over that failed or was given up. False if it did neither.

        With a model also learning that only quoted, for want of one."""
        return self._loop.run(lambda: self._inner.retry(session))

    def session_memory(self, session: Session) -> SessionMemory | None:
        """Return what is remembered of a whole session, if anything."""
        return self._loop.run(lambda: self._inner.session_memory(session))

    def recall(
        self,
        question: str,
        *,
        space: str | None = None,
        user_id: str | None = None,
        limit: int = 10,
        budget: int | None = None,
        as_of: When | None = None,
        kinds: Collection[RefKind] = tuple(RefKind),
        origins: Collection[str] | None = None,
        session: Session | None = None,
        explain: bool = False,
    ) -> Recall:
        """Return what answers a question, the best first, in at most `budget` tokens; if nothing does, it says why.

        With `as_of`, from what was said, known and valid then. With the session that asks, the ledger records what it
        was shown, and its own question is no answer."""
        return self._loop.run(
            lambda: self._inner.recall(
                question,
                space=space,
                user_id=user_id,
                limit=limit,
                budget=budget,
                as_of=as_of,
                kinds=kinds,
                origins=origins,
                session=session,
                explain=explain,
            )
        )

    def context(
        self,
        *,
        space: str | None = None,
        user_id: str | None = None,
        question: str = "",
        budget: int | None = None,
        as_of: When | None = None,
        session: Session | None = None,
    ) -> Block:
        """Return a block of memory to begin a prompt with: byte for byte the same until memory changes.

        Make one when a session starts and when it was compacted; given the session, the ledger records it."""
        return self._loop.run(
            lambda: self._inner.context(
                space=space, user_id=user_id, question=question, budget=budget, as_of=as_of, session=session
            )
        )

    def explain(self, ref: Ref | str, *, space: str | None = None, user_id: str | None = None) -> Lineage:
        """Follow a memory to its messages, job, model and prompt, and on to where it was shown. Raises `NotFound`."""
        return self._loop.run(lambda: self._inner.explain(ref, space=space, user_id=user_id))

    def used(self, refs: Iterable[Ref | str], *, space: str | None = None, user_id: str | None = None) -> int:
        """Tell that memories were of use: each counts once a call, as do the session memories they rest on."""
        return self._loop.run(lambda: self._inner.used(refs, space=space, user_id=user_id))

    def cited(self, answer: str, *, session: Session) -> str:
        """Count what an answer cites of what its session was shown, and return it without the citations."""
        return self._loop.run(lambda: self._inner.cited(answer, session=session))

    def shown(
        self,
        *,
        space: str | None = None,
        user_id: str | None = None,
        session: Session | None = None,
        as_of: When | None = None,
        limit: int = 100,
    ) -> list[Showing]:
        """Read the ledger: what was shown, when, and to which session, the newest first."""
        return self._loop.run(
            lambda: self._inner.shown(space=space, user_id=user_id, session=session, as_of=as_of, limit=limit)
        )

    def forget(
        self,
        ref: Ref | str | None = None,
        *,
        space: str | None = None,
        user_id: str | None = None,
        session: Session | None = None,
        conversation: ConversationKey | str | None = None,
        agent: str = "assistant",
        everything: bool = False,
        dry_run: bool = False,
    ) -> Forgotten:
        """Remove one memory, session, conversation or all of a space for good, with what was made of it; count it.

        A dry run counts and removes nothing. Raises `NotFound`, and `Invalid` unless exactly one thing is named."""
        return self._loop.run(
            lambda: self._inner.forget(
                ref,
                space=space,
                user_id=user_id,
                session=session,
                conversation=conversation,
                agent=agent,
                everything=everything,
                dry_run=dry_run,
            )
        )

    def desk(self, *, space: str | None = None, user_id: str | None = None) -> WorkingMemory:
        """Return the working memory of a space. Raises `Unavailable` where nothing is stored."""
        return WorkingMemory(self._inner.desk(space=space, user_id=user_id), self._loop)

    def history(
        self,
        *,
        space: str | None = None,
        user_id: str | None = None,
        agent: str = "assistant",
        kind: AgentKind = AgentKind.PRIMARY,
    ) -> History:
        """Return the history of an agent's conversations, addressed by conversation key."""
        return History(self._inner.history(space=space, user_id=user_id, agent=agent, kind=kind), self._loop)

    def marks(self) -> Marks:
        """Return the marks of sessions, for whoever learns by hand."""
        return Marks(self._inner.marks(), self._loop)

    def vectors(self) -> Vectors:
        """Return the vectors of the embedder in use, to be made anew or grown. Raises `Misconfigured` without one."""
        return Vectors(self._inner.vectors(), self._loop)

    def access(self) -> Access:
        """Return the keys that open this memory to callers of a server. Raises `Unavailable` without a database."""
        return Access(self._inner.access(), self._loop)

    def facts(self, *, space: str | None = None, user_id: str | None = None) -> Facts:
        """Return what is known in a space."""
        return Facts(self._inner.facts(space=space, user_id=user_id), self._loop)

    def documents(self, *, space: str | None = None, user_id: str | None = None) -> Documents:
        """Return the tree of documents of a space."""
        return Documents(self._inner.documents(space=space, user_id=user_id), self._loop)

    def live(
        self,
        conversation: ConversationKey | str,
        *,
        space: str | None = None,
        user_id: str | None = None,
        agent: str = "assistant",
    ) -> LiveHistory:
        """Return the history an agent works on: restored, trimmed, and written behind without ever raising."""
        return LiveHistory(self._inner.live(conversation, space=space, user_id=user_id, agent=agent), self._loop)

    def __enter__(self) -> "Memory":
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class RemoteFacts:
    """What is known in one space of a server; `Memory.facts` says what each verb does."""

    def __init__(self, inner: AsyncRemoteFacts, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    def index(self, fact: Fact, *, expected: int | None = None) -> None:
        """Store a fact; one with the same id is retired. Its origin is for the server to say."""
        return self._loop.run(lambda: self._inner.index(fact, expected=expected))

    def get(self, fact_id: str) -> Fact | None:
        """Return a fact as it stands. Raises `NotFound`."""
        return self._loop.run(lambda: self._inner.get(fact_id))

    def all(self, *, as_of: When | None = None, limit: int = 100, after: str = "") -> list[Fact]:
        """Return facts by their ids, as they stand or stood at a time, from after one on."""
        return self._loop.run(lambda: self._inner.all(as_of=as_of, limit=limit, after=after))

    def search(self, query: str, top_k: int, *, as_of: When | None = None) -> list[Fact]:
        """Return at most `top_k` facts that share words with the query, the best match first."""
        return self._loop.run(lambda: self._inner.search(query, top_k, as_of=as_of))

    def delete(self, fact_id: str) -> None:
        """Remove a fact with every version it had, also from documents that rest on it. Raises `NotFound`."""
        return self._loop.run(lambda: self._inner.delete(fact_id))

    def versions(self, fact_id: str) -> list[Fact]:
        """Return every version of a fact, oldest first; the last may be retired."""
        return self._loop.run(lambda: self._inner.versions(fact_id))

    def sources(self, fact_id: str) -> list[SourceMessage]:
        """Return the messages that a learnt fact rests on."""
        return self._loop.run(lambda: self._inner.sources(fact_id))


class RemoteDocuments:
    """The tree of one space of a server; a write names the version that was read, and a stale one is refused."""

    def __init__(self, inner: AsyncRemoteDocuments, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    def create(self, draft: Draft, *, document_id: str | None = None) -> Document | None:
        """Write a new document. Its text is redacted first."""
        return self._loop.run(lambda: self._inner.create(draft, document_id=document_id))

    def update(self, document_id: str, draft: Draft, *, expected: int) -> Document | None:
        """Write the next version. Raises `Stale` unless `expected` is the current one."""
        return self._loop.run(lambda: self._inner.update(document_id, draft, expected=expected))

    def delete(self, document_id: str, *, expected: int) -> None:
        """End a document that nothing hangs on; its versions stay. Raises `Stale`, or `Conflict` if it is held."""
        return self._loop.run(lambda: self._inner.delete(document_id, expected=expected))

    def restore(self, document_id: str, version: int, *, expected: int | None) -> Document | None:
        """Write an old version again as the newest. A deleted document comes back with `expected` None."""
        return self._loop.run(lambda: self._inner.restore(document_id, version, expected=expected))

    def redact(self, document_id: str, version: int) -> None:
        """Take the text out of a version that is past, for good, and out of what writers said and of held changes.

        Raises `NotFound` for the current one."""
        return self._loop.run(lambda: self._inner.redact(document_id, version))

    def change_sets(self, *, limit: int = 100) -> list[ChangeSet]:
        """Return what consolidations changed, or want to change, the newest first."""
        return self._loop.run(lambda: self._inner.change_sets(limit=limit))

    def approve(self, run: str) -> None:
        """Put a change set that was held into the tree. Raises `Stale` if the tree has changed since."""
        return self._loop.run(lambda: self._inner.approve(run))

    def reject(self, run: str) -> None:
        """Let a change set that was held never come about; of its text nothing is kept."""
        return self._loop.run(lambda: self._inner.reject(run))

    def undo(self, run: str) -> None:
        """Restore the tree to what it was before a run. Raises `Conflict` if it was changed again since."""
        return self._loop.run(lambda: self._inner.undo(run))

    def files(self) -> dict[str, str]:
        """Return a space's memory as files by their names: what the last consolidation that succeeded has seen."""
        return self._loop.run(lambda: self._inner.files())

    def get(self, document_id: str, *, as_of: When | None = None) -> Document | None:
        """Return a document as it stands, or stood at a time. Raises `NotFound`."""
        return self._loop.run(lambda: self._inner.get(document_id, as_of=as_of))

    def find(self, path: str, *, as_of: When | None = None) -> Document | None:
        """Follow a path such as `~/memory/people`; None where it leads nowhere. Reads the whole tree."""
        return self._loop.run(lambda: self._inner.find(path, as_of=as_of))

    def children(self, document_id: str | None = None, *, as_of: When | None = None) -> list[Document]:
        """Return what hangs below a document, or at the top, by name. Reads the whole tree."""
        return self._loop.run(lambda: self._inner.children(document_id, as_of=as_of))

    def tree(self, *, as_of: When | None = None) -> dict[str, Document]:
        """Return every document by its path, as the tree stands or stood at a time."""
        return self._loop.run(lambda: self._inner.tree(as_of=as_of))

    def history(self, document_id: str) -> list[Document]:
        """Return every version of a document, oldest first: what it said, who wrote it, and why."""
        return self._loop.run(lambda: self._inner.history(document_id))

    def diff(self, document_id: str, before: int, after: int) -> str:
        """Write what changed between two versions, line by line; version 0 is nothing."""
        return self._loop.run(lambda: self._inner.diff(document_id, before, after))

    def sources(self, document_id: str, version: int) -> list[DocumentSource]:
        """Return what a version rests on: session memories, facts and messages."""
        return self._loop.run(lambda: self._inner.sources(document_id, version))

    def search(self, query: str, top_k: int, *, as_of: When | None = None) -> list[Document]:
        """Return at most `top_k` documents that share words with the query, the best match first."""
        return self._loop.run(lambda: self._inner.search(query, top_k, as_of=as_of))


class RemoteDesk:
    """Working memory of one space of a server; `Memory.desk` says what each verb does."""

    def __init__(self, inner: AsyncRemoteDesk, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    def open_thread(
        self, thread_id: str | None = None, *, session_id: str | None = None, mode: Mode | None = None
    ) -> Thread:
        """Return a thread, making it if there is none by this id."""
        return self._loop.run(lambda: self._inner.open_thread(thread_id, session_id=session_id, mode=mode))

    def get_thread(self, thread_id: str) -> Thread:
        """Read a thread as it stands now."""
        return self._loop.run(lambda: self._inner.get_thread(thread_id))

    def threads(self, *, limit: int = 100, after: str = "") -> list[Thread]:
        """Return the threads of the space by their ids, from after one on."""
        return self._loop.run(lambda: self._inner.threads(limit=limit, after=after))

    def delete_thread(self, thread_id: str) -> None:
        """Remove a thread and all it holds."""
        return self._loop.run(lambda: self._inner.delete_thread(thread_id))

    def get_mode(self, thread_id: str) -> Mode:
        """Say how a thread takes its events."""
        return self._loop.run(lambda: self._inner.get_mode(thread_id))

    def set_mode(self, thread_id: str, mode: Mode) -> DispatchResult:
        """Change how a thread takes its events; back to auto processes what has been waiting."""
        return self._loop.run(lambda: self._inner.set_mode(thread_id, mode))

    def dispatch(self, thread_id: str, event: Event) -> DispatchResult:
        """Queue an event; in auto mode process it, and what its length makes necessary, at once."""
        return self._loop.run(lambda: self._inner.dispatch(thread_id, event))

    def step(self, thread_id: str) -> StepResult:
        """Process one event; with none waiting, truncate if that is due; else compact if that is due."""
        return self._loop.run(lambda: self._inner.step(thread_id))

    def prompt(self, thread_id: str, *, budget: int) -> Prompt:
        """Return the current state as messages within a token budget, with a report on every chunk."""
        return self._loop.run(lambda: self._inner.prompt(thread_id, budget=budget))

    def has_pending_compaction(self, thread_id: str) -> bool:
        """Say whether a compaction is due."""
        return self._loop.run(lambda: self._inner.has_pending_compaction(thread_id))

    def has_pending_truncation(self, thread_id: str) -> bool:
        """Say whether a truncation is due."""
        return self._loop.run(lambda: self._inner.has_pending_truncation(thread_id))

    def current_state(self, thread_id: str) -> State:
        """Return the current state with its chunks."""
        return self._loop.run(lambda: self._inner.current_state(thread_id))

    def history(self, thread_id: str) -> list[StateInfo]:
        """Return every state a thread has had, without the chunks."""
        return self._loop.run(lambda: self._inner.history(thread_id))

    def state_at(self, thread_id: str, number: int) -> State:
        """Return one state of a thread with its chunks."""
        return self._loop.run(lambda: self._inner.state_at(thread_id, number))

    def diff(self, thread_id: str, before: int, after: int) -> StateDiff:
        """Compare two states of a thread."""
        return self._loop.run(lambda: self._inner.diff(thread_id, before, after))

    def fork(self, thread_id: str, *, at: int, into: str | None = None, mode: Mode | None = None) -> Thread:
        """Open a new thread that begins where this one was at a state."""
        return self._loop.run(lambda: self._inner.fork(thread_id, at=at, into=into, mode=mode))


class RemoteAccess:
    """The keys of one server; asking for them needs a key with the scope admin."""

    def __init__(self, inner: AsyncRemoteAccess, loop: _Loop) -> None:
        self._inner = inner
        self._loop = loop

    def create(
        self,
        *,
        name: str,
        scopes: Collection[Scope | str],
        spaces: Collection[str] | None = None,
        expires_at: When | None = None,
    ) -> NewKey:
        """Make a key for some spaces, or for all with None. Its text is returned here and can never be read again.

        With a bare day as `expires_at`, that is the last day it is good for."""
        return self._loop.run(
            lambda: self._inner.create(name=name, scopes=scopes, spaces=spaces, expires_at=expires_at)
        )

    def list(self) -> list[KeyInfo]:
        """Return every key there ever was, the oldest first, those that are no longer good included."""
        return self._loop.run(lambda: self._inner.list())

    def rotate(self, prefix: str, *, overlap: float = 86400.0) -> NewKey:
        """Make a key that may do the same, for as long; the old one expires after `overlap` seconds."""
        return self._loop.run(lambda: self._inner.rotate(prefix, overlap=overlap))

    def revoke(self, prefix: str) -> None:
        """Let a key in no more, there at once and in other processes within seconds. Raises `NotFound`."""
        return self._loop.run(lambda: self._inner.revoke(prefix))


class Client:
    """The verbs of a Memory on a server, with its signatures, results and errors. Safe to share between tasks.

    What is safe to send again is: reads, and messages, which get idempotency keys for it."""

    def __init__(self, url: str, *, key: str, timeout: float = 30.0, retries: int = 5) -> None:
        self._inner = AsyncClient(url, key=key, timeout=timeout, retries=retries)
        self._loop = _Loop()

    def open(self) -> None:
        """Make ready to connect; nothing is sent yet. Entering a with block does this."""
        self._loop.start(self._inner.open)

    def close(self) -> None:
        """Close every connection."""
        self._loop.stop(self._inner.close)

    def open_session(
        self,
        *,
        space: str | None = None,
        user_id: str | None = None,
        conversation: ConversationKey | str,
        agent: str = "assistant",
        kind: AgentKind = AgentKind.PRIMARY,
        ephemeral: bool = False,
    ) -> Session:
        """Return the active session of a conversation, opening one if there is none."""
        return self._loop.run(
            lambda: self._inner.open_session(
                space=space, user_id=user_id, conversation=conversation, agent=agent, kind=kind, ephemeral=ephemeral
            )
        )

    def get_session(self, *, space: str | None = None, user_id: str | None = None, session_id: str) -> Session | None:
        """Read a session as it stands now. Raises `NotFound` for an id that is not in the space."""
        return self._loop.run(lambda: self._inner.get_session(space=space, user_id=user_id, session_id=session_id))

    def sessions(
        self, *, space: str | None = None, user_id: str | None = None, limit: int = 100, before: str = ""
    ) -> list[SessionEntry]:
        """Return the sessions of a space, the newest first; `before` is the id that the page before ended with."""
        return self._loop.run(lambda: self._inner.sessions(space=space, user_id=user_id, limit=limit, before=before))

    def remember(
        self,
        what: str | Iterable[Message | Mapping[str, object]],
        *,
        space: str | None = None,
        user_id: str | None = None,
        session: Session | None = None,
        conversation: ConversationKey | str | None = None,
        agent: str = "assistant",
        idempotency_key: str | None = None,
    ) -> Remembered:
        """Store a text of the user's, or messages, for good, and say by which names they can be explained.

        Without a session they go into the conversation and are marked to be learnt from; a repeated key stores nothing."""
        return self._loop.run(
            lambda: self._inner.remember(
                what,
                space=space,
                user_id=user_id,
                session=session,
                conversation=conversation,
                agent=agent,
                idempotency_key=idempotency_key,
            )
        )

    def append(self, session: Session, messages: Iterable[Message | Mapping[str, object]]) -> list[int]:
        """Store messages in one transaction and return their numbers; when it returns, they are durable.

        A message whose idempotency key is known in the space is not stored again: it keeps its number."""
        return self._loop.run(lambda: self._inner.append(session, messages))

    def read(self, session: Session, *, after: int = 0, limit: int | None = None) -> list[Record]:
        """Return the messages of a session that follow a number, in order."""
        return self._loop.run(lambda: self._inner.read(session, after=after, limit=limit))

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

    def learn(self) -> RunReport:
        """Let the server learn once from what is marked, in all spaces, and say what came of it; it is waited for."""
        return self._loop.run(lambda: self._inner.learn())

    def audit(self) -> Audit:
        """Count what waits, what was given up, what was spent today, and what must never be."""
        return self._loop.run(lambda: self._inner.audit())

    def jobs(self, *, space: str | None = None, user_id: str | None = None, limit: int = 100) -> list[Job]:
        """Return the jobs of a space, the newest promise first: where each stands, what it took, why it failed."""
        return self._loop.run(lambda: self._inner.jobs(space=space, user_id=user_id, limit=limit))

    def consolidate(self, *, space: str | None = None, user_id: str | None = None) -> None:
        """Promise a consolidation of a space; `learn`, or a worker, does it. Raises `NotFound` for no such space."""
        return self._loop.run(lambda: self._inner.consolidate(space=space, user_id=user_id))

    def spaces(self, *, limit: int = 100, after: str = "") -> list[str]:
        """Return the names of all spaces that hold anything, in order, from after one on."""
        return self._loop.run(lambda: self._inner.spaces(limit=limit, after=after))

    def retry(self, session: Session) -> bool:
        """Let learning from a session start over that failed or was given up. False if it did neither.

        With a model also learning that only quoted, for want of one."""
        return self._loop.run(lambda: self._inner.retry(session))

    def session_memory(self, session: Session) -> SessionMemory | None:
        """Return what is remembered of a whole session, if anything."""
        return self._loop.run(lambda: self._inner.session_memory(session))

    def recall(
        self,
        question: str,
        *,
        space: str | None = None,
        user_id: str | None = None,
        limit: int = 10,
        budget: int | None = None,
        as_of: When | None = None,
        kinds: Collection[RefKind] = tuple(RefKind),
        origins: Collection[str] | None = None,
        session: Session | None = None,
        explain: bool = False,
    ) -> Recall:
        """Return what answers a question, the best first, in at most `budget` tokens; if nothing does, it says why.

        With `as_of`, from what was said, known and valid then. With the session that asks, the ledger records what it
        was shown, and its own question is no answer."""
        return self._loop.run(
            lambda: self._inner.recall(
                question,
                space=space,
                user_id=user_id,
                limit=limit,
                budget=budget,
                as_of=as_of,
                kinds=kinds,
                origins=origins,
                session=session,
                explain=explain,
            )
        )

    def context(
        self,
        *,
        space: str | None = None,
        user_id: str | None = None,
        question: str = "",
        budget: int | None = None,
        as_of: When | None = None,
        session: Session | None = None,
    ) -> Block:
        """Return a block of memory to begin a prompt with: byte for byte the same until memory changes.

        Make one when a session starts and when it was compacted; given the session, the ledger records it."""
        return self._loop.run(
            lambda: self._inner.context(
                space=space, user_id=user_id, question=question, budget=budget, as_of=as_of, session=session
            )
        )

    def explain(self, ref: Ref | str, *, space: str | None = None, user_id: str | None = None) -> Lineage:
        """Follow a memory to its messages, job, model and prompt, and on to where it was shown. Raises `NotFound`."""
        return self._loop.run(lambda: self._inner.explain(ref, space=space, user_id=user_id))

    def used(self, refs: Iterable[Ref | str], *, space: str | None = None, user_id: str | None = None) -> int:
        """Tell that memories were of use: each counts once a call, as do the session memories they rest on."""
        return self._loop.run(lambda: self._inner.used(refs, space=space, user_id=user_id))

    def cited(self, answer: str, *, session: Session) -> str:
        """Count what an answer cites of what its session was shown, and return it without the citations."""
        return self._loop.run(lambda: self._inner.cited(answer, session=session))

    def shown(
        self,
        *,
        space: str | None = None,
        user_id: str | None = None,
        session: Session | None = None,
        as_of: When | None = None,
        limit: int = 100,
    ) -> list[Showing]:
        """Read the ledger: what was shown, when, and to which session, the newest first."""
        return self._loop.run(
            lambda: self._inner.shown(space=space, user_id=user_id, session=session, as_of=as_of, limit=limit)
        )

    def forget(
        self,
        ref: Ref | str | None = None,
        *,
        space: str | None = None,
        user_id: str | None = None,
        session: Session | None = None,
        conversation: ConversationKey | str | None = None,
        agent: str = "assistant",
        everything: bool = False,
        dry_run: bool = False,
    ) -> Forgotten:
        """Remove one memory, session, conversation or all of a space for good, with what was made of it; count it.

        A dry run counts and removes nothing. Raises `NotFound`, and `Invalid` unless exactly one thing is named."""
        return self._loop.run(
            lambda: self._inner.forget(
                ref,
                space=space,
                user_id=user_id,
                session=session,
                conversation=conversation,
                agent=agent,
                everything=everything,
                dry_run=dry_run,
            )
        )

    def desk(self, *, space: str | None = None, user_id: str | None = None) -> RemoteDesk:
        """Return the working memory of a space."""
        return RemoteDesk(self._inner.desk(space=space, user_id=user_id), self._loop)

    def access(self) -> RemoteAccess:
        """Return the keys of the server."""
        return RemoteAccess(self._inner.access(), self._loop)

    def facts(self, *, space: str | None = None, user_id: str | None = None) -> RemoteFacts:
        """Return what is known in a space."""
        return RemoteFacts(self._inner.facts(space=space, user_id=user_id), self._loop)

    def documents(self, *, space: str | None = None, user_id: str | None = None) -> RemoteDocuments:
        """Return the tree of documents of a space."""
        return RemoteDocuments(self._inner.documents(space=space, user_id=user_id), self._loop)

    def __enter__(self) -> "Client":
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
