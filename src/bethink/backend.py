"""Local: carries out requests on a database in this process."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio

from bethink.errors import Unavailable
from bethink.extend import Redactor
from bethink.frozen import frozen
from bethink.handles import Backend, Handlers
from bethink.logs import logger
from bethink.model.jobs import Audit, Job, RunReport
from bethink.model.recall import RefKind
from bethink.model.records import AgentKind, SessionInfo
from bethink.model.verbs import memory, service, sessions
from bethink.model.verbs.base import Empty, RequestT, ResultT, Verb
from bethink.model.verbs.memory import JobsRequest
from bethink.model.verbs.service import LearnRequest, ListSpacesRequest
from bethink.store import jobs
from bethink.store.db import Database

if TYPE_CHECKING:  # each is loaded by the first request that needs it, as most processes use few of them
    from bethink.audit.keys import KeyService
    from bethink.background import Background
    from bethink.log.history import History
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
    max_history_len: int = 100
    files_folder: str = ""
    allow_private: bool = False
    """Whether webhooks may call addresses of a private network."""
    settings: "Settings | None" = None
    """What it was built from."""


class Local(Backend):
    """A memory on a database in this process."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._handlers = Handlers()
        self._keys: KeyService | None = None

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
        """Carry out a request."""
        handler = self._handlers.get(verb.name)
        if handler is None:
            load = _SERVICES.get(verb.name) or _SERVICES[verb.handle]
            self._handlers |= load(self)
            handler = self._handlers[verb.name]
        return await handler(space, request)

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
            advance=self.advance,
            heard=self.heard,
        )

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

    async def advance(self, space: str, thread_id: str) -> None:
        """Process the waiting events of a thread. It never raises: their messages are already stored."""
        try:
            await self.working(space).advance(thread_id)
        except Exception as error:  # noqa: BLE001 - the messages are stored: a retry would store them twice
            _log.error("could not process the events of thread %s: %s", thread_id, type(error).__name__)

    async def opened(self, session: SessionInfo) -> None:
        """Learn in the background from earlier sessions, now that one was opened, if there is anything to learn."""
        background = self.parts.background
        if background is None or not session.learns:
            return
        kinds, model = background.kinds, background.follows
        if await self.parts.database.transact(lambda tx: jobs.any_of(tx, kinds=kinds, quoted_too=model), read=True):
            background.begin()

    def heard(self, space: str, session_id: str) -> None:
        """Note that something was said in a session, to learn from it once it is quiet."""
        if self.parts.background is not None:
            self.parts.background.heard(space, session_id)

    async def learn(self, space: str, request: LearnRequest) -> RunReport:
        """Learn once from everything that is marked, in all spaces or in one, with what the background has begun."""
        worker, background = self.worker(), self.parts.background
        try:
            if background is None:
                return await worker.run_once(only=request.only, space=space or None)
            with background.held():
                await anyio.to_thread.run_sync(background.wait, abandon_on_cancel=True)
                report = background.take(space or None)
                report.add(await worker.run_once(only=request.only, space=space or None))
            return report
        finally:
            if request.only is None:
                await worker.tell()

    async def audit(self, space: str, request: Empty) -> Audit:
        """Count jobs, spending, and violations of invariants."""
        del space, request
        return await self.worker().audit()

    async def spaces(self, space: str, request: ListSpacesRequest) -> list[str]:
        """List the names of all spaces."""
        del space
        return await self.parts.database.transact(
            lambda tx: jobs.spaces(tx, limit=request.limit, after=request.after), read=True
        )

    async def jobs(self, space: str, request: JobsRequest) -> list[Job]:
        """List the jobs of a space."""
        return await self.parts.database.transact(
            lambda tx: jobs.listed(tx, space=space, limit=request.limit), space=space, read=True
        )

    async def consolidate(self, space: str, request: Empty) -> bool:
        """Queue a consolidation."""
        from bethink.log.succession import queue_consolidation  # noqa: PLC0415 - see above

        del request
        await self.parts.database.transact(lambda tx: queue_consolidation(tx, space=space), space=space)
        return True


def _installation(local: Local) -> Handlers:
    return (
        Handlers()
        .on(service.LIST_SPACES, local.spaces)
        .on(service.AUDIT, local.audit)
        .on(service.LEARN, local.learn)
        .on(memory.LEARN_SPACE, local.learn)
        .on(memory.JOBS, local.jobs)
        .on(memory.CONSOLIDATE, local.consolidate)
    )


def _keys(local: Local) -> Handlers:
    keys = local.keys()
    return (
        Handlers()
        .on(service.CREATE_KEY, keys.create)
        .on(service.LIST_KEYS, keys.all)
        .on(service.ROTATE_KEY, keys.rotate)
        .on(service.REVOKE_KEY, keys.revoke)
    )


