"""Local: runs requests on a database in this process."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.config.settings import Settings
from bethink.errors import DatabaseUnavailableError
from bethink.extend import Redactor
from bethink.host.backend import LocalBackend
from bethink.memory.registry import Handler, handlers_for
from bethink.model.operations.base import Operation, RequestT, ResultT
from bethink.model.records import AgentKind, SessionInfo
from bethink.store import jobs
from bethink.store.db import Database

if TYPE_CHECKING:  # each is loaded by the first request that needs it, as most processes use few of them
    from bethink.jobs.background import Background
    from bethink.jobs.worker import Worker
    from bethink.memory.access.keys import KeyRing
    from bethink.memory.access.record import AccessRecord
    from bethink.memory.answering.answerer import Answerer
    from bethink.memory.archive.format import ArchiveManifest
    from bethink.memory.log.history import History
    from bethink.memory.log.listeners import Listeners
    from bethink.memory.log.live import LiveHistory
    from bethink.memory.log.marks import Marks
    from bethink.memory.recall.reindex import Vectors
    from bethink.memory.recall.search import Searcher
    from bethink.memory.working.ladder import Compactor
    from bethink.memory.working.memory import WorkingMemory
    from bethink.memory.working.process import Engine

_log = logger("memory")


@frozen
class Parts:
    """The components of a local memory. `backend_from` in `host/build.py` creates them."""

    database: Database
    redactor: Redactor
    searcher: "Callable[[], Searcher]"
    worker: "Callable[[], Worker] | None" = None
    background: "Background | None" = None
    shadow: "Callable[[Path, Mapping[str, object], str], LocalBackend] | None" = None
    engine: "Engine | None" = None
    compactor: "Compactor | None" = None
    answerer: "Callable[[], Answerer] | None" = None
    settings: Settings = Settings()
    """Settings that the parts were built from."""


class Local(LocalBackend):
    """A memory on a database in this process."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._handlers: dict[str, Handler] = {}
        self._keys: KeyRing | None = None
        self._record: AccessRecord | None = None

    @property
    def database(self) -> Database:
        """The database."""
        return self._parts.database

    @property
    def redactor(self) -> Redactor:
        """Redactor that removes secrets from text before storage."""
        return self._parts.redactor

    @property
    def settings(self) -> Settings:
        """The settings that the memory was built from."""
        return self._parts.settings

    @property
    def background(self) -> "Background | None":
        """Background learner of this process, or None."""
        return self._parts.background

    @property
    def can_answer(self) -> bool:
        """Return whether a model for answers is configured, without loading it."""
        return self._parts.answerer is not None

    async def open(self) -> None:
        """Open the database and apply pending schema migrations."""
        await self.database.open()
        if self.database.has_open_erasures:
            from bethink.memory.deletion.settling import finish_open  # noqa: PLC0415 - see above

            await finish_open(self.database)
        if self.background is not None:
            self.background.open()

    async def close(self) -> None:
        """Finish running work and close the database."""
        if self.background is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self.background.end)
                await self.background.queue_unfinished()
        await self.database.close()

    async def run(self, operation: Operation[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Run a request and add it to the access log. All interfaces call this method, so every request is logged."""
        handler = self._handlers.get(operation.name)
        if handler is None:
            self._handlers |= handlers_for(operation, self)
            handler = self._handlers[operation.name]
        return await self.record().around(operation, space, request, handler)

    def record(self) -> "AccessRecord":
        """Return the access log. Operations outside of `run` add their own entries."""
        if self._record is None:
            from bethink.memory.access.record import AccessRecord  # noqa: PLC0415 - see above

            self._record = AccessRecord(self.database, keep_days=self.settings.access.keep_days)
        return self._record

    async def export_archive(self, space: str, path: "Path") -> "ArchiveManifest":
        """Write everything in a space to a file. The access log records the export before it starts."""
        from bethink.memory.archive.write import must_exist, write_archive  # noqa: PLC0415 - see above

        database, record = self.database, self.record().record_everything("space.admin.export_archive")

        await database.transact(lambda tx: must_exist(tx, space=space), space=space, read_only=True)
        # Logged without a space, because a space that moves to another shard is read-only.
        await database.transact(lambda tx: record(tx, space), repeatable=True, synced=False)
        return await write_archive(database, path, space=space)

    def local(self) -> "Local":
        """Return this backend."""
        return self

    def worker(self) -> "Worker":
        """Return a worker.

        Raises:
            DatabaseUnavailableError: if learning is disabled.
        """
        if self._parts.worker is None:
            raise DatabaseUnavailableError("Learning is disabled.", hint="Set `learn = true`.")
        return self._parts.worker()

    def history(self, space: str, *, agent: str = "assistant", kind: AgentKind = AgentKind.PRIMARY) -> "History":
        """Return the history of an agent's conversations."""
        from bethink.memory.log.history import History  # noqa: PLC0415 - see above

        return History(
            self.database,
            space=space,
            agent=agent,
            kind=kind,
            redactor=self.redactor,
            listeners=self.listeners(),
        )

    def listeners(self) -> "Listeners":
        """Return the callbacks that run after messages are stored: background learning and agents' threads."""
        from bethink.memory.log.listeners import Listeners  # noqa: PLC0415 - see above

        return Listeners(
            on_session_opened=self._learn_from_earlier,
            on_messages_stored=self._note_activity,
            advance_thread=self._advance,
        )

    def live(self, space: str, conversation: str, *, agent: str = "assistant") -> "LiveHistory":
        """Return the live history of an agent: restored, trimmed, and written in the background."""
        from bethink.memory.log.live import LiveHistory  # noqa: PLC0415 - see above

        history = self.history(space, agent=agent)
        return LiveHistory(history, conversation, max_history_len=self.settings.max_history_len)

    def marks(self) -> "Marks":
        """Return the learning marks of sessions, for programs with their own learning."""
        from bethink.memory.log.marks import Marks  # noqa: PLC0415 - see above

        return Marks(self.database)

    def vectors(self) -> "Vectors":
        """Return the vectors of the embedder in use.

        Raises:
            ConfigurationError: without an embedder.
        """
        return self.searcher().vectors()

    def working(self, space: str) -> "WorkingMemory":
        """Return the working memory of a space, with its queue, locks and observers."""
        from bethink.memory.working.memory import WorkingMemory  # noqa: PLC0415 - see above

        parts = self._parts
        return WorkingMemory(
            parts.database, space=space, engine=parts.engine, compactor=parts.compactor, redactor=parts.redactor
        )

    def keys(self) -> "KeyRing":
        """Return the keys of the installation: always the same object, which caches valid keys."""
        if self._keys is None:
            from bethink.memory.access.keys import KeyRing  # noqa: PLC0415 - see above

            self._keys = KeyRing(self.database)
        return self._keys

    def shadow(self, path: Path, changes: Mapping[str, object], *, prompt: str = "") -> LocalBackend:
        """Return a backend on a new file, with the same settings except for `changes`, by name.

        Raises:
            DatabaseUnavailableError: if learning is disabled.
        """
        if self._parts.shadow is None:
            raise DatabaseUnavailableError("Learning is disabled.", hint="Set `learn = true`.")
        return self._parts.shadow(path, changes, prompt)

    def searcher(self) -> "Searcher":
        """Return the searcher with the embedder and reranker of the settings."""
        return self._parts.searcher()

    def answerer(self) -> "Answerer | None":
        """Return the answerer, or None without a model."""
        return None if self._parts.answerer is None else self._parts.answerer()

    def learns_with_model(self) -> bool:
        """Return whether learning uses a model."""
        return self._parts.worker is not None and self._parts.worker().has_model

    def start_learning(self) -> None:
        """Start learning in the background, if enabled for this process."""
        if self.background is not None:
            self.background.begin()

    async def _advance(self, space: str, thread_id: str) -> None:
        """Process the waiting events of a thread. It never raises: their messages are already stored."""
        try:
            await self.working(space).advance(thread_id)
        except Exception as error:  # noqa: BLE001 - the messages are stored: a retry would store them twice
            _log.error("Cannot process the events of thread %s: %s", thread_id, type(error).__name__)

    async def _learn_from_earlier(self, session: SessionInfo) -> None:
        """Start background learning from earlier sessions when a session is opened, if there are any."""
        background = self.background
        if background is None or not session.is_learned_from:
            return
        kinds, model = background.kinds, background.learns_at_once
        if await self.database.transact(lambda tx: jobs.any_of(tx, kinds=kinds, include_quoted=model), read_only=True):
            background.begin()

    def _note_activity(self, space: str, session_id: str) -> None:
        """Note activity in a session, to learn from it once it is idle."""
        if self.background is not None:
            self.background.note_activity(space, session_id)
