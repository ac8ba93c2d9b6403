"""The blocking API: the same operations for code without an event loop.

Written by tools/make_sync.py; change the async source and run it again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from bethink.api.admin import Admin as AsyncAdmin
from bethink.api.admin import Costs as AsyncCosts
from bethink.api.admin import Erasures as AsyncErasures
from bethink.api.admin import Jobs as AsyncJobs
from bethink.api.admin import PendingReviews as AsyncPendingReviews
from bethink.api.connect import Memory as AsyncMemory
from bethink.api.connect import connect as _connect
from bethink.api.documents import DocumentChanges as AsyncDocumentChanges
from bethink.api.documents import Documents as AsyncDocuments
from bethink.api.facts import Facts as AsyncFacts
from bethink.api.group import SpaceGroup as AsyncSpaceGroup
from bethink.api.memory import Spaces as AsyncSpaces
from bethink.api.reviews import Reviews as AsyncReviews
from bethink.api.session import Session as AsyncSession
from bethink.api.sessions import Sessions as AsyncSessions
from bethink.api.space import Space as AsyncSpace
from bethink.api.space_admin import Changes as AsyncChanges
from bethink.api.space_admin import Rules as AsyncRules
from bethink.api.space_admin import SpaceAdmin as AsyncSpaceAdmin
from bethink.api.space_admin import SpaceCosts as AsyncSpaceCosts
from bethink.api.space_admin import SpaceErasures as AsyncSpaceErasures
from bethink.api.space_admin import SpaceJobs as AsyncSpaceJobs
from bethink.api.space_admin import Timeline as AsyncTimeline
from bethink.api.sync_runtime import Blocking, BlockingContext, BlockingOwner, Loop, Page
from bethink.api.threads import Threads as AsyncThreads
from bethink.config.settings import Settings
from bethink.extend import Embedder, Model, Redactor, Tokens
from bethink.features.access.handle import AccessLog as AsyncAccessLog
from bethink.features.context_log.handle import ContextLog as AsyncContextLog
from bethink.features.context_log.records import ContextLogEntry
from bethink.features.files.handle import Files as AsyncFiles
from bethink.features.keys.handle import Keys as AsyncKeys
from bethink.features.memory_tests.handle import MemoryTests as AsyncMemoryTests
from bethink.features.memory_tests.records import MemoryTest, MemoryTestResult
from bethink.features.people.handle import People as AsyncPeople
from bethink.features.people.handle import SpacePeople as AsyncSpacePeople
from bethink.features.people.records import (
    PersonDeletion,
    PersonInSpace,
    PersonItems,
    PersonMatches,
    PersonMatchKind,
    SpaceDeletion,
)
from bethink.features.relearning.handle import Relearnings as AsyncRelearnings
from bethink.features.retention.handle import Holds as AsyncHolds
from bethink.features.retention.handle import SpaceHolds as AsyncSpaceHolds
from bethink.features.retention.handle import SpaceRetention as AsyncSpaceRetention
from bethink.features.retention.records import RetentionKind, RetentionReport, RetentionRule
from bethink.features.webhooks.handle import Webhooks as AsyncWebhooks
from bethink.features.webhooks.records import Delivery, NewWebhook, WebhookInfo
from bethink.host.backend import Backend as AsyncBackend
from bethink.host.backend import LocalBackend as AsyncLocalBackend
from bethink.memory.archive.format import ArchiveManifest
from bethink.memory.archive.load import LoadReport
from bethink.memory.log.history import History as AsyncHistory
from bethink.memory.log.live import LiveHistory as AsyncLiveHistory
from bethink.memory.log.marks import Marks as AsyncMarks
from bethink.memory.recall.reindex import Vectors as AsyncVectors
from bethink.memory.working.ladder import Compactor, Thresholds
from bethink.memory.working.memory import WorkingMemory as AsyncWorkingMemory
from bethink.memory.working.observers import Watch
from bethink.memory.working.process import Engine
from bethink.model.access import AccessEntry, KeyInfo, NewKey, Scope
from bethink.model.answers import Answer, AnswerSentence
from bethink.model.blame import Blame
from bethink.model.changes import Change, LearnedSession
from bethink.model.consolidation import ChangeSet
from bethink.model.documents import Document, DocumentDraft, DocumentEntry, DocumentSource, Provenance, TreeEntry
from bethink.model.erasures import Erasure, OpenErasure
from bethink.model.facts import Fact, FactStatus, Quote, SessionSummary, SourceMessage
from bethink.model.files import AddedFile
from bethink.model.held import PendingItem, PendingKind
from bethink.model.holds import LegalHold
from bethink.model.jobs import Audit, Job, JobDetail, JobKind, JobStatus, LearnReport, Spending, SpendingBy
from bethink.model.kinds import FactKind
from bethink.model.messages import MessagesLike
from bethink.model.moments import When
from bethink.model.pages import FactEntry, Order, OutlineEntry
from bethink.model.preview import Preview
from bethink.model.prompts import Prompt
from bethink.model.recall import (
    Certainty,
    ContextBlock,
    Correction,
    FactVerdict,
    Feedback,
    Lineage,
    RecallResult,
    Remembered,
)
from bethink.model.records import (
    AgentKind,
    Deletion,
    Message,
    Record,
    RestartReason,
    SessionEntry,
    SessionInfo,
    SessionState,
)
from bethink.model.refs import Ref, RefKind
from bethink.model.relearning import Relearning
from bethink.model.reviews import Review, ReviewStatus
from bethink.model.setting_entries import SettingEntry
from bethink.model.steering import LearningRules
from bethink.model.summaries import Health, SpaceInfo
from bethink.model.thread_results import DispatchResult, StateDiff, StepResult, TokenUsage
from bethink.model.timeline import TimelineEntry, TimelineKind
from bethink.model.transcripts import Transcript
from bethink.model.working import Chunk, Event, FailedEvent, Mode, QueuedEvent, State, StateInfo, Thread
from bethink.store import vectors
from bethink.store.db import Clock, system_clock
from bethink.store.vectors import VectorIndex


def connect(
    target: str | Path = "",
    *,
    api_key: str = "",
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
    """Return a memory in a file, in PostgreSQL or on a server. Open it with `with`.

    Args:
        target: A file, `:memory:`, a `postgresql://` address, the `shards://` address of a directory, or the
            `https://` address of a server (default: the database of the settings, or the file of the command line).
        api_key: API key of a server (default: the setting `api_key`, BETHINK_API_KEY).
        timeout: Seconds to wait for the connection to a server and for each part of its response (default 30).
            Calls that wait for learning or a model take longer.
        retries: Maximum number of retries of a request to a server, if a retry is safe (default 5).
        enabled: Whether memory is on (default True). If off, nothing is stored and searches return no matches.
        model: A model, or its name such as `openai:gpt-5` (default: the setting `model`). Without a model,
            Bethink stores and searches messages only.
        embedder: An embedder, or its name such as `bge-small-en` (default: the embedder of `bethink[local]`, if
            installed). Without one, or with `none`, recall searches by words.
        tokens: Token counter (default: an estimate).
        redactor: Removes secrets from text before storage (default: the built-in redactor).
        engine: Rules of working memory (default: the built-in rules).
        compactor: Summarizes working memory (default: the model, or quotes without a model).
        clock: Returns the current time as an aware datetime (default: the system clock).
        settings: Settings that replace the settings file and the environment. Other arguments take precedence.
        arguments: Further settings by name.

    Raises:
        ConfigurationError: if a setting is unknown or a value is invalid, or only a server can have it.
    """
    return Memory(
        _connect(
            target,
            api_key=api_key,
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
        """The number of times that restoring or storing failed."""
        return self._inner.failures

    def append(self, message: Message | Mapping[str, object]) -> None:
        """Append a message, drop the oldest beyond the limit, and store it in the background.

        It blocks only while a thousand messages are waiting to be stored.

        Raises:
            DatabaseUnavailableError: Outside of its `with` block.
        """
        return self._run(lambda: self._inner.append(message))


class Marks(Blocking[AsyncMarks]):
    """Finds sessions to learn from, and records the progress of each. `Memory.learn` handles both."""

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

        With `progress`, wait for them and call it with the number of remaining spaces. Raises `ConfigurationError`
        without pgvector.
        """
        return self._run(lambda: self._inner.reindex(progress=progress))

    def count_pending(self) -> int:
        """Return the number of spaces that still have to be indexed."""
        return self._run(lambda: self._inner.count_pending())

    def drop_retired(self) -> list[str]:
        """Delete the vectors of embedders that were replaced, and return the names of these embedders."""
        return self._run(lambda: self._inner.drop_retired())

    def grow(self, *, space: str, above: int = vectors.GROWN) -> bool:
        """Build an HNSW index for a space with more than `above` vectors, without blocking it; return whether it did.

        Workers do this automatically. PostgreSQL only. It takes some seconds for every ten thousand vectors, and makes
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
        """Return the current state of a thread. Raises `NotFoundError`."""
        return self._run(lambda: self._inner.get_thread(thread_id))

    def threads(self, *, limit: int = 100, after: str = "") -> list[Thread]:
        """Return the threads of the space, ordered by id, from the first one after `after`."""
        return self._run(lambda: self._inner.threads(limit=limit, after=after))

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread with its events and states. Raises `LegalHoldError` if the space is under a legal hold."""
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
        """Take the step lock and return its id. Raises `ConflictError` while another step has it."""
        return self._run(lambda: self._inner.acquire_step_lock(thread_id))

    def release_step_lock(self, thread_id: str, step_id: str) -> None:
        """Release the step lock. Raises `ConflictError` if another step has it."""
        return self._run(lambda: self._inner.release_step_lock(thread_id, step_id))

    def is_step_locked(self, thread_id: str) -> bool:
        """Return whether a step has the lock of the thread."""
        return self._run(lambda: self._inner.is_step_locked(thread_id))

    def current_step_id(self, thread_id: str) -> str | None:
        """Return the id of the step that has the lock, or None if no step has it or its lease expired."""
        return self._run(lambda: self._inner.current_step_id(thread_id))

    def dispatch(self, thread_id: str, event: Event) -> DispatchResult:
        """Queue an event. In auto mode, process it at once, and compact or truncate the thread if necessary.

        Raises `InvalidRequestError` if the event fails: it is set aside, and the thread continues without it.
        """
        return self._run(lambda: self._inner.dispatch(thread_id, event))

    def step(self, thread_id: str) -> StepResult:
        """Process one event; with an empty queue, truncate or else compact the thread if that is due.

        Raises `ConflictError` in auto mode and while another step has the lock, `InvalidRequestError` if it fails.
        """
        return self._run(lambda: self._inner.step(thread_id))

    def trigger_compaction(self, thread_id: str, chunks: list[Chunk] | None = None) -> DispatchResult:
        """Compact these chunks now, or all compressible ones except the newest."""
        return self._run(lambda: self._inner.trigger_compaction(thread_id, chunks))

    def execute_truncation(self, thread_id: str, chunk_ids: list[str]) -> DispatchResult:
        """Remove these chunks. Chunks that are already removed are ignored."""
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

        It is deleted together with the conversation of this thread.
        """
        return self._run(lambda: self._inner.fork(thread_id, at=at, into=into, mode=mode))

    def replay(self, thread_id: str) -> tuple[Chunk, ...]:
        """Rebuild the current state from the events alone, without a model, and return its chunks."""
        return self._run(lambda: self._inner.replay(thread_id))


class LocalBackend(Blocking[AsyncLocalBackend]):
    """A backend with a database in this process, and its additional operations."""

    def history(self, space: str, *, agent: str = "assistant", kind: AgentKind = AgentKind.PRIMARY) -> "History":
        """Return the history of an agent's conversations."""
        return History(self._inner.history(space, agent=agent, kind=kind), self._loop)

    def live(self, space: str, conversation: str, *, agent: str = "assistant") -> "LiveHistory":
        """Return the history that an agent works on.

        Raises:
            DatabaseUnavailableError: if this process has no database.
        """
        return LiveHistory(self._inner.live(space, conversation, agent=agent), self._loop)

    def marks(self) -> "Marks":
        """Return the learning marks of sessions, for programs with their own learning."""
        return Marks(self._inner.marks(), self._loop)

    def vectors(self) -> "Vectors":
        """Return the vectors of the embedder in use.

        Raises:
            ConfigurationError: without an embedder.
        """
        return Vectors(self._inner.vectors(), self._loop)

    def working(self, space: str) -> "WorkingMemory":
        """Return the working memory of a space."""
        return WorkingMemory(self._inner.working(space), self._loop)


class Backend(Blocking[AsyncBackend]):
    """Runs requests: in this process, on a server, or not at all.

    Wrap a backend in your own class to trace, meter or reject requests.
    """

    def local(self) -> "LocalBackend":
        """Return the backend with a database in this process.

        Raises:
            DatabaseUnavailableError: if this process has no database.
        """
        return LocalBackend(self._inner.local(), self._loop)


