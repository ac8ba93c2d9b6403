"""Local: carries out requests on a database in this process."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from bethink.base.frozen import frozen
from bethink.base.logs import logger
from bethink.config.settings import Settings
from bethink.errors import Unavailable
from bethink.extend import Redactor
from bethink.host.backend import LocalBackend
from bethink.memory.registry import Handler, handlers_for
from bethink.model.operations.base import RequestT, ResultT, Verb
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
    """What it was built from."""


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
        """Removes secrets from texts before they are stored."""
        return self._parts.redactor

    @property
    def settings(self) -> Settings:
        """The settings that the memory was built from."""
        return self._parts.settings

    @property
    def background(self) -> "Background | None":
        """What learns in the background of this process; None if nothing does."""
        return self._parts.background

    @property
    def can_answer(self) -> bool:
        """Whether a model is configured that answers questions. It is not loaded to find out."""
        return self._parts.answerer is not None

    async def open(self) -> None:
        """Open the database and bring its schema up to date."""
        await self.database.open()
        if self.database.unsettled:
            from bethink.memory.deletion.settling import finish_open  # noqa: PLC0415 - see above

            await finish_open(self.database)
        if self.background is not None:
            self.background.open()

    async def close(self) -> None:
        """Finish what is running and close the database."""
        if self.background is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self.background.end)
                await self.background.mark_left()
        await self.database.close()

    async def run(self, verb: Verb[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Carry out a request, and add it to the access log. Every interface calls this, so none can leave that out."""
        handler = self._handlers.get(verb.name)
        if handler is None:
            self._handlers |= handlers_for(verb, self)
            handler = self._handlers[verb.name]
        return await self.record().around(verb, space, request, handler)

    def record(self) -> "AccessRecord":
        """Return the access log. What does not go through `run` adds itself to it."""
        if self._record is None:
            from bethink.memory.access.record import AccessRecord  # noqa: PLC0415 - see above

            self._record = AccessRecord(self.database, keep_days=self.settings.access.keep_days)
        return self._record

    async def export_archive(self, space: str, path: "Path") -> "ArchiveManifest":
        """Write everything in a space to a file. It is recorded before its first byte is written."""
        from bethink.memory.archive.write import must_exist, write_archive  # noqa: PLC0415 - see above

        database, record = self.database, self.record().of_everything("space.export_archive")

        await database.transact(lambda tx: must_exist(tx, space=space), space=space, read=True)
        # As a call about no space: one that is leaving for another shard may still be read, and not be written to.
        await database.transact(lambda tx: record(tx, space), repeatable=True, synced=False)
        return await write_archive(database, path, space=space)

    def local(self) -> "Local":
        """Return this backend."""
        return self

    def worker(self) -> "Worker":
        """Return a worker that learns.

        Raises:
            Unavailable: if learning is switched off.
        """
        if self._parts.worker is None:
            raise Unavailable("learning is switched off.", hint="Set learn = true.")
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
        """Return what hears of messages once they are stored: learning in the background, and agents' threads."""
        from bethink.memory.log.listeners import Listeners  # noqa: PLC0415 - see above

        return Listeners(opened=self._opened, heard=self._heard, advance=self._advance)

    def live(self, space: str, conversation: str, *, agent: str = "assistant") -> "LiveHistory":
        """Return the history that an agent works on: restored, trimmed, and written in the background."""
        from bethink.memory.log.live import LiveHistory  # noqa: PLC0415 - see above

        history = self.history(space, agent=agent)
        return LiveHistory(history, conversation, max_history_len=self.settings.max_history_len)

    def marks(self) -> "Marks":
        """Return the marks of sessions, for programs that learn by themselves."""
        from bethink.memory.log.marks import Marks  # noqa: PLC0415 - see above

        return Marks(self.database)

    def vectors(self) -> "Vectors":
        """Return the vectors of the embedder in use.

        Raises:
            Misconfigured: without an embedder.
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
        """Return the keys of the installation. It is always the same object, which caches which keys are valid."""
        if self._keys is None:
            from bethink.memory.access.keys import KeyRing  # noqa: PLC0415 - see above

            self._keys = KeyRing(self.database)
        return self._keys

    def shadow(self, path: Path, changes: Mapping[str, object], *, prompt: str = "") -> LocalBackend:
        """Return a backend on a new file, with the same settings except for `changes`, by name.

        Raises:
            Unavailable: if learning is switched off.
        """
        if self._parts.shadow is None:
            raise Unavailable("learning is switched off.", hint="Set learn = true.")
        return self._parts.shadow(path, changes, prompt)

    def searcher(self) -> "Searcher":
        """Return what searches, with the embedder and the reranker of the settings."""
        return self._parts.searcher()

    def answerer(self) -> "Answerer | None":
        """Return what answers questions with the model; None without a model."""
        return None if self._parts.answerer is None else self._parts.answerer()

    def learns_with_model(self) -> bool:
        """Return whether sessions are learned from with a model."""
        return self._parts.worker is not None and self._parts.worker().has_model

    def start_learning(self) -> None:
        """Start to learn in the background, if this process does that."""
        if self.background is not None:
            self.background.begin()

    async def _advance(self, space: str, thread_id: str) -> None:
        """Process the waiting events of a thread. It never raises: their messages are already stored."""
        try:
            await self.working(space).advance(thread_id)
        except Exception as error:  # noqa: BLE001 - the messages are stored: a retry would store them twice
            _log.error("could not process the events of thread %s: %s", thread_id, type(error).__name__)

    async def _opened(self, session: SessionInfo) -> None:
        """Learn in the background from earlier sessions, now that one was opened, if there is anything to learn."""
        background = self.background
        if background is None or not session.learns:
            return
        kinds, model = background.kinds, background.follows
        if await self.database.transact(lambda tx: jobs.any_of(tx, kinds=kinds, quoted_too=model), read=True):
            background.begin()

    def _heard(self, space: str, session_id: str) -> None:
        """Note that something was said in a session, to learn from it once it is quiet."""
        if self.background is not None:
            self.background.heard(space, session_id)
