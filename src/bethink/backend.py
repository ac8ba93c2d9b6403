"""Local: carries out requests on a database in this process."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

from bethink.errors import Unavailable
from bethink.extend import Redactor
from bethink.frozen import frozen
from bethink.handles import Backend
from bethink.logs import logger
from bethink.model.records import AgentKind, SessionInfo
from bethink.model.verbs.base import RequestT, ResultT, Verb
from bethink.registry import Handler, handlers_for
from bethink.store import jobs
from bethink.store.db import Database

if TYPE_CHECKING:  # each is loaded by the first request that needs it, as most processes use few of them
    from pathlib import Path

    from bethink.answering.service import Answerer
    from bethink.archive.format import ArchiveManifest
    from bethink.audit.access import AccessRecord
    from bethink.audit.keys import KeyService
    from bethink.background import Background
    from bethink.log.history import History
    from bethink.log.listeners import Listeners
    from bethink.log.live import LiveHistory
    from bethink.log.marks import Marks
    from bethink.recall.reindex import Vectors
    from bethink.recall.search import Searcher
    from bethink.relearn import RelearnService
    from bethink.settings import Settings
    from bethink.worker import Worker
    from bethink.working.ladder import Compactor
    from bethink.working.memory import WorkingMemory
    from bethink.working.process import Engine

_log = logger("memory")


@frozen
class Parts:
    """The components of a local memory. `build.py` creates them."""

    database: Database
    redactor: Redactor
    searcher: "Callable[[], Searcher]"
    worker: "Callable[[], Worker] | None" = None
    background: "Background | None" = None
    relearning: "Callable[[], RelearnService] | None" = None
    engine: "Engine | None" = None
    compactor: "Compactor | None" = None
    answering: "Callable[[], Answerer] | None" = None
    max_history_len: int = 100
    files_folder: str = ""
    allow_private: bool = False
    """Whether webhooks may call addresses of a private network."""
    access_days: int = 365
    settings: "Settings | None" = None
    """What it was built from."""


class Local(Backend):
    """A memory on a database in this process."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._handlers: dict[str, Handler] = {}
        self._keys: KeyService | None = None
        self._record: AccessRecord | None = None

    async def open(self) -> None:
        """Open the database and bring its schema up to date."""
        await self.parts.database.open()
        if self.parts.database.unsettled:
            from bethink.forgetting.settling import finish_open  # noqa: PLC0415 - see above

            await finish_open(self.parts.database)
        if self.parts.background is not None:
            self.parts.background.open()

    async def close(self) -> None:
        """Finish what is running and close the database."""
        if self.parts.background is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self.parts.background.end)
                await self.parts.background.mark_left()
        await self.parts.database.close()

    async def run(self, verb: Verb[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Carry out a request, and record it. There is no other way to a verb, so no door can forget that."""
        handler = self._handlers.get(verb.name)
        if handler is None:
            self._handlers |= handlers_for(verb, self)
            handler = self._handlers[verb.name]
        return await self.record().around(verb, space, request, handler)

    def record(self) -> "AccessRecord":
        """Return the access record. What goes past the verbs adds itself to it."""
        if self._record is None:
            from bethink.audit.access import AccessRecord  # noqa: PLC0415 - see above

            self._record = AccessRecord(self.parts.database, keep_days=self.parts.access_days)
        return self._record

    async def export_archive(self, space: str, path: "Path") -> "ArchiveManifest":
        """Write everything in a space to a file. It is recorded before its first byte is written."""
        from bethink.archive.write import must_exist, write_archive  # noqa: PLC0415 - see above

        database, record = self.parts.database, self.record().of_everything("space.export_archive")

        await database.transact(lambda tx: must_exist(tx, space=space), space=space, read=True)
        # As a call about no space: one that is leaving for another cell may still be read, and not be written to.
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
        if self.parts.worker is None:
            raise Unavailable("learning is switched off.", hint="Set learn = true.")
        return self.parts.worker()

    def history(self, space: str, *, agent: str = "assistant", kind: AgentKind = AgentKind.PRIMARY) -> "History":
        """Return the history of an agent's conversations."""
        from bethink.log.history import History  # noqa: PLC0415 - see above

        return History(
            self.parts.database,
            space=space,
            agent=agent,
            kind=kind,
            redactor=self.parts.redactor,
            listeners=self.listeners(),
        )

    def listeners(self) -> "Listeners":
        """Return what hears of messages once they are stored: learning in the background, and agents' threads."""
        from bethink.log.listeners import Listeners  # noqa: PLC0415 - see above

        return Listeners(opened=self._opened, heard=self._heard, advance=self._advance)

    def live(self, space: str, conversation: str, *, agent: str = "assistant") -> "LiveHistory":
        """Return the history that an agent works on: restored, trimmed, and written in the background."""
        from bethink.log.live import LiveHistory  # noqa: PLC0415 - see above

        history = self.history(space, agent=agent)
        return LiveHistory(history, conversation, max_history_len=self.parts.max_history_len)

    def marks(self) -> "Marks":
        """Return the marks of sessions, for programs that learn by themselves."""
        from bethink.log.marks import Marks  # noqa: PLC0415 - see above

        return Marks(self.parts.database)

    def vectors(self) -> "Vectors":
        """Return the vectors of the embedder in use.

        Raises:
            Misconfigured: without an embedder.
        """
        return self.parts.searcher().vectors()

    def working(self, space: str) -> "WorkingMemory":
        """Return the working memory of a space, with its queue, locks and observers."""
        from bethink.working.memory import WorkingMemory  # noqa: PLC0415 - see above

        parts = self.parts
        return WorkingMemory(
            parts.database, space=space, engine=parts.engine, compactor=parts.compactor, redactor=parts.redactor
        )

    def keys(self) -> "KeyService":
        """Return the keys of the installation. It is always the same object, which caches which keys are valid."""
        if self._keys is None:
            from bethink.audit.keys import KeyService  # noqa: PLC0415 - see above

            self._keys = KeyService(self.parts.database)
        return self._keys

    def relearning(self) -> "RelearnService":
        """Return what learns a space again.

        Raises:
            Unavailable: if learning is switched off.
        """
        if self.parts.relearning is None:
            raise Unavailable("learning is switched off.", hint="Set learn = true.")
        return self.parts.relearning()

    async def _advance(self, space: str, thread_id: str) -> None:
        """Process the waiting events of a thread. It never raises: their messages are already stored."""
        try:
            await self.working(space).advance(thread_id)
        except Exception as error:  # noqa: BLE001 - the messages are stored: a retry would store them twice
            _log.error("could not process the events of thread %s: %s", thread_id, type(error).__name__)

    async def _opened(self, session: SessionInfo) -> None:
        """Learn in the background from earlier sessions, now that one was opened, if there is anything to learn."""
        background = self.parts.background
        if background is None or not session.learns:
            return
        kinds, model = background.kinds, background.follows
        if await self.parts.database.transact(lambda tx: jobs.any_of(tx, kinds=kinds, quoted_too=model), read=True):
            background.begin()

    def _heard(self, space: str, session_id: str) -> None:
        """Note that something was said in a session, to learn from it once it is quiet."""
        if self.parts.background is not None:
            self.parts.background.heard(space, session_id)