class Webhooks(Blocking[AsyncWebhooks]):
    """The webhooks that receive changes."""

    def create(self, url: str, *, space: str | None = None) -> NewWebhook:
        """Create a webhook. Its secret is returned only once.

        A worker sends changes from now on. Changes of one space arrive in order.

        Args:
            url: Address that receives changes: `https://…` or `http://…`.
            space: Name of the space whose changes are sent (default: all spaces).

        Raises:
            InvalidRequestError: if the address is invalid or not allowed.
        """
        return self._run(lambda: self._inner.create(url, space=space))

    def delete(self, webhook_id: str) -> None:
        """Delete a webhook and its deliveries. A request in progress still arrives.

        Args:
            webhook_id: Id of the webhook.

        Raises:
            NotFoundError: if the webhook does not exist.
        """
        return self._run(lambda: self._inner.delete(webhook_id))

    def deliveries(self, webhook_id: str, *, space: str | None = None, limit: int = 100) -> Page[Delivery]:
        """List deliveries to a webhook with attempts and responses. Most recent attempt first.

        Args:
            webhook_id: Id of the webhook.
            space: Name of the space (default: all spaces).
            limit: Maximum number of deliveries (default 100).

        Raises:
            NotFoundError: if the webhook does not exist.
        """
        return Page(self._run(lambda: self._inner.deliveries(webhook_id, space=space, limit=limit)), self._loop)

    def list(self) -> Page[WebhookInfo]:
        """List all webhooks, including disabled ones. Oldest first."""
        return Page(self._run(lambda: self._inner.list()), self._loop)


class Holds(Blocking[AsyncHolds]):
    """The legal holds on all spaces."""

    def lift(self, space: str, hold_id: str, reason: str, *, actor: str | None = None) -> LegalHold:
        """Lift a legal hold on a space. Deletions that it blocked are then finished.

        The key needs the scope `operate`, so a key that can only delete cannot lift a hold.

        Args:
            space: Name of the space under the hold.
            hold_id: Id of the hold, as in `holds.list`.
            reason: Reason for lifting the hold.
            actor: Name of the person who lifts the hold (default: the user who runs the program).

        Raises:
            NotFoundError: if the hold does not exist.
        """
        return self._run(lambda: self._inner.lift(space, hold_id, reason, actor=actor))

    def list(self, *, limit: int = 100) -> Page[LegalHold]:
        """List active legal holds in all spaces. Newest first.

        Args:
            limit: Maximum number of holds (default 100).
        """
        return Page(self._run(lambda: self._inner.list(limit=limit)), self._loop)


class SpaceHolds(Blocking[AsyncSpaceHolds]):
    """The legal holds on a space."""

    def place(self, reason: str, *, actor: str | None = None) -> LegalHold:
        """Place a legal hold. It blocks all deletions in the space until every hold is lifted.

        Args:
            reason: Reason for the hold, such as a case number.
            actor: Name of the person who places the hold (default: the user who runs the program).

        Raises:
            NotFoundError: if the space does not exist.
        """
        return self._run(lambda: self._inner.place(reason, actor=actor))

    def list(self, *, limit: int = 100) -> Page[LegalHold]:
        """List legal holds on the space, including lifted ones. Newest first.

        Args:
            limit: Maximum number of holds (default 100).
        """
        return Page(self._run(lambda: self._inner.list(limit=limit)), self._loop)


class SpaceRetention(Blocking[AsyncSpaceRetention]):
    """The retention rules of a space."""

    def set(
        self,
        kind: RetentionKind | Literal["message", "session_summary", "fact", "document", "thread"],
        older_than: int,
        *,
        origin: str | None = None,
    ) -> RetentionRule:
        """Delete items older than N days from now on, with derived data. Return the rule.

        A worker deletes expired items with a receipt; `retention.run` does so immediately. The rule replaces a rule
        with the same kind and origin.

        Args:
            kind: Kind of items: `message`, `session_summary`, `fact`, `document` or `thread`.
            older_than: Age in days after which items and derived data are deleted.
            origin: Origin: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
        """
        return self._run(lambda: self._inner.set(kind, older_than, origin=origin))

    def remove(
        self,
        kind: RetentionKind | Literal["message", "session_summary", "fact", "document", "thread"],
        *,
        origin: str | None = None,
    ) -> None:
        """Remove the retention rule with this kind and origin.

        Args:
            kind: Kind of items: `message`, `session_summary`, `fact`, `document` or `thread`.
            origin: Origin: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).

        Raises:
            NotFoundError: if the rule does not exist.
        """
        return self._run(lambda: self._inner.remove(kind, origin=origin))

    def run(self, *, dry_run: bool = False) -> RetentionReport:
        """Run the retention rules now: delete old items and expired facts.

        Args:
            dry_run: Whether to count the items without deleting them (default False).

        Raises:
            LegalHoldError: if the space is under a legal hold.
        """
        return self._run(lambda: self._inner.run(dry_run=dry_run))

    def list(self) -> Page[RetentionRule]:
        """List the retention rules of the space, including the rule from the settings."""
        return Page(self._run(lambda: self._inner.list()), self._loop)


class Relearnings(Blocking[AsyncRelearnings]):
    """Proposals from learning a space again."""

    def propose(
        self,
        *,
        model: str = "",
        verify_model: str = "",
        instructions: str | None = None,
        prompt: str = "",
        dry_run: bool = True,
    ) -> Relearning:
        """Learn from all messages of the space again, and return the changes to its facts.

        Follows the learning rules of the space. Claims are validated as usual, whatever the prompt says.

        Args:
            model: Model as `provider:name` (default: the configured model).
            verify_model: Model of the second pass as `provider:name` (default: the same model).
            instructions: Instructions that replace those in the learning rules; empty for none (default:
                unchanged).
            prompt: System prompt that replaces the built-in one, except in the second pass (default: built-in).
            dry_run: Whether to return the changes without applying them (default True).

        Raises:
            InvalidRequestError: if no model is configured.
            NotFoundError: if the space does not exist.
            ConflictError: if the daily budget is spent.
        """
        return self._run(
            lambda: self._inner.propose(
                model=model, verify_model=verify_model, instructions=instructions, prompt=prompt, dry_run=dry_run
            )
        )

    def apply(self, relearning_id: str) -> Relearning:
        """Apply a relearning in one transaction.

        Args:
            relearning_id: Id of the relearning.

        Raises:
            VersionConflictError: if an affected fact changed since the proposal.
        """
        return self._run(lambda: self._inner.apply(relearning_id))

    def undo(self, relearning_id: str) -> Relearning:
        """Undo an applied relearning and restore the previous facts.

        Args:
            relearning_id: Id of the relearning.

        Raises:
            VersionConflictError: if an affected fact changed since then.
        """
        return self._run(lambda: self._inner.undo(relearning_id))


class SpacePeople(Blocking[AsyncSpacePeople]):
    """Data about a person, in one space."""

    def find(
        self,
        name: str,
        *,
        aliases: str | Iterable[str] = (),
        match: PersonMatchKind
        | Literal["speaker", "words", "entities"]
        | Iterable[PersonMatchKind | Literal["speaker", "words", "entities"]] = tuple(PersonMatchKind),
        limit: int = 100,
    ) -> PersonInSpace:
        """Find all data about a person in the space, with counts and refs.

        Reads every text. Names match only as whole words.

        Args:
            name: Name of the person. Matches whole words and ignores case and accents.
            aliases: Other names of the person, such as nicknames, initials or an email address.
            match: Ways to match: `speaker`, `words` and `entities` (default: all).
            limit: Maximum number of refs for each space (default 100). Counts include all matches.
        """
        return self._run(lambda: self._inner.find(name, aliases=aliases, match=match, limit=limit))

    def export(
        self,
        name: str,
        *,
        aliases: str | Iterable[str] = (),
        match: PersonMatchKind
        | Literal["speaker", "words", "entities"]
        | Iterable[PersonMatchKind | Literal["speaker", "words", "entities"]] = tuple(PersonMatchKind),
        limit: int = 1000,
        after: str = "",
    ) -> PersonItems:
        """Export all data about a person in the space, with texts.

        Reads every text. Names match only as whole words.

        Args:
            name: Name of the person. Matches whole words and ignores case and accents.
            aliases: Other names of the person, such as nicknames, initials or an email address.
            match: Ways to match: `speaker`, `words` and `entities` (default: all).
            limit: Maximum number of items (default 1,000).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return self._run(lambda: self._inner.export(name, aliases=aliases, match=match, limit=limit, after=after))

    def forget(
        self,
        name: str,
        *,
        aliases: str | Iterable[str] = (),
        match: PersonMatchKind
        | Literal["speaker", "words", "entities"]
        | Iterable[PersonMatchKind | Literal["speaker", "words", "entities"]] = tuple(PersonMatchKind),
        reason: str = "",
        dry_run: bool = False,
    ) -> SpaceDeletion:
        """Permanently delete all data about a person in the space, and return a receipt.

        Deletes entire messages and documents, even if others only mention the person. Use `find` first.

        Args:
            name: Name of the person. Matches whole words and ignores case and accents.
            aliases: Other names of the person, such as nicknames, initials or an email address.
            match: Ways to match: `speaker`, `words` and `entities` (default: all).
            reason: Reason for the record, such as a request number. Do not include the name.
            dry_run: Whether to count the items without deleting them (default False).

        Raises:
            LegalHoldError: if the space is under a legal hold.
        """
        return self._run(lambda: self._inner.forget(name, aliases=aliases, match=match, reason=reason, dry_run=dry_run))


class People(Blocking[AsyncPeople]):
    """Data about a person, in all spaces."""

    def find(
        self,
        name: str,
        *,
        aliases: str | Iterable[str] = (),
        match: PersonMatchKind
        | Literal["speaker", "words", "entities"]
        | Iterable[PersonMatchKind | Literal["speaker", "words", "entities"]] = tuple(PersonMatchKind),
        limit: int = 100,
    ) -> PersonMatches:
        """Find all data about a person in all accessible spaces, with counts and refs.

        Reads every text. Names match only as whole words. Covers the spaces of the key, or all spaces without a
        key.

        Args:
            name: Name of the person. Matches whole words and ignores case and accents.
            aliases: Other names of the person, such as nicknames, initials or an email address.
            match: Ways to match: `speaker`, `words` and `entities` (default: all).
            limit: Maximum number of refs for each space (default 100). Counts include all matches.
        """
        return self._run(lambda: self._inner.find(name, aliases=aliases, match=match, limit=limit))

    def export(
        self,
        name: str,
        *,
        aliases: str | Iterable[str] = (),
        match: PersonMatchKind
        | Literal["speaker", "words", "entities"]
        | Iterable[PersonMatchKind | Literal["speaker", "words", "entities"]] = tuple(PersonMatchKind),
        limit: int = 1000,
        after: str = "",
    ) -> PersonItems:
        """Export all data about a person in all accessible spaces, with texts.

        Reads every text. Names match only as whole words. Covers the spaces of the key, or all spaces without a
        key.

        Args:
            name: Name of the person. Matches whole words and ignores case and accents.
            aliases: Other names of the person, such as nicknames, initials or an email address.
            match: Ways to match: `speaker`, `words` and `entities` (default: all).
            limit: Maximum number of items (default 1,000).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return self._run(lambda: self._inner.export(name, aliases=aliases, match=match, limit=limit, after=after))

    def forget(
        self,
        name: str,
        *,
        aliases: str | Iterable[str] = (),
        match: PersonMatchKind
        | Literal["speaker", "words", "entities"]
        | Iterable[PersonMatchKind | Literal["speaker", "words", "entities"]] = tuple(PersonMatchKind),
        reason: str = "",
        dry_run: bool = False,
    ) -> PersonDeletion:
        """Permanently delete all data about a person in all accessible spaces, with a receipt for each.

        Spaces under a legal hold stay unchanged and are listed with the reason. Covers the spaces of the key, or
        all spaces without a key.

        Args:
            name: Name of the person. Matches whole words and ignores case and accents.
            aliases: Other names of the person, such as nicknames, initials or an email address.
            match: Ways to match: `speaker`, `words` and `entities` (default: all).
            reason: Reason for the record, such as a request number. Do not include the name.
            dry_run: Whether to count the items without deleting them (default False).
        """
        return self._run(lambda: self._inner.forget(name, aliases=aliases, match=match, reason=reason, dry_run=dry_run))


class MemoryTests(Blocking[AsyncMemoryTests]):
    """The memory tests of a space."""

    def add(
        self,
        question: str,
        *,
        as_of: When | None = None,
        known_at: When | None = None,
        must: str | Iterable[str] = (),
        must_not: str | Iterable[str] = (),
        limit: int = 5,
        kinds: RefKind
        | Literal["message", "fact", "session_summary", "document"]
        | Iterable[RefKind | Literal["message", "fact", "session_summary", "document"]] = tuple(RefKind),
        tags: str | Iterable[str] = (),
        note: str = "",
        about: Ref | str | None = None,
        test_id: str | None = None,
    ) -> MemoryTest:
        """Store a memory test and return it.

        Args:
            question: Question to search for.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            must: Texts or refs that the first results must contain. Texts match in any case.
            must_not: Texts or refs that the first results must not contain.
            limit: Number of results to check (default 5).
            kinds: Kinds of memory to search (default: all).
            tags: Tags that items must all have.
            note: Reason for the test.
            about: Ref of a fact or document. Deleting its text also removes the test.
            test_id: Id of the test (default: a new id). A test with the same id is replaced.
        """
        return self._run(
            lambda: self._inner.add(
                question,
                as_of=as_of,
                known_at=known_at,
                must=must,
                must_not=must_not,
                limit=limit,
                kinds=kinds,
                tags=tags,
                note=note,
                about=about,
                test_id=test_id,
            )
        )

    def remove(self, test_id: str) -> None:
        """Remove a memory test.

        Args:
            test_id: Id of the test.

        Raises:
            NotFoundError: if the space has no such test.
        """
        return self._run(lambda: self._inner.remove(test_id))

    def run(
        self, *, only: str | Iterable[str] | None = None, tests: MemoryTest | Iterable[MemoryTest] | None = None
    ) -> list[MemoryTestResult]:
        """Run memory tests and return the result of each.

        Only searches: no model is called, and nothing is added to the context log or marked as used.

        Args:
            only: Ids of the tests to run (default: all).
            tests: Tests to run instead of the stored ones. They are not stored.

        Raises:
            NotFoundError: if the space has no such test.
        """
        return self._run(lambda: self._inner.run(only=only, tests=tests))

    def list(self, *, limit: int = 100, after: str = "") -> Page[MemoryTest]:
        """List the memory tests of the space, ordered by id.

        Args:
            limit: Maximum number of tests (default 100).
            after: Cursor of the next page: the `next` of the previous page, or its last id.
        """
        return Page(self._run(lambda: self._inner.list(limit=limit, after=after)), self._loop)


