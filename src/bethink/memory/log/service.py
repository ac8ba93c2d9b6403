"""Carries out the verbs of sessions: stores and reads messages, and marks sessions to be learnt from."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Self, TypeVar

from bethink.extend import Redactor
from bethink.memory.log import messages, remember, sessions, succession
from bethink.memory.log.listeners import Listeners
from bethink.memory.log.names import stored_conversation
from bethink.memory.registry import Host, handles
from bethink.model.facts import SessionMemory
from bethink.model.framing import text_cleaner
from bethink.model.operations.memory import REMEMBER, RememberRequest
from bethink.model.operations.sessions import (
    APPEND,
    COMPACTED,
    END,
    END_TURN,
    FIND_SESSION,
    GET_SESSION,
    IDLE,
    LIST_SESSIONS,
    OPEN_SESSION,
    READ_MESSAGES,
    RESET,
    RETRY,
    SESSION_MEMORY,
    TRANSCRIPT,
    AppendRequest,
    FindSessionRequest,
    ListSessionsRequest,
    OpenSessionRequest,
    ReadRequest,
    ResetRequest,
    SessionRequest,
    TranscriptRequest,
)
from bethink.model.recall import Ref, RefKind, Remembered
from bethink.model.records import EndReason, Message, Record, SessionEntry, SessionInfo, Trigger, keyed
from bethink.model.text import JsonObject, canonical_json
from bethink.model.transcripts import Transcript
from bethink.store import learning, transcripts
from bethink.store import sessions as store
from bethink.store.db import Database, Tx

T = TypeVar("T")


class SessionService:
    """The sessions of every space in one database."""

    def __init__(
        self,
        database: Database,
        *,
        redactor: Redactor,
        listeners: Listeners,
        has_model: Callable[[], bool],
    ) -> None:
        self._database = database
        self._redactor = redactor
        self._cut = text_cleaner(redactor.redact)
        self._listeners = listeners
        self._has_model = has_model

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(
            host.database,
            redactor=host.redactor,
            listeners=host.listeners(),
            has_model=host.learns_with_model,
        )

    @handles(OPEN_SESSION)
    async def open(self, space: str, request: OpenSessionRequest) -> SessionInfo:
        """Return the active session of a conversation, opening one if there is none."""
        agent, key = request.agent, request.conversation

        def body(tx: Tx) -> tuple[SessionInfo, bool]:
            name = stored_conversation(tx, space=space, agent=agent, key=key, redactor=self._redactor)
            session, opened = sessions.open_session(
                tx, space=space, agent=agent, kind=request.kind, key=name, ephemeral=request.ephemeral
            )
            tags = session.tags if request.tags is None else tuple(map(self._cut, request.tags))
            metadata = session.metadata if request.metadata is None else self._cut_json(request.metadata)
            return store.label(tx, session, tags=tags, metadata=metadata), opened

        session, opened = await self._write(space, body)
        if opened:
            await self._listeners.opened(session)
        return session

    @handles(FIND_SESSION)
    async def find(self, space: str, request: FindSessionRequest) -> SessionInfo | None:
        """Return the newest session of a conversation."""
        agent, key = request.agent, request.conversation

        def body(tx: Tx) -> SessionInfo | None:
            name = stored_conversation(tx, space=space, agent=agent, key=key, redactor=self._redactor)
            found = store.find_conversation(tx, space=space, agent=agent, key=name)
            return None if found is None else store.newest(tx, space=space, conversation=found)

        return await self._read(space, body)

    @handles(LIST_SESSIONS)
    async def all(self, space: str, request: ListSessionsRequest) -> list[SessionEntry]:
        """List sessions, the newest first."""
        return await self._read(
            space,
            lambda tx: store.listed(
                tx,
                space=space,
                limit=request.limit,
                before=request.before,
                only=request.only,
                state=request.state,
                starting=request.conversation_prefix,
            ),
        )

    @handles(GET_SESSION)
    async def get(self, space: str, request: SessionRequest) -> SessionInfo:
        """Return a session as it stands now."""
        return await self._read(
            space, lambda tx: succession.get_session(tx, space=space, session_id=request.session_id)
        )

    @handles(REMEMBER)
    async def remember(self, space: str, request: RememberRequest) -> Remembered:
        """Store messages in a session, or in the active one of a conversation."""
        drafts = [_labelled(message, request) for message in request.messages]
        if request.idempotency_key is not None:
            drafts = keyed(drafts, request.idempotency_key)
        body = remember.storing(drafts, request, space=space, redactor=self._redactor)
        stored = await messages.append_once(self._database, body, space=space)
        if stored.opened:
            await self._listeners.opened(stored.session)
        await self._listeners.tell(space, stored.session.id, thread_id=stored.appended.thread_id)
        refs = (Ref(RefKind.MESSAGE, source.session_id, source.number) for source in stored.appended.sources)
        return Remembered(session=stored.session, refs=tuple(refs))

    @handles(APPEND)
    async def append(self, space: str, request: AppendRequest) -> list[int]:
        """Store messages in a session and return their numbers."""
        drafts = list(request.messages)
        if request.idempotency_key is not None:
            drafts = keyed(drafts, request.idempotency_key)

        def body(tx: Tx) -> messages.Appended:
            rows = messages.prepare(drafts, self._redactor)
            return messages.append(tx, space=space, session_id=request.session_id, rows=rows)

        appended = await messages.append_once(self._database, body, space=space)
        await self._listeners.tell(space, request.session_id, thread_id=appended.thread_id)
        return appended.numbers

    @handles(READ_MESSAGES)
    async def read(self, space: str, request: ReadRequest) -> list[Record]:
        """Return the messages of a session, in order."""

        def body(tx: Tx) -> list[Record]:
            found = messages.read(
                tx,
                space=space,
                session_id=request.session_id,
                after=request.after,
                limit=request.limit,
                only=request.only,
                last=request.last,
            )
            if not found:  # an empty page may mean that there is no such session
                succession.get_session(tx, space=space, session_id=request.session_id)
            return found

        return await self._read(space, body)

    @handles(TRANSCRIPT)
    async def transcript(self, space: str, request: TranscriptRequest) -> Transcript:
        """Return the messages around one, each with what became of it."""

        def body(tx: Tx) -> Transcript:
            session = succession.get_session(tx, space=space, session_id=request.session_id)
            return transcripts.around(tx, session, number=request.around, limit=request.limit)

        return await self._read(space, body)

    @handles(END_TURN)
    async def end_turn(self, space: str, request: SessionRequest) -> bool:
        """Mark a session that has more than five messages to learn from."""
        return await self._write(
            space, lambda tx: sessions.mark_after_turn(tx, space=space, session_id=request.session_id)
        )

    @handles(IDLE)
    async def idle(self, space: str, request: SessionRequest) -> bool:
        """Mark a session that has anything to learn from."""
        return await self._write(
            space,
            lambda tx: succession.mark_pending(tx, space=space, session_id=request.session_id, trigger=Trigger.IDLE),
        )

    @handles(RESET)
    async def reset(self, space: str, request: ResetRequest) -> SessionInfo:
        """End a session and return the next."""
        return await self._next(space, request, EndReason.EMERGENCY if request.emergency else EndReason.RESET)

    @handles(COMPACTED)
    async def compacted(self, space: str, request: SessionRequest) -> SessionInfo:
        """End a session whose context was compacted, and return the next."""
        return await self._next(space, request, EndReason.COMPACTION)

    @handles(END)
    async def end(self, space: str, request: SessionRequest) -> SessionInfo:
        """End a session."""
        return await self._write(
            space,
            lambda tx: succession.end_session(tx, space=space, session_id=request.session_id, reason=EndReason.CLOSED),
        )

    @handles(RETRY)
    async def retry(self, space: str, request: SessionRequest) -> bool:
        """Start learning from a session over."""
        quoted = self._has_model()

        def body(tx: Tx) -> bool:
            session = succession.get_session(tx, space=space, session_id=request.session_id)
            return learning.retry(tx, session, quoted=quoted)

        return await self._write(space, body)

    @handles(SESSION_MEMORY)
    async def summary(self, space: str, request: SessionRequest) -> SessionMemory | None:
        """Return what was learnt from a session as a whole."""

        def body(tx: Tx) -> SessionMemory | None:
            found = learning.find_memory(tx, space=space, session_id=request.session_id)
            if found is None:
                succession.get_session(tx, space=space, session_id=request.session_id)
            return found

        return await self._read(space, body)

    def _cut_json(self, value: JsonObject) -> JsonObject:
        return json.loads(canonical_json(value, self._cut))

    async def _next(self, space: str, request: SessionRequest, reason: EndReason) -> SessionInfo:
        return await self._write(
            space,
            lambda tx: succession.succeed_session(tx, space=space, session_id=request.session_id, reason=reason),
        )

    async def _read(self, space: str, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, space=space, read=True)

    async def _write(self, space: str, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, space=space, repeatable=True)


def _labelled(message: Message, request: RememberRequest) -> Message:
    """Return a message with the tags and the metadata that the request has for all of them."""
    if not request.tags and not request.metadata:
        return message
    tags = (*message.tags, *request.tags)
    return replace(message, tags=tags, metadata={**(request.metadata or {}), **message.metadata})