def _sessions(local: Local) -> Handlers:
    from bethink.log.service import SessionService  # noqa: PLC0415 - see above

    has_model = lambda: local.parts.worker is not None and local.parts.worker().has_model  # noqa: E731
    found = SessionService(
        local.parts.database,
        redactor=local.parts.redactor,
        opened=local.opened,
        heard=local.heard,
        advance=local.advance,
        has_model=has_model,
    )
    return (
        Handlers()
        .on(memory.REMEMBER, found.remember)
        .on(sessions.OPEN_SESSION, found.open)
        .on(sessions.LIST_SESSIONS, found.all)
        .on(sessions.GET_SESSION, found.get)
        .on(sessions.APPEND, found.append)
        .on(sessions.READ_MESSAGES, found.read)
        .on(sessions.TRANSCRIPT, found.transcript)
        .on(sessions.END_TURN, found.end_turn)
        .on(sessions.IDLE, found.idle)
        .on(sessions.RESET, found.reset)
        .on(sessions.COMPACTED, found.compacted)
        .on(sessions.END, found.end)
        .on(sessions.RETRY, found.retry)
        .on(sessions.SESSION_MEMORY, found.summary)
    )


def _recall(local: Local) -> Handlers:
    # A searcher is created for each request: an embedder that was missing may be available by now.
    made = local.parts.searcher
    return (
        Handlers()
        .on(memory.RECALL, lambda space, request: made().recall(space, request))
        .on(memory.CONTEXT, lambda space, request: made().context(space, request))
        .on(memory.EXPLAIN, lambda space, request: made().explain(space, request))
        .on(memory.USED, lambda space, request: made().used(space, request))
        .on(memory.SHOWN, lambda space, request: made().shown(space, request))
        .on(sessions.CITED, lambda space, request: made().cited(space, request))
    )


def _pages(local: Local) -> Handlers:
    from bethink.services import page_handlers  # noqa: PLC0415 - see above

    return Handlers(page_handlers(local.parts.database, local.parts.settings))


def _forgetting(local: Local) -> Handlers:
    from bethink.forgetting.forget import ForgetService  # noqa: PLC0415 - see above

    found = ForgetService(local.parts.database, redactor=local.parts.redactor, files_folder=local.parts.files_folder)
    return Handlers(found.handlers())


def _relearning(local: Local) -> Handlers:
    from bethink.services import relearn_handlers  # noqa: PLC0415 - see above

    return Handlers(relearn_handlers(local.relearning))


def _steering(local: Local) -> Handlers:
    from bethink.services import steering_handlers  # noqa: PLC0415 - see above

    return Handlers(steering_handlers(local.parts.database, local.parts.redactor, local.worker))


def _correcting(local: Local) -> Handlers:
    from bethink.documents.service import DocumentService  # noqa: PLC0415 - see above
    from bethink.facts.service import FactService  # noqa: PLC0415

    parts = local.parts
    correct = {
        RefKind.FACT: FactService(parts.database, redactor=parts.redactor).correct,
        RefKind.DOCUMENT: DocumentService(parts.database, redactor=parts.redactor).correct,
    }
    return Handlers().on(memory.CORRECT, lambda space, request: correct[request.ref.kind](space, request))


def _facts(local: Local) -> Handlers:
    from bethink.facts.service import FactService  # noqa: PLC0415 - see above
    from bethink.model.verbs import facts  # noqa: PLC0415

    found = FactService(local.parts.database, redactor=local.parts.redactor)
    return (
        Handlers()
        .on(facts.LIST_FACTS, found.all)
        .on(facts.PAGE_FACTS, found.page)
        .on(facts.SEARCH_FACTS, found.search)
        .on(facts.FACTS_BY_METADATA, found.by_metadata)
        .on(facts.COUNT_FACTS, found.count)
        .on(facts.GET_FACT, found.get)
        .on(facts.SAVE_FACT, found.save)
        .on(facts.FACT_VERSIONS, found.versions)
        .on(facts.FACT_SOURCES, found.sources)
        .on(facts.FACT_QUOTES, found.quotes)
    )


def _reviews(local: Local) -> Handlers:
    from bethink.facts.reviews import ReviewService  # noqa: PLC0415 - see above
    from bethink.model.verbs import reviews  # noqa: PLC0415

    found = ReviewService(local.parts.database, redactor=local.parts.redactor)
    return (
        Handlers()
        .on(reviews.LIST_REVIEWS, found.all)
        .on(reviews.COUNT_REVIEWS, found.count)
        .on(reviews.GET_REVIEW, found.get)
        .on(reviews.PROPOSE_REVIEW, found.propose)
        .on(reviews.APPROVE_REVIEW, found.approve)
        .on(reviews.REJECT_REVIEW, found.reject)
        .on(reviews.APPROVE_REVIEWS, found.approve_all)
        .on(reviews.REJECT_REVIEWS, found.reject_all)
    )


def _rules(local: Local) -> Handlers:
    from bethink.learning.steering import RulesService  # noqa: PLC0415 - see above
    from bethink.model.verbs import rules  # noqa: PLC0415

    found = RulesService(local.parts.database, redactor=local.parts.redactor)
    return Handlers().on(rules.GET_RULES, found.get).on(rules.SET_RULES, found.set)