class Keys(Blocking[AsyncKeys]):
    """The API keys of a server."""

    def create(
        self,
        name: str,
        scopes: Scope
        | Literal["read", "write", "steer", "erase", "keys", "operate"]
        | Iterable[Scope | Literal["read", "write", "steer", "erase", "keys", "operate"]],
        *,
        spaces: str | Iterable[str] | None = None,
        expires_at: When | None = None,
    ) -> NewKey:
        """Create an API key. The key itself is returned only once.

        Args:
            name: Name of the key, such as its purpose.
            scopes: Scopes of the key.
            spaces: Names of the spaces that the key can access (default: all spaces).
            expires_at: Expiry time (default: never).

        Raises:
            InvalidRequestError: if a scope, a space or the expiry exceeds the key of the caller.
        """
        return self._run(lambda: self._inner.create(name, scopes, spaces=spaces, expires_at=expires_at))

    def rotate(self, prefix: str, *, overlap: float = 86400.0) -> NewKey:
        """Replace an API key with a new one. The old key expires after `overlap` seconds.

        Args:
            prefix: Prefix of the key, which is not secret.
            overlap: Number of seconds that the old key stays valid (default 86,400: one day).

        Raises:
            NotFoundError: if no key has this prefix.
            ConflictError: if the key is no longer valid.
            InvalidRequestError: if the key allows more than the key of the caller.
        """
        return self._run(lambda: self._inner.rotate(prefix, overlap=overlap))

    def revoke(self, prefix: str) -> None:
        """Revoke an API key, in this process immediately and in others within seconds.

        Args:
            prefix: Prefix of the key, which is not secret.

        Raises:
            NotFoundError: if no key has this prefix.
        """
        return self._run(lambda: self._inner.revoke(prefix))

    def list(self) -> Page[KeyInfo]:
        """List all API keys, including expired and revoked ones. Oldest first."""
        return Page(self._run(lambda: self._inner.list()), self._loop)


class Files(Blocking[AsyncFiles]):
    """The files of a space, stored as searchable passages."""

    def add(
        self,
        name: str,
        *,
        idempotency_key: str | None = None,
        text: str | None = None,
        data: bytes | None = None,
        media_type: str | None = None,
    ) -> AddedFile:
        """Store a file as searchable passages, each with its position in the file.

        Adding the same bytes again changes nothing. A new version adds new passages and retracts removed ones.
        Passages that were deleted with `forget` stay deleted. The text of a file is data, never an instruction of
        the user. The passages form the conversation `file:NAME:`.

        Args:
            name: Name of the file, such as `handbook.md`. A file with the same name becomes its next version.
            idempotency_key: Key of this request. Repeating the request with the same key stores nothing twice
                (default: a new key).
            text: Text of the file.
            data: Bytes of the file, instead of `text`: UTF-8, UTF-16 with a byte order mark, or PDF. Base64 in
                JSON.
            media_type: `text/plain`, `text/markdown`, `text/html` or `application/pdf` (default: from the suffix of
                `name`).

        Raises:
            InvalidRequestError: if the file is unreadable, empty or too long, or needs an extra for PDF or HTML.
            ErasedKeyError: if the file with this key was deleted in the last 30 days.
            LegalHoldError: if the new version removes a passage with derived data and the space is under a legal
                hold.
        """
        return self._run(
            lambda: self._inner.add(name, idempotency_key=idempotency_key, text=text, data=data, media_type=media_type)
        )


class ContextLog(Blocking[AsyncContextLog]):
    """The memories that were shown to sessions."""

    def mark_used(self, refs: Ref | str | Iterable[Ref | str]) -> int:
        """Mark memories as used, with the session summaries they are based on.

        Returns the number of existing memories. Consolidation retains used memories longer.

        Args:
            refs: Refs of the memories, as in results.
        """
        return self._run(lambda: self._inner.mark_used(refs))

    def list(
        self,
        *,
        as_of: When | None = None,
        known_at: When | None = None,
        session_id: str | None = None,
        entry_id: str | None = None,
        limit: int = 20,
        after: str = "",
    ) -> Page[ContextLogEntry]:
        """List the memories shown to sessions, each with its text at that time. Newest first.

        Args:
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            session_id: Id of the session (default: all sessions).
            entry_id: Id of one entry (default: all entries).
            limit: Maximum number of entries (default 20).
            after: Cursor of the next page: the `next` of the previous page.

        Raises:
            NotFoundError: if the space has no such session.
        """
        return Page(
            self._run(
                lambda: self._inner.list(
                    as_of=as_of, known_at=known_at, session_id=session_id, entry_id=entry_id, limit=limit, after=after
                )
            ),
            self._loop,
        )


class AccessLog(Blocking[AsyncAccessLog]):
    """The access log: who read or changed what."""

    def list(
        self,
        *,
        space: str | None = None,
        key: str | None = None,
        person: str | None = None,
        operation: str | None = None,
        ref: str | None = None,
        since: When | None = None,
        until: When | None = None,
        limit: int = 50,
        after: str = "",
    ) -> Page[AccessEntry]:
        """List the access log: who read, wrote or deleted what, and who managed keys. Newest first.

        A page scans up to 20,000 entries, so a page with filters can be short or empty and still have a `next`. The
        log contains no questions or texts. The setting `access_log_days` limits the age of entries.

        Args:
            space: Name of the space (default: all spaces).
            key: Prefix of the API key (default: any).
            person: Person who made the request, or for whom it was made (default: any).
            operation: Name of the operation, such as `space.recall` (default: any).
            ref: Ref that was read or changed, or `kind:id` for all versions of a fact or document (default: any).
            since: Earliest time of entries (default: no limit). A date means the start of that day.
            until: Latest time of entries (default: no limit). A date means the end of that day.
            limit: Maximum number of entries (default 50).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return Page(
            self._run(
                lambda: self._inner.list(
                    space=space,
                    key=key,
                    person=person,
                    operation=operation,
                    ref=ref,
                    since=since,
                    until=until,
                    limit=limit,
                    after=after,
                )
            ),
            self._loop,
        )


class SpaceGroup(Blocking[AsyncSpaceGroup]):
    """Several spaces, searched together: one ranking, one budget."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the spaces."""
        return self._inner.names

    def recall(
        self,
        question: str,
        *,
        origin: str | Iterable[str] | None = None,
        tags: str | Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        budget: int | None = None,
        kinds: RefKind
        | Literal["message", "fact", "session_summary", "document"]
        | Iterable[RefKind | Literal["message", "fact", "session_summary", "document"]] = tuple(RefKind),
        limit: int = 10,
        min_certainty: Certainty | Literal["high", "fair", "weak"] | None = None,
        explain: bool = False,
    ) -> RecallResult:
        """Search memory. Best match first.

        If there is no match, `note` says why.

        Args:
            question: Question or words to search for.
            origin: Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
            tags: Tags that every item must have.
            agent: Agent of the sessions (default: any).
            conversation: Name of the conversation (default: any).
            speaker: Speaker of a message, or of a fact's source messages (default: any).
            since: Earliest time of items (default: no limit). A date means the start of that day.
            until: Latest time of items (default: no limit). A date means the end of that day.
            where: Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            budget: Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`).
            kinds: Kinds of memory to use (default: all).
            limit: Maximum number of results (default 10).
            min_certainty: Minimum certainty of matches: `high`, `fair` or `weak` (default `weak`).
            explain: Whether to also return all candidates with their signals and outcome (default False).
        """
        return self._run(
            lambda: self._inner.recall(
                question,
                origin=origin,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                as_of=as_of,
                known_at=known_at,
                budget=budget,
                kinds=kinds,
                limit=limit,
                min_certainty=min_certainty,
                explain=explain,
            )
        )

    def ask(
        self,
        question: str,
        *,
        origin: str | Iterable[str] | None = None,
        tags: str | Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        budget: int | None = None,
        kinds: RefKind
        | Literal["message", "fact", "session_summary", "document"]
        | Iterable[RefKind | Literal["message", "fact", "session_summary", "document"]] = tuple(RefKind),
        limit: int = 20,
        min_certainty: Certainty | Literal["high", "fair", "weak"] | None = None,
        exclude: Ref | str | Iterable[Ref | str] = (),
        timeout: float = 60.0,
        on_sentence: Callable[[AnswerSentence], None] | None = None,
    ) -> Answer:
        """Answer a question from memory, with sources for each sentence.

        Calls the model, which may ask for two more searches. Sentences without a supporting memory are removed; if
        none remains, `refusal` is the reason. Cited memories are marked as used. `budget` limits the memories that
        the model reads (default 4,000 tokens).

        Args:
            question: Question or words to search for.
            origin: Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
            tags: Tags that every item must have.
            agent: Agent of the sessions (default: any).
            conversation: Name of the conversation (default: any).
            speaker: Speaker of a message, or of a fact's source messages (default: any).
            since: Earliest time of items (default: no limit). A date means the start of that day.
            until: Latest time of items (default: no limit). A date means the end of that day.
            where: Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            budget: Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`).
            kinds: Kinds of memory to use (default: all).
            limit: Maximum number of memories that the model reads (default 20).
            min_certainty: Minimum certainty of matches: `high`, `fair` or `weak` (default `weak`).
            exclude: Refs of memories to ignore, with data based only on them. Cited memories are then not marked as
                used.
            timeout: Maximum number of seconds to wait for the model (default 60).
            on_sentence: Callback for each sentence once it is verified. Runs on the event loop and must not block.

        Raises:
            InvalidRequestError: if no model is configured.
            ModelUnavailableError: if the model is unavailable or the daily budget is spent.
            ModelTimeoutError: if the model does not answer within `timeout`.
        """
        return self._run(
            lambda: self._inner.ask(
                question,
                origin=origin,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                as_of=as_of,
                known_at=known_at,
                budget=budget,
                kinds=kinds,
                limit=limit,
                min_certainty=min_certainty,
                exclude=exclude,
                timeout=timeout,
                on_sentence=on_sentence,
            )
        )

    def context(
        self,
        question: str = "",
        *,
        origin: str | Iterable[str] | None = None,
        tags: str | Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        budget: int | None = None,
        kinds: RefKind
        | Literal["message", "fact", "session_summary", "document"]
        | Iterable[RefKind | Literal["message", "fact", "session_summary", "document"]] = tuple(RefKind),
        citations: bool = True,
    ) -> ContextBlock:
        """Build the memory block for a prompt.

        The block is byte-identical until memory changes. Build one when a session starts or is compacted.

        Args:
            question: Topic of the prompt, such as the user's message. Matches are added to the block.
            origin: Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
            tags: Tags that every item must have.
            agent: Agent of the sessions (default: any).
            conversation: Name of the conversation (default: any).
            speaker: Speaker of a message, or of a fact's source messages (default: any).
            since: Earliest time of items (default: no limit). A date means the start of that day.
            until: Latest time of items (default: no limit). A date means the end of that day.
            where: Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            budget: Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`).
            kinds: Kinds of memory to use (default: all).
            citations: Whether the lines have labels for the model to cite (default True). Pass False if nothing
                strips them from replies.
        """
        return self._run(
            lambda: self._inner.context(
                question,
                origin=origin,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                as_of=as_of,
                known_at=known_at,
                budget=budget,
                kinds=kinds,
                citations=citations,
            )
        )


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

    def append(self, messages: MessagesLike, *, idempotency_key: str | None = None) -> list[int]:
        """Store messages in one transaction and return their numbers.

        The messages are durable when the call returns. A repeated idempotency key returns the existing number.

        Args:
            messages: Messages, oldest first; can be empty. A string is one user message.
            idempotency_key: Key of this request. Repeating the request with the same key stores nothing twice
                (default: a new key).

        Raises:
            SessionEndedError: if the session has ended.
            ConflictError: if another message used the idempotency key.
            ErasedKeyError: if the message with this key was deleted in the last 30 days.
        """
        return self._run(lambda: self._inner.append(messages, idempotency_key=idempotency_key))

    def messages(
        self,
        *,
        origin: str | Iterable[str] | None = None,
        tags: str | Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        after: int | None = None,
        limit: int = 1000,
        last: int | None = None,
        visible: bool = False,
    ) -> Page[Record]:
        """Return the messages of the session, in order.

        Args:
            origin: Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
            tags: Tags that every item must have.
            agent: Agent of the sessions (default: any).
            conversation: Name of the conversation (default: any).
            speaker: Speaker of a message, or of a fact's source messages (default: any).
            since: Earliest time of items (default: no limit). A date means the start of that day.
            until: Latest time of items (default: no limit). A date means the end of that day.
            where: Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`.
            after: Number of the last message before the page (default: start at the first message).
            limit: Maximum number of messages (default 1,000).
            last: Number of messages to return from the end of the session, in order (default: from the start).
            visible: Whether to leave out the words that a person asked to forget, and messages without any others.

        Raises:
            NotFoundError: if the space has no such session.
        """
        return Page(
            self._run(
                lambda: self._inner.messages(
                    origin=origin,
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
                    visible=visible,
                )
            ),
            self._loop,
        )

    def retract(self, number: int) -> bool:
        """Retract a message. Return False if it was already retracted.

        Recall, context, timeline and `messages` omit the message, except with an earlier `as_of`. Derived data is
        deleted, and nothing more is learned from the message. It stays in `transcript`, archives and threads;
        `forget` deletes it permanently.

        Args:
            number: Number of the message in the session.

        Raises:
            NotFoundError: if the message does not exist.
            LegalHoldError: if the message has derived data and the space is under a legal hold.
        """
        return self._run(lambda: self._inner.retract(number))

    def transcript(self, *, around: int | None = None, limit: int = 50) -> Transcript:
        """Return messages of the session, each with the facts, documents and claims derived from it.

        The cost does not depend on the length of the session.

        Args:
            around: Number of the message in the middle (default: the end of the session).
            limit: Maximum number of messages (default 50).

        Raises:
            NotFoundError: if the space has no such session.
        """
        return self._run(lambda: self._inner.transcript(around=around, limit=limit))

    def checkpoint(self, *, force: bool = False) -> bool:
        """Queue the session for learning if it has at least six new messages. Return whether it was queued.

        Call it after each turn, and with `force` when the agent becomes idle: then one new message is enough.

        Args:
            force: Whether to queue the session with fewer than six new messages (default False).

        Raises:
            NotFoundError: if the space has no such session.
        """
        return self._run(lambda: self._inner.checkpoint(force=force))

    def restart(
        self, reason: RestartReason | Literal["reset", "compaction", "emergency"] = RestartReason.RESET
    ) -> "Session":
        """End the session and return the next session of its conversation.

        Call it after the context was reset or compacted.

        Args:
            reason: Reason: `reset` (default), `compaction`, or `emergency` if the context grew too long.

        Raises:
            NotFoundError: if the space has no such session.
        """
        return Session(self._run(lambda: self._inner.restart(reason)), self._loop)

    def end(self) -> "Session":
        """End the session without opening another.

        Raises:
            NotFoundError: if the space has no such session.
        """
        return Session(self._run(lambda: self._inner.end()), self._loop)

    def summary(self) -> SessionSummary | None:
        """Return the summary learned from the session, or None.

        Raises:
            NotFoundError: if the space has no such session.
        """
        return self._run(lambda: self._inner.summary())

    def strip_citations(self, reply: str) -> str:
        """Mark the memories that an answer cites as used, and return the answer without citations.

        Args:
            reply: Text of the answer, with citations.
        """
        return self._run(lambda: self._inner.strip_citations(reply))

    def wait_until_learned(self, *, timeout: float = 30.0) -> LearnedSession:
        """Wait until Bethink has learned from all messages of the session, and return the facts and claims.

        Queues the session if necessary, like `checkpoint(force=True)`. Returns early if the job was abandoned.
        `done` is True if learning finished in time.

        Args:
            timeout: Maximum number of seconds to wait (default 30).

        Raises:
            NotFoundError: if the space has no such session.
        """
        return self._run(lambda: self._inner.wait_until_learned(timeout=timeout))

    def recall(
        self,
        question: str,
        *,
        origin: str | Iterable[str] | None = None,
        tags: str | Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        budget: int | None = None,
        kinds: RefKind
        | Literal["message", "fact", "session_summary", "document"]
        | Iterable[RefKind | Literal["message", "fact", "session_summary", "document"]] = tuple(RefKind),
        limit: int = 10,
        min_certainty: Certainty | Literal["high", "fair", "weak"] | None = None,
        explain: bool = False,
    ) -> RecallResult:
        """Search memory. Best match first.

        If there is no match, `note` says why.

        Args:
            question: Question or words to search for.
            origin: Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
            tags: Tags that every item must have.
            agent: Agent of the sessions (default: any).
            conversation: Name of the conversation (default: any).
            speaker: Speaker of a message, or of a fact's source messages (default: any).
            since: Earliest time of items (default: no limit). A date means the start of that day.
            until: Latest time of items (default: no limit). A date means the end of that day.
            where: Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            budget: Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`).
            kinds: Kinds of memory to use (default: all).
            limit: Maximum number of results (default 10).
            min_certainty: Minimum certainty of matches: `high`, `fair` or `weak` (default `weak`).
            explain: Whether to also return all candidates with their signals and outcome (default False).
        """
        return self._run(
            lambda: self._inner.recall(
                question,
                origin=origin,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                as_of=as_of,
                known_at=known_at,
                budget=budget,
                kinds=kinds,
                limit=limit,
                min_certainty=min_certainty,
                explain=explain,
            )
        )

    def context(
        self,
        question: str = "",
        *,
        origin: str | Iterable[str] | None = None,
        tags: str | Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        budget: int | None = None,
        kinds: RefKind
        | Literal["message", "fact", "session_summary", "document"]
        | Iterable[RefKind | Literal["message", "fact", "session_summary", "document"]] = tuple(RefKind),
        citations: bool = True,
    ) -> ContextBlock:
        """Build the memory block for a prompt.

        The block is byte-identical until memory changes. Build one when a session starts or is compacted.

        Args:
            question: Topic of the prompt, such as the user's message. Matches are added to the block.
            origin: Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
            tags: Tags that every item must have.
            agent: Agent of the sessions (default: any).
            conversation: Name of the conversation (default: any).
            speaker: Speaker of a message, or of a fact's source messages (default: any).
            since: Earliest time of items (default: no limit). A date means the start of that day.
            until: Latest time of items (default: no limit). A date means the end of that day.
            where: Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            budget: Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`).
            kinds: Kinds of memory to use (default: all).
            citations: Whether the lines have labels for the model to cite (default True). Pass False if nothing
                strips them from replies.
        """
        return self._run(
            lambda: self._inner.context(
                question,
                origin=origin,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                as_of=as_of,
                known_at=known_at,
                budget=budget,
                kinds=kinds,
                citations=citations,
            )
        )

    def forget(self, *, dry_run: bool = False) -> Deletion:
        """Permanently delete the messages of this session and everything derived from them.

        Returns counts and a receipt. If this process stops, another one finishes the deletion.

        Args:
            dry_run: Whether to count the items without deleting them (default False).

        Raises:
            NotFoundError: if the target does not exist.
            LegalHoldError: if the space is under a legal hold.
        """
        return self._run(lambda: self._inner.forget(dry_run=dry_run))


