"""Memory: the verbs that every door calls."""

from collections.abc import Callable, Collection, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from bethink.errors import Unavailable
from bethink.extend import Redactor
from bethink.facts.service import Facts
from bethink.log import messages as log
from bethink.log import sessions, succession
from bethink.log.history import History
from bethink.log.live import MAX_HISTORY_LEN, LiveHistory
from bethink.log.marks import Marks
from bethink.logs import logger
from bethink.model.jobs import Job, JobKind
from bethink.model.moments import When, moment_or_none
from bethink.model.recall import Block, Lineage, Recall, Ref, RefKind, Remembered, Showing
from bethink.model.records import (
    AgentKind,
    ConversationKey,
    EndReason,
    Forgotten,
    Message,
    Record,
    Session,
    SessionEntry,
    SessionMemory,
    Trigger,
    checked_text,
    space_of,
)
from bethink.providers.default_redactor import redactor_for
from bethink.store import jobs, learning
from bethink.store import sessions as session_store
from bethink.store.db import Database, Tx, ask, under_way

if TYPE_CHECKING:  # the working room is loaded by whoever asks for a desk, the worker by whoever lets it work
    from bethink.audit.keys import Access
    from bethink.background import Startup
    from bethink.documents.service import Documents
    from bethink.recall.reindex import Vectors
    from bethink.recall.search import Asking, Searcher
    from bethink.worker import Audit, RunReport, Worker
    from bethink.working.desk import Desk
    from bethink.working.ladder import Compactor
    from bethink.working.process import Engine

T = TypeVar("T")
_log = logger()


