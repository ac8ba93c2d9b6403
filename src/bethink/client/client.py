"""Client: the verbs of a Memory, asked of a server."""

from collections.abc import Collection, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING

from bethink.client.access import RemoteAccess
from bethink.client.calls import Calls
from bethink.client.desk import RemoteDesk
from bethink.client.documents import RemoteDocuments
from bethink.client.facts import RemoteFacts
from bethink.client.messages import drafts_of
from bethink.client.place import AGAIN, ONCE, READS, Place, Sent
from bethink.errors import Invalid, NotFound
from bethink.model.jobs import Job
from bethink.model.moments import When, moment_or_none
from bethink.model.recall import Block, Lineage, Recall, Ref, RefKind, Remembered, Showing
from bethink.model.records import (
    AgentKind,
    ConversationKey,
    Forgotten,
    Message,
    Record,
    Session,
    SessionEntry,
    SessionMemory,
    conversation_text,
    space_of,
)

if TYPE_CHECKING:  # only loaded by who lets a server work
    from bethink.worker import Audit, RunReport

_UNTIMED = Sent(timed=False)


class Client:
    """The verbs of a Memory on a server, with its signatures, results and errors. Safe to share between tasks.

    What is safe to send again is: reads, and messages, which get idempotency keys for it.
    """

    def __init__(self, url: str, *, key: str, timeout: float = 30.0, retries: int = 5) -> None:
        self._calls = Calls(url, key=key, timeout=timeout, retries=retries)
        self._server = Place(calls=self._calls)

    async def open(self) -> None:
        """Make ready to connect; nothing is sent yet. Entering a with block does this."""
        await self._calls.open()

    async def close(self) -> None:
        """Close every connection."""
        await self._calls.close()

    async def __aenter__(self) -> "Client":
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
        """Return the active session of a conversation, opening one if there is none."""
        place = self._space(space, user_id)
        return await place.send(
            Session,
            "sessions",
            how=AGAIN,
            conversation=conversation_text(conversation),
            agent=agent,
            kind=kind,
            ephemeral=ephemeral,
        )

    async def get_session(
        self, *, space: str | None = None, user_id: str | None = None, session_id: str
    ) -> Session | None:
        """Read a session as it stands now. Raises `NotFound` for an id that is not in the space."""
        return await self._space(space, user_id).get(Session, "sessions", session_id)

    async def sessions(
        self, *, space: str | None = None, user_id: str | None = None, limit: int = 100, before: str = ""
    ) -> list[SessionEntry]:
        """Return the sessions of a space, the newest first; `before` is the id that the page before ended with."""
        place = self._space(space, user_id)
        return await place.pages(SessionEntry, "sessions", limit=limit, start=before)

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
        named = session.space if session and not (space or user_id) else space_of(space, user_id)
        return await self._space(named, None).send(
            Remembered,
            "remember",
            how=AGAIN,
            messages=drafts_of(what, idempotency_key),
            session_id=_id_of(session, named),
            conversation=None if conversation is None else conversation_text(conversation),
            agent=agent,
        )

    async def append(self, session: Session, messages: Iterable[Message | Mapping[str, object]]) -> list[int]:
        """Store messages in one transaction and return their numbers; when it returns, they are durable.

        A message whose idempotency key is known in the space is not stored again: it keeps its number.
        """
        drafts = drafts_of(messages, None)
        found = await self._of(session).send(dict[str, list[int]], "messages", how=AGAIN, messages=drafts)
        return found["numbers"]

    async def read(self, session: Session, *, after: int = 0, limit: int | None = None) -> list[Record]:
        """Return the messages of a session that follow a number, in order."""
        return await self._of(session).pages(Record, "messages", limit=limit, after=after)

    async def end_turn(self, session: Session) -> bool:
        """Tell that a turn is over: marks the session past the threshold, and says whether it did."""
        return await self._done(session, "end_turn")

    async def idle(self, session: Session) -> bool:
        """Tell that nothing more is waiting for the agent: marks the session if it has something to learn."""
        return await self._done(session, "idle")

    async def reset(self, session: Session, *, emergency: bool = False) -> Session:
        """End and mark a session and return the next one of its conversation. Repeating it does no harm."""
        return await self._of(session).send(Session, "reset", how=AGAIN, emergency=emergency)

    async def compacted(self, session: Session) -> Session:
        """Tell that a session's context was compacted: it is ended and marked, and the next one returned."""
        return await self._of(session).send(Session, "compacted", how=AGAIN)

    async def end_session(self, session: Session) -> Session:
        """End a session and mark it, with nothing to follow."""
        return await self._of(session).send(Session, "end", how=AGAIN)

    async def learn(self) -> "RunReport":
        """Let the server learn once from what is marked, in all spaces, and say what came of it; it is waited for."""
        from bethink.worker import RunReport  # noqa: PLC0415 - see above

        return await self._server.send(RunReport, "learn", how=_UNTIMED)

    async def audit(self) -> "Audit":
        """Count what waits, what was given up, what was spent today, and what must never be."""
        from bethink.worker import Audit  # noqa: PLC0415 - see above

        return await self._server.get(Audit, "audit")

    async def jobs(self, *, space: str | None = None, user_id: str | None = None, limit: int = 100) -> list[Job]:
        """Return the jobs of a space, the newest promise first: where each stands, what it took, why it failed."""
        return await self._space(space, user_id).items(Job, "jobs", limit=limit)

    async def consolidate(self, *, space: str | None = None, user_id: str | None = None) -> None:
        """Promise a consolidation of a space; `learn`, or a worker, does it. Raises `NotFound` for no such space."""
        await self._space(space, user_id).send(dict[str, object], "consolidate", how=AGAIN)

    async def spaces(self, *, limit: int = 100, after: str = "") -> list[str]:
        """Return the names of all spaces that hold anything, in order, from after one on."""
        return await self._server.pages(str, "spaces", limit=limit, start=after)

    async def retry(self, session: Session) -> bool:
        """Let learning from a session start over that failed or was given up. False if it did neither.

        With a model also learning that only quoted, for want of one.
        """
        return await self._done(session, "retry")

    async def session_memory(self, session: Session) -> SessionMemory | None:
        """Return what is remembered of a whole session, if anything."""
        try:
            return await self._of(session).get(SessionMemory, "memory")
        except NotFound:
            return None

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
        named = space_of(space, user_id)
        return await self._space(named, None).send(
            Recall,
            "recall",
            how=READS if session is None else ONCE,
            question=question,
            limit=limit,
            budget=budget,
            as_of=moment_or_none(as_of),
            kinds=list(kinds),
            origins=None if origins is None else list(origins),
            session_id=_id_of(session, named),
            explain=explain,
        )

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
        named = space_of(space, user_id)
        return await self._space(named, None).send(
            Block,
            "context",
            how=READS if session is None else ONCE,
            question=question,
            budget=budget,
            as_of=moment_or_none(as_of),
            session_id=_id_of(session, named),
        )

    async def explain(self, ref: Ref | str, *, space: str | None = None, user_id: str | None = None) -> Lineage:
        """Follow a memory to its messages, job, model and prompt, and on to where it was shown. Raises `NotFound`."""
        return await self._space(space, user_id).get(Lineage, "memories", str(Ref.read(ref)))

    async def used(self, refs: Iterable[Ref | str], *, space: str | None = None, user_id: str | None = None) -> int:
        """Tell that memories were of use: each counts once a call, as do the session memories they rest on."""
        named = [Ref.read(ref) for ref in refs]
        return (await self._space(space, user_id).send(dict[str, int], "used", refs=named))["counted"]

    async def cited(self, answer: str, *, session: Session) -> str:
        """Count what an answer cites of what its session was shown, and return it without the citations."""
        return (await self._of(session).send(dict[str, str], "cited", answer=answer))["answer"]

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
        named = space_of(space, user_id)
        return await self._space(named, None).items(
            Showing, "shown", session_id=_id_of(session, named), as_of=moment_or_none(as_of), limit=limit
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
        named = space_of(space, user_id)
        return await self._space(named, None).send(
            Forgotten,
            "forget",
            how=READS if dry_run else ONCE,
            ref=None if ref is None else Ref.read(ref),
            session_id=_id_of(session, named),
            conversation=None if conversation is None else conversation_text(conversation),
            agent=agent,
            everything=everything,
            dry_run=dry_run,
        )

    def desk(self, *, space: str | None = None, user_id: str | None = None) -> RemoteDesk:
        """Return the working memory of a space."""
        named = space_of(space, user_id)
        return RemoteDesk(self._space(named, None), space=named)

    def access(self) -> RemoteAccess:
        """Return the keys of the server."""
        return RemoteAccess(self._server)

    def facts(self, *, space: str | None = None, user_id: str | None = None) -> RemoteFacts:
        """Return what is known in a space."""
        named = space_of(space, user_id)
        return RemoteFacts(self._space(named, None), space=named)

    def documents(self, *, space: str | None = None, user_id: str | None = None) -> RemoteDocuments:
        """Return the tree of documents of a space."""
        named = space_of(space, user_id)
        return RemoteDocuments(self._space(named, None), space=named)

    async def _done(self, session: Session, verb: str) -> bool:
        return (await self._of(session).send(dict[str, bool], verb))["done"]

    def _of(self, session: Session) -> Place:
        return Place(calls=self._calls, steps=("spaces", session.space, "sessions", session.id))

    def _space(self, space: str | None, user_id: str | None) -> Place:
        return Place(calls=self._calls, steps=("spaces", space_of(space, user_id)))


def _id_of(session: Session | None, space: str) -> str | None:
    if session is not None and session.space != space:
        raise Invalid(f"session {session.id} is not in space {space!r}.", hint="Ask in the space of the session.")
    return None if session is None else session.id