class SpaceErasures(Blocking[AsyncSpaceErasures]):
    """The deletions in a space, with their receipts."""

    def list(self, *, limit: int = 100, after: str = "") -> Page[Erasure]:
        """List deletions in the space with actor, confirmations and receipt. Newest first.

        Entries have no text and remain after the space is deleted. Interrupted deletions are finished first.

        Args:
            limit: Maximum number of erasures (default 100).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return Page(self._run(lambda: self._inner.list(limit=limit, after=after)), self._loop)


class Timeline(Blocking[AsyncTimeline]):
    """The timeline of a space."""

    def list(
        self,
        *,
        as_of: When | None = None,
        known_at: When | None = None,
        kinds: TimelineKind
        | Literal["message", "fact", "correction", "retired", "document", "showing", "erasure"]
        | Iterable[
            TimelineKind | Literal["message", "fact", "correction", "retired", "document", "showing", "erasure"]
        ] = tuple(TimelineKind),
        limit: int = 50,
        after: str = "",
    ) -> Page[TimelineEntry]:
        """List messages, facts, document versions, uses and deletions of the space. Newest first.

        The cost of a page does not depend on the size of the space. Pages can have fewer entries than `limit`.

        Args:
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            kinds: Kinds of entries (default: all).
            limit: Maximum number of entries (default 50).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return Page(
            self._run(lambda: self._inner.list(as_of=as_of, known_at=known_at, kinds=kinds, limit=limit, after=after)),
            self._loop,
        )


class Changes(Blocking[AsyncChanges]):
    """The change feed of a space."""

    def follow(self, *, after: int | None = None) -> Iterator[Change]:
        """Yield each change of the space as it happens, in order. It never ends.

        Args:
            after: Number of the last change you have seen; 0 for all that are stored (default: from now on).

        Raises:
            VersionConflictError: if changes after this number have been deleted.
        """
        return self._iterate(self._inner.follow(after=after))

    def list(self, *, after: int | None = None, limit: int = 100, wait: float = 0.0) -> Page[Change]:
        """List changes in the space, oldest first: kinds and refs, without text.

        Continue with the number of the last change as `after`. `wait` returns as soon as something changes.

        Args:
            after: Number of the last known change; 0 starts at the oldest retained change (default: the newest
                changes).
            limit: Maximum number of changes (default 100).
            wait: Seconds to wait if there is no change yet (default 0).

        Raises:
            VersionConflictError: if changes after this number are no longer retained.
        """
        return Page(self._run(lambda: self._inner.list(after=after, limit=limit, wait=wait)), self._loop)


class SpaceCosts(Blocking[AsyncSpaceCosts]):
    """The costs of models, for a space."""

    def list(self, *, since: When | None = None, until: When | None = None) -> Page[Spending]:
        """Return the daily cost of models for the space.

        Args:
            since: First day (default: 30 days before the last).
            until: Last day (default: today).

        Raises:
            InvalidRequestError: if the range has more than 366 days.
        """
        return Page(self._run(lambda: self._inner.list(since=since, until=until)), self._loop)


