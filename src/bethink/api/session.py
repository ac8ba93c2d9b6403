"""One session of a conversation.

Written by tools/make_api.py from the table of operations; change a request there and run it again.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from bethink.api.handles import SessionHandle, tuple_of
from bethink.model.changes import SessionLearnt
from bethink.model.facts import SessionMemory
from bethink.model.messages import Given, messages_from
from bethink.model.moments import When, beginning, moment
from bethink.model.operations.memory import (
    CONTEXT,
    FORGET,
    RECALL,
    SHOWN,
    ContextRequest,
    ForgetRequest,
    RecallRequest,
    ShownRequest,
)
from bethink.model.operations.sessions import (
    APPEND,
    CITED,
    COMPACTED,
    END,
    END_TURN,
    IDLE,
    READ_MESSAGES,
    RESET,
    RETRACT,
    RETRY,
    SESSION_MEMORY,
    TRANSCRIPT,
    AppendRequest,
    CitedRequest,
    ReadRequest,
    ResetRequest,
    RetractRequest,
    SessionRequest,
    TranscriptRequest,
)
from bethink.model.recall import Block, Level, Recall, RefKind, Showing
from bethink.model.records import Forgotten, Record
from bethink.model.transcripts import Transcript


class Session(SessionHandle):
    """One session of a conversation."""

    async def append(self, messages: Given, *, idempotency_key: str | None = None) -> list[int]:
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
        return await self._run(
            APPEND, AppendRequest(session_id=self.id, idempotency_key=idempotency_key, messages=messages_from(messages))
        )

    async def read(
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
        return await self._run(
            READ_MESSAGES,
            ReadRequest(
                session_id=self.id,
                origins=None if origins is None else tuple_of(origins),
                tags=tuple_of(tags),
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                where=where,
                after=after,
                limit=limit,
                last=last,
            ),
        )

    async def retract(self, number: int) -> bool:
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
        return await self._run(RETRACT, RetractRequest(session_id=self.id, number=number))

    async def transcript(self, *, around: int | None = None, limit: int = 50) -> Transcript:
        """Return the messages around one, each with the facts, documents and claims made of it.

        It takes the same few queries however long the session is.

        Args:
            around: The number of the message in the middle; the last ones, if left out.
            limit: How many messages to return at most.

        Raises:
            NotFound: if the space has no such session.
        """
        return await self._run(TRANSCRIPT, TranscriptRequest(session_id=self.id, around=around, limit=limit))

    async def end_turn(self) -> bool:
        """Signal the end of a turn. Returns whether the session was marked to be learnt from.

        A session is marked when more than five messages have not been learnt from.

        Raises:
            NotFound: if the space has no such session.
        """
        return await self._run(END_TURN, SessionRequest(session_id=self.id))

    async def idle(self) -> bool:
        """Signal that the agent is idle. Returns whether the session was marked to be learnt from.

        Raises:
            NotFound: if the space has no such session.
        """
        return await self._run(IDLE, SessionRequest(session_id=self.id))

    async def reset(self, *, emergency: bool = False) -> "Session":
        """End the session and return the next one of its conversation.

        Args:
            emergency: Record that the context had grown too long to go on.

        Raises:
            NotFound: if the space has no such session.
        """
        return Session(self._backend, await self._run(RESET, ResetRequest(session_id=self.id, emergency=emergency)))

    async def compacted(self) -> "Session":
        """Signal that the context was compacted: end the session and return the next one.

        Raises:
            NotFound: if the space has no such session.
        """
        return Session(self._backend, await self._run(COMPACTED, SessionRequest(session_id=self.id)))

    async def end(self) -> "Session":
        """End the session, with none to follow.

        Raises:
            NotFound: if the space has no such session.
        """
        return Session(self._backend, await self._run(END, SessionRequest(session_id=self.id)))

    async def retry(self) -> bool:
        """Learn from the session again after learning failed. Returns False if it had not failed.

        With a model, also learns again from a session that was only quoted because there was none.

        Raises:
            NotFound: if the space has no such session.
        """
        return await self._run(RETRY, SessionRequest(session_id=self.id))

    async def summary(self) -> SessionMemory | None:
        """Return what was learnt of the session as a whole, or None.

        Raises:
            NotFound: if the space has no such session.
        """
        return await self._run(SESSION_MEMORY, SessionRequest(session_id=self.id))

    async def cited(self, answer: str) -> str:
        """Count what an answer cites of what its session was shown, and return the answer without the citations.

        Args:
            answer: The text of the answer, with its citations.
        """
        return await self._run(CITED, CitedRequest(session_id=self.id, answer=answer))

    async def learnt(self, *, wait: float = 30.0) -> SessionLearnt:
        """Wait until all that was said in the session so far has been learnt from, and return what came of it.

        It marks the session if need be, as `idle` does, and returns early if learning was given up. `done` says
        whether it was worth the wait.

        Args:
            wait: For how many seconds to wait at most.

        Raises:
            NotFound: if the space has no such session.
        """
        from bethink.model.operations.changes import LEARNT, LearntRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(LEARNT, LearntRequest(session_id=self.id, wait=wait))

    async def recall(
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
        return await self._run(
            RECALL,
            RecallRequest(
                session_id=self.id,
                origins=None if origins is None else tuple_of(origins),
                tags=tuple_of(tags),
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                where=where,
                budget=budget,
                as_of=None if as_of is None else moment(as_of),
                question=question,
                limit=limit,
                kinds=tuple_of(kinds),
                least=least,
                explain=explain,
            ),
        )

    async def context(
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
        return await self._run(
            CONTEXT,
            ContextRequest(
                session_id=self.id,
                origins=None if origins is None else tuple_of(origins),
                tags=tuple_of(tags),
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                where=where,
                budget=budget,
                as_of=None if as_of is None else moment(as_of),
                question=question,
            ),
        )

    async def shown(self, *, as_of: When | None = None, limit: int = 100) -> list[Showing]:
        """Read the ledger: what was shown to which session and when, the newest first.

        Args:
            as_of: Only what had been shown by this time. A day means its end.
            limit: How many entries to return at most.
        """
        return await self._run(
            SHOWN, ShownRequest(session_id=self.id, as_of=None if as_of is None else moment(as_of), limit=limit)
        )

    async def forget(self, *, dry_run: bool = False) -> Forgotten:
        """Remove something for good, with everything that was made of it, and count what went.

        It is recorded first, finished by any process if this one dies, and answered with a receipt.

        Args:
            dry_run: Count and name what would go, and remove nothing.

        Raises:
            NotFound: if the space has nothing by that name.
            UnderLegalHold: if the space is under a legal hold.
        """
        return await self._run(FORGET, ForgetRequest(session_id=self.id, dry_run=dry_run))