def _documents(local: Local) -> Handlers:
    from bethink.documents.service import DocumentService  # noqa: PLC0415 - see above
    from bethink.model.verbs import documents  # noqa: PLC0415

    found = DocumentService(local.parts.database, redactor=local.parts.redactor)
    return (
        Handlers()
        .on(documents.TREE, found.tree)
        .on(documents.SEARCH_DOCUMENTS, found.search)
        .on(documents.FIND_DOCUMENT, found.find)
        .on(documents.CHILDREN, found.children)
        .on(documents.OUTLINE, found.outline)
        .on(documents.GET_DOCUMENT, found.get)
        .on(documents.CREATE_DOCUMENT, found.create)
        .on(documents.UPDATE_DOCUMENT, found.update)
        .on(documents.DELETE_DOCUMENT, found.delete)
        .on(documents.RESTORE_DOCUMENT, found.restore)
        .on(documents.DOCUMENT_VERSIONS, found.versions)
        .on(documents.DOCUMENT_HISTORY, found.history)
        .on(documents.BLAME, found.blame)
        .on(documents.DIFF_DOCUMENT, found.diff)
        .on(documents.DOCUMENT_SOURCES, found.sources)
        .on(documents.FILES, found.files)
        .on(documents.LIST_CHANGES, found.changes)
        .on(documents.APPROVE, found.approve)
        .on(documents.REJECT, found.reject)
        .on(documents.UNDO, found.undo)
    )


def _threads(local: Local) -> Handlers:
    from bethink.services import thread_handlers  # noqa: PLC0415 - see above

    return Handlers(thread_handlers(local.working))


def _tests(local: Local) -> Handlers:
    from bethink.model.verbs import tests  # noqa: PLC0415 - see above
    from bethink.recall.memory_tests import MemoryTestService  # noqa: PLC0415

    parts = local.parts
    found = MemoryTestService(parts.database, searcher=parts.searcher, redactor=parts.redactor)
    return (
        Handlers()
        .on(tests.ADD_TEST, found.add)
        .on(tests.LIST_TESTS, found.all)
        .on(tests.REMOVE_TEST, found.remove)
        .on(tests.RUN_TESTS, found.run)
    )


def _changes(local: Local) -> Handlers:
    from bethink.model.verbs import changes  # noqa: PLC0415 - see above
    from bethink.telling.changes import ChangeService  # noqa: PLC0415

    background = local.parts.background
    found = ChangeService(local.parts.database, begin=None if background is None else background.begin)
    return Handlers().on(changes.CHANGES, found.changes).on(changes.LEARNT, found.learnt)


def _webhooks(local: Local) -> Handlers:
    from bethink.model.verbs import changes  # noqa: PLC0415 - see above
    from bethink.telling.webhooks import WebhookService  # noqa: PLC0415

    found = WebhookService(local.parts.database, allow_private=local.parts.allow_private)
    return (
        Handlers()
        .on(changes.CREATE_WEBHOOK, found.create)
        .on(changes.LIST_WEBHOOKS, found.all)
        .on(changes.DELETE_WEBHOOK, found.delete)
        .on(changes.DELIVERIES, found.deliveries)
    )


_PAGES = (
    "space.timeline", "space.page_jobs", "space.job", "space.retry_job", "space.spending", "memory.page_jobs",
    "memory.spending", "memory.settings", "memory.held",
)  # fmt: skip
_RELEARNING = ("space.relearn", "space.apply_relearning", "space.undo_relearning")
_STEERING = ("space.preview", "space.pin", "space.unpin", "space.pins", "space.feedback")
_LOADED: tuple[tuple[tuple[Verb[Any, Any], ...], Callable[[Local], Handlers]], ...] = (
    (sessions.VERBS, _sessions),
    ((memory.REMEMBER,), _sessions),
    ((memory.RECALL, memory.CONTEXT, memory.EXPLAIN, memory.USED, memory.SHOWN, sessions.CITED), _recall),
    ((memory.FORGET,), _forgetting),
    (
        (memory.JOBS, memory.CONSOLIDATE, memory.LEARN_SPACE, service.LIST_SPACES, service.AUDIT, service.LEARN),
        _installation,
    ),
    ((memory.CORRECT,), _correcting),
    ((service.CREATE_KEY, service.LIST_KEYS, service.ROTATE_KEY, service.REVOKE_KEY), _keys),
)
_SERVICES: dict[str, Callable[[Local], Handlers]] = {
    **{verb.name: load for verbs, load in _LOADED for verb in verbs},
    "facts": _facts,
    "reviews": _reviews,
    "rules": _rules,
    "documents": _documents,
    "threads": _threads,
    "tests": _tests,
    **dict.fromkeys(_PAGES, _pages),
    **dict.fromkeys(_RELEARNING, _relearning),
    **dict.fromkeys(_STEERING, _steering),
    "space.erasures": _forgetting,
    "memory.open_erasures": _forgetting,
    "space.changes": _changes,
    "session.learnt": _changes,
    "webhooks": _webhooks,
}
"""What makes the functions for a verb, by its name or else by its handle."""