class SpaceJobs(Blocking[AsyncSpaceJobs]):
    """The background jobs of a space."""

    def get(self, kind: JobKind | Literal["extract", "write", "consolidate", "index"], key: str) -> JobDetail:
        """Return a job with its failed attempts and model responses.

        Args:
            kind: Kind of the job.
            key: Key of the job, as in lists of jobs: a session id, an agent, or `space`.

        Raises:
            NotFoundError: if the space has no such job.
        """
        return self._run(lambda: self._inner.get(kind, key))

    def retry(self, kind: JobKind | Literal["extract", "write", "consolidate", "index"], key: str) -> bool:
        """Retry a failed or abandoned job. Return False for a job in any other status.

        Args:
            kind: Kind of the job.
            key: Key of the job, as in lists of jobs: a session id, an agent, or `space`.

        Raises:
            NotFoundError: if the space has no such job.
        """
        return self._run(lambda: self._inner.retry(kind, key))

    def list(
        self,
        *,
        status: JobStatus | Literal["waiting", "queued", "running", "failed", "done", "abandoned"] | None = None,
        kind: JobKind | Literal["extract", "write", "consolidate", "index"] | None = None,
        limit: int = 50,
        after: str = "",
    ) -> Page[Job]:
        """List jobs of the space by status and kind. Most recently queued first.

        Args:
            status: Status of the jobs (default: any).
            kind: Kind of the jobs (default: any).
            limit: Maximum number of jobs (default 50).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return Page(self._run(lambda: self._inner.list(status=status, kind=kind, limit=limit, after=after)), self._loop)


class Rules(Blocking[AsyncRules]):
    """The learning rules of a space."""

    def preview(
        self,
        messages: MessagesLike,
        *,
        rules: LearningRules | None = None,
        conversation: str = "preview",
        agent: str = "assistant",
    ) -> Preview:
        """Preview the facts that Bethink would learn from messages. Nothing is stored.

        Calls the model with the existing facts, as learning does. The cost counts toward the daily budget.

        Args:
            messages: Messages, oldest first. A string is one user message.
            rules: Learning rules to try (default: the stored rules).
            conversation: Name of the conversation (default `preview`). The model is given its channel.
            agent: Agent whose rules apply (default `assistant`).

        Raises:
            InvalidRequestError: if no model is configured.
            ConflictError: if the daily budget is spent.
        """
        return self._run(lambda: self._inner.preview(messages, rules=rules, conversation=conversation, agent=agent))

    def get(self, agent: str | None = None) -> LearningRules:
        """Return the learning rules of the space or of one agent.

        Args:
            agent: Agent (default: the whole space). An agent without own rules has those of the space.
        """
        return self._run(lambda: self._inner.get(agent))

    def set(self, rules: LearningRules, *, agent: str | None = None) -> LearningRules:
        """Set the learning rules of the space or of one agent, and return the stored rules.

        Rules instruct the learning model from now on. Facts still need quotes.

        Args:
            rules: Rules that replace all previous rules.
            agent: Agent that follows the rules (default: the whole space).
        """
        return self._run(lambda: self._inner.set(rules, agent=agent))


class SpaceAdmin(Blocking[AsyncSpaceAdmin]):
    """Administration of one space."""

    def export_archive(self, path: "Path | str") -> ArchiveManifest:
        """Write everything in the space to one file: every message, fact, document and thread in all its versions.

        The file is a zip of JSON Lines that `memory.admin.import_archive` reads, with pages for a browser. The same
        content gives the same bytes. It appears when it is complete, and replaces an existing file.

        Args:
            path: File to write.

        Raises:
            NotFoundError: if the space does not exist.
        """
        return self._run(lambda: self._inner.export_archive(path))

    @property
    def rules(self) -> "Rules":
        """The learning rules of a space."""
        return Rules(self._inner.rules, self._loop)

    @property
    def jobs(self) -> "SpaceJobs":
        """The background jobs of a space."""
        return SpaceJobs(self._inner.jobs, self._loop)

    @property
    def costs(self) -> "SpaceCosts":
        """The costs of models, for a space."""
        return SpaceCosts(self._inner.costs, self._loop)

    @property
    def changes(self) -> "Changes":
        """The change feed of a space."""
        return Changes(self._inner.changes, self._loop)

    @property
    def timeline(self) -> "Timeline":
        """The timeline of a space."""
        return Timeline(self._inner.timeline, self._loop)

    @property
    def erasures(self) -> "SpaceErasures":
        """The deletions in a space, with their receipts."""
        return SpaceErasures(self._inner.erasures, self._loop)

    @property
    def context_log(self) -> "ContextLog":
        """The memories that were shown to sessions."""
        return ContextLog(self._inner.context_log, self._loop)

    @property
    def tests(self) -> "MemoryTests":
        """The memory tests of a space."""
        return MemoryTests(self._inner.tests, self._loop)

    @property
    def people(self) -> "SpacePeople":
        """Data about a person, in one space."""
        return SpacePeople(self._inner.people, self._loop)

    @property
    def relearning(self) -> "Relearnings":
        """Proposals from learning a space again."""
        return Relearnings(self._inner.relearning, self._loop)

    @property
    def retention(self) -> "SpaceRetention":
        """The retention rules of a space."""
        return SpaceRetention(self._inner.retention, self._loop)

    @property
    def holds(self) -> "SpaceHolds":
        """The legal holds on a space."""
        return SpaceHolds(self._inner.holds, self._loop)

    def learn(
        self,
        *,
        kinds: JobKind
        | Literal["extract", "write", "consolidate", "index"]
        | Iterable[JobKind | Literal["extract", "write", "consolidate", "index"]]
        | None = None,
    ) -> LearnReport:
        """Run all queued learning jobs of the space once, and return a report.

        The report includes background jobs of this process since the last call. With a model, learning runs
        automatically: call this to wait for it.

        Args:
            kinds: Kinds of jobs to run (default: all).
        """
        return self._run(lambda: self._inner.learn(kinds=kinds))

    def health(self) -> SpaceInfo:
        """Summarize failed jobs and pending reviews."""
        return self._run(lambda: self._inner.health())


class Reviews(Blocking[AsyncReviews]):
    """The claims of a space that need review."""

    def count(self) -> dict[str, int]:
        """Return the number of claims by status."""
        return self._run(lambda: self._inner.count())

    def get(self, review_id: str) -> Review:
        """Return a claim with its quotes, the reason for the review, and the decision.

        Args:
            review_id: Id of the claim, as in `reviews.list`.

        Raises:
            NotFoundError: if the space has no such claim.
        """
        return self._run(lambda: self._inner.get(review_id))

    def propose(
        self,
        ref: Ref | str,
        *,
        text: str | None = None,
        kind: FactKind
        | Literal[
            "detail", "knowledge", "decision", "goal", "event", "preference", "instruction", "procedure"
        ] = FactKind.KNOWLEDGE,
    ) -> Review:
        """Propose a message as a fact. The claim needs a person's approval.

        Proposing the same message again returns the existing claim.

        Args:
            ref: Ref of the message, as in results: `message:session:number`.
            text: Statement of the fact, in one sentence (default: the text of the message).
            kind: Kind of the fact (default `knowledge`).

        Raises:
            NotFoundError: if the space has no such message.
            InvalidRequestError: if the text is too long for a statement.
        """
        return self._run(lambda: self._inner.propose(ref, text=text, kind=kind))

    def approve(self, review_id: str, *, text: str | None = None, note: str | None = None) -> Review:
        """Approve a claim, optionally with different text. It becomes a fact with the evidence `stated`.

        The new fact replaces or ends the facts named in the claim. Refused claims can be approved too.

        Args:
            review_id: Id of the claim, as in `reviews.list`.
            text: Replacement text of the fact, in one sentence (default: the text of the claim).
            note: Reason, stored with the decision.

        Raises:
            NotFoundError: if the space has no such claim.
            ConflictError: if the claim is already approved or rejected.
            InvalidRequestError: if the claim quotes no message.
        """
        return self._run(lambda: self._inner.approve(review_id, text=text, note=note))

    def reject(self, review_id: str, *, note: str | None = None) -> Review:
        """Reject a claim. It stays listed as rejected.

        Args:
            review_id: Id of the claim, as in `reviews.list`.
            note: Reason, stored with the decision.

        Raises:
            NotFoundError: if the space has no such claim.
            ConflictError: if the claim is already approved or rejected.
        """
        return self._run(lambda: self._inner.reject(review_id, note=note))

    def approve_many(self, review_ids: str | Iterable[str], *, note: str | None = None) -> list[Review]:
        """Approve several claims unchanged: all or none.

        Args:
            review_ids: Ids of the claims, as in `reviews.list`.
            note: Reason, stored with each decision.

        Raises:
            NotFoundError: if the space has no such claim.
            ConflictError: if the claim is already approved or rejected.
            InvalidRequestError: if a claim quotes no message.
        """
        return self._run(lambda: self._inner.approve_many(review_ids, note=note))

    def reject_many(self, review_ids: str | Iterable[str], *, note: str | None = None) -> list[Review]:
        """Reject several claims: all or none.

        Args:
            review_ids: Ids of the claims, as in `reviews.list`.
            note: Reason, stored with each decision.

        Raises:
            NotFoundError: if the space has no such claim.
            ConflictError: if the claim is already approved or rejected.
        """
        return self._run(lambda: self._inner.reject_many(review_ids, note=note))

    def list(
        self,
        *,
        status: ReviewStatus | Literal["pending", "refused", "approved", "rejected"] = ReviewStatus.PENDING,
        limit: int = 100,
        after: str = "",
    ) -> Page[Review]:
        """List claims that need review, with quotes and reason. Newest first.

        Args:
            status: Status of the claims: `pending` (default), `refused`, `approved` or `rejected`.
            limit: Maximum number of claims (default 100).
            after: Cursor of the next page: the `next` of the previous page, or its last id.

        Raises:
            NotFoundError: if the claim `after` does not exist.
        """
        return Page(self._run(lambda: self._inner.list(status=status, limit=limit, after=after)), self._loop)


class Threads(Blocking[AsyncThreads]):
    """The working memory of a space."""

    def engine(self) -> "WorkingMemory":
        """Return the working memory with its queue, locks and observers. Requires a database in this process."""
        return WorkingMemory(self._inner.engine(), self._loop)

    def open(
        self,
        thread_id: str | None = None,
        *,
        session_id: str | None = None,
        mode: Mode | Literal["auto", "stepping"] | None = None,
    ) -> Thread:
        """Return the thread with this id, or create it.

        Args:
            thread_id: Id of the thread (default: a new id).
            session_id: Id of the session that the thread belongs to (default: none).
            mode: `auto` (default) processes events on arrival; `stepping` processes one event for each `step`.
        """
        return self._run(lambda: self._inner.open(thread_id, session_id=session_id, mode=mode))

    def get(self, thread_id: str) -> Thread:
        """Return a thread.

        Args:
            thread_id: Id of the thread.

        Raises:
            NotFoundError: if the space has no such thread.
        """
        return self._run(lambda: self._inner.get(thread_id))

    def dispatch(self, thread_id: str, event: Event) -> DispatchResult:
        """Queue an event. In auto mode, process it, and truncate or compact the thread if necessary.

        Args:
            thread_id: Id of the thread.
            event: Event, such as a message or a tool result.

        Raises:
            InvalidRequestError: if the event cannot be processed; `failed_events` then lists it.
        """
        return self._run(lambda: self._inner.dispatch(thread_id, event))

    def step(self, thread_id: str) -> StepResult:
        """Process one queued event. Without one, truncate or compact the thread if necessary.

        Args:
            thread_id: Id of the thread.

        Raises:
            ConflictError: if the thread is in auto mode or another step is running.
        """
        return self._run(lambda: self._inner.step(thread_id))

    def set_mode(self, thread_id: str, mode: Mode | Literal["auto", "stepping"]) -> DispatchResult:
        """Set the mode of a thread. A change to auto mode processes the queued events.

        Args:
            thread_id: Id of the thread.
            mode: `auto` or `stepping`.
        """
        return self._run(lambda: self._inner.set_mode(thread_id, mode))

    def queue(self, thread_id: str) -> list[QueuedEvent]:
        """Return the queued events, in order of processing.

        Args:
            thread_id: Id of the thread.

        Raises:
            NotFoundError: if the space has no such thread.
        """
        return self._run(lambda: self._inner.queue(thread_id))

    def failed_events(self, thread_id: str) -> list[FailedEvent]:
        """Return the events that could not be processed, with the reason.

        Args:
            thread_id: Id of the thread.

        Raises:
            NotFoundError: if the space has no such thread.
        """
        return self._run(lambda: self._inner.failed_events(thread_id))

    def states(self, thread_id: str, *, after: int | None = None, limit: int | None = None) -> list[StateInfo]:
        """Return the states of a thread without chunks. Oldest first.

        Args:
            thread_id: Id of the thread.
            after: Number of the last state before the page (default: start at the first state).
            limit: Maximum number of states (default: all).

        Raises:
            NotFoundError: if the space has no such thread.
        """
        return self._run(lambda: self._inner.states(thread_id, after=after, limit=limit))

    def state(self, thread_id: str, number: int | None = None) -> State:
        """Return a state of a thread with its chunks.

        Args:
            thread_id: Id of the thread.
            number: Number of the state (default: the current state).

        Raises:
            NotFoundError: if the space has no such thread.
        """
        return self._run(lambda: self._inner.state(thread_id, number))

    def diff(self, thread_id: str, before: int, after: int) -> StateDiff:
        """Return the difference between two states of a thread.

        Args:
            thread_id: Id of the thread.
            before: Number of the first state.
            after: Number of the second state.

        Raises:
            NotFoundError: if the space has no such thread.
        """
        return self._run(lambda: self._inner.diff(thread_id, before, after))

    def prompt(self, thread_id: str, budget: int) -> Prompt:
        """Build a prompt from the current state within a token budget, with a report on every chunk.

        Args:
            thread_id: Id of the thread.
            budget: Maximum number of tokens of the prompt.

        Raises:
            NotFoundError: if the space has no such thread.
        """
        return self._run(lambda: self._inner.prompt(thread_id, budget))

    def tokens(self, thread_id: str) -> TokenUsage:
        """Return the token count of a thread and its thresholds for compaction and truncation.

        Args:
            thread_id: Id of the thread.

        Raises:
            NotFoundError: if the space has no such thread.
        """
        return self._run(lambda: self._inner.tokens(thread_id))

    def fork(
        self,
        thread_id: str,
        at: int,
        *,
        into: str | None = None,
        mode: Mode | Literal["auto", "stepping"] | None = None,
    ) -> Thread:
        """Create a new thread that starts with a state of this one.

        Deleting the conversation of this thread also deletes the new thread.

        Args:
            thread_id: Id of the thread.
            at: Number of the state that the new thread starts with.
            into: Id of the new thread (default: a new id).
            mode: Mode of the new thread: `auto` or `stepping` (default `auto`).

        Raises:
            NotFoundError: if the space has no such thread.
        """
        return self._run(lambda: self._inner.fork(thread_id, at, into=into, mode=mode))

    def replay(self, thread_id: str) -> list[Chunk]:
        """Rebuild the current state from the events, without calling a model, and return its chunks.

        Args:
            thread_id: Id of the thread.

        Raises:
            NotFoundError: if the space has no such thread.
        """
        return self._run(lambda: self._inner.replay(thread_id))

    def list(self, *, limit: int = 100, after: str = "") -> Page[Thread]:
        """List the threads of the space, ordered by id.

        Args:
            limit: Maximum number of threads (default 100).
            after: Cursor of the next page: the `next` of the previous page, or its last id.
        """
        return Page(self._run(lambda: self._inner.list(limit=limit, after=after)), self._loop)


class DocumentChanges(Blocking[AsyncDocumentChanges]):
    """Changes that were made or proposed to documents."""

    def approve(
        self, run: str, *, paths: str | Iterable[str] | None = None, texts: Mapping[str, str] | None = None
    ) -> None:
        """Approve pending document changes, entirely, in part or with edited text.

        Args:
            run: Id of the run that proposed or made the changes.
            paths: Paths of the documents to change (default: all). Changes to other documents are discarded.
            texts: Replacement text for documents, by path.

        Raises:
            NotFoundError: if the change set does not exist.
            ConflictError: if the change set is not pending.
            VersionConflictError: if the documents changed since the proposal.
            InvalidRequestError: if a path is not in the change set.
        """
        return self._run(lambda: self._inner.approve(run, paths=paths, texts=texts))

    def reject(self, run: str) -> None:
        """Reject pending document changes and discard their text.

        Args:
            run: Id of the run that proposed or made the changes.

        Raises:
            NotFoundError: if the change set does not exist.
            ConflictError: if the change set is not pending.
        """
        return self._run(lambda: self._inner.reject(run))

    def undo(self, run: str) -> None:
        """Undo the document changes of a run.

        Args:
            run: Id of the run that proposed or made the changes.

        Raises:
            ConflictError: if a document changed again after the run.
        """
        return self._run(lambda: self._inner.undo(run))

    def list(self, *, limit: int = 100, after: str = "") -> Page[ChangeSet]:
        """List applied and pending document changes. Newest first.

        Args:
            limit: Maximum number of change sets (default 100).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return Page(self._run(lambda: self._inner.list(limit=limit, after=after)), self._loop)


