"""Handles the operations of sessions: stores and reads messages, and marks sessions for learning."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Self, TypeVar

from bethink.extend import Redactor
from bethink.memory.log import messages, remember, sessions, succession
from bethink.memory.log.listeners import Listeners
from bethink.memory.log.names import conversation_in, redacted_conversation
from bethink.memory.registry import Host, handles
from bethink.model.facts import SessionSummary
from bethink.model.framing import text_cleaner
from bethink.model.operations.memory import REMEMBER, RememberRequest
from bethink.model.operations.sessions import (
    APPEND,
    CHECKPOINT,
    END_SESSION,
    FIND_SESSION,
    GET_SESSION,
    LIST_SESSIONS,
    OPEN_SESSION,
    READ_MESSAGES,
    RELEARN_SESSION,
    RESTART_SESSION,
    SESSION_SUMMARY,
    TRANSCRIPT,
    AppendRequest,
    CheckpointRequest,
    FindSessionRequest,
    ListSessionsRequest,
    OpenSessionRequest,
    ReadMessagesRequest,
    RestartRequest,
    SessionRequest,
    TranscriptRequest,
)
from bethink.model.paging import Page, page_of
from bethink.model.recall import Remembered
from bethink.model.records import EndReason, Message, Record, SessionEntry, SessionInfo, Trigger, add_idempotency_keys
from bethink.model.refs import Ref, RefKind
from bethink.model.text import JsonObject, canonical_json
from bethink.model.transcripts import Transcript
from bethink.store import learning, marks, transcripts
from bethink.store import sessions as store
from bethink.store.db import Database, Tx

T = TypeVar("T")


class _Labels(NamedTuple):
    """New labels of a session, without secrets; None for those that stay."""

    tags: tuple[str, ...] | None
    metadata: JsonObject | None


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
    def from_host(cls, host: Host) -> Self:
        """Create the service from an open memory."""
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

        redacted = redacted_conversation(key, self._redactor)
        size = 0 if request.metadata is None else len(repr(request.metadata))
        labels = await self._database.lanes.run(space, size, lambda: self._cut_labels(request))

        def body(tx: Tx) -> tuple[SessionInfo, bool]:
            name = conversation_in(tx, space=space, agent=agent, key=key, name=redacted)
            session, opened = sessions.open_session(
                tx, space=space, agent=agent, kind=request.kind, key=name, ephemeral=request.ephemeral
            )
            tags = session.tags if labels.tags is None else labels.tags
            metadata = session.metadata if labels.metadata is None else labels.metadata
            return store.label(tx, session, tags=tags, metadata=metadata), opened

        session, opened = await self._write(space, body)
        if opened:
            await self._listeners.on_session_opened(session)
        return session

    @handles(FIND_SESSION)
    async def find(self, space: str, request: FindSessionRequest) -> SessionInfo | None:
        """Return the newest session of a conversation."""
        agent, key = request.agent, request.conversation
        redacted = redacted_conversation(key, self._redactor)

        def body(tx: Tx) -> SessionInfo | None:
            name = conversation_in(tx, space=space, agent=agent, key=key, name=redacted)
            conversation = store.find_conversation(tx, space=space, agent=agent, key=name)
            return None if conversation is None else store.newest(tx, space=space, conversation=conversation)

        return await self._query(space, body)

    @handles(LIST_SESSIONS)
    async def list_sessions(self, space: str, request: ListSessionsRequest) -> Page[SessionEntry]:
        """List sessions, the newest first."""
        entries = await self._query(
            space,
            lambda tx: store.list_sessions(
                tx,
                space=space,
                limit=request.limit + 1,
                before=request.after,
                only=request.only,
                state=request.state,
                starting=request.conversation_prefix,
            ),
        )
        return page_of(entries, request.limit, lambda entry: entry.session.id)

    @handles(GET_SESSION)
    async def get(self, space: str, request: SessionRequest) -> SessionInfo:
        """Return the current state of a session."""
        return await self._query(
            space, lambda tx: succession.get_session(tx, space=space, session_id=request.session_id)
        )

    @handles(REMEMBER)
    async def remember(self, space: str, request: RememberRequest) -> Remembered:
        """Store messages in a session, or in the active one of a conversation."""
        drafts = [_with_labels(message, request) for message in request.messages]
        if request.idempotency_key is not None:
            drafts = add_idempotency_keys(drafts, request.idempotency_key)
        async with self._database.lanes.turn(space, messages.size_of(drafts)) as turn:
            rows = await turn.run(partial(messages.prepare, drafts, self._redactor))
            body = remember.build_transaction(rows, request, space=space, redactor=self._redactor)
            stored = await messages.append_once(self._database, body, space=space)
        if stored.opened:
            await self._listeners.on_session_opened(stored.session)
        await self._listeners.notify_stored(space, stored.session.id, thread_id=stored.appended.thread_id)
        refs = (Ref(RefKind.MESSAGE, source.session_id, source.number) for source in stored.appended.sources)
        return Remembered(session=stored.session, refs=tuple(refs))

    @handles(APPEND)
    async def append(self, space: str, request: AppendRequest) -> list[int]:
        """Store messages in a session and return their numbers."""
        drafts = list(request.messages)
        if request.idempotency_key is not None:
            drafts = add_idempotency_keys(drafts, request.idempotency_key)

        async with self._database.lanes.turn(space, messages.size_of(drafts)) as turn:
            rows = await turn.run(partial(messages.prepare, drafts, self._redactor))

            def body(tx: Tx) -> messages.Appended:
                return messages.append(tx, space=space, session_id=request.session_id, rows=rows)

            appended = await messages.append_once(self._database, body, space=space)
        await self._listeners.notify_stored(space, request.session_id, thread_id=appended.thread_id)
        return appended.numbers

    @handles(READ_MESSAGES)
    async def messages(self, space: str, request: ReadMessagesRequest) -> Page[Record]:
        """Return the messages of a session, in order."""

        def body(tx: Tx) -> list[Record]:
            records = messages.read_messages(
                tx,
                space=space,
                session_id=request.session_id,
                after=request.after or 0,
                limit=request.limit + 1,
                only=request.only,
                last=request.last,
            )
            if not records:  # an empty page may mean that the session does not exist
                succession.get_session(tx, space=space, session_id=request.session_id)
            return records

        page = page_of(await self._query(space, body), request.limit, lambda record: str(record.number))
        if not request.visible or not page.items:
            return page
        visible = await self._query(space, lambda tx: marks.visible_records(tx, page.items, space=space))
        return Page(items=tuple(visible), next=page.next)

    @handles(TRANSCRIPT)
    async def transcript(self, space: str, request: TranscriptRequest) -> Transcript:
        """Return the messages around one, each with its derived data."""

        def body(tx: Tx) -> Transcript:
            session = succession.get_session(tx, space=space, session_id=request.session_id)
            return transcripts.around(tx, session, number=request.around, limit=request.limit)

        return await self._query(space, body)

    @handles(CHECKPOINT)
    async def checkpoint(self, space: str, request: CheckpointRequest) -> bool:
        """Queue a session for learning if it has enough new messages."""
        session_id = request.session_id

        def body(tx: Tx) -> bool:
            if request.force:
                return succession.mark_pending(tx, space=space, session_id=session_id, trigger=Trigger.IDLE)
            return sessions.mark_after_turn(tx, space=space, session_id=session_id)

        return await self._write(space, body)

    @handles(RESTART_SESSION)
    async def restart(self, space: str, request: RestartRequest) -> SessionInfo:
        """End a session and return the next."""
        reason = EndReason(request.reason)
        return await self._write(
            space,
            lambda tx: succession.succeed_session(tx, space=space, session_id=request.session_id, reason=reason),
        )

    @handles(END_SESSION)
    async def end(self, space: str, request: SessionRequest) -> SessionInfo:
        """End a session."""
        return await self._write(
            space,
            lambda tx: succession.end_session(tx, space=space, session_id=request.session_id, reason=EndReason.CLOSED),
        )

    @handles(RELEARN_SESSION)
    async def retry(self, space: str, request: SessionRequest) -> bool:
        """Restart learning from a session."""
        quoted = self._has_model()

        def body(tx: Tx) -> bool:
            session = succession.get_session(tx, space=space, session_id=request.session_id)
            return learning.retry(tx, session, quoted=quoted)

        return await self._write(space, body)

    @handles(SESSION_SUMMARY)
    async def summary(self, space: str, request: SessionRequest) -> SessionSummary | None:
        """Return the summary of a session."""

        def body(tx: Tx) -> SessionSummary | None:
            memory = learning.find_memory(tx, space=space, session_id=request.session_id)
            if memory is None:
                succession.get_session(tx, space=space, session_id=request.session_id)
            return memory

        return await self._query(space, body)

    def _cut_labels(self, request: OpenSessionRequest) -> _Labels:
        cut, tags, metadata = self._cut, request.tags, request.metadata
        return _Labels(
            tags=None if tags is None else tuple(map(cut, tags)),
            metadata=None if metadata is None else json.loads(canonical_json(metadata, cut)),
        )

    async def _query(self, space: str, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, space=space, read_only=True)

    async def _write(self, space: str, body: Callable[[Tx], T]) -> T:
        return await self._database.transact(body, space=space, repeatable=True)


def _with_labels(message: Message, request: RememberRequest) -> Message:
    """Return a message with the tags and metadata of the request added."""
    if not request.tags and not request.metadata:
        return message
    tags = (*message.tags, *request.tags)
    return replace(message, tags=tags, metadata={**(request.metadata or {}), **message.metadata})
