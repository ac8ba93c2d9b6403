"""The blocking API: the same verbs for code without an event loop.

Written by tools/make_sync.py; change the async source and run it again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bethink.api.connect import Memory as AsyncMemory
from bethink.api.connect import connect as _connect
from bethink.api.documents import Documents as AsyncDocuments
from bethink.api.facts import Facts as AsyncFacts
from bethink.api.reviews import Reviews as AsyncReviews
from bethink.api.rules import Rules as AsyncRules
from bethink.api.session import Session as AsyncSession
from bethink.api.space import Space as AsyncSpace
from bethink.api.spaces import Spaces as AsyncSpaces
from bethink.api.sync_runtime import Blocking, BlockingContext, BlockingOwner, Loop
from bethink.api.threads import Threads as AsyncThreads
from bethink.config.settings import Settings
from bethink.extend import Embedder, Model, Redactor, Tokens
from bethink.features.context_log.records import ShownPage
from bethink.features.keys.handle import Keys as AsyncKeys
from bethink.features.memory_tests.handle import MemoryTests as AsyncMemoryTests
from bethink.features.memory_tests.records import MemoryTest, MemoryTestResult
from bethink.features.people.records import (
    ErasedInSpace,
    PersonErased,
    PersonFound,
    PersonInSpace,
    PersonItems,
    PersonWay,
)
from bethink.features.retention.handle import SpaceRetention as AsyncSpaceRetention
from bethink.features.retention.records import RetentionKind, RetentionRule, Swept
from bethink.features.webhooks.handle import Webhooks as AsyncWebhooks
from bethink.features.webhooks.records import Delivery, NewWebhook, WebhookInfo
from bethink.host.backend import LocalBackend as AsyncLocalBackend
from bethink.memory.archive.format import ArchiveManifest
from bethink.memory.archive.load import Loaded
from bethink.memory.log.history import History as AsyncHistory
from bethink.memory.log.live import LiveHistory as AsyncLiveHistory
from bethink.memory.log.marks import Marks as AsyncMarks
from bethink.memory.recall.reindex import Vectors as AsyncVectors
from bethink.memory.working.ladder import Compactor, Thresholds
from bethink.memory.working.memory import WorkingMemory as AsyncWorkingMemory
from bethink.memory.working.observers import Watch
from bethink.memory.working.process import Engine
from bethink.model.access import AccessPage, KeyInfo, NewKey, Scope
from bethink.model.answers import MemoryAnswer
from bethink.model.blame import Blame
from bethink.model.changes import MemoryChange, SessionLearnt
from bethink.model.consolidation import ChangeSet
from bethink.model.documents import Document, DocumentDraft, DocumentEntry, DocumentSource, Provenance
from bethink.model.erasures import Erasure, OpenErasures
from bethink.model.facts import Fact, Quote, SessionMemory, SourceMessage
from bethink.model.files import AddedFile
from bethink.model.held import HeldKind, HeldPage
from bethink.model.holds import LegalHold
from bethink.model.jobs import Audit, Job, JobDetail, JobKind, JobPage, JobStatus, RunReport, Spending, SpendingBy
from bethink.model.kinds import FactKind
from bethink.model.messages import Given
from bethink.model.moments import When
from bethink.model.pages import FactPage, FactState, HistoryPage, Order, OutlinePage
from bethink.model.preview import Preview
from bethink.model.prompts import Prompt
from bethink.model.recall import (
    Block,
    Corrected,
    FactVerdict,
    Feedback,
    Level,
    Lineage,
    Recall,
    Ref,
    RefKind,
    Remembered,
    Showing,
)
from bethink.model.records import AgentKind, Forgotten, Message, Record, SessionEntry, SessionInfo, SessionState
from bethink.model.relearning import Relearning
from bethink.model.reviews import Review, ReviewStatus
from bethink.model.setting_entries import SettingEntry
from bethink.model.steering import LearningRules
from bethink.model.summaries import Counters, SpacePage, SpaceSummary
from bethink.model.thread_results import DispatchResult, StateDiff, StepResult, TokenUsage
from bethink.model.timeline import TimelineKind, TimelinePage
from bethink.model.transcripts import Transcript
from bethink.model.working import Chunk, Event, FailedEvent, Mode, QueuedEvent, State, StateInfo, Thread
from bethink.store import vectors
from bethink.store.db import Clock, system_clock
from bethink.store.vectors import VectorIndex


def connect(
    target: str | Path = "",
    *,
    key: str = "",
    timeout: float = 30.0,
    retries: int = 5,
    enabled: bool = True,
    model: Model | str | None = None,
    embedder: Embedder | str | None = None,
    tokens: Tokens | None = None,
    redactor: Redactor | None = None,
    engine: "Engine | None" = None,
    compactor: "Compactor | None" = None,
    clock: Clock = system_clock,
    settings: Settings | None = None,
    **arguments: object,
) -> "Memory":
    """Return a Memory. Open it with `with`.

    Args:
        target: A file, `:memory:`, a `postgresql://` address, the `shards://` address of a directory, or the
            `https://` address of a server. Without one, the settings decide; where they name no database either, it is
            the file that the command line uses.
        key: The key for a server; the setting `key` (BETHINK_KEY), if left out.
        timeout: Seconds to wait for a server: to connect, and then for each part of its answer. `learn` waits longer.
        retries: How many times to send a request to a server again where that is safe; 0 for never.
        enabled: Whether to store anything at all. A memory that is switched off finds nothing and never fails.
        model: A model, or its name such as `openai:gpt-5`. Without one, learning only quotes.
        embedder: An embedder, or its name such as `bge-small-en`. By default it is that of `bethink[local]`, if
            installed; without one, or with `none`, recall searches by words.
        tokens: Counts tokens; an estimate, if left out.
        redactor: Cuts secrets out of texts before they are stored.
        engine: The rules of working memory.
        compactor: Writes the summaries of working memory; the model does, if left out, and without one they quote.
        clock: Returns the current time, as an aware datetime.
        settings: Settings to use instead of the settings file and the environment. Other arguments come first.
        arguments: Single settings, by name.

    Raises:
        Misconfigured: for an unknown setting or a value that cannot be used.
    """
    return Memory(
        _connect(
            target,
            key=key,
            timeout=timeout,
            retries=retries,
            enabled=enabled,
            model=model,
            embedder=embedder,
            tokens=tokens,
            redactor=redactor,
            engine=engine,
            compactor=compactor,
            clock=clock,
            settings=settings,
            **arguments,
        ),
        Loop(),
    )


class History(Blocking[AsyncHistory]):
    """The messages in the conversations of one agent. Safe to share between tasks."""

    @property
    def space(self) -> str:
        """The space of this History."""
        return self._inner.space

    @property
    def agent(self) -> str:
        """The agent of this History."""
        return self._inner.agent

    @property
    def kind(self) -> AgentKind:
        """The kind of this History."""
        return self._inner.kind

    def append(self, key: str, message: Message | Mapping[str, object]) -> int:
        """Append a message to the active session of a conversation, opening one if needed, and return its number."""
        return self._run(lambda: self._inner.append(key, message))

    def recent(self, key: str, n: int) -> list[Record]:
        """Return the newest `n` messages in the order they were said; empty if `n` is zero or less."""
        return self._run(lambda: self._inner.recent(key, n))

    def all(self, key: str) -> list[Record]:
        """Return every message of a conversation in the order they were said."""
        return self._run(lambda: self._inner.all(key))

    def length(self, key: str) -> int:
        """Count the messages of a conversation."""
        return self._run(lambda: self._inner.length(key))

    def set_summary(self, key: str, summary: str) -> None:
        """Store the summary of a conversation, replacing the previous one."""
        return self._run(lambda: self._inner.set_summary(key, summary))

    def get_summary(self, key: str) -> str:
        """Return the summary of a conversation, empty if it has none."""
        return self._run(lambda: self._inner.get_summary(key))


class LiveHistory(BlockingContext[AsyncLiveHistory]):
    """The last messages of a conversation, kept in memory and stored in the background.

    Storing never raises here: failures are logged and counted. Without a history, messages are only kept in memory.
    """

    @property
    def messages(self) -> list[Message]:
        """The messages that the agent sees now, the oldest first."""
        return self._inner.messages

    @property
    def failures(self) -> int:
        """How many times restoring or storing failed."""
        return self._inner.failures

    def append(self, message: Message | Mapping[str, object]) -> None:
        """Append a message, drop the oldest beyond the limit, and store it in the background.

        It waits only while a thousand messages are still to be stored.

        Raises:
            Unavailable: outside of its `with` block.
        """
        return self._run(lambda: self._inner.append(message))


class Marks(Blocking[AsyncMarks]):
    """Which sessions have something to learn, and how far each was learnt from. `Memory.learn` handles both."""

    def find_invalidated(self, limit: int = 10) -> list[SessionInfo]:
        """Return up to `limit` marked sessions of all spaces, the oldest mark first."""
        return self._run(lambda: self._inner.find_invalidated(limit))

    def invalidate(self, session: SessionInfo, number: int) -> bool:
        """Set or raise the mark of a session. Returns False if it is already there or higher. It is never lowered."""
        return self._run(lambda: self._inner.invalidate(session, number))

    def mark_processed(self, session: SessionInfo, *, until: int, expected: int) -> bool:
        """Clear the mark and set `processed_until` if the mark is still `expected`; otherwise change nothing."""
        return self._run(lambda: self._inner.mark_processed(session, until=until, expected=expected))

    def count_since(self, session: SessionInfo, number: int) -> int:
        """Count the messages of a session after a number."""
        return self._run(lambda: self._inner.count_since(session, number))

    def max_number(self, session: SessionInfo) -> int | None:
        """Return the number of the last message of a session, or None if it has none."""
        return self._run(lambda: self._inner.max_number(session))


class Vectors(Blocking[AsyncVectors]):
    """The vectors of one embedder. Workers create them, and they can always be rebuilt."""

    def reindex(self, *, progress: Callable[[int], None] | None = None) -> VectorIndex:
        """Queue the embedding of every text that has no vector of this embedder yet. Workers do it.

        With `progress`, wait for them and call it with the number of spaces left. Raises `Misconfigured` without
        pgvector.
        """
        return self._run(lambda: self._inner.reindex(progress=progress))

    def left(self) -> int:
        """Return the number of spaces that still have to be indexed."""
        return self._run(lambda: self._inner.left())

    def drop_retired(self) -> list[str]:
        """Remove the vectors of embedders that another one replaced; return the names of these embedders."""
        return self._run(lambda: self._inner.drop_retired())

    def grow(self, *, space: str, above: int = vectors.GROWN) -> bool:
        """Build an HNSW index for a space with more than `above` vectors, without blocking it; return whether it did.

        Workers do this by themselves. PostgreSQL only. It takes seconds for every ten thousand vectors, and makes
        writing vectors slower.
        """
        return self._run(lambda: self._inner.grow(space=space, above=above))


class WorkingMemory(Blocking[AsyncWorkingMemory]):
    """Working memory of one space. Every event is queued first, and leaves the queue together with its effect."""

    @property
    def space(self) -> str:
        """The space of this WorkingMemory."""
        return self._inner.space

    @property
    def thresholds(self) -> Thresholds:
        """The lengths at which a thread is compacted or truncated."""
        return self._inner.thresholds

    def register_compactor(self, compactor: Compactor) -> None:
        """Use another compactor for the summaries."""
        return self._inner.register_compactor(compactor)

    def watch(self, watch: Watch) -> Callable[[], None]:
        """Call `watch` for everything that happens to threads. Call the returned function to stop."""
        return self._inner.watch(watch)

    def open_thread(
        self, thread_id: str | None = None, *, session_id: str | None = None, mode: Mode | None = None
    ) -> Thread:
        """Return a thread, creating it if no thread has this id."""
        return self._run(lambda: self._inner.open_thread(thread_id, session_id=session_id, mode=mode))

    def get_thread(self, thread_id: str) -> Thread:
        """Return a thread as it is now. Raises `NotFound`."""
        return self._run(lambda: self._inner.get_thread(thread_id))

    def threads(self, *, limit: int = 100, after: str = "") -> list[Thread]:
        """Return the threads of the space, ordered by id, from the first one after `after`."""
        return self._run(lambda: self._inner.threads(limit=limit, after=after))

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread with its events and states. Raises `UnderLegalHold` if the space is under a legal hold."""
        return self._run(lambda: self._inner.delete_thread(thread_id))

    def push_event(self, thread_id: str, event: Event) -> QueuedEvent:
        """Queue an event without processing it. Its texts are redacted first."""
        return self._run(lambda: self._inner.push_event(thread_id, event))

    def pop_event(self, thread_id: str) -> QueuedEvent | None:
        """Remove the first event from the queue without processing it, and return it."""
        return self._run(lambda: self._inner.pop_event(thread_id))

    def peek_event(self, thread_id: str) -> QueuedEvent | None:
        """Return the first event of the queue without removing it."""
        return self._run(lambda: self._inner.peek_event(thread_id))

    def queue(self, thread_id: str) -> list[QueuedEvent]:
        """Return the queued events in the order in which they will be processed."""
        return self._run(lambda: self._inner.queue(thread_id))

    def queue_length(self, thread_id: str) -> int:
        """Return the number of queued events."""
        return self._run(lambda: self._inner.queue_length(thread_id))

    def clear_queue(self, thread_id: str) -> int:
        """Remove every event from the queue, and return how many there were."""
        return self._run(lambda: self._inner.clear_queue(thread_id))

    def failed_events(self, thread_id: str) -> list[FailedEvent]:
        """Return the events that could not be processed and were set aside, each with the reason."""
        return self._run(lambda: self._inner.failed_events(thread_id))

    def get_mode(self, thread_id: str) -> Mode:
        """Return how a thread processes its events."""
        return self._run(lambda: self._inner.get_mode(thread_id))

    def set_mode(self, thread_id: str, mode: Mode) -> DispatchResult:
        """Change how a thread processes its events. Switching to auto processes the queue at once."""
        return self._run(lambda: self._inner.set_mode(thread_id, mode))

    def acquire_step_lock(self, thread_id: str) -> str:
        """Take the step lock and return its id. Raises `Conflict` while another step has it."""
        return self._run(lambda: self._inner.acquire_step_lock(thread_id))

    def release_step_lock(self, thread_id: str, step_id: str) -> None:
        """Release the step lock. Raises `Conflict` if another step has it."""
        return self._run(lambda: self._inner.release_step_lock(thread_id, step_id))

    def is_step_locked(self, thread_id: str) -> bool:
        """Return whether a step has the lock of the thread."""
        return self._run(lambda: self._inner.is_step_locked(thread_id))

    def current_step_id(self, thread_id: str) -> str | None:
        """Return the id of the step that has the lock, or None if no step has it or its lease ran out."""
        return self._run(lambda: self._inner.current_step_id(thread_id))

    def dispatch(self, thread_id: str, event: Event) -> DispatchResult:
        """Queue an event. In auto mode, process it at once, and compact or truncate the thread if necessary.

        Raises `Invalid` if the event cannot be processed: it is set aside, and the thread continues without it.
        """
        return self._run(lambda: self._inner.dispatch(thread_id, event))

    def step(self, thread_id: str) -> StepResult:
        """Process one event; with an empty queue, truncate or else compact the thread if that is due.

        Raises `Conflict` in auto mode and while another step has the lock, `Invalid` for an event it sets aside.
        """
        return self._run(lambda: self._inner.step(thread_id))

    def trigger_compaction(self, thread_id: str, chunks: list[Chunk] | None = None) -> DispatchResult:
        """Compact these chunks now, or all compressible ones except the newest."""
        return self._run(lambda: self._inner.trigger_compaction(thread_id, chunks))

    def execute_truncation(self, thread_id: str, chunk_ids: list[str]) -> DispatchResult:
        """Remove these chunks. Chunks that are already gone are ignored."""
        return self._run(lambda: self._inner.execute_truncation(thread_id, chunk_ids))

    def emergency(self, thread_id: str) -> DispatchResult:
        """Keep only the newest chunks of the working flow, without a model, and continue in a new session."""
        return self._run(lambda: self._inner.emergency(thread_id))

    def advance(self, thread_id: str) -> DispatchResult:
        """Process the queue if the thread is in auto mode; otherwise do nothing. Events that fail are set aside."""
        return self._run(lambda: self._inner.advance(thread_id))

    def consume_pending_compaction(self, thread_id: str) -> list[Chunk]:
        """Take over a compaction that is due: return its chunks, and clear the flag."""
        return self._run(lambda: self._inner.consume_pending_compaction(thread_id))

    def prompt(self, thread_id: str, *, budget: int) -> Prompt:
        """Return the current state as messages within a token budget, with a report on every chunk."""
        return self._run(lambda: self._inner.prompt(thread_id, budget=budget))

    def has_pending_compaction(self, thread_id: str) -> bool:
        """Return whether a compaction is due."""
        return self._run(lambda: self._inner.has_pending_compaction(thread_id))

    def has_pending_truncation(self, thread_id: str) -> bool:
        """Return whether a truncation is due."""
        return self._run(lambda: self._inner.has_pending_truncation(thread_id))

    def check_token_usage(self, thread_id: str) -> TokenUsage:
        """Compare the length of a thread with the thresholds."""
        return self._run(lambda: self._inner.check_token_usage(thread_id))

    def current_state(self, thread_id: str) -> State:
        """Return the current state with its chunks, from the cache if nothing has changed since."""
        return self._run(lambda: self._inner.current_state(thread_id))

    def clear_state_cache(self, thread_id: str) -> None:
        """Forget the cached state; the next read comes from the database."""
        return self._inner.clear_state_cache(thread_id)

    def history(self, thread_id: str, *, first: int = 0, limit: int | None = None) -> list[StateInfo]:
        """Return the states that a thread has had from a number on, without the chunks."""
        return self._run(lambda: self._inner.history(thread_id, first=first, limit=limit))

    def state_at(self, thread_id: str, number: int) -> State:
        """Return one state of a thread with its chunks."""
        return self._run(lambda: self._inner.state_at(thread_id, number))

    def diff(self, thread_id: str, before: int, after: int) -> StateDiff:
        """Compare two states of a thread."""
        return self._run(lambda: self._inner.diff(thread_id, before, after))

    def fork(self, thread_id: str, *, at: int, into: str | None = None, mode: Mode | None = None) -> Thread:
        """Open a new thread that begins with the state `at` of this one.

        It is forgotten together with the conversation of this thread.
        """
        return self._run(lambda: self._inner.fork(thread_id, at=at, into=into, mode=mode))

    def replay(self, thread_id: str) -> tuple[Chunk, ...]:
        """Rebuild the current state from the events alone, without a model, and return its chunks."""
        return self._run(lambda: self._inner.replay(thread_id))