class Memory:
    """Stores what was said and says what is still to be learnt. Without a database every verb does nothing."""

    def __init__(  # noqa: PLR0913 - each is a part of the house, and build.py is where they are put together
        self,
        database: Database | None,
        *,
        redactor: Redactor | None = None,
        max_history_len: int = MAX_HISTORY_LEN,
        engine: "Engine | None" = None,
        compactor: "Compactor | None" = None,
        worker: "Callable[[], Worker] | None" = None,
        startup: "Startup | None" = None,
        searcher: "Callable[[], Searcher] | None" = None,
        artefacts_dir: str = "",
    ) -> None:
        self._database = database
        self._redactor = redactor or redactor_for(database)
        self._make_worker = worker
        self._startup = startup
        self._max_history_len = max_history_len
        self._engine = engine
        self._compactor = compactor
        self._make_searcher = searcher
        self._artefacts_dir = artefacts_dir

    @property
    def enabled(self) -> bool:
        """Say whether anything is stored at all."""
        return self._database is not None

    async def open(self) -> None:
        """Open the database and bring its schema up to date. Entering a with block does this."""
        if self._database is not None:
            await self._database.open()

    async def close(self) -> None:
        """Finish what is running and close the database."""
        if self._startup is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._startup.end)
        if self._database is not None:
            await self._database.close()

    async def __aenter__(self) -> "Memory":
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open_session(
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
        learnt from an `ephemeral` session, which ends one of the other sort. Opening one lets others be learnt from.
        """
        place = space_of(space, user_id)
        if self._database is None:
            return sessions.nowhere(space=place, agent=agent, key=conversation)
        session, opened = await self._database.transact(
            lambda tx: sessions.open_session(
                tx, space=place, agent=agent, kind=kind, key=conversation, ephemeral=ephemeral
            ),
            space=place,
            repeatable=True,
        )
        self._begin(session, opened=opened)
        return session

    async def get_session(
        self, *, space: str | None = None, user_id: str | None = None, session_id: str
    ) -> Session | None:
        """Read a session as it stands now. Raises `NotFound` for an id that is not in the space."""
        place = space_of(space, user_id)
        return await self._read(
            place, lambda tx: succession.get_session(tx, space=place, session_id=session_id), empty=None
        )

    async def sessions(
        self, *, space: str | None = None, user_id: str | None = None, limit: int = 100, before: str = ""
    ) -> list[SessionEntry]:
        """Return the sessions of a space, the newest first; `before` is the id that the page before ended with."""
        place = space_of(space, user_id)
        return await self._read(
            place, lambda tx: session_store.listed(tx, space=place, limit=limit, before=before), empty=[]
        )

    async def remember(
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

        Without a session they go into the conversation and are marked to be learnt from; a repeated key stores nothing.
        """
        from bethink.log import remember  # noqa: PLC0415 - an agent that keeps its own sessions never asks for it

        place = remember.Place(
            space=sessions.home_of(session) if session and not (space or user_id) else space_of(space, user_id),
            session=session,
            conversation=remember.NOTES if conversation is None else conversation,
            agent=agent,
        )
        sessions.id_within(session, place.space)
        body = remember.storing(remember.drafts_of(what, idempotency_key), place, self._redactor)
        if self._database is None:
            return Remembered(session=remember.nowhere(place))
        stored = await log.append_once(self._database, body, space=place.space)
        self._begin(stored.session, opened=stored.opened)
        if stored.appended.thread_id is not None:
            await self._advance(place.space, stored.appended.thread_id)
        refs = (Ref(RefKind.MESSAGE, source.session_id, source.number) for source in stored.appended.sources)
        return Remembered(session=stored.session, refs=tuple(refs))

    async def append(self, session: Session, messages: Iterable[Message | Mapping[str, object]]) -> list[int]:
        """Store messages in one transaction and return their numbers; when it returns, they are durable.

        A message whose idempotency key is known in the space is not stored again: it keeps its number.
        """
        drafts, space = log.listed(messages), sessions.home_of(session)

        def body(tx: Tx) -> log.Appended:
            return log.append(tx, session, log.prepare(drafts, self._redactor))

        if self._database is None:
            return []
        appended = await log.append_once(self._database, body, space=space)
        if appended.thread_id is not None:
            await self._advance(session.space, appended.thread_id)
        return appended.numbers

    async def read(self, session: Session, *, after: int = 0, limit: int | None = None) -> list[Record]:
        """Return the messages of a session that follow a number, in order."""
        return await self._read(
            sessions.home_of(session), lambda tx: log.read(tx, session, after=after, limit=limit), empty=[]
        )

    async def end_turn(self, session: Session) -> bool:
        """Tell that a turn is over: marks the session past the threshold, and says whether it did."""
        return await self._mark(session, lambda tx: sessions.mark_after_turn(tx, session))

    async def idle(self, session: Session) -> bool:
        """Tell that nothing more is waiting for the agent: marks the session if it has something to learn."""
        return await self._mark(session, lambda tx: succession.mark_pending(tx, session, trigger=Trigger.IDLE))

    async def reset(self, session: Session, *, emergency: bool = False) -> Session:
        """End and mark a session and return the next one of its conversation. Repeating it does no harm."""
        reason = EndReason.EMERGENCY if emergency else EndReason.RESET
        return await self._end(session, lambda tx: succession.succeed_session(tx, session, reason=reason))

    async def compacted(self, session: Session) -> Session:
        """Tell that a session's context was compacted: it is ended and marked, and the next one returned."""
        reason = EndReason.COMPACTION
        return await self._end(session, lambda tx: succession.succeed_session(tx, session, reason=reason))

    async def end_session(self, session: Session) -> Session:
        """End a session and mark it, with nothing to follow."""
        return await self._end(session, lambda tx: succession.end_session(tx, session, reason=EndReason.CLOSED))

    async def learn(self, *, only: Collection[JobKind] | None = None) -> "RunReport":
        """Learn once from what is marked, in all spaces, and say what came of it; `only` some kinds of jobs if named.

        What the start of a session has begun in the background is waited for; what other processes do is not.
        """
        worker = self._worker()
        if self._startup is not None:
            await anyio.to_thread.run_sync(self._startup.wait, abandon_on_cancel=True)
        with under_way(hint="Learn again: what is learnt already is not learnt twice."):
            return await worker.run_once(only=only)

    async def work(self) -> None:
        """Learn from whatever is marked from now on, until cancelled. Any number of processes may do this."""
        await self._worker().run()

    async def audit(self) -> "Audit":
        """Count what waits, what was given up, what was spent today, and what must never be."""
        return await self._worker().audit()

    async def jobs(self, *, space: str | None = None, user_id: str | None = None, limit: int = 100) -> list[Job]:
        """Return the jobs of a space, the newest promise first: where each stands, what it took, why it failed."""
        place = space_of(space, user_id)
        return await self._read(place, lambda tx: jobs.listed(tx, space=place, limit=limit), empty=[])

    async def consolidate(self, *, space: str | None = None, user_id: str | None = None) -> None:
        """Promise a consolidation of a space; `learn`, or a worker, does it. Raises `NotFound` for no such space."""
        place = space_of(space, user_id)
        await ask(self._database, lambda tx: succession.promise_consolidation(tx, space=place), space=place, empty=None)

    async def spaces(self, *, limit: int = 100, after: str = "") -> list[str]:
        """Return the names of all spaces that hold anything, in order, from after one on."""
        return await self._read(None, lambda tx: jobs.spaces(tx, limit=limit, after=after), empty=[])

    async def retry(self, session: Session) -> bool:
        """Let learning from a session start over that failed or was given up. False if it did neither.

        With a model also learning that only quoted, for want of one.
        """
        better = self._make_worker is not None and self._make_worker().has_model
        return await self._mark(session, lambda tx: learning.retry(tx, session, quoted=better))

    async def session_memory(self, session: Session) -> SessionMemory | None:
        """Return what is remembered of a whole session, if anything."""
        space = sessions.home_of(session)
        return await self._read(
            space, lambda tx: learning.find_memory(tx, space=space, session_id=session.id), empty=None
        )

    async def recall(  # noqa: PLR0913 - every one of them narrows the question
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
        was shown, and its own question is no answer.
        """
        place = space_of(space, user_id)
        asking = self._asking(
            question,
            space=place,
            limit=limit,
            budget=budget,
            as_of=moment_or_none(as_of),
            kinds=kinds,
            origins=origins,
            session_id=sessions.id_within(session, place),
            explain=explain,
        )
        return await self._searcher().recall(asking)

    async def context(
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

        Make one when a session starts and when it was compacted; given the session, the ledger records it.
        """
        place = space_of(space, user_id)
        asker = sessions.id_within(session, place)
        asking = self._asking(question, space=place, budget=budget, as_of=moment_or_none(as_of), session_id=asker)
        return await self._searcher().context(asking)

    async def explain(self, ref: Ref | str, *, space: str | None = None, user_id: str | None = None) -> Lineage:
        """Follow a memory to its messages, job, model and prompt, and on to where it was shown. Raises `NotFound`."""
        return await self._searcher().explain(Ref.read(ref), space=space_of(space, user_id))

    async def used(self, refs: Iterable[Ref | str], *, space: str | None = None, user_id: str | None = None) -> int:
        """Tell that memories were of use: each counts once a call, as do the session memories they rest on."""
        return await self._searcher().used([Ref.read(ref) for ref in refs], space=space_of(space, user_id))

    async def cited(self, answer: str, *, session: Session) -> str:
        """Count what an answer cites of what its session was shown, and return it without the citations."""
        return await self._searcher().cited(answer, space=sessions.home_of(session), session_id=session.id)

    async def shown(
        self,
        *,
        space: str | None = None,
        user_id: str | None = None,
        session: Session | None = None,
        as_of: When | None = None,
        limit: int = 100,
    ) -> list[Showing]:
        """Read the ledger: what was shown, when, and to which session, the newest first."""
        place = space_of(space, user_id)
        return await self._searcher().shown(
            space=place, session_id=sessions.id_within(session, place), as_of=moment_or_none(as_of), limit=limit
        )

    async def forget(
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

        A dry run counts and removes nothing. Raises `NotFound`, and `Invalid` unless exactly one thing is named.
        """
        from bethink.forgetting.forget import Target, forget  # noqa: PLC0415 - loaded by whoever forgets

        place = space_of(space, user_id)
        target = Target(
            ref=None if ref is None else Ref.read(ref),
            session_id=sessions.id_within(session, place),
            conversation=conversation,
            agent=agent,
            everything=everything,
        )
        forgotten = await forget(self._database, target, space=place, dry_run=dry_run)
        if not dry_run:
            await self._clear_files(place)
        return forgotten

    async def _clear_files(self, space: str) -> None:
        if self._artefacts_dir:
            from bethink.documents.files import clear_files  # noqa: PLC0415 - loaded by whoever forgets

            await clear_files(self._artefacts_dir, space)

    def _asking(self, question: str, **narrowed: Any) -> "Asking":
        from bethink.recall.search import Asking  # noqa: PLC0415 - as below

        return Asking(question=checked_text(question, "a question"), **narrowed)

    def _searcher(self) -> "Searcher":
        if self._make_searcher is not None:
            return self._make_searcher()
        from bethink.providers.estimated_tokens import EstimatedTokens  # noqa: PLC0415 - as above
        from bethink.recall.search import Searcher  # noqa: PLC0415

        return Searcher(self._database, tokens=EstimatedTokens())

    def _worker(self) -> "Worker":
        if self._make_worker is None:
            raise Unavailable(
                "nothing can be learnt here.", hint="Name a file or a server, and leave the setting learn on."
            )
        return self._make_worker()

    def desk(self, *, space: str | None = None, user_id: str | None = None) -> "Desk":
        """Return the working memory of a space. Raises `Unavailable` where nothing is stored."""
        if self._database is None:
            raise Unavailable("there is no working memory without a database.", hint="Name a file or a server.")
        from bethink.working.desk import Desk  # noqa: PLC0415 - see above

        place = space_of(space, user_id)
        return Desk(
            self._database, space=place, engine=self._engine, compactor=self._compactor, redactor=self._redactor
        )

    async def _advance(self, space: str, thread_id: str) -> None:
        try:
            await self.desk(space=space).advance(thread_id)
        except Exception as error:  # noqa: BLE001 - the messages are stored: a retry would store them twice
            _log.error("thread %s could not go on: %s", thread_id, type(error).__name__)

    def history(
        self,
        *,
        space: str | None = None,
        user_id: str | None = None,
        agent: str = "assistant",
        kind: AgentKind = AgentKind.PRIMARY,
    ) -> History:
        """Return the history of an agent's conversations, addressed by conversation key."""
        place = space_of(space, user_id)
        cut, clear = self._redactor, self._clear_files
        return History(
            self._database, space=place, agent=agent, kind=kind, redactor=cut, clear_files=clear, advance=self._advance
        )

    def marks(self) -> Marks:
        """Return the marks of sessions, for whoever learns by hand."""
        return Marks(self._database)

    def vectors(self) -> "Vectors":
        """Return the vectors of the embedder in use, to be made anew or grown. Raises `Misconfigured` without one."""
        return self._searcher().vectors()

    def access(self) -> "Access":
        """Return the keys that open this memory to callers of a server. Raises `Unavailable` without a database."""
        from bethink.audit.keys import Access  # noqa: PLC0415 - only a server asks who is calling

        if self._database is None:
            raise Unavailable("there are no keys without a database.", hint="Name a file or a server.")
        return Access(self._database)

    def facts(self, *, space: str | None = None, user_id: str | None = None) -> Facts:
        """Return what is known in a space."""
        place = space_of(space, user_id)
        return Facts(self._database, space=place, redactor=self._redactor, clear_files=self._clear_files)

    def documents(self, *, space: str | None = None, user_id: str | None = None) -> "Documents":
        """Return the tree of documents of a space."""
        from bethink.documents.service import Documents  # noqa: PLC0415 - loaded by whoever reads or writes one

        return Documents(self._database, space=space_of(space, user_id), redactor=self._redactor)

    def live(
        self,
        conversation: ConversationKey | str,
        *,
        space: str | None = None,
        user_id: str | None = None,
        agent: str = "assistant",
    ) -> LiveHistory:
        """Return the history an agent works on: restored, trimmed, and written behind without ever raising."""
        history = self.history(space=space, user_id=user_id, agent=agent) if self.enabled else None
        return LiveHistory(history, conversation, max_history_len=self._max_history_len)

    def _begin(self, session: Session, *, opened: bool) -> None:
        if opened and session.learns and self._startup is not None:
            self._startup.begin()

    async def _read(self, space: str | None, body: Callable[[Tx], T], *, empty: T) -> T:
        return await ask(self._database, body, space=space, empty=empty, read=True)

    async def _mark(self, session: Session, body: Callable[[Tx], bool]) -> bool:
        return await ask(self._database, body, space=sessions.home_of(session), empty=False)

    async def _end(self, session: Session, body: Callable[[Tx], Session]) -> Session:
        return await ask(self._database, body, space=sessions.home_of(session), empty=session, repeatable=True)