class Documents(Blocking[AsyncDocuments]):
    """The documents of a space."""

    @property
    def changes(self) -> "DocumentChanges":
        """Changes that were made or proposed to documents."""
        return DocumentChanges(self._inner.changes, self._loop)

    def refresh(self) -> bool:
        """Queue an update of the documents from learned data. A worker runs it.

        Raises:
            NotFoundError: if the space does not exist.
        """
        return self._run(lambda: self._inner.refresh())

    def search(
        self, query: str, *, as_of: When | None = None, known_at: When | None = None, limit: int = 10
    ) -> list[Document]:
        """Search documents by words. Best match first.

        Args:
            query: Words to search for.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            limit: Maximum number of documents (default 10).
        """
        return self._run(lambda: self._inner.search(query, as_of=as_of, known_at=known_at, limit=limit))

    def find(
        self,
        path: str | None = None,
        *,
        as_of: When | None = None,
        known_at: When | None = None,
        idempotency_key: str | None = None,
    ) -> Document | None:
        """Return the document at a path or written with an idempotency key, or None.

        Args:
            path: Path of the document, such as `~/memory/people`.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            idempotency_key: Idempotency key of the write, instead of a path.
        """
        return self._run(
            lambda: self._inner.find(path, as_of=as_of, known_at=known_at, idempotency_key=idempotency_key)
        )

    def children(
        self, document_id: str | None = None, *, as_of: When | None = None, known_at: When | None = None
    ) -> list[Document]:
        """Return the children of a document or of the top of the tree, ordered by name.

        Args:
            document_id: Id of the parent document (default: the top of the tree).
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
        """
        return self._run(lambda: self._inner.children(document_id, as_of=as_of, known_at=known_at))

    def outline(
        self,
        document_id: str | None = None,
        *,
        as_of: When | None = None,
        known_at: When | None = None,
        limit: int = 50,
        after: str = "",
    ) -> Page[OutlineEntry]:
        """Return child documents without text, each with the number of its own children.

        Args:
            document_id: Id of the parent document (default: the top of the tree).
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            limit: Maximum number of documents (default 50).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return Page(
            self._run(
                lambda: self._inner.outline(document_id, as_of=as_of, known_at=known_at, limit=limit, after=after)
            ),
            self._loop,
        )

    def get(self, document_id: str, *, as_of: When | None = None, known_at: When | None = None) -> Document:
        """Return a document.

        Args:
            document_id: Id of the document.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.

        Raises:
            NotFoundError: if the space has no such document.
        """
        return self._run(lambda: self._inner.get(document_id, as_of=as_of, known_at=known_at))

    def create(
        self,
        draft: DocumentDraft,
        *,
        idempotency_key: str | None = None,
        document_id: str | None = None,
        agent: str | None = None,
        provenance: Provenance | None = None,
    ) -> Document:
        """Create a document. Secrets are removed from the text.

        Args:
            draft: Title, text and position in the tree.
            idempotency_key: Key of this request. Repeating the request with the same key stores nothing twice
                (default: a new key).
            document_id: Id of the document (default: a new id).
            agent: Agent that wrote the text (default: the user). Text of an agent has the origin `assistant`.
            provenance: Author, origin and sources (default: the user, without sources).

        Raises:
            DuplicateError: if the id or the path already exists.
            ConflictError: if another write used the idempotency key.
            ErasedKeyError: if the write with this key was deleted in the last 30 days.
        """
        return self._run(
            lambda: self._inner.create(
                draft, idempotency_key=idempotency_key, document_id=document_id, agent=agent, provenance=provenance
            )
        )

    def update(
        self,
        document_id: str,
        draft: DocumentDraft,
        if_version: int,
        *,
        idempotency_key: str | None = None,
        reason: str = "",
        agent: str | None = None,
        provenance: Provenance | None = None,
    ) -> Document:
        """Write the next version of a document.

        Args:
            document_id: Id of the document.
            draft: Title, text and position in the tree.
            if_version: Version that you read: the current version.
            idempotency_key: Key of this request. Repeating the request with the same key stores nothing twice
                (default: a new key).
            reason: Reason for the change, stored with the version.
            agent: Agent that changed the text (default: the user). The document then has the origin `assistant`.
            provenance: Author, origin and sources (default: the user, with the sources of the previous version).

        Raises:
            VersionConflictError: if `if_version` is not the current version.
            ConflictError: if another write used the idempotency key.
            ErasedKeyError: if the write with this key was deleted in the last 30 days.
        """
        return self._run(
            lambda: self._inner.update(
                document_id,
                draft,
                if_version,
                idempotency_key=idempotency_key,
                reason=reason,
                agent=agent,
                provenance=provenance,
            )
        )

    def delete(
        self, document_id: str, if_version: int, *, idempotency_key: str | None = None, missing_ok: bool = False
    ) -> None:
        """Delete a document without children or incoming links.

        Past versions remain readable. `forget` deletes them permanently.

        Args:
            document_id: Id of the document.
            if_version: Version that you read: the current version.
            idempotency_key: Key of this request. Repeating the request with the same key stores nothing twice
                (default: a new key).
            missing_ok: Whether to ignore a missing document instead of raising `NotFoundError` (default False).

        Raises:
            VersionConflictError: if `if_version` is not the current version.
            ConflictError: if the document has children or incoming links.
        """
        return self._run(
            lambda: self._inner.delete(document_id, if_version, idempotency_key=idempotency_key, missing_ok=missing_ok)
        )

    def restore(self, document_id: str, version: int, if_version: int | None) -> Document:
        """Restore an old version as the newest one.

        Args:
            document_id: Id of the document.
            version: Version to restore.
            if_version: Current version; None if the document was deleted.

        Raises:
            VersionConflictError: if `if_version` is not the current version.
        """
        return self._run(lambda: self._inner.restore(document_id, version, if_version))

    def versions(self, document_id: str) -> list[Document]:
        """Return all versions of a document with text, author and reason. Oldest first.

        Args:
            document_id: Id of the document.
        """
        return self._run(lambda: self._inner.versions(document_id))

    def history(self, document_id: str, *, limit: int = 50, after: str = "") -> Page[DocumentEntry]:
        """List versions of a document with time, author and reason, without text. Newest first.

        Args:
            document_id: Id of the document.
            limit: Maximum number of versions (default 50).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return Page(self._run(lambda: self._inner.history(document_id, limit=limit, after=after)), self._loop)

    def blame(self, document_id: str, *, version: int | None = None) -> Blame:
        """Return each line of a document with the version that added it, its author and sources.

        Compares up to 200 versions. Older lines are attributed to the oldest compared version.

        Args:
            document_id: Id of the document.
            version: Version of the document (default: the newest).

        Raises:
            NotFoundError: if the space has no such document.
        """
        return self._run(lambda: self._inner.blame(document_id, version=version))

    def diff(self, document_id: str, before: int, after: int) -> str:
        """Return the line-by-line difference between two versions of a document.

        Args:
            document_id: Id of the document.
            before: First version; 0 is an empty document.
            after: Second version.

        Raises:
            NotFoundError: if the version does not exist.
        """
        return self._run(lambda: self._inner.diff(document_id, before, after))

    def sources(self, document_id: str, version: int) -> list[DocumentSource]:
        """Return the sources of a version: session summaries, facts and messages.

        Args:
            document_id: Id of the document.
            version: Version of the document.
        """
        return self._run(lambda: self._inner.sources(document_id, version))

    def read_all(self) -> dict[str, str]:
        """Return all memory documents as text by file name, as of the last consolidation."""
        return self._run(lambda: self._inner.read_all())

    def list(
        self,
        *,
        as_of: When | None = None,
        known_at: When | None = None,
        prefix: str = "",
        limit: int | None = None,
        after: str = "",
    ) -> Page[TreeEntry]:
        """List documents, ordered by path, without their text.

        Args:
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            prefix: Start of the path, such as `~/memory/people/` (default: all paths).
            limit: Maximum number of documents (default: all).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return Page(
            self._run(
                lambda: self._inner.list(as_of=as_of, known_at=known_at, prefix=prefix, limit=limit, after=after)
            ),
            self._loop,
        )


class Facts(Blocking[AsyncFacts]):
    """The facts of a space."""

    def pin(self, ref: Ref | str) -> Fact:
        """Pin a fact, so that `context` always includes it while it is current.

        A corrected fact stays pinned. A different fact that replaces it is not pinned.

        Args:
            ref: Ref of the fact in any version: `fact:id:version`, as in results.

        Raises:
            NotFoundError: if the space has no such current fact.
        """
        return self._run(lambda: self._inner.pin(ref))

    def unpin(self, ref: Ref | str) -> Fact:
        """Unpin a fact.

        Args:
            ref: Ref of the fact in any version: `fact:id:version`, as in results.

        Raises:
            NotFoundError: if the space has no such current fact.
        """
        return self._run(lambda: self._inner.unpin(ref))

    def rate(
        self,
        ref: Ref | str,
        verdict: FactVerdict | Literal["useful", "wrong", "outdated"],
        *,
        note: str | None = None,
        actor: str = "user",
    ) -> Feedback:
        """Rate a fact as useful, wrong or outdated.

        `useful` marks the fact as used. `wrong` sends the fact to review and hides it until approval. `outdated`
        ends the fact now.

        Args:
            ref: Ref of the fact in its current version: `fact:id:version`, as in results.
            verdict: Rating: `useful`, `wrong` or `outdated`.
            note: Reason for the rating.
            actor: Name of the person who rates the fact, stored unverified (default `user`).

        Raises:
            NotFoundError: if the space has no such fact.
            VersionConflictError: if the ref does not name the current version.
        """
        return self._run(lambda: self._inner.rate(ref, verdict, note=note, actor=actor))

    def history(
        self,
        *,
        as_of: When | None = None,
        known_at: When | None = None,
        status: FactStatus
        | Literal["current", "upcoming", "doubtful", "ended", "replaced", "corrected", "pending", "earlier"]
        | None = None,
        subject: str | None = None,
        slot: str | None = None,
        kind: FactKind
        | Literal["detail", "knowledge", "decision", "goal", "event", "preference", "instruction", "procedure"]
        | None = None,
        origin: str | None = None,
        order: Order | Literal["newest", "oldest"] = Order.NEWEST,
        limit: int = 50,
        after: str = "",
    ) -> Page[FactEntry]:
        """List fact versions by time, including replaced ones, each with its replacement.

        Each version is one entry. The cost of a page does not depend on the number of facts.

        Args:
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            status: Status: `current`, `upcoming`, `doubtful`, `ended`, `replaced`, `corrected` or `pending`
                (default: all).
            subject: Subject of the facts (default: any).
            slot: Slot of the facts, such as `home` (default: any).
            kind: Kind of the facts (default: any).
            origin: Origin of the facts (default: any).
            order: `newest` (default) or `oldest` first, by `recorded_at`.
            limit: Maximum number of facts (default 50).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return Page(
            self._run(
                lambda: self._inner.history(
                    as_of=as_of,
                    known_at=known_at,
                    status=status,
                    subject=subject,
                    slot=slot,
                    kind=kind,
                    origin=origin,
                    order=order,
                    limit=limit,
                    after=after,
                )
            ),
            self._loop,
        )

    def search(
        self,
        query: str,
        *,
        origin: str | Iterable[str] | None = None,
        tags: str | Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        limit: int = 10,
    ) -> list[Fact]:
        """Search facts by words. Best match first.

        Args:
            query: Words to search for. A phrase in double quotes must match exactly.
            origin: Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
            tags: Tags that every item must have.
            agent: Agent of the sessions (default: any).
            conversation: Name of the conversation (default: any).
            speaker: Speaker of a message, or of a fact's source messages (default: any).
            since: Earliest time of items (default: no limit). A date means the start of that day.
            until: Latest time of items (default: no limit). A date means the end of that day.
            where: Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            limit: Maximum number of facts (default 10).
        """
        return self._run(
            lambda: self._inner.search(
                query,
                origin=origin,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                as_of=as_of,
                known_at=known_at,
                limit=limit,
            )
        )

    def count(self) -> int:
        """Return the number of current facts: neither ended, expired nor replaced."""
        return self._run(lambda: self._inner.count())

    def get(self, fact_id: str) -> Fact:
        """Return the current version of a fact.

        Args:
            fact_id: Id of the fact, or its ref in any version.

        Raises:
            NotFoundError: if the space has no such current fact.
        """
        return self._run(lambda: self._inner.get(fact_id))

    def save(self, fact: Fact, *, if_version: int | None = None) -> Fact:
        """Store a fact and return it as stored.

        Args:
            fact: The fact. It replaces the current version with the same id, which `as_of` still finds.
            if_version: Version that the fact replaces; 0 if the fact is new (default: any version).

        Raises:
            VersionConflictError: if `if_version` is not the current version.
            ErasedKeyError: if `if_version` is 0 and the fact with this id was deleted in the last 30 days.
        """
        return self._run(lambda: self._inner.save(fact, if_version=if_version))

    def versions(self, fact_id: str) -> list[Fact]:
        """Return all versions of a fact, including replaced ones. Oldest first.

        An unknown or deleted fact has none.

        Args:
            fact_id: Id of the fact, or its ref in any version.
        """
        return self._run(lambda: self._inner.versions(fact_id))

    def sources(self, fact_id: str) -> list[SourceMessage]:
        """Return the messages that a learned fact is based on.

        Args:
            fact_id: Id of the fact, or its ref in any version.
        """
        return self._run(lambda: self._inner.sources(fact_id))

    def quotes(self, fact_id: str) -> list[Quote]:
        """Return the quotes that a learned fact is based on, one for each mention.

        Args:
            fact_id: Id of the fact, or its ref in any version.
        """
        return self._run(lambda: self._inner.quotes(fact_id))

    def list(
        self,
        *,
        origin: str | Iterable[str] | None = None,
        tags: str | Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        pinned: bool = False,
        limit: int = 100,
        after: str = "",
    ) -> Page[Fact]:
        """List current facts, with upcoming and doubtful ones, ordered by id.

        Facts that have ended, expired or been replaced or corrected are in `history`.

        Args:
            origin: Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
            tags: Tags that every item must have.
            agent: Agent of the sessions (default: any).
            conversation: Name of the conversation (default: any).
            speaker: Speaker of a message, or of a fact's source messages (default: any).
            since: Earliest time of items (default: no limit). A date means the start of that day.
            until: Latest time of items (default: no limit). A date means the end of that day.
            where: Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            pinned: Whether to list only pinned facts, in the order they were pinned (default False). Excludes
                filters.
            limit: Maximum number of facts (default 100).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return Page(
            self._run(
                lambda: self._inner.list(
                    origin=origin,
                    tags=tags,
                    agent=agent,
                    conversation=conversation,
                    speaker=speaker,
                    since=since,
                    until=until,
                    where=where,
                    as_of=as_of,
                    known_at=known_at,
                    pinned=pinned,
                    limit=limit,
                    after=after,
                )
            ),
            self._loop,
        )


class Sessions(Blocking[AsyncSessions]):
    """The sessions of a space."""

    def history(self, *, agent: str = "assistant") -> "History":
        """Return the history of an agent's conversations. Requires a database in this process.

        Args:
            agent: Name of the agent.
        """
        return History(self._inner.history(agent=agent), self._loop)

    def live(self, conversation: str, *, agent: str = "assistant") -> "LiveHistory":
        """Return the history that an agent works on: restored, trimmed, and written in the background.

        If memory is switched off, messages stay in this process only. It needs a database in this process.

        Args:
            conversation: Name of the conversation.
            agent: Name of the agent.
        """
        return LiveHistory(self._inner.live(conversation, agent=agent), self._loop)

    def find(self, conversation: str, *, agent: str = "assistant") -> "Session | None":
        """Return the newest session of a conversation, or None, without opening one.

        The session may have ended.

        Args:
            conversation: Name of the conversation.
            agent: Agent in the conversation (default `assistant`).
        """
        return (
            None
            if (result := self._run(lambda: self._inner.find(conversation, agent=agent))) is None
            else Session(result, self._loop)
        )

    def get(self, session_id: str) -> "Session":
        """Return a session.

        Args:
            session_id: Id of the session.

        Raises:
            NotFoundError: if the space has no such session.
        """
        return Session(self._run(lambda: self._inner.get(session_id)), self._loop)

    def relearn(self, session_id: str) -> bool:
        """Retry learning from a session. Return False if learning had not failed.

        After a model was set, this also learns from sessions that were processed without a model.

        Args:
            session_id: Id of the session.

        Raises:
            NotFoundError: if the space has no such session.
        """
        return self._run(lambda: self._inner.relearn(session_id))

    def list(
        self,
        *,
        origin: str | Iterable[str] | None = None,
        tags: str | Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        limit: int = 100,
        after: str = "",
        state: SessionState | Literal["open", "queued", "learned", "failed", "ephemeral"] | None = None,
        conversation_prefix: str | None = None,
    ) -> Page[SessionEntry]:
        """List the sessions of the space. Newest first.

        Args:
            origin: Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
            tags: Tags that every item must have.
            agent: Agent of the sessions (default: any).
            conversation: Name of the conversation (default: any).
            speaker: Speaker of a message, or of a fact's source messages (default: any).
            since: Earliest time of items (default: no limit). A date means the start of that day.
            until: Latest time of items (default: no limit). A date means the end of that day.
            where: Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`.
            limit: Maximum number of sessions (default 100).
            after: Cursor of the next page: the `next` of the previous page.
            state: State: `open`, `queued`, `learned`, `failed` or `ephemeral` (default: any).
            conversation_prefix: Start of the conversation name (default: all conversations).
        """
        return Page(
            self._run(
                lambda: self._inner.list(
                    origin=origin,
                    tags=tags,
                    agent=agent,
                    conversation=conversation,
                    speaker=speaker,
                    since=since,
                    until=until,
                    where=where,
                    limit=limit,
                    after=after,
                    state=state,
                    conversation_prefix=conversation_prefix,
                )
            ),
            self._loop,
        )


class Space(Blocking[AsyncSpace]):
    """One space: the memory of a user, a project or a team."""

    @property
    def name(self) -> str:
        """The name of the space."""
        return self._inner.name

    @property
    def sessions(self) -> "Sessions":
        """The sessions of a space."""
        return Sessions(self._inner.sessions, self._loop)

    @property
    def facts(self) -> "Facts":
        """The facts of a space."""
        return Facts(self._inner.facts, self._loop)

    @property
    def documents(self) -> "Documents":
        """The documents of a space."""
        return Documents(self._inner.documents, self._loop)

    @property
    def threads(self) -> "Threads":
        """The working memory of a space."""
        return Threads(self._inner.threads, self._loop)

    @property
    def reviews(self) -> "Reviews":
        """The claims of a space that need review."""
        return Reviews(self._inner.reviews, self._loop)

    @property
    def admin(self) -> "SpaceAdmin":
        """Administration of one space."""
        return SpaceAdmin(self._inner.admin, self._loop)

    @property
    def files(self) -> "Files":
        """The files of a space, stored as searchable passages."""
        return Files(self._inner.files, self._loop)

    def remember(
        self,
        messages: MessagesLike,
        *,
        idempotency_key: str | None = None,
        conversation: str = "notes",
        session_id: str | None = None,
        agent: str = "assistant",
        tags: str | Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> Remembered:
        """Store a user message, or a list of messages.

        The messages are durable when the call returns. Bethink learns from them in the background.

        Args:
            messages: Messages, oldest first. A string is one user message.
            idempotency_key: Key of this request. Repeating the request with the same key stores nothing twice
                (default: a new key).
            conversation: Name of the conversation, such as `telegram-42` (default `notes`).
            session_id: Id of an open session to append to (default: the active session of the conversation).
            agent: Agent in the conversation (default `assistant`).
            tags: Tags to add to each message.
            metadata: Metadata to add to each message. Values of the message itself take precedence.

        Raises:
            ConflictError: if another message used the idempotency key.
            ErasedKeyError: if the message with this key was deleted in the last 30 days.
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
        origin: str | Iterable[str] | None = None,
        tags: str | Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        budget: int | None = None,
        session_id: str | None = None,
        kinds: RefKind
        | Literal["message", "fact", "session_summary", "document"]
        | Iterable[RefKind | Literal["message", "fact", "session_summary", "document"]] = tuple(RefKind),
        limit: int = 10,
        min_certainty: Certainty | Literal["high", "fair", "weak"] | None = None,
        explain: bool = False,
    ) -> RecallResult:
        """Search memory. Best match first.

        If there is no match, `note` says why.

        Args:
            question: Question or words to search for.
            origin: Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
            tags: Tags that every item must have.
            agent: Agent of the sessions (default: any).
            conversation: Name of the conversation (default: any).
            speaker: Speaker of a message, or of a fact's source messages (default: any).
            since: Earliest time of items (default: no limit). A date means the start of that day.
            until: Latest time of items (default: no limit). A date means the end of that day.
            where: Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            budget: Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`).
            session_id: Id of the requesting session. The context log records the result, and the question itself is
                excluded.
            kinds: Kinds of memory to use (default: all).
            limit: Maximum number of results (default 10).
            min_certainty: Minimum certainty of matches: `high`, `fair` or `weak` (default `weak`).
            explain: Whether to also return all candidates with their signals and outcome (default False).
        """
        return self._run(
            lambda: self._inner.recall(
                question,
                origin=origin,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                as_of=as_of,
                known_at=known_at,
                budget=budget,
                session_id=session_id,
                kinds=kinds,
                limit=limit,
                min_certainty=min_certainty,
                explain=explain,
            )
        )

    def ask(
        self,
        question: str,
        *,
        origin: str | Iterable[str] | None = None,
        tags: str | Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        budget: int | None = None,
        session_id: str | None = None,
        kinds: RefKind
        | Literal["message", "fact", "session_summary", "document"]
        | Iterable[RefKind | Literal["message", "fact", "session_summary", "document"]] = tuple(RefKind),
        limit: int = 20,
        min_certainty: Certainty | Literal["high", "fair", "weak"] | None = None,
        spaces: str | Iterable[str] = (),
        exclude: Ref | str | Iterable[Ref | str] = (),
        timeout: float = 60.0,
        on_sentence: Callable[[AnswerSentence], None] | None = None,
    ) -> Answer:
        """Answer a question from memory, with sources for each sentence.

        Calls the model, which may ask for two more searches. Sentences without a supporting memory are removed; if
        none remains, `refusal` is the reason. Cited memories are marked as used. `budget` limits the memories that
        the model reads (default 4,000 tokens).

        Args:
            question: Question or words to search for.
            origin: Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
            tags: Tags that every item must have.
            agent: Agent of the sessions (default: any).
            conversation: Name of the conversation (default: any).
            speaker: Speaker of a message, or of a fact's source messages (default: any).
            since: Earliest time of items (default: no limit). A date means the start of that day.
            until: Latest time of items (default: no limit). A date means the end of that day.
            where: Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            budget: Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`).
            session_id: Id of the requesting session. The context log records the result, and the question itself is
                excluded.
            kinds: Kinds of memory to use (default: all).
            limit: Maximum number of memories that the model reads (default 20).
            min_certainty: Minimum certainty of matches: `high`, `fair` or `weak` (default `weak`).
            spaces: Names of other spaces to answer from as well, without their confidential memories.
            exclude: Refs of memories to ignore, with data based only on them. Cited memories are then not marked as
                used.
            timeout: Maximum number of seconds to wait for the model (default 60).
            on_sentence: Callback for each sentence once it is verified. Runs on the event loop and must not block.

        Raises:
            InvalidRequestError: if no model is configured.
            ModelUnavailableError: if the model is unavailable or the daily budget is spent.
            ModelTimeoutError: if the model does not answer within `timeout`.
        """
        return self._run(
            lambda: self._inner.ask(
                question,
                origin=origin,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                as_of=as_of,
                known_at=known_at,
                budget=budget,
                session_id=session_id,
                kinds=kinds,
                limit=limit,
                min_certainty=min_certainty,
                spaces=spaces,
                exclude=exclude,
                timeout=timeout,
                on_sentence=on_sentence,
            )
        )

    def context(
        self,
        question: str = "",
        *,
        origin: str | Iterable[str] | None = None,
        tags: str | Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        budget: int | None = None,
        session_id: str | None = None,
        kinds: RefKind
        | Literal["message", "fact", "session_summary", "document"]
        | Iterable[RefKind | Literal["message", "fact", "session_summary", "document"]] = tuple(RefKind),
        citations: bool = True,
    ) -> ContextBlock:
        """Build the memory block for a prompt.

        The block is byte-identical until memory changes. Build one when a session starts or is compacted.

        Args:
            question: Topic of the prompt, such as the user's message. Matches are added to the block.
            origin: Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
            tags: Tags that every item must have.
            agent: Agent of the sessions (default: any).
            conversation: Name of the conversation (default: any).
            speaker: Speaker of a message, or of a fact's source messages (default: any).
            since: Earliest time of items (default: no limit). A date means the start of that day.
            until: Latest time of items (default: no limit). A date means the end of that day.
            where: Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            budget: Maximum number of tokens in the result (default: no limit in `recall`, 2,000 in `context`).
            session_id: Id of the requesting session. The context log records the result, and the question itself is
                excluded.
            kinds: Kinds of memory to use (default: all).
            citations: Whether the lines have labels for the model to cite (default True). Pass False if nothing
                strips them from replies.
        """
        return self._run(
            lambda: self._inner.context(
                question,
                origin=origin,
                tags=tags,
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=since,
                until=until,
                where=where,
                as_of=as_of,
                known_at=known_at,
                budget=budget,
                session_id=session_id,
                kinds=kinds,
                citations=citations,
            )
        )

    def explain(
        self, ref: Ref | str, *, as_of: When | None = None, known_at: When | None = None, depth: int = 1
    ) -> Lineage:
        """Return the sources, history and uses of a memory.

        With a `depth` above 1, `walk` lists up to 200 related memories and counts the others.

        Args:
            ref: Ref of the memory, as in results: `kind:id:number`. Version 0 of a fact or document is its newest
                version.
            as_of: Day or moment to read memory at: everything said until then (default: now). A date means the end
                of that day.
            known_at: Moment at which memory had learned what it answers with (default: now). A date means the end
                of that day.
            depth: Maximum number of steps to sources and derived data (default 1).

        Raises:
            NotFoundError: if the space has no such memory.
        """
        return self._run(lambda: self._inner.explain(ref, as_of=as_of, known_at=known_at, depth=depth))

    def correct(self, ref: Ref | str, text: str, *, expires_at: When | None = None) -> Correction:
        """Replace the text of a fact or document with a new version.

        Kind, origin and sources stay the same, so deleting a source still deletes the corrected memory. A corrected
        fact has the evidence `stated`. Earlier versions remain.

        Args:
            ref: Ref of the fact or document in its current version: `kind:id:version`, as in results.
            text: Complete new text.
            expires_at: Time after which the fact is not recalled (default: unchanged).

        Raises:
            NotFoundError: if the space has no such memory.
            VersionConflictError: if the ref does not name the current version.
        """
        return self._run(lambda: self._inner.correct(ref, text, expires_at=expires_at))

    def forget(
        self,
        ref: Ref | str | None = None,
        *,
        origin: str | Iterable[str] | None = None,
        tags: str | Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        session_id: str | None = None,
        before: When | None = None,
        kinds: RefKind
        | Literal["message", "fact", "session_summary", "document"]
        | Iterable[RefKind | Literal["message", "fact", "session_summary", "document"]] = tuple(RefKind),
        thread_id: str | None = None,
        everything: bool = False,
        version_only: bool = False,
        include_repeats: bool = False,
        actor: str | None = None,
        reason: str = "",
        dry_run: bool = False,
        missing_ok: bool = False,
    ) -> Deletion:
        """Permanently delete a memory and everything derived from it.

        Returns counts and a receipt. If this process stops, another one finishes the deletion.

        Args:
            ref: Ref of a message, fact, session summary or document. Facts and documents are deleted in all
                versions.
            origin: Origins: `user`, `assistant`, `document`, `import`, `memory`, `tool` or `tool:NAME` (default:
                any).
            tags: Tags that every item must have.
            agent: Agent of the conversation (default `assistant`). Without `conversation`, it narrows another
                filter.
            conversation: Name of a conversation whose messages to delete. Combines with filters.
            speaker: Speaker of a message, or of a fact's source messages (default: any).
            since: Earliest time of items (default: no limit). A date means the start of that day.
            until: Latest time of items (default: no limit). A date means the end of that day.
            where: Metadata conditions: `{"key": value}`, `{"key": [values]}` or `{"key": {"gte": 3, "lt": 9}}`.
            session_id: Id of a session whose messages to delete.
            before: Time before which to delete everything. A date means the start of that day.
            kinds: Kinds of memory that the filter deletes, with derived data (default: all).
            thread_id: Id of a thread of working memory to delete, with its states and events.
            everything: Whether to delete all data of the space (default False).
            version_only: Whether to delete only the text of the document version in `ref`, a past version (default
                False).
            include_repeats: Whether to also delete messages of other sessions that repeat the text after it was
                shown (default False).
            actor: Name of the requester, for the record (default: the user who runs the program).
            reason: Reason for the record, such as a request number. Do not include deleted content.
            dry_run: Whether to count the items without deleting them (default False).
            missing_ok: Whether to return zero counts instead of raising `NotFoundError` for a missing target
                (default False).

        Raises:
            NotFoundError: if the target does not exist.
            LegalHoldError: if the space is under a legal hold.
        """
        return self._run(
            lambda: self._inner.forget(
                ref,
                origin=origin,
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
                include_repeats=include_repeats,
                actor=actor,
                reason=reason,
                dry_run=dry_run,
                missing_ok=missing_ok,
            )
        )

    def session(
        self,
        conversation: str,
        *,
        agent: str = "assistant",
        kind: AgentKind
        | Literal["primary", "subagent", "memory_writer", "memory_search", "consolidator"] = AgentKind.PRIMARY,
        ephemeral: bool = False,
        tags: str | Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> "Session":
        """Return the active session of a conversation, or open one.

        The first call creates the space, the agent and the conversation.

        Args:
            conversation: Name of the conversation, such as `telegram-42`.
            agent: Agent in the conversation (default `assistant`).
            kind: Kind of the agent, set at its first session (default `primary`).
            ephemeral: Whether to exclude the session from learning (default False). A change ends the open session.
            tags: Tags that replace those of the session (default: unchanged).
            metadata: Metadata that replaces that of the session (default: unchanged).
        """
        return Session(
            self._run(
                lambda: self._inner.session(
                    conversation, agent=agent, kind=kind, ephemeral=ephemeral, tags=tags, metadata=metadata
                )
            ),
            self._loop,
        )


class Erasures(Blocking[AsyncErasures]):
    """Unfinished deletions in all spaces."""

    def public_key(self) -> str:
        """Return the public key that verifies receipts of this installation.

        Empty without the extra `receipts`.
        """
        return self._run(lambda: self._inner.public_key())

    def list(self) -> Page[OpenErasure]:
        """Finish interrupted deletions in all spaces, and list those that are not confirmed yet."""
        return Page(self._run(lambda: self._inner.list()), self._loop)


class PendingReviews(Blocking[AsyncPendingReviews]):
    """Pending reviews in all spaces."""

    def list(
        self, *, kind: PendingKind | Literal["claim", "changes"] | None = None, limit: int = 50, after: str = ""
    ) -> Page[PendingItem]:
        """List claims and document changes that need review in all spaces. Newest first.

        Items that are decided while a page is read may be missing from the page.

        Args:
            kind: Kind of the items: `claim` or `changes` (default: both).
            limit: Maximum number of items (default 50).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return Page(self._run(lambda: self._inner.list(kind=kind, limit=limit, after=after)), self._loop)


class Costs(Blocking[AsyncCosts]):
    """The costs of models, in all spaces."""

    def list(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        by: SpendingBy | Literal["day", "kind", "model", "space"] = SpendingBy.DAY,
        limit: int = 20,
    ) -> Page[Spending]:
        """Return the daily cost of models in all spaces: in total, by kind of job, by model or by space.

        Args:
            since: First day (default: 30 days before the last).
            until: Last day (default: today).
            by: Grouping of each day: `day` (default: the total), `kind`, `model` or `space`.
            limit: Maximum number of spaces for each day if grouped by space, highest cost first (default 20).

        Raises:
            InvalidRequestError: if the range has more than 366 days, or 31 by space.
        """
        return Page(self._run(lambda: self._inner.list(since=since, until=until, by=by, limit=limit)), self._loop)


class Jobs(Blocking[AsyncJobs]):
    """The background jobs of all spaces."""

    def list(
        self,
        *,
        status: JobStatus
        | Literal["waiting", "queued", "running", "failed", "done", "abandoned"] = JobStatus.ABANDONED,
        kind: JobKind | Literal["extract", "write", "consolidate", "index"] | None = None,
        limit: int = 50,
        after: str = "",
    ) -> Page[Job]:
        """List jobs of all spaces by status. Most recently queued first.

        The cost of a page does not depend on the number of jobs.

        Args:
            status: Status of the jobs: `queued`, `running`, `failed` or `abandoned` (default `abandoned`).
            kind: Kind of the jobs (default: any).
            limit: Maximum number of jobs (default 50).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return Page(self._run(lambda: self._inner.list(status=status, kind=kind, limit=limit, after=after)), self._loop)


class Admin(Blocking[AsyncAdmin]):
    """Administration of the whole memory."""

    def import_archive(self, path: "Path | str", *, space: str | None = None, dry_run: bool = False) -> LoadReport:
        """Load an archive into a space. The space must be empty or contain a part of the archive.

        The archive is checked completely before anything is stored. Items that were deleted from this memory are
        deleted again. It needs a database in this process.

        Args:
            path: File that `space.admin.export_archive` wrote.
            space: Space to load it into (default: the space named in the archive).
            dry_run: Only check the archive.

        Raises:
            CorruptDatabaseError: for a damaged archive, with the file and the line.
            ConflictError: if the space has anything that is not in the archive.
        """
        return self._run(lambda: self._inner.import_archive(path, space=space, dry_run=dry_run))

    @property
    def jobs(self) -> "Jobs":
        """The background jobs of all spaces."""
        return Jobs(self._inner.jobs, self._loop)

    @property
    def costs(self) -> "Costs":
        """The costs of models, in all spaces."""
        return Costs(self._inner.costs, self._loop)

    @property
    def reviews(self) -> "PendingReviews":
        """Pending reviews in all spaces."""
        return PendingReviews(self._inner.reviews, self._loop)

    @property
    def erasures(self) -> "Erasures":
        """Unfinished deletions in all spaces."""
        return Erasures(self._inner.erasures, self._loop)

    @property
    def access(self) -> "AccessLog":
        """The access log: who read or changed what."""
        return AccessLog(self._inner.access, self._loop)

    @property
    def keys(self) -> "Keys":
        """The API keys of a server."""
        return Keys(self._inner.keys, self._loop)

    @property
    def people(self) -> "People":
        """Data about a person, in all spaces."""
        return People(self._inner.people, self._loop)

    @property
    def holds(self) -> "Holds":
        """The legal holds on all spaces."""
        return Holds(self._inner.holds, self._loop)

    @property
    def webhooks(self) -> "Webhooks":
        """The webhooks that receive changes."""
        return Webhooks(self._inner.webhooks, self._loop)

    def health(self) -> Health:
        """Return counts of unfinished jobs by status and of pending reviews, in all spaces.

        Bethink updates the counts as jobs change, so the cost does not depend on the number of jobs.
        """
        return self._run(lambda: self._inner.health())

    def settings(self) -> list[SettingEntry]:
        """Return the effective settings, each with its default and source. Secrets are masked."""
        return self._run(lambda: self._inner.settings())

    def audit(self) -> Audit:
        """Return counts of unfinished jobs, today's cost and violations of invariants."""
        return self._run(lambda: self._inner.audit())


class Spaces(Blocking[AsyncSpaces]):
    """The spaces of a memory."""

    def list(self, *, prefix: str = "", limit: int = 100, after: str = "") -> Page[SpaceInfo]:
        """List spaces, ordered by name, each with counts of failed jobs and pending reviews.

        The cost of a page does not depend on the number or size of spaces.

        Args:
            prefix: Start of the space names (default: all spaces).
            limit: Maximum number of spaces (default 100).
            after: Cursor of the next page: the `next` of the previous page.
        """
        return Page(self._run(lambda: self._inner.list(prefix=prefix, limit=limit, after=after)), self._loop)


class Memory(BlockingOwner[AsyncMemory]):
    """A memory in a file, in PostgreSQL or on a server. Open it with `with`. Tasks can share one memory."""

    @property
    def spaces(self) -> "Spaces":
        """The spaces of a memory."""
        return Spaces(self._inner.spaces, self._loop)

    @property
    def admin(self) -> "Admin":
        """Administration of the whole memory."""
        return Admin(self._inner.admin, self._loop)

    def learn(
        self,
        *,
        kinds: JobKind
        | Literal["extract", "write", "consolidate", "index"]
        | Iterable[JobKind | Literal["extract", "write", "consolidate", "index"]]
        | None = None,
    ) -> LearnReport:
        """Run all queued learning jobs in all spaces once, and return a report.

        Waits for background jobs of this process and includes their results since the last call in the report. Does
        not wait for other processes. Afterwards, unless `kinds` is set, changes are sent to webhooks.

        Args:
            kinds: Kinds of jobs to run (default: all).
        """
        return self._run(lambda: self._inner.learn(kinds=kinds))

    @property
    def backend(self) -> "Backend":
        """The backend that runs the requests."""
        return Backend(self._inner.backend, self._loop)

    def space(self, name: str) -> "Space":
        """Return a handle on a space. The first write creates the space.

        Args:
            name: Name of a user, project or team: 1 to 200 printable characters.

        Raises:
            InvalidRequestError: if the name is invalid.
        """
        return Space(self._inner.space(name), self._loop)

    def group(self, *names: str) -> "SpaceGroup":
        """Return a handle that searches several spaces together, with one ranking and one budget.

        Each match names its space. On a server, the key must allow every space.

        Args:
            names: Names of 1 to 20 spaces. If scores are equal, matches of the space listed first come first.

        Raises:
            InvalidRequestError: if there are no names or more than 20, or a name is repeated or invalid.
        """
        return SpaceGroup(self._inner.group(*names), self._loop)

    def run_worker(self) -> None:
        """Run background jobs until canceled. Any number of processes can run a worker.

        Raises:
            DatabaseUnavailableError: if learning is disabled, or the memory is on a server.
        """
        return self._run(lambda: self._inner.run_worker())