class LocalBackend(Blocking[AsyncLocalBackend]):
    """A backend with a database in this process, and what only such a one can do."""

    def history(self, space: str, *, agent: str = "assistant", kind: AgentKind = AgentKind.PRIMARY) -> "History":
        """Return the history of an agent's conversations."""
        return History(self._inner.history(space, agent=agent, kind=kind), self._loop)

    def live(self, space: str, conversation: str, *, agent: str = "assistant") -> "LiveHistory":
        """Return the history that an agent works on.

        Raises:
            Unavailable: if this process has no database.
        """
        return LiveHistory(self._inner.live(space, conversation, agent=agent), self._loop)

    def marks(self) -> "Marks":
        """Return the marks of sessions, for programs that learn by themselves."""
        return Marks(self._inner.marks(), self._loop)

    def vectors(self) -> "Vectors":
        """Return the vectors of the embedder in use.

        Raises:
            Misconfigured: without an embedder.
        """
        return Vectors(self._inner.vectors(), self._loop)

    def working(self, space: str) -> "WorkingMemory":
        """Return the working memory of a space."""
        return WorkingMemory(self._inner.working(space), self._loop)


class Facts(Blocking[AsyncFacts]):
    """The facts of a space."""

    def all(
        self,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: When | None = None,
        limit: int = 100,
        after: str = "",
    ) -> list[Fact]:
        """List facts, ordered by id.

        Args:
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            as_of: The facts that held at this time. A day means its end.
            limit: How many facts to return at most.
            after: Only facts that follow this one: the last id of the previous page.
        """
        return self._run(
            lambda: self._inner.all(
                origins=origins,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                as_of=as_of,
                limit=limit,
                after=after,
            )
        )

    def page(
        self,
        *,
        state: FactState | None = None,
        subject: str | None = None,
        slot: str | None = None,
        kind: FactKind | None = None,
        origin: str | None = None,
        order: Order = Order.NEWEST,
        as_of: When | None = None,
        limit: int = 50,
        after: str = "",
    ) -> FactPage:
        """List facts by time, also those that were retired, each with what took its place.

        Each version of a fact is one row. A page costs the same however many facts there are.

        Args:
            state: Only facts that hold, that ended, or versions that were retired; all of them, if left out.
            subject: Only facts about this.
            slot: Only facts about the value of this slot, such as `home`.
            kind: Only facts of this kind.
            origin: Only facts of this origin.
            order: The newest or the oldest first: by when they were recorded, or retired ones alone by when they
                were retired.
            as_of: What was known at this time. A day means its end.
            limit: How many facts to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        return self._run(
            lambda: self._inner.page(
                state=state,
                subject=subject,
                slot=slot,
                kind=kind,
                origin=origin,
                order=order,
                as_of=as_of,
                limit=limit,
                after=after,
            )
        )

    def search(
        self,
        query: str,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 10,
        as_of: When | None = None,
    ) -> list[Fact]:
        """Return the facts that share words with a query, the best match first.

        Args:
            query: Words that the facts share. A part in double quotes must occur as it is.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            limit: How many facts to return at most.
            as_of: Search what was known at this time. A day means its end.
        """
        return self._run(
            lambda: self._inner.search(
                query,
                origins=origins,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                limit=limit,
                as_of=as_of,
            )
        )

    def by_metadata(self, key: str, value: str) -> list[Fact]:
        """Return the facts whose metadata has a value under a key, the oldest first.

        Args:
            key: The key in the metadata of a fact.
            value: The value that it must have.
        """
        return self._run(lambda: self._inner.by_metadata(key, value))

    def count(self) -> int:
        """Count the facts that hold now."""
        return self._run(lambda: self._inner.count())

    def get(self, fact_id: str) -> Fact:
        """Return a fact as it stands now.

        Args:
            fact_id: The fact.

        Raises:
            NotFound: if the space has no such fact, or it was retired.
        """
        return self._run(lambda: self._inner.get(fact_id))

    def save(self, fact: Fact, *, expected: int | None = None) -> Fact:
        """Store a fact and return it as stored.

        Args:
            fact: The fact. One with the same id is retired, and still found as of the time before.
            expected: The version that it replaces, 0 for none. Any version, if left out.

        Raises:
            Stale: if `expected` is not the current version.
            ErasedKey: if `expected` is 0 and the fact with this id was erased in the last 30 days.
        """
        return self._run(lambda: self._inner.save(fact, expected=expected))

    def versions(self, fact_id: str) -> list[Fact]:
        """Return every version of a fact, the oldest first. The last may be retired.

        Args:
            fact_id: The fact.
        """
        return self._run(lambda: self._inner.versions(fact_id))

    def sources(self, fact_id: str) -> list[SourceMessage]:
        """Return the messages that a learnt fact rests on.

        Args:
            fact_id: The fact.
        """
        return self._run(lambda: self._inner.sources(fact_id))

    def quotes(self, fact_id: str) -> list[Quote]:
        """Return the exact words that a learnt fact rests on, each time it was said.

        Args:
            fact_id: The fact.
        """
        return self._run(lambda: self._inner.quotes(fact_id))


class Reviews(Blocking[AsyncReviews]):
    """The claims of a space that need review."""

    def all(self, *, status: ReviewStatus = ReviewStatus.HELD, limit: int = 100, after: str = "") -> list[Review]:
        """List claims that were not believed at once, the newest first, each with its quotes and the reason.

        Args:
            status: Only claims with this status: held, refused, approved or rejected.
            limit: How many claims to return at most.
            after: Only claims that follow this one: the last id of the previous page.

        Raises:
            NotFound: if the claim `after` does not exist.
        """
        return self._run(lambda: self._inner.all(status=status, limit=limit, after=after))

    def count(self) -> dict[str, int]:
        """Count the claims in the inbox by status."""
        return self._run(lambda: self._inner.count())

    def get(self, review_id: str) -> Review:
        """Return a claim with its quotes, the reason why it was not believed, and what was decided.

        Args:
            review_id: The claim, by the id that the inbox lists.

        Raises:
            NotFound: if the space has no such claim.
        """
        return self._run(lambda: self._inner.get(review_id))

    def propose(self, ref: Ref | str, *, statement: str | None = None, kind: FactKind = FactKind.KNOWLEDGE) -> Review:
        """Put what a message says into the inbox, as a claim for a person to decide about.

        A message is proposed once: then the claim is returned as it stands, decided or not.

        Args:
            ref: The message that says so, named as in results.
            statement: What the fact shall say, in one sentence. The text of the message, if left out.
            kind: What kind of fact it is to be.

        Raises:
            NotFound: if the space has no such message.
            Invalid: if it is longer than a statement may be.
        """
        return self._run(lambda: self._inner.propose(ref, statement=statement, kind=kind))

    def approve(self, review_id: str, *, statement: str | None = None, note: str | None = None) -> Review:
        """Believe a claim, as it is or in other words: it becomes a fact that is `stated`, with the user's authority.

        It replaces or ends what the claim says it does. A claim that was refused can be approved, too.

        Args:
            review_id: The claim, by the id that the inbox lists.
            statement: What the fact shall say instead, in one sentence.
            note: Why: kept with the decision.

        Raises:
            NotFound: if the space has no such claim.
            Conflict: if it was decided before.
            Invalid: if it quotes no message.
        """
        return self._run(lambda: self._inner.approve(review_id, statement=statement, note=note))

    def reject(self, review_id: str, *, note: str | None = None) -> Review:
        """Decide that a claim is not believed. It stays listed as rejected.

        Args:
            review_id: The claim, by the id that the inbox lists.
            note: Why: kept with the decision.

        Raises:
            NotFound: if the space has no such claim.
            Conflict: if it was decided before.
        """
        return self._run(lambda: self._inner.reject(review_id, note=note))

    def approve_all(self, review_ids: Iterable[str], *, note: str | None = None) -> list[Review]:
        """Believe some claims as they are, all or none.

        Args:
            review_ids: The claims, by the ids that the inbox lists.
            note: Why: kept with each decision.

        Raises:
            NotFound: if the space has no such claim.
            Conflict: if it was decided before.
            Invalid: if one quotes no message.
        """
        return self._run(lambda: self._inner.approve_all(review_ids, note=note))

    def reject_all(self, review_ids: Iterable[str], *, note: str | None = None) -> list[Review]:
        """Decide that some claims are not believed, all or none.

        Args:
            review_ids: The claims, by the ids that the inbox lists.
            note: Why: kept with each decision.

        Raises:
            NotFound: if the space has no such claim.
            Conflict: if it was decided before.
        """
        return self._run(lambda: self._inner.reject_all(review_ids, note=note))


class Rules(Blocking[AsyncRules]):
    """The rules by which a space learns."""

    def get(self, agent: str | None = None) -> LearningRules:
        """Return the rules by which the space, or an agent in it, learns.

        Args:
            agent: The agent; without rules of its own it has those of the space.
        """
        return self._run(lambda: self._inner.get(agent))

    def set(self, rules: LearningRules, *, agent: str | None = None) -> LearningRules:
        """Set the rules by which the space, or an agent in it, learns from now on, and return them as stored.

        The model that learns follows them. They never make it believed without proof.

        Args:
            rules: The rules, in place of all that were set before.
            agent: The agent that they are for; the whole space, if left out.
        """
        return self._run(lambda: self._inner.set(rules, agent=agent))


class Documents(Blocking[AsyncDocuments]):
    """The documents of a space."""

    def tree(
        self, *, as_of: When | None = None, path_prefix: str = "", limit: int | None = None
    ) -> dict[str, DocumentEntry]:
        """Return every document by its path, without its text.

        Args:
            as_of: The tree as it stood at this time. A day means its end.
            path_prefix: Only documents whose paths begin with this, such as `~/memory/people/`.
            limit: How many documents to return at most, in the order of their paths; all, if left out.
        """
        return self._run(lambda: self._inner.tree(as_of=as_of, path_prefix=path_prefix, limit=limit))

    def search(self, query: str, *, as_of: When | None = None, limit: int = 10) -> list[Document]:
        """Return the documents that share words with a query, the best match first.

        Args:
            query: Words that the documents share.
            as_of: The tree as it stood at this time. A day means its end.
            limit: How many documents to return at most.
        """
        return self._run(lambda: self._inner.search(query, as_of=as_of, limit=limit))

    def find(self, path: str, *, as_of: When | None = None) -> Document | None:
        """Follow a path to a document. Returns None where it leads nowhere.

        Args:
            path: A path such as `~/memory/people`.
            as_of: The tree as it stood at this time. A day means its end.
        """
        return self._run(lambda: self._inner.find(path, as_of=as_of))

    def children(self, document_id: str | None = None, *, as_of: When | None = None) -> list[Document]:
        """Return the children of a document, or the top of the tree, ordered by name.

        Args:
            document_id: The document; the top of the tree, if left out.
            as_of: The tree as it stood at this time. A day means its end.
        """
        return self._run(lambda: self._inner.children(document_id, as_of=as_of))

    def outline(
        self, document_id: str | None = None, *, as_of: When | None = None, limit: int = 50, after: str = ""
    ) -> OutlinePage:
        """Return the children of a document, or the top of the tree, without texts, each with how many stand below it.

        Args:
            document_id: The document; the top of the tree, if left out.
            as_of: The tree as it stood at this time. A day means its end.
            limit: How many documents to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        return self._run(lambda: self._inner.outline(document_id, as_of=as_of, limit=limit, after=after))

    def get(self, document_id: str, *, as_of: When | None = None) -> Document:
        """Return a document.

        Args:
            document_id: The document.
            as_of: The document as it stood at this time. A day means its end.

        Raises:
            NotFound: if the space has no such document.
        """
        return self._run(lambda: self._inner.get(document_id, as_of=as_of))

    def create(
        self,
        draft: DocumentDraft,
        *,
        idempotency_key: str | None = None,
        document_id: str | None = None,
        agent: str | None = None,
        by: Provenance | None = None,
    ) -> Document:
        """Write a new document. Secrets are cut out of its text first.

        Args:
            draft: What it says, and where it hangs in the tree.
            idempotency_key: Repeating a request with the same key stores nothing twice.
            document_id: Its id; one is made, if left out.
            agent: The agent that wrote it: then it is the assistant's word, not the user's.
            by: Who wrote it and what it rests on; the user, if left out.

        Raises:
            Duplicate: if the id or the path is taken.
            Conflict: if the key belongs to another write.
            ErasedKey: if what was written with it was erased in the last 30 days.
        """
        return self._run(
            lambda: self._inner.create(
                draft, idempotency_key=idempotency_key, document_id=document_id, agent=agent, by=by
            )
        )

    def update(
        self,
        document_id: str,
        draft: DocumentDraft,
        expected: int,
        *,
        idempotency_key: str | None = None,
        reason: str = "",
        agent: str | None = None,
        by: Provenance | None = None,
    ) -> Document:
        """Write the next version of a document.

        Args:
            document_id: The document.
            draft: What it says, and where it hangs in the tree.
            expected: The version that it was made from.
            idempotency_key: Repeating a request with the same key stores nothing twice.
            reason: Why the user changed it. It is kept with the version.
            agent: The agent that changed it: then it is the assistant's word from now on, not the user's.
            by: Who wrote it and what it rests on; the user, and what the version before rested on, if left out.

        Raises:
            Stale: if `expected` is not the current version.
            Conflict: if the key belongs to another write.
            ErasedKey: if what was written with it was erased in the last 30 days.
        """
        return self._run(
            lambda: self._inner.update(
                document_id, draft, expected, idempotency_key=idempotency_key, reason=reason, agent=agent, by=by
            )
        )

    def written(self, key: str) -> Document | None:
        """Return the version that was written or deleted with an idempotency key, or None.

        Args:
            key: The idempotency key that it was sent with.
        """
        return self._run(lambda: self._inner.written(key))

    def delete(
        self, document_id: str, expected: int, *, idempotency_key: str | None = None, missing_ok: bool = False
    ) -> None:
        """End a document that has no children and that no other links to.

        Its versions remain; `forget` erases them.

        Args:
            document_id: The document.
            expected: Its current version.
            idempotency_key: Repeating a request with the same key stores nothing twice.
            missing_ok: Do nothing, instead of raising `NotFound`, if the document does not exist.

        Raises:
            Stale: if `expected` is not the current version.
            Conflict: if another document depends on it.
        """
        return self._run(
            lambda: self._inner.delete(document_id, expected, idempotency_key=idempotency_key, missing_ok=missing_ok)
        )

    def restore(self, document_id: str, version: int, expected: int | None) -> Document:
        """Write an old version again as the newest.

        Args:
            document_id: The document.
            version: The version.
            expected: The current version; None for a document that was deleted.

        Raises:
            Stale: if `expected` is not the current version.
        """
        return self._run(lambda: self._inner.restore(document_id, version, expected))

    def versions(self, document_id: str) -> list[Document]:
        """Return every version of a document, the oldest first: what it said, who wrote it, and why.

        Args:
            document_id: The document.
        """
        return self._run(lambda: self._inner.versions(document_id))

    def history(self, document_id: str, *, limit: int = 50, after: str = "") -> HistoryPage:
        """List the versions of a document without their texts, the newest first: when, by whom, and why.

        Args:
            document_id: The document.
            limit: How many versions to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        return self._run(lambda: self._inner.history(document_id, limit=limit, after=after))

    def blame(self, document_id: str, *, version: int | None = None) -> Blame:
        """Return each line of a document with the version that brought it, and its author and sources.

        Up to 200 versions are compared; what is older counts as brought by the last of them.

        Args:
            document_id: The document.
            version: The version; the newest, if left out.

        Raises:
            NotFound: if the space has no such document.
        """
        return self._run(lambda: self._inner.blame(document_id, version=version))

    def diff(self, document_id: str, before: int, after: int) -> str:
        """Compare two versions of a document, line by line.

        Args:
            document_id: The document.
            before: The one version; 0 is an empty document.
            after: The other version.

        Raises:
            NotFound: if the version does not exist.
        """
        return self._run(lambda: self._inner.diff(document_id, before, after))

    def sources(self, document_id: str, version: int) -> list[DocumentSource]:
        """Return what a version rests on: session memories, facts and messages.

        Args:
            document_id: The document.
            version: The version.
        """
        return self._run(lambda: self._inner.sources(document_id, version))

    def files(self) -> dict[str, str]:
        """Return the memory of the space as files by name, as of the last consolidation."""
        return self._run(lambda: self._inner.files())

    def changes(self, *, limit: int = 100) -> list[ChangeSet]:
        """List what consolidations changed, or propose to change, the newest first.

        Args:
            limit: How many change sets to return at most.
        """
        return self._run(lambda: self._inner.changes(limit=limit))

    def approve(self, run: str, *, paths: Iterable[str] | None = None, texts: Mapping[str, str] | None = None) -> None:
        """Apply a change set that was held for review, whole or in part, as it was proposed or in other words.

        Args:
            run: The run that made it.
            paths: Only the changes of these documents; the others are discarded. All of them, if left out.
            texts: By path, what a document shall say instead of what was proposed.

        Raises:
            NotFound: if the change set does not exist.
            Conflict: if it is not held.
            Stale: if the tree has changed since.
            Invalid: if it does not have one of the paths.
        """
        return self._run(lambda: self._inner.approve(run, paths=paths, texts=texts))

    def reject(self, run: str) -> None:
        """Discard a change set that was held for review, with its text.

        Args:
            run: The run that made it.

        Raises:
            NotFound: if the change set does not exist.
            Conflict: if it is not held.
        """
        return self._run(lambda: self._inner.reject(run))

    def undo(self, run: str) -> None:
        """Restore the tree to what it was before a run.

        Args:
            run: The run that made it.

        Raises:
            Conflict: if it was changed again since.
        """
        return self._run(lambda: self._inner.undo(run))


class Threads(Blocking[AsyncThreads]):
    """The working memory of a space."""

    def open(self, thread_id: str | None = None, *, session_id: str | None = None, mode: Mode | None = None) -> Thread:
        """Return a thread, creating it if there is none with this id.

        Args:
            thread_id: The thread; a new id is made, if left out.
            session_id: The session that it is the working memory of.
            mode: Process events as they come (auto), or one by one (stepping).
        """
        return self._run(lambda: self._inner.open(thread_id, session_id=session_id, mode=mode))

    def all(self, *, limit: int = 100, after: str = "") -> list[Thread]:
        """List the threads of the space, ordered by id.

        Args:
            limit: How many threads to return at most.
            after: Only threads that follow this one: the last id of the previous page.
        """
        return self._run(lambda: self._inner.all(limit=limit, after=after))

    def get(self, thread_id: str) -> Thread:
        """Return a thread as it stands now.

        Args:
            thread_id: The thread.

        Raises:
            NotFound: if the space has no such thread.
        """
        return self._run(lambda: self._inner.get(thread_id))

    def dispatch(self, thread_id: str, event: Event) -> DispatchResult:
        """Queue an event. In auto mode, process it and whatever its length makes necessary.

        Args:
            thread_id: The thread.
            event: What happened to the agent.

        Raises:
            Invalid: if the event cannot be processed.
            It is set aside, and the thread goes on without it.
        """
        return self._run(lambda: self._inner.dispatch(thread_id, event))

    def step(self, thread_id: str) -> StepResult:
        """Process one event. If none is waiting, truncate or compact if that is due.

        Args:
            thread_id: The thread.

        Raises:
            Conflict: in auto mode, or while another step holds the thread.
        """
        return self._run(lambda: self._inner.step(thread_id))

    def set_mode(self, thread_id: str, mode: Mode) -> DispatchResult:
        """Change how a thread takes its events. Back in auto mode, process what has been waiting.

        Args:
            thread_id: The thread.
            mode: Auto or stepping.
        """
        return self._run(lambda: self._inner.set_mode(thread_id, mode))

    def queue(self, thread_id: str) -> list[QueuedEvent]:
        """Return the events that wait, in the order in which they will be processed.

        Args:
            thread_id: The thread.

        Raises:
            NotFound: if the space has no such thread.
        """
        return self._run(lambda: self._inner.queue(thread_id))

    def failed_events(self, thread_id: str) -> list[FailedEvent]:
        """Return the events that could not be processed and were set aside, with the reason.

        Args:
            thread_id: The thread.

        Raises:
            NotFound: if the space has no such thread.
        """
        return self._run(lambda: self._inner.failed_events(thread_id))

    def states(self, thread_id: str, *, after: int | None = None, limit: int | None = None) -> list[StateInfo]:
        """Return the states that a thread has had, in order and without the chunks.

        Args:
            thread_id: The thread.
            after: Only states with a higher number.
            limit: How many states to return at most; all of them, if left out.

        Raises:
            NotFound: if the space has no such thread.
        """
        return self._run(lambda: self._inner.states(thread_id, after=after, limit=limit))

    def state(self, thread_id: str, number: int | None = None) -> State:
        """Return one state of a thread with its chunks.

        Args:
            thread_id: The thread.
            number: The state; the current one, if left out.

        Raises:
            NotFound: if the space has no such thread.
        """
        return self._run(lambda: self._inner.state(thread_id, number))

    def diff(self, thread_id: str, before: int, after: int) -> StateDiff:
        """Compare two states of a thread.

        Args:
            thread_id: The thread.
            before: The one state.
            after: The other state.

        Raises:
            NotFound: if the space has no such thread.
        """
        return self._run(lambda: self._inner.diff(thread_id, before, after))

    def prompt(self, thread_id: str, budget: int) -> Prompt:
        """Return the current state as messages within a token budget, with a report on every chunk.

        Args:
            thread_id: The thread.
            budget: How many tokens it may take.

        Raises:
            NotFound: if the space has no such thread.
        """
        return self._run(lambda: self._inner.prompt(thread_id, budget))

    def usage(self, thread_id: str) -> TokenUsage:
        """Compare the length of a thread with the thresholds for compaction and truncation.

        Args:
            thread_id: The thread.

        Raises:
            NotFound: if the space has no such thread.
        """
        return self._run(lambda: self._inner.usage(thread_id))

    def fork(self, thread_id: str, at: int, *, into: str | None = None, mode: Mode | None = None) -> Thread:
        """Open a new thread that begins where this one was at a state.

        It is forgotten with the conversation that this thread works on.

        Args:
            thread_id: The thread.
            at: The state that the new thread begins with.
            into: The id of the new thread; one is made, if left out.
            mode: Auto or stepping.

        Raises:
            NotFound: if the space has no such thread.
        """
        return self._run(lambda: self._inner.fork(thread_id, at, into=into, mode=mode))

    def replay(self, thread_id: str) -> list[Chunk]:
        """Rebuild the current state from the events alone, without a model.

        Args:
            thread_id: The thread.

        Raises:
            NotFound: if the space has no such thread.
        """
        return self._run(lambda: self._inner.replay(thread_id))


class Keys(Blocking[AsyncKeys]):
    """The API keys that give callers of a server access to this memory."""

    def create(
        self, name: str, scopes: Iterable[Scope], *, spaces: Iterable[str] | None = None, expires_at: When | None = None
    ) -> NewKey:
        """Create a key. Its text is returned here and can never be read again.

        Args:
            name: What it is for.
            scopes: What it allows.
            spaces: The spaces that it opens; all of them, if left out.
            expires_at: When it stops working; never, if left out.

        Raises:
            Invalid: for more than the key of the caller allows: a scope, a space, or a later end.
        """
        return self._run(lambda: self._inner.create(name, scopes, spaces=spaces, expires_at=expires_at))

    def all(self) -> list[KeyInfo]:
        """List all keys, the oldest first, with those that expired or were revoked."""
        return self._run(lambda: self._inner.all())

    def rotate(self, prefix: str, *, overlap: float = 86400.0) -> NewKey:
        """Replace a key with one that allows the same. The old one expires after an overlap.

        Args:
            prefix: The key's prefix, which is not secret.
            overlap: For how many seconds the old key still works.

        Raises:
            NotFound: if no key has this prefix.
            Conflict: if it is no longer valid.
            Invalid: if it allows more than the key of the caller.
        """
        return self._run(lambda: self._inner.rotate(prefix, overlap=overlap))

    def revoke(self, prefix: str) -> None:
        """Revoke a key, in this process at once and in others within seconds.

        Args:
            prefix: The key's prefix, which is not secret.

        Raises:
            NotFound: if no key has this prefix.
        """
        return self._run(lambda: self._inner.revoke(prefix))


class MemoryTests(Blocking[AsyncMemoryTests]):
    """The memory tests of a space."""

    def add(
        self,
        question: str,
        *,
        must: Iterable[str] = (),
        must_not: Iterable[str] = (),
        as_of: When | None = None,
        limit: int = 5,
        kinds: Iterable[RefKind] = tuple(RefKind),
        tags: Iterable[str] = (),
        note: str = "",
        about: Ref | str | None = None,
        test_id: str | None = None,
    ) -> MemoryTest:
        """Keep a memory test and return it as stored.

        Args:
            question: The question, in plain words.
            must: Texts or refs that must be among the first items. A text counts if an item contains it, in any
                case.
            must_not: Texts or refs that must not be among them.
            as_of: Ask what was known at this time. A day means its end.
            limit: How many items to look at.
            kinds: Which kinds of memory to ask.
            tags: Ask only what has all of these tags.
            note: Why the test is there.
            about: The fact or document that it was made from. When the text of that is forgotten, the test is
                removed.
            test_id: A name for the test. One with the same name is replaced.
        """
        return self._run(
            lambda: self._inner.add(
                question,
                must=must,
                must_not=must_not,
                as_of=as_of,
                limit=limit,
                kinds=kinds,
                tags=tags,
                note=note,
                about=about,
                test_id=test_id,
            )
        )

    def all(self, *, limit: int = 100, after: str = "") -> list[MemoryTest]:
        """List the memory tests of the space, ordered by id.

        Args:
            limit: How many tests to return at most.
            after: Only tests that follow this one: the last id of the previous page.
        """
        return self._run(lambda: self._inner.all(limit=limit, after=after))

    def remove(self, test_id: str) -> None:
        """Remove a memory test.

        Args:
            test_id: The test.

        Raises:
            NotFound: if the space has no such test.
        """
        return self._run(lambda: self._inner.remove(test_id))

    def run(
        self, *, only: Iterable[str] | None = None, tests: Iterable[MemoryTest] | None = None
    ) -> list[MemoryTestResult]:
        """Ask the question of each memory test, and compare what comes back with what must and must not.

        It only recalls: no language model is called, and nothing goes into the ledger or counts as used.

        Args:
            only: Only the tests with these ids.
            tests: Run these instead of those that the space keeps. They are not stored.

        Raises:
            NotFound: if the space has no such test.
        """
        return self._run(lambda: self._inner.run(only=only, tests=tests))


class SpaceRetention(Blocking[AsyncSpaceRetention]):
    """How long a space keeps what, and legal holds on it."""

    def all(self) -> list[RetentionRule]:
        """List the rules by which the space erases what is old, with the one that the settings make for all spaces."""
        return self._run(lambda: self._inner.all())

    def set(self, kind: RetentionKind, older_than: int, *, origin: str | None = None) -> RetentionRule:
        """Let what is older than so many days be erased from now on, and return the rule.

        A worker erases it with a receipt, or `sweep` at once. What was made of it goes, too. A rule of the same
        kind and origin is replaced.

        Args:
            kind: What it is about: message, session_memory, fact, document or thread.
            older_than: After how many days it is erased, with what was made of it.
            origin: Only what came from user, assistant, document, import, memory, tool or tool:NAME; any, if left
                out.
        """
        return self._run(lambda: self._inner.set(kind, older_than, origin=origin))

    def remove(self, kind: RetentionKind, *, origin: str | None = None) -> None:
        """Remove the rule of a kind and origin.

        Args:
            kind: What it is about: message, session_memory, fact, document or thread.
            origin: Only what came from user, assistant, document, import, memory, tool or tool:NAME; any, if left
                out.

        Raises:
            NotFound: if the rule does not exist.
        """
        return self._run(lambda: self._inner.remove(kind, origin=origin))

    def sweep(self, *, dry_run: bool = False) -> Swept:
        """Erase now what the rules say and facts that have expired, as a worker does by itself.

        Args:
            dry_run: Count and name what would go, and remove nothing.

        Raises:
            UnderLegalHold: if the space is under a legal hold.
        """
        return self._run(lambda: self._inner.sweep(dry_run=dry_run))

    def hold(self, reason: str, *, by: str | None = None) -> LegalHold:
        """Place a legal hold: nothing of the space is erased until every hold on it is lifted.

        Args:
            reason: Why nothing may be erased: a number of a case, say.
            by: Who places it, for the record; the user who runs the program, if left out.

        Raises:
            NotFound: if the space does not exist.
        """
        return self._run(lambda: self._inner.hold(reason, by=by))

    def holds(self, *, limit: int = 100) -> list[LegalHold]:
        """List the legal holds on the space, the newest first, with those that were lifted.

        Args:
            limit: How many holds to return at most.
        """
        return self._run(lambda: self._inner.holds(limit=limit))


class Webhooks(Blocking[AsyncWebhooks]):
    """The webhooks that receive changes."""

    def create(self, url: str, *, space: str | None = None) -> NewWebhook:
        """Create a webhook. Its secret is returned here and can never be read again.

        It is told of what changes from now on. A worker sends the changes; those of a space arrive in order.

        Args:
            url: The address that changes are sent to: `https://…`, or `http://…`.
            space: The space whose changes are sent; those of all spaces, if left out.

        Raises:
            Invalid: if the address is none that may be called.
        """
        return self._run(lambda: self._inner.create(url, space=space))

    def all(self) -> list[WebhookInfo]:
        """List all webhooks, the oldest first, with those that were disabled."""
        return self._run(lambda: self._inner.all())

    def delete(self, webhook_id: str) -> None:
        """Delete a webhook with its deliveries. A request that is on its way still arrives.

        Args:
            webhook_id: The webhook.

        Raises:
            NotFound: if the webhook does not exist.
        """
        return self._run(lambda: self._inner.delete(webhook_id))

    def deliveries(self, webhook_id: str, *, space: str | None = None, limit: int = 100) -> list[Delivery]:
        """List what was sent to a webhook, the last tried first: when, how often, and what it answered.

        Args:
            webhook_id: The webhook.
            space: Only those of this space.
            limit: How many deliveries to return at most.

        Raises:
            NotFound: if the webhook does not exist.
        """
        return self._run(lambda: self._inner.deliveries(webhook_id, space=space, limit=limit))


class Space(Blocking[AsyncSpace]):
    """One space: the memory of a user, a project or a team."""

    @property
    def name(self) -> str:
        """The name of the space."""
        return self._inner.name

    def history(self, *, agent: str = "assistant") -> "History":
        """Return the history of an agent's conversations. It needs a database in this process.

        Args:
            agent: The agent whose history it is.
        """
        return History(self._inner.history(agent=agent), self._loop)

    def live(self, conversation: str, *, agent: str = "assistant") -> "LiveHistory":
        """Return the history that an agent works on: restored, trimmed, and written in the background.

        If memory is switched off, it only keeps the messages at hand. It needs a database in this process.

        Args:
            conversation: The conversation that the agent works on.
            agent: The agent.
        """
        return LiveHistory(self._inner.live(conversation, agent=agent), self._loop)

    def working(self) -> "WorkingMemory":
        """Return the working memory with its queue, locks and observers. It needs a database in this process."""
        return WorkingMemory(self._inner.working(), self._loop)

    def follow(self, *, after: int | None = None) -> Iterator[MemoryChange]:
        """Yield each change of the space, in order, as it is made: `async for change in space.follow()`. It never ends.

        Args:
            after: The number of the last change that was seen; 0 for all that are kept. Without it, from now on.

        Raises:
            Stale: if changes after this number are no longer kept.
        """
        return self._each(self._inner.follow(after=after))

    def export_archive(self, path: "Path | str") -> ArchiveManifest:
        """Write everything in the space to one file: every message, fact, document and thread in all its versions.

        The file is a zip of JSON Lines that `import_archive` reads back, with pages for a browser. The same content
        gives the same bytes. It appears when it is complete, and replaces a file that is there.

        Args:
            path: The file to write.

        Raises:
            NotFound: if the space does not exist.
        """
        return self._run(lambda: self._inner.export_archive(path))

    @property
    def facts(self) -> "Facts":
        """The facts of a space."""
        return Facts(self._inner.facts, self._loop)

    @property
    def reviews(self) -> "Reviews":
        """The claims of a space that need review."""
        return Reviews(self._inner.reviews, self._loop)

    @property
    def rules(self) -> "Rules":
        """The rules by which a space learns."""
        return Rules(self._inner.rules, self._loop)

    @property
    def documents(self) -> "Documents":
        """The documents of a space."""
        return Documents(self._inner.documents, self._loop)

    @property
    def threads(self) -> "Threads":
        """The working memory of a space."""
        return Threads(self._inner.threads, self._loop)

    @property
    def tests(self) -> "MemoryTests":
        """The memory tests of a space."""
        return MemoryTests(self._inner.tests, self._loop)

    @property
    def retention(self) -> "SpaceRetention":
        """How long a space keeps what, and legal holds on it."""
        return SpaceRetention(self._inner.retention, self._loop)

    def remember(
        self,
        messages: Given,
        *,
        idempotency_key: str | None = None,
        conversation: str = "notes",
        session_id: str | None = None,
        agent: str = "assistant",
        tags: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> Remembered:
        """Store a text of the user, or messages, for good.

        When it returns, the messages are durable. They are learnt from in the background.

        Args:
            messages: What was said, oldest first. A text stands for one message of the user.
            idempotency_key: Repeating a request with the same key stores nothing twice.
            conversation: The conversation that they belong to: any name that stays the same, such as `telegram-42`.
            session_id: An open session to append to, instead of the conversation's current one.
            agent: The agent that takes part in the conversation.
            tags: Tags for each of the messages, in addition to their own.
            metadata: Metadata for each of the messages. A message's own value under a key takes precedence.

        Raises:
            Conflict: if an idempotency key already belongs to another message.
            ErasedKey: if the message with this key was erased in the last 30 days.
        """
        return self._run(
            lambda: self._inner.remember(
                messages,
                idempotency_key=idempotency_key,
                conversation=conversation,
                session_id=session_id,
                agent=agent,
                tags=tags,
                metadata=metadata,
            )
        )

    def recall(
        self,
        question: str,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        budget: int | None = None,
        as_of: When | None = None,
        session_id: str | None = None,
        limit: int = 10,
        kinds: Iterable[RefKind] = tuple(RefKind),
        least: Level | None = None,
        explain: bool = False,
    ) -> Recall:
        """Find what answers a question, the best first.

        If nothing answers it, `missing` says why.

        Args:
            question: What to look for, in plain words.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            budget: How many tokens the result may take.
            as_of: Answer from what had been said, and was believed, at this time. A day means its end.
            session_id: The session that asks. What it is shown goes into the ledger, and its own question is not an
                answer.
            limit: How many results to return at most.
            kinds: Which kinds of memory to search.
            least: Only answers that are at least this certain: high, fair or weak. Without it weak ones are
                returned, too.
            explain: Also return every candidate, with its signals and what became of it.
        """
        return self._run(
            lambda: self._inner.recall(
                question,
                origins=origins,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                budget=budget,
                as_of=as_of,
                session_id=session_id,
                limit=limit,
                kinds=kinds,
                least=least,
                explain=explain,
            )
        )

    def ask(
        self,
        question: str,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        budget: int | None = None,
        as_of: When | None = None,
        session_id: str | None = None,
        limit: int = 20,
        kinds: Iterable[RefKind] = tuple(RefKind),
        least: Level | None = None,
        without: Iterable[Ref | str] = (),
        deadline: float = 60.0,
    ) -> MemoryAnswer:
        """Answer a question from memory with the model, each sentence with the memories that say so.

        A sentence that no memory proves is dropped, and without one left the answer is `refused`. What is cited
        counts as used. `budget` is for the memories that the model reads: 4,000 tokens, if left out.

        Args:
            question: What to look for, in plain words.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            budget: How many tokens the result may take.
            as_of: Answer from what had been said, and was believed, at this time. A day means its end.
            session_id: The session that asks. What it is shown goes into the ledger, and its own question is not an
                answer.
            limit: How many memories the model is given at most.
            kinds: Which kinds of memory to search.
            least: Only answers that are at least this certain: high, fair or weak. Without it weak ones are
                returned, too.
            without: Answer as if these memories, and what rests on them alone, were not there. Nothing counts as
                used then.
            deadline: After how many seconds to give up.

        Raises:
            Invalid: if no model is configured.
            ModelUnavailable: if the model is away, or the daily budget is spent.
            ModelTimeout: if the model does not answer by the deadline.
        """
        return self._run(
            lambda: self._inner.ask(
                question,
                origins=origins,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                budget=budget,
                as_of=as_of,
                session_id=session_id,
                limit=limit,
                kinds=kinds,
                least=least,
                without=without,
                deadline=deadline,
            )
        )

    def context(
        self,
        question: str = "",
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        budget: int | None = None,
        as_of: When | None = None,
        session_id: str | None = None,
    ) -> Block:
        """Return a block of memory to begin a prompt with.

        It stays the same, byte for byte, until memory changes. Make one when a session starts or was compacted.

        Args:
            question: What the prompt is about, if that is known. What answers it is added to the block.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            budget: How many tokens the result may take.
            as_of: Answer from what had been said, and was believed, at this time. A day means its end.
            session_id: The session that asks. What it is shown goes into the ledger, and its own question is not an
                answer.
        """
        return self._run(
            lambda: self._inner.context(
                question,
                origins=origins,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                budget=budget,
                as_of=as_of,
                session_id=session_id,
            )
        )

    def explain(self, ref: Ref | str, *, depth: int = 1) -> Lineage:
        """Follow a memory to its messages, job, model and prompt, and on to where it was shown.

        With a `depth`, `walk` has up to 200 memories near it, and counts the others.

        Args:
            ref: The memory, named as in results: `kind:id:number`.
            depth: With more than 1, also what lies up to so many steps before and after it.

        Raises:
            NotFound: if the space has no such memory.
        """
        return self._run(lambda: self._inner.explain(ref, depth=depth))

    def correct(self, ref: Ref | str, text: str, *, expires_at: When | None = None) -> Corrected:
        """Write what a fact or a document shall say from now on, as a new version. A fact is `stated` then.

        It keeps kind, origin and sources, so that forgetting those still reaches it. Earlier versions remain.

        Args:
            ref: A fact or a document, in the version that you read: `kind:id:version`, as in results.
            text: The whole new text.
            expires_at: From when on the fact is no longer recalled. As before, if left out.

        Raises:
            NotFound: if the space has no such memory.
            Stale: if the ref does not name the current version.
        """
        return self._run(lambda: self._inner.correct(ref, text, expires_at=expires_at))

    def used(self, refs: Iterable[Ref | str]) -> int:
        """Count memories as used, and with them the session memories they rest on.

        Returns how many of them exist. What is used is kept longer by consolidation.

        Args:
            refs: The memories, named as in results.
        """
        return self._run(lambda: self._inner.used(refs))

    def shown(self, *, session_id: str | None = None, as_of: When | None = None, limit: int = 100) -> list[Showing]:
        """Read the ledger: what was shown to which session and when, the newest first.

        Args:
            session_id: Only what this session was shown.
            as_of: Only what had been shown by this time. A day means its end.
            limit: How many entries to return at most.
        """
        return self._run(lambda: self._inner.shown(session_id=session_id, as_of=as_of, limit=limit))

    def forget(
        self,
        ref: Ref | str | None = None,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        session_id: str | None = None,
        before: When | None = None,
        kinds: Iterable[RefKind] = tuple(RefKind),
        thread_id: str | None = None,
        everything: bool = False,
        version_only: bool = False,
        echoes: bool = False,
        by: str | None = None,
        reason: str = "",
        dry_run: bool = False,
        missing_ok: bool = False,
    ) -> Forgotten:
        """Remove something for good, with everything that was made of it, and count what went.

        It is recorded first, finished by any process if this one dies, and answered with a receipt.

        Args:
            ref: One memory: a message, a fact with all its versions, a session memory, or a document's text in all
                versions.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: The agent whose conversation it is, `assistant` if left out; with a filter alone, only what comes
                from it.
            conversation: Every message of a conversation; with a filter, only what fits it.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            session_id: Every message of a session.
            before: Everything that was said or written before this time. A day means its beginning.
            kinds: Which kinds of memory to forget of what fits a filter. What was made of them goes, too.
            thread_id: A thread of working memory, with its states and events.
            everything: All that the space holds.
            version_only: Of a document, only the text of the version that `ref` names. It must be a past version.
            echoes: Also forget lines of other sessions that repeat it after they were shown it.
            by: Who asks for it, for the record; the user who runs the program, if left out.
            reason: Why, for the record: a number of a request, say, and nothing of what is forgotten.
            dry_run: Count and name what would go, and remove nothing.
            missing_ok: Count nothing, instead of raising `NotFound`, if there is nothing to forget.

        Raises:
            NotFound: if the space has nothing by that name.
            UnderLegalHold: if the space is under a legal hold.
        """
        return self._run(
            lambda: self._inner.forget(
                ref,
                origins=origins,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                session_id=session_id,
                before=before,
                kinds=kinds,
                thread_id=thread_id,
                everything=everything,
                version_only=version_only,
                echoes=echoes,
                by=by,
                reason=reason,
                dry_run=dry_run,
                missing_ok=missing_ok,
            )
        )

    def jobs(self, *, limit: int = 100) -> list[Job]:
        """List the background jobs of the space, the newest first: status, cost, and why one failed.

        Args:
            limit: How many jobs to return at most.
        """
        return self._run(lambda: self._inner.jobs(limit=limit))

    def consolidate(self) -> bool:
        """Queue a consolidation of the space; a worker carries it out.

        Raises:
            NotFound: if the space does not exist.
        """
        return self._run(lambda: self._inner.consolidate())

    def learn(self, *, only: Iterable[JobKind] | None = None) -> RunReport:
        """Learn once from everything that is marked in the space, and report what came of it.

        The report includes what this process learnt in the background since the last call. With a model this
        happens by itself: call it to wait for it.

        Args:
            only: Only these kinds of jobs.
        """
        return self._run(lambda: self._inner.learn(only=only))

    def erasures(self, *, limit: int = 100) -> list[Erasure]:
        """List what was forgotten in the space, the newest first: who asked, which places confirmed, and the receipt.

        It holds no text. It stays when the whole space is forgotten. What was interrupted is finished first.

        Args:
            limit: How many erasures to return at most.
        """
        return self._run(lambda: self._inner.erasures(limit=limit))

    def timeline(
        self,
        *,
        kinds: Iterable[TimelineKind] = tuple(TimelineKind),
        as_of: When | None = None,
        limit: int = 50,
        after: str = "",
    ) -> TimelinePage:
        """List what was said, learnt, retired, written, shown and forgotten in the space, the newest first.

        A page costs the same however much is stored. One with few kinds may be shorter than its limit.

        Args:
            kinds: Only what is of one of these kinds.
            as_of: Only what had happened by this time. A day means its end.
            limit: How many entries to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        return self._run(lambda: self._inner.timeline(kinds=kinds, as_of=as_of, limit=limit, after=after))

    def preview(
        self,
        messages: Given,
        *,
        rules: LearningRules | None = None,
        conversation: str = "preview",
        agent: str = "assistant",
    ) -> Preview:
        """Learn from messages without storing anything, and return what would stand, be held or be refused.

        Only its cost is counted for the day. The model is told what the space knows, as when it learns.

        Args:
            messages: What was said, oldest first. A text stands for one message of the user.
            rules: Rules to try, in place of those that are set.
            conversation: The conversation that they would belong to: its channel is told to the model.
            agent: The agent whose rules apply.

        Raises:
            Invalid: if no model is configured.
            Conflict: if the daily spend cap is reached.
        """
        return self._run(lambda: self._inner.preview(messages, rules=rules, conversation=conversation, agent=agent))

    def pin(self, ref: Ref | str) -> Fact:
        """Pin a fact: `context` has it as long as it holds, next to what the user wants.

        A corrected fact stays pinned; one that takes its place is not.

        Args:
            ref: The fact, in any version: `fact:id:version`, as in results.

        Raises:
            NotFound: if the space has no such fact, or it no longer holds.
        """
        return self._run(lambda: self._inner.pin(ref))

    def unpin(self, ref: Ref | str) -> Fact:
        """Take the pin of a fact back.

        Args:
            ref: The fact, in any version: `fact:id:version`, as in results.

        Raises:
            NotFound: if the space has no such fact, or it no longer holds.
        """
        return self._run(lambda: self._inner.unpin(ref))

    def pins(self, *, as_of: When | None = None, limit: int = 100) -> list[Fact]:
        """List the facts that are pinned and hold, in the order they were pinned.

        Args:
            as_of: What was pinned at this time. A day means its end.
            limit: How many facts to return at most.
        """
        return self._run(lambda: self._inner.pins(as_of=as_of, limit=limit))

    def feedback(self, ref: Ref | str, verdict: FactVerdict, *, note: str | None = None, by: str = "user") -> Feedback:
        """Say that a fact was useful, is wrong, or is outdated, and keep who said so.

        `useful` counts it as used. `wrong` puts it under review: it is not recalled until it is approved.
        `outdated` ends it now.

        Args:
            ref: The fact, in the version that was read: `fact:id:version`, as in results.
            verdict: `useful`, `wrong` or `outdated`.
            note: Why, in their words.
            by: Who says so. It is kept, and not checked.

        Raises:
            NotFound: if the space has no such fact.
            Stale: if the ref does not name the current version.
        """
        return self._run(lambda: self._inner.feedback(ref, verdict, note=note, by=by))

    def session(
        self,
        conversation: str,
        *,
        agent: str = "assistant",
        kind: AgentKind = AgentKind.PRIMARY,
        ephemeral: bool = False,
        tags: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> "Session":
        """Return the active session of a conversation, opening one if there is none.

        The space, the agent and the conversation are created at first use.

        Args:
            conversation: Any name that stays the same, such as `telegram-42`.
            agent: The agent that takes part in it.
            kind: What the agent is for. An agent keeps the kind that it first had.
            ephemeral: Learn nothing from the session. It ends an open one of the other sort.
            tags: Tags for the session, in place of those that it has.
            metadata: Metadata for the session, in place of what it has.
        """
        return Session(
            self._run(
                lambda: self._inner.session(
                    conversation, agent=agent, kind=kind, ephemeral=ephemeral, tags=tags, metadata=metadata
                )
            ),
            self._loop,
        )

    def find_session(self, conversation: str, *, agent: str = "assistant") -> "Session | None":
        """Return the newest session of a conversation, or None. Nothing is created.

        It may have ended.

        Args:
            conversation: The name of the conversation.
            agent: The agent that takes part in it.
        """
        return (
            None
            if (found := self._run(lambda: self._inner.find_session(conversation, agent=agent))) is None
            else Session(found, self._loop)
        )

    def sessions(
        self,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 100,
        before: str = "",
        state: SessionState | None = None,
        conversation_prefix: str | None = None,
    ) -> list[SessionEntry]:
        """List the sessions of the space, the newest first.

        Args:
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            limit: How many sessions to return at most.
            before: Only sessions older than this one: the last id of the previous page.
            state: Only sessions that are open, marked, learnt, failed or ephemeral.
            conversation_prefix: Only sessions of conversations whose names begin with this.
        """
        return self._run(
            lambda: self._inner.sessions(
                origins=origins,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                limit=limit,
                before=before,
                state=state,
                conversation_prefix=conversation_prefix,
            )
        )

    def get_session(self, session_id: str) -> "Session":
        """Return a session as it stands now.

        Args:
            session_id: The session.

        Raises:
            NotFound: if the space has no such session.
        """
        return Session(self._run(lambda: self._inner.get_session(session_id)), self._loop)

    def changes(self, *, after: int | None = None, limit: int = 100, wait: float = 0.0) -> list[MemoryChange]:
        """List what changed in the space, in order: kinds and refs, never a text.

        Go on with the number of the last one as `after`. With `wait`, it returns as soon as something changes.

        Args:
            after: Only changes with a higher number; 0 for the oldest that is kept. Without it, the newest ones.
            limit: How many changes to return at most.
            wait: For how many seconds to wait for a change if there is none.

        Raises:
            Stale: if changes after this number are no longer kept.
        """
        return self._run(lambda: self._inner.changes(after=after, limit=limit, wait=wait))

    def page_jobs(
        self, *, status: JobStatus | None = None, kind: JobKind | None = None, limit: int = 50, after: str = ""
    ) -> JobPage:
        """List the jobs of the space by status and kind, the last queued first.

        Args:
            status: Only jobs in this state.
            kind: Only jobs of this kind.
            limit: How many jobs to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        return self._run(lambda: self._inner.page_jobs(status=status, kind=kind, limit=limit, after=after))

    def job(self, kind: JobKind, key: str) -> JobDetail:
        """Return a job with its failed attempts and what models answered.

        Args:
            kind: What it does.
            key: What it works on, as lists of jobs name it: a session, an agent, or `space`.

        Raises:
            NotFound: if the space has no such job.
        """
        return self._run(lambda: self._inner.job(kind, key))

    def retry_job(self, kind: JobKind, key: str) -> bool:
        """Let a job of any kind that failed or was given up start over. Returns False if it did neither.

        Args:
            kind: What it does.
            key: What it works on, as lists of jobs name it: a session, an agent, or `space`.

        Raises:
            NotFound: if the space has no such job.
        """
        return self._run(lambda: self._inner.retry_job(kind, key))

    def summary(self) -> SpaceSummary:
        """Return what failed in the space and what waits for a person."""
        return self._run(lambda: self._inner.summary())

    def spending(self, *, since: When | None = None, until: When | None = None) -> list[Spending]:
        """List what models cost for the space on each day.

        Args:
            since: The first day; 30 days before the last, if left out.
            until: The last day; today, if left out.

        Raises:
            Invalid: for more than 366 days.
        """
        return self._run(lambda: self._inner.spending(since=since, until=until))

    def page_shown(
        self,
        *,
        session_id: str | None = None,
        showing_id: str | None = None,
        as_of: When | None = None,
        limit: int = 20,
        after: str = "",
    ) -> ShownPage:
        """List what was shown to whom, the newest first, each memory with its text in the version that was shown.

        Args:
            session_id: Only what this session was shown.
            showing_id: Only this entry.
            as_of: Only what had been shown by this time. A day means its end.
            limit: How many entries to return at most.
            after: Only what follows: the `next` of the previous page.

        Raises:
            NotFound: if the space has no such session.
        """
        return self._run(
            lambda: self._inner.page_shown(
                session_id=session_id, showing_id=showing_id, as_of=as_of, limit=limit, after=after
            )
        )

    def add_file(
        self,
        name: str,
        *,
        idempotency_key: str | None = None,
        text: str | None = None,
        data: bytes | None = None,
        media_type: str | None = None,
    ) -> AddedFile:
        """Store a file as passages that can be recalled and followed to their place in it.

        The same bytes again change nothing. Of another version the passages that stayed are kept, new ones added,
        and those that are gone taken back; one that was forgotten by itself stays away. What a file says is data,
        never a wish of the user. It is the conversation `file:NAME:` of the assistant.

        Args:
            name: The name of the file, such as `handbook.md`. Another file by this name is taken as its next
                version.
            idempotency_key: Repeating a request with the same key stores nothing twice.
            text: Its text, if you have that.
            data: Its bytes, instead of the text: UTF-8, UTF-16 with a byte order mark, or PDF. In JSON as base64.
            media_type: `text/plain`, `text/markdown`, `text/html` or `application/pdf`; by the suffix of the name,
                if left out.

        Raises:
            Invalid: if it cannot be read, holds no text, or is too long; for PDF and HTML also without their extra.
            ErasedKey: if what was stored with this key was erased in the last 30 days.
            UnderLegalHold: if a passage is gone on which something rests, and a hold stands.
        """
        return self._run(
            lambda: self._inner.add_file(
                name, idempotency_key=idempotency_key, text=text, data=data, media_type=media_type
            )
        )

    def find_person(
        self, name: str, *, aliases: Iterable[str] = (), by: Iterable[PersonWay] = tuple(PersonWay), limit: int = 100
    ) -> PersonInSpace:
        """Count and name what the space holds of a person.

        It reads every text. A name that is part of another word is not matched.

        Args:
            name: The name of the person: whole words, whose case and accents do not count.
            aliases: Other names of the same person: nicknames, initials, an address.
            by: How to look: by speaker, words and entities.
            limit: How many refs to return at most, for each space. Everything is counted.
        """
        return self._run(lambda: self._inner.find_person(name, aliases=aliases, by=by, limit=limit))

    def export_person(
        self,
        name: str,
        *,
        aliases: Iterable[str] = (),
        by: Iterable[PersonWay] = tuple(PersonWay),
        limit: int = 1000,
        after: str = "",
    ) -> PersonItems:
        """Return the texts that the space holds of a person.

        It reads every text. A name that is part of another word is not matched.

        Args:
            name: The name of the person: whole words, whose case and accents do not count.
            aliases: Other names of the same person: nicknames, initials, an address.
            by: How to look: by speaker, words and entities.
            limit: How many items to return at most.
            after: Only what follows: the `next` of the page before.
        """
        return self._run(lambda: self._inner.export_person(name, aliases=aliases, by=by, limit=limit, after=after))

    def forget_person(
        self,
        name: str,
        *,
        aliases: Iterable[str] = (),
        by: Iterable[PersonWay] = tuple(PersonWay),
        reason: str = "",
        dry_run: bool = False,
    ) -> ErasedInSpace:
        """Erase what the space holds of a person, with everything that was made of it, and return a receipt.

        Whole messages and whole documents go, also those in which others speak of the person: look first.

        Args:
            name: The name of the person: whole words, whose case and accents do not count.
            aliases: Other names of the same person: nicknames, initials, an address.
            by: How to look: by speaker, words and entities.
            reason: Why, for the record: a number of a request, say, and not the name.
            dry_run: Count and name what would go, and remove nothing.

        Raises:
            UnderLegalHold: if the space is under a legal hold.
        """
        return self._run(
            lambda: self._inner.forget_person(name, aliases=aliases, by=by, reason=reason, dry_run=dry_run)
        )

    def relearn(
        self,
        *,
        model: str = "",
        second_model: str = "",
        instructions: str | None = None,
        prompt: str = "",
        dry_run: bool = True,
    ) -> Relearning:
        """Learn from the whole log again, beside what is known, and return what would change.

        It follows the rules of the space. Claims are checked as ever, whatever the prompt says.

        Args:
            model: The model, as PROVIDER:NAME. The one that learns here, if left out.
            second_model: The model of the second reading. The same model, if left out.
            instructions: What to learn, in place of the instructions in the rules, of the space and of its agents;
                empty for none.
            prompt: A system prompt for the model, in place of ours. The second reading keeps its own.
            dry_run: Only show what would change. Otherwise it is applied at once.

        Raises:
            Invalid: if no model is configured.
            NotFound: for an unknown space.
            Conflict: if the daily spend cap is reached.
        """
        return self._run(
            lambda: self._inner.relearn(
                model=model, second_model=second_model, instructions=instructions, prompt=prompt, dry_run=dry_run
            )
        )

    def apply_relearning(self, relearning_id: str) -> Relearning:
        """Apply a proposed relearning as one change.

        Args:
            relearning_id: The relearning.

        Raises:
            Stale: if a fact that it would change was changed since.
        """
        return self._run(lambda: self._inner.apply_relearning(relearning_id))

    def undo_relearning(self, relearning_id: str) -> Relearning:
        """Undo an applied relearning: the facts are as they were before it.

        Args:
            relearning_id: The relearning.

        Raises:
            Stale: if a fact that it brought was changed since.
        """
        return self._run(lambda: self._inner.undo_relearning(relearning_id))


class Session(Blocking[AsyncSession]):
    """One session of a conversation."""

    @property
    def info(self) -> SessionInfo:
        """The info of this Session."""
        return self._inner.info

    @property
    def id(self) -> str:
        """The id of the session."""
        return self._inner.id

    @property
    def space(self) -> str:
        """The name of its space."""
        return self._inner.space

    def append(self, messages: Given, *, idempotency_key: str | None = None) -> list[int]:
        """Store messages in one transaction and return their numbers.

        When it returns, they are durable. A message whose idempotency key is known keeps its number.

        Args:
            messages: What was said, oldest first; there may be none. A text stands for one message of the user.
            idempotency_key: Repeating a request with the same key stores nothing twice.

        Raises:
            SessionEnded: if the session has ended.
            Conflict: if a key already belongs to another message.
            ErasedKey: if the message with this key was erased in the last 30 days.
        """
        return self._run(lambda: self._inner.append(messages, idempotency_key=idempotency_key))

    def read(
        self,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        after: int = 0,
        limit: int = 1000,
        last: int | None = None,
    ) -> list[Record]:
        """Return the messages of the session, in order.

        Args:
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            after: Only messages with a higher number.
            limit: How many messages to return at most.
            last: Only the last so many of them, in order.

        Raises:
            NotFound: if the space has no such session.
        """
        return self._run(
            lambda: self._inner.read(
                origins=origins,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                after=after,
                limit=limit,
                last=last,
            )
        )

    def retract(self, number: int) -> bool:
        """Take a message back. Returns False if it was taken back before.

        It stays in the log, in `transcript` and in archives. Recall, context, timeline and read show it no more,
        except as of a time before. Nothing is learnt from it, and what rests on it goes. A thread keeps what it has
        taken in. `forget` erases.

        Args:
            number: Its number in the session.

        Raises:
            NotFound: if the message does not exist.
            UnderLegalHold: if something rests on it and a hold stands.
        """
        return self._run(lambda: self._inner.retract(number))

    def transcript(self, *, around: int | None = None, limit: int = 50) -> Transcript:
        """Return the messages around one, each with the facts, documents and claims made of it.

        It takes the same few queries however long the session is.

        Args:
            around: The number of the message in the middle; the last ones, if left out.
            limit: How many messages to return at most.

        Raises:
            NotFound: if the space has no such session.
        """
        return self._run(lambda: self._inner.transcript(around=around, limit=limit))

    def end_turn(self) -> bool:
        """Signal the end of a turn. Returns whether the session was marked to be learnt from.

        A session is marked when more than five messages have not been learnt from.

        Raises:
            NotFound: if the space has no such session.
        """
        return self._run(lambda: self._inner.end_turn())

    def idle(self) -> bool:
        """Signal that the agent is idle. Returns whether the session was marked to be learnt from.

        Raises:
            NotFound: if the space has no such session.
        """
        return self._run(lambda: self._inner.idle())

    def reset(self, *, emergency: bool = False) -> "Session":
        """End the session and return the next one of its conversation.

        Args:
            emergency: Record that the context had grown too long to go on.

        Raises:
            NotFound: if the space has no such session.
        """
        return Session(self._run(lambda: self._inner.reset(emergency=emergency)), self._loop)

    def compacted(self) -> "Session":
        """Signal that the context was compacted: end the session and return the next one.

        Raises:
            NotFound: if the space has no such session.
        """
        return Session(self._run(lambda: self._inner.compacted()), self._loop)

    def end(self) -> "Session":
        """End the session, with none to follow.

        Raises:
            NotFound: if the space has no such session.
        """
        return Session(self._run(lambda: self._inner.end()), self._loop)

    def retry(self) -> bool:
        """Learn from the session again after learning failed. Returns False if it had not failed.

        With a model, also learns again from a session that was only quoted because there was none.

        Raises:
            NotFound: if the space has no such session.
        """
        return self._run(lambda: self._inner.retry())

    def summary(self) -> SessionMemory | None:
        """Return what was learnt of the session as a whole, or None.

        Raises:
            NotFound: if the space has no such session.
        """
        return self._run(lambda: self._inner.summary())

    def cited(self, answer: str) -> str:
        """Count what an answer cites of what its session was shown, and return the answer without the citations.

        Args:
            answer: The text of the answer, with its citations.
        """
        return self._run(lambda: self._inner.cited(answer))

    def learnt(self, *, wait: float = 30.0) -> SessionLearnt:
        """Wait until all that was said in the session so far has been learnt from, and return what came of it.

        It marks the session if need be, as `idle` does, and returns early if learning was given up. `done` says
        whether it was worth the wait.

        Args:
            wait: For how many seconds to wait at most.

        Raises:
            NotFound: if the space has no such session.
        """
        return self._run(lambda: self._inner.learnt(wait=wait))

    def recall(
        self,
        question: str,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        budget: int | None = None,
        as_of: When | None = None,
        limit: int = 10,
        kinds: Iterable[RefKind] = tuple(RefKind),
        least: Level | None = None,
        explain: bool = False,
    ) -> Recall:
        """Find what answers a question, the best first.

        If nothing answers it, `missing` says why.

        Args:
            question: What to look for, in plain words.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            budget: How many tokens the result may take.
            as_of: Answer from what had been said, and was believed, at this time. A day means its end.
            limit: How many results to return at most.
            kinds: Which kinds of memory to search.
            least: Only answers that are at least this certain: high, fair or weak. Without it weak ones are
                returned, too.
            explain: Also return every candidate, with its signals and what became of it.
        """
        return self._run(
            lambda: self._inner.recall(
                question,
                origins=origins,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                budget=budget,
                as_of=as_of,
                limit=limit,
                kinds=kinds,
                least=least,
                explain=explain,
            )
        )

    def context(
        self,
        question: str = "",
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        budget: int | None = None,
        as_of: When | None = None,
    ) -> Block:
        """Return a block of memory to begin a prompt with.

        It stays the same, byte for byte, until memory changes. Make one when a session starts or was compacted.

        Args:
            question: What the prompt is about, if that is known. What answers it is added to the block.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            budget: How many tokens the result may take.
            as_of: Answer from what had been said, and was believed, at this time. A day means its end.
        """
        return self._run(
            lambda: self._inner.context(
                question,
                origins=origins,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                budget=budget,
                as_of=as_of,
            )
        )

    def shown(self, *, as_of: When | None = None, limit: int = 100) -> list[Showing]:
        """Read the ledger: what was shown to which session and when, the newest first.

        Args:
            as_of: Only what had been shown by this time. A day means its end.
            limit: How many entries to return at most.
        """
        return self._run(lambda: self._inner.shown(as_of=as_of, limit=limit))

    def forget(self, *, dry_run: bool = False) -> Forgotten:
        """Remove something for good, with everything that was made of it, and count what went.

        It is recorded first, finished by any process if this one dies, and answered with a receipt.

        Args:
            dry_run: Count and name what would go, and remove nothing.

        Raises:
            NotFound: if the space has nothing by that name.
            UnderLegalHold: if the space is under a legal hold.
        """
        return self._run(lambda: self._inner.forget(dry_run=dry_run))


class Spaces(Blocking[AsyncSpaces]):
    """Several spaces, searched together: one ranking, one budget."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the spaces."""
        return self._inner.names

    def recall(
        self,
        question: str,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        budget: int | None = None,
        as_of: When | None = None,
        limit: int = 10,
        kinds: Iterable[RefKind] = tuple(RefKind),
        least: Level | None = None,
        explain: bool = False,
    ) -> Recall:
        """Find what answers a question, the best first.

        If nothing answers it, `missing` says why.

        Args:
            question: What to look for, in plain words.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            budget: How many tokens the result may take.
            as_of: Answer from what had been said, and was believed, at this time. A day means its end.
            limit: How many results to return at most.
            kinds: Which kinds of memory to search.
            least: Only answers that are at least this certain: high, fair or weak. Without it weak ones are
                returned, too.
            explain: Also return every candidate, with its signals and what became of it.
        """
        return self._run(
            lambda: self._inner.recall(
                question,
                origins=origins,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                budget=budget,
                as_of=as_of,
                limit=limit,
                kinds=kinds,
                least=least,
                explain=explain,
            )
        )

    def context(
        self,
        question: str = "",
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        budget: int | None = None,
        as_of: When | None = None,
    ) -> Block:
        """Return a block of memory to begin a prompt with.

        It stays the same, byte for byte, until memory changes. Make one when a session starts or was compacted.

        Args:
            question: What the prompt is about, if that is known. What answers it is added to the block.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            budget: How many tokens the result may take.
            as_of: Answer from what had been said, and was believed, at this time. A day means its end.
        """
        return self._run(
            lambda: self._inner.context(
                question,
                origins=origins,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                budget=budget,
                as_of=as_of,
            )
        )


class Memory(BlockingOwner[AsyncMemory]):
    """A memory in a file, in PostgreSQL or on a server. Open it with `with`; share it between tasks."""

    @property
    def keys(self) -> "Keys":
        """The API keys that give callers of a server access to this memory."""
        return Keys(self._inner.keys, self._loop)

    @property
    def webhooks(self) -> "Webhooks":
        """The webhooks that receive changes."""
        return Webhooks(self._inner.webhooks, self._loop)

    def open_erasures(self) -> OpenErasures:
        """Finish erasures that were interrupted in any space, and list what some place has still to confirm."""
        return self._run(lambda: self._inner.open_erasures())

    def page_jobs(
        self, *, status: JobStatus = JobStatus.DEAD, kind: JobKind | None = None, limit: int = 50, after: str = ""
    ) -> JobPage:
        """List the jobs of all spaces that are queued, running, failed or given up, the last queued first.

        A page costs the same however many jobs there are.

        Args:
            status: Only jobs that are queued, running, failed, or dead, which were given up.
            kind: Only jobs of this kind.
            limit: How many jobs to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        return self._run(lambda: self._inner.page_jobs(status=status, kind=kind, limit=limit, after=after))

    def held(self, *, kind: HeldKind | None = None, limit: int = 50, after: str = "") -> HeldPage:
        """List what waits for a person in all spaces, the newest first: claims under review, and changes of documents.

        What is decided while a page is read may be missing in it.

        Args:
            kind: Only claims, or only changes.
            limit: How many items to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        return self._run(lambda: self._inner.held(kind=kind, limit=limit, after=after))

    def spending(
        self, *, since: When | None = None, until: When | None = None, by: SpendingBy = SpendingBy.DAY, limit: int = 20
    ) -> list[Spending]:
        """List what models cost on each day, in all, by kind of work, by model, or by space.

        Args:
            since: The first day; 30 days before the last, if left out.
            until: The last day; today, if left out.
            by: List each day in all, by kind, by model, or by space: those that cost most.
            limit: By space, how many of each day.

        Raises:
            Invalid: for more than 366 days, or 31 by space.
        """
        return self._run(lambda: self._inner.spending(since=since, until=until, by=by, limit=limit))

    def page_spaces(self, *, prefix: str = "", limit: int = 50, after: str = "") -> SpacePage:
        """List spaces by name, each with what failed in it and what waits for a person.

        A page costs the same however many spaces there are, and however much they hold.

        Args:
            prefix: Only spaces whose names begin with it.
            limit: How many spaces to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        return self._run(lambda: self._inner.page_spaces(prefix=prefix, limit=limit, after=after))

    def counters(self) -> Counters:
        """Count the jobs that are not done by status, and what waits for a person, in all spaces.

        Jobs are counted as their states change, so it costs the same however many there are.
        """
        return self._run(lambda: self._inner.counters())

    def settings(self) -> list[SettingEntry]:
        """List the settings in force, each with its default and where it comes from. Secrets are masked."""
        return self._run(lambda: self._inner.settings())

    def list_spaces(self, *, limit: int = 100, after: str = "") -> list[str]:
        """List the names of all spaces that hold anything, in order.

        Args:
            limit: How many names to return at most.
            after: Only spaces that follow this one: the last name of the previous page.
        """
        return self._run(lambda: self._inner.list_spaces(limit=limit, after=after))

    def audit(self) -> Audit:
        """Count the jobs that are not done by status, what was spent today, and violations of invariants."""
        return self._run(lambda: self._inner.audit())

    def learn(self, *, only: Iterable[JobKind] | None = None) -> RunReport:
        """Learn once from everything that is marked, in all spaces, and report what came of it.

        It waits for what this process has already begun in the background, and the report includes what was learnt
        there since the last call. It does not wait for other processes. What changed is then sent to webhooks,
        unless `only` is given.

        Args:
            only: Only these kinds of jobs.
        """
        return self._run(lambda: self._inner.learn(only=only))

    def access(
        self,
        *,
        space: str | None = None,
        key: str | None = None,
        person: str | None = None,
        verb: str | None = None,
        ref: str | None = None,
        since: When | None = None,
        until: When | None = None,
        limit: int = 50,
        after: str = "",
    ) -> AccessPage:
        """List who read, wrote, erased or made keys, the newest first: the access record.

        A page looks at 20,000 entries at most, so a narrow one may be short, even empty, and still have a `next`.
        Questions and texts are never recorded. An entry goes after as many days as `access_keep_days` says.

        Args:
            space: Only what was done in this space.
            key: Only what was done with the key of this prefix.
            person: Only what was done by this person, or for them.
            verb: Only calls of this verb, such as `space.recall`.
            ref: Only what read or changed this: a ref, or `kind:id` for every version of a fact or a document.
            since: Only what was done from this time on.
            until: Only what was done up to this time. A day means its end.
            limit: How many entries to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        return self._run(
            lambda: self._inner.access(
                space=space,
                key=key,
                person=person,
                verb=verb,
                ref=ref,
                since=since,
                until=until,
                limit=limit,
                after=after,
            )
        )

    def find_person(
        self, name: str, *, aliases: Iterable[str] = (), by: Iterable[PersonWay] = tuple(PersonWay), limit: int = 100
    ) -> PersonFound:
        """Count and name what is held of a person, in every space that the caller may see.

        It reads every text. A name that is part of another word is not matched. A key is asked for each of its
        spaces; without one, it is all spaces.

        Args:
            name: The name of the person: whole words, whose case and accents do not count.
            aliases: Other names of the same person: nicknames, initials, an address.
            by: How to look: by speaker, words and entities.
            limit: How many refs to return at most, for each space. Everything is counted.
        """
        return self._run(lambda: self._inner.find_person(name, aliases=aliases, by=by, limit=limit))

    def export_person(
        self,
        name: str,
        *,
        aliases: Iterable[str] = (),
        by: Iterable[PersonWay] = tuple(PersonWay),
        limit: int = 1000,
        after: str = "",
    ) -> PersonItems:
        """Return the texts that are held of a person, in every space that the caller may see.

        It reads every text. A name that is part of another word is not matched. A key is asked for each of its
        spaces; without one, it is all spaces.

        Args:
            name: The name of the person: whole words, whose case and accents do not count.
            aliases: Other names of the same person: nicknames, initials, an address.
            by: How to look: by speaker, words and entities.
            limit: How many items to return at most.
            after: Only what follows: the `next` of the page before.
        """
        return self._run(lambda: self._inner.export_person(name, aliases=aliases, by=by, limit=limit, after=after))

    def forget_person(
        self,
        name: str,
        *,
        aliases: Iterable[str] = (),
        by: Iterable[PersonWay] = tuple(PersonWay),
        reason: str = "",
        dry_run: bool = False,
    ) -> PersonErased:
        """Erase what is held of a person, in every space that the caller may see, with one receipt for each.

        A space under a legal hold is left as it is, and named. A key is asked for each of its spaces; without one,
        it is all spaces.

        Args:
            name: The name of the person: whole words, whose case and accents do not count.
            aliases: Other names of the same person: nicknames, initials, an address.
            by: How to look: by speaker, words and entities.
            reason: Why, for the record: a number of a request, say, and not the name.
            dry_run: Count and name what would go, and remove nothing.
        """
        return self._run(
            lambda: self._inner.forget_person(name, aliases=aliases, by=by, reason=reason, dry_run=dry_run)
        )

    def lift_legal_hold(self, space: str, hold_id: str, reason: str, *, by: str | None = None) -> LegalHold:
        """Lift a legal hold on a space. Erasures that waited for it are finished then.

        A key needs `operate`: one that may only erase cannot lift what forbids it to.

        Args:
            space: The space that it stands on.
            hold_id: The hold, as `hold` and `holds` name it.
            reason: Why it no longer stands.
            by: Who lifts it, for the record; the user who runs the program, if left out.

        Raises:
            NotFound: if the hold does not exist.
        """
        return self._run(lambda: self._inner.lift_legal_hold(space, hold_id, reason, by=by))

    def legal_holds(self, *, limit: int = 100) -> list[LegalHold]:
        """List the legal holds that stand, in all spaces, the newest first.

        Args:
            limit: How many holds to return at most.
        """
        return self._run(lambda: self._inner.legal_holds(limit=limit))

    def space(self, name: str) -> "Space":
        """Return a handle on a space. A space is created when something is first stored in it.

        Args:
            name: The name of an end user, a project or a team: 1 to 200 printable characters.

        Raises:
            Invalid: for any other name.
        """
        return Space(self._inner.space(name), self._loop)

    def spaces(self, *names: str) -> "Spaces":
        """Return a handle that asks several spaces together: one ranking, one budget, each item with its space.

        On a server, each space is asked under its own right: one that the key may not read is an error that names it.

        Args:
            names: The names of 1 to 20 spaces. Where two items rank alike, the space named first comes first.

        Raises:
            Invalid: for another number of names, a name given twice, or one that no space can have.
        """
        return Spaces(self._inner.spaces(*names), self._loop)

    def import_archive(self, path: Path | str, *, space: str | None = None, dry_run: bool = False) -> Loaded:
        """Read an archive into a space, which must be empty or hold a part of it: then the rest is stored.

        It is checked as a whole before anything is stored. What this memory has forgotten is forgotten again. It needs
        a database in this process.

        Args:
            path: The file that `export_archive` wrote.
            space: The space to store it in; that of the archive, if left out.
            dry_run: Only check it.

        Raises:
            Corrupt: for a damaged archive, with the file and the line.
            Conflict: if the space holds anything that is not in the archive.
        """
        return self._run(lambda: self._inner.import_archive(path, space=space, dry_run=dry_run))

    def local(self) -> "LocalBackend":
        """Return what only works with a database in this process: histories, marks, vectors, working memory.

        Raises:
            Unavailable: for a memory on a server, or one that is switched off.
        """
        return LocalBackend(self._inner.local(), self._loop)

    def work(self) -> None:
        """Learn from everything that is marked from now on, until cancelled. Any number of processes may do this.

        Raises:
            Unavailable: if there is nothing to learn from in this process.
        """
        return self._run(lambda: self._inner.work())
