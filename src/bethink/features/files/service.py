"""Adds files: a file becomes a conversation, and each of its passages a message.

read     reading.py    the text, by its media type
cut      passages.py   into passages, each with its position in the text
redact   secrets.py    so that no secret is missed because two passages share it
compare  _Difference   with the stored passages, in one transaction that stores new passages and retracts
                       removed ones
"""

import hashlib
import json
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Self

from bethink.errors import ConflictError, InvalidRequestError
from bethink.extend import Redactor
from bethink.features.files.operations import ADD_FILE, AddFileRequest
from bethink.features.files.passages import FilePassage, passages_of
from bethink.features.files.queries import count_passages
from bethink.features.files.reading import media_type_of, read_file
from bethink.features.files.secrets import CachingRedactor, join_split_secrets
from bethink.features.files.sources import SourceText
from bethink.memory.deletion.retract import retract
from bethink.memory.log import messages, sessions
from bethink.memory.log.listeners import Listeners
from bethink.memory.log.names import conversation_in, redacted_conversation
from bethink.memory.log.succession import get_session
from bethink.memory.registry import Host, handles
from bethink.model.erasures import PASSAGE
from bethink.model.files import AddedFile, passage_name
from bethink.model.operations.memory import ASSISTANT
from bethink.model.records import (
    AgentKind,
    Message,
    Origin,
    Record,
    Role,
    SessionInfo,
    Trigger,
    add_idempotency_keys,
    conversation_key,
)
from bethink.model.text import JsonObject
from bethink.store import erasures
from bethink.store import sessions as store
from bethink.store.db import Database, Tx
from bethink.store.messages import Prepared, after

CHANNEL = "file"
"""The channel of the conversations that files become."""
_FILE, _DIGEST, _TYPE, _HEADINGS = "file", "sha256", "media_type", "headings"


class FileService:
    """Adds files to the spaces of one database."""

    def __init__(self, database: Database, *, redactor: Redactor, listeners: Listeners) -> None:
        self._database = database
        self._redactor = redactor
        self._listeners = listeners

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Build the service from an open memory."""
        return cls(host.database, redactor=host.redactor, listeners=host.listeners())

    @handles(ADD_FILE)
    async def add(self, space: str, request: AddFileRequest) -> AddedFile:
        """Store a file, or its changes."""
        key = conversation_key(CHANNEL, request.name)
        media_type = media_type_of(request.name, request.media_type)
        data = (request.text or "").encode() if request.data is None else request.data
        about = {_FILE: request.name, _DIGEST: hashlib.sha256(data).hexdigest()}
        update = _FileUpdate(space, key, {**about, _TYPE: media_type}, self._redactor)
        # Reading and redacting a long file takes seconds, and most files are unchanged since the last time.
        existing = await self._database.transact(update.find_unchanged, space=space, read_only=True)
        if existing is not None:
            return existing
        async with self._database.lanes.turn(space, len(data)) as turn:
            try:
                source = await read_file(media_type, turn, text=request.text, data=request.data)
                update.rows, update.cut = await turn.run(partial(_prepare_rows, source, request, about, self._redactor))
            except InvalidRequestError as error:
                raise InvalidRequestError(f"Cannot add {request.name!r}: {error.args[0]}", hint=error.hint) from error
            done = await messages.append_once(self._database, update.body, space=space)
        if done.opened:
            await self._listeners.on_session_opened(done.result.session)
        if done.result.added:
            await self._listeners.notify_stored(space, done.result.session.id, thread_id=done.thread_id)
        return done.result


def _prepare_rows(
    source: SourceText, request: AddFileRequest, about: JsonObject, redactor: Redactor, pause: Callable[[], None]
) -> tuple[list[Prepared], int]:
    """Return the non-empty redacted passages of a file as rows, with their positions.

    Also returns the approximate number of characters removed.
    """
    cached = CachingRedactor(redactor, pause)
    passages = join_split_secrets(source.text, passages_of(source), cached)
    drafts = [_message(source.text, passage, about) for passage in passages]
    if request.idempotency_key is not None:
        drafts = add_idempotency_keys(drafts, request.idempotency_key)
    prepared = messages.prepare(drafts, cached)
    cut = sum(max(0, len(draft.content) - len(row.content)) for draft, row in zip(drafts, prepared, strict=True))
    rows = [row for row in prepared if row.content.strip()]
    if not rows:
        raise InvalidRequestError("The file contains only secrets or private data.", hint="Nothing was stored.")
    return rows, cut


def _message(text: str, passage: FilePassage, about: JsonObject) -> Message:
    metadata: dict[str, object] = {**about, "start": passage.start, "end": passage.end}
    if passage.headings:
        metadata[_HEADINGS] = passage.headings
    if passage.page is not None:
        metadata["page"] = passage.page
    # Role `tool`: neither the user nor the assistant said it, so filters by speaker must not return it.
    return Message(
        role=Role.TOOL,
        name=str(about[_FILE]),
        content=text[passage.start : passage.end],
        origin=Origin("document"),
        metadata=metadata,
    )


class _Done(NamedTuple):
    result: AddedFile
    opened: bool = False
    thread_id: str | None = None


class _Difference(NamedTuple):
    """Passages to store, and stored passages that the file no longer has."""

    new: list[Prepared]
    removed: list[Record]


class _FileUpdate:
    """One transaction: stores new passages, retracts removed ones, and records the digest in the session."""

    def __init__(self, space: str, key: str, about: JsonObject, redactor: Redactor) -> None:
        self._space = space
        self._key = key
        self._about = about
        self._name = redacted_conversation(key, redactor)
        self.rows: list[Prepared] = []
        self.cut = 0

    def find_unchanged(self, tx: Tx) -> AddedFile | None:
        """Return the stored file if it has the same bytes, or None."""
        space = self._space
        name = conversation_in(tx, space=space, agent=ASSISTANT, key=self._key, name=self._name)
        conversation = store.find_conversation(tx, space=space, agent=ASSISTANT, key=name)
        last = None if conversation is None else store.newest(tx, space=space, conversation=conversation)
        if conversation is None or last is None or not self._is_same(last):
            return None
        ids = store.ids_of(tx, space=space, conversation=conversation)
        stored, retracted = count_passages(tx, ids, space=space)
        return self._result(last, retained=stored - retracted) if stored else None

    def body(self, tx: Tx) -> _Done:
        """Bring the log up to date with the file."""
        space = self._space
        name = conversation_in(tx, space=space, agent=ASSISTANT, key=self._key, name=self._name)
        conversation = store.find_conversation(tx, space=space, agent=ASSISTANT, key=name)
        session, opened = (None, False) if conversation is not None else self._open(tx, name)
        if session is not None:
            conversation = session.conversation_id
        conversation = conversation or ""
        store.lock_conversation(tx, space=space, conversation=conversation)
        last = session or store.newest(tx, space=space, conversation=conversation)
        stored = self._stored_passages(tx, conversation)
        tx.repeatable = True  # the comparison prevents duplicates
        if stored and last is not None and (self._is_same(last) or self._is_repeated(stored)):
            return _Done(self._result(last, retained=_count_live(stored)))
        difference = _difference(self.rows, [record for record in stored if record.retracted_at is None])
        new = self._exclude_forgotten(tx, difference.new)
        if last is None or new:
            last, now = self._open(tx, name)
            opened = opened or now
        thread_id = self._store(tx, last, new) if new else None
        for record in difference.removed:
            retract(tx, space=space, session_id=record.session_id, number=record.number)
        last = get_session(tx, space=space, session_id=last.id)
        last = store.label(tx, last, tags=last.tags, metadata={**last.metadata, **self._labels()})
        retained, forgotten = len(self.rows) - len(difference.new), len(difference.new) - len(new)
        result = self._result(last, len(new), retained=retained, retracted=len(difference.removed), forgotten=forgotten)
        return _Done(result, opened, thread_id)

    def _exclude_forgotten(self, tx: Tx, rows: list[Prepared]) -> list[Prepared]:
        names = [passage_name(row.content, json.loads(row.metadata)) for row in rows]
        forgotten_names = erasures.find_tombstones(tx, PASSAGE, names, space=self._space)
        return [row for row, name in zip(rows, names, strict=True) if name not in forgotten_names]

    def _store(self, tx: Tx, session: SessionInfo, rows: list[Prepared]) -> str | None:
        appended = messages.append(tx, space=self._space, session_id=session.id, rows=rows)
        tx.repeatable = True
        number = max(appended.numbers)
        store.mark(tx, space=self._space, session_id=session.id, number=number, trigger=Trigger.IDLE)
        return appended.thread_id

    def _open(self, tx: Tx, name: str) -> tuple[SessionInfo, bool]:
        return sessions.open_session(tx, space=self._space, agent=ASSISTANT, kind=AgentKind.PRIMARY, key=name)

    def _stored_passages(self, tx: Tx, conversation: str) -> list[Record]:
        """Return the stored passages of the file, including retracted ones."""
        ids = store.ids_of(tx, space=self._space, conversation=conversation)
        records = [
            record
            for session_id in ids
            for record in after(tx, space=self._space, session_id=session_id, number=0, retracted=True)
        ]
        return [
            record for record in records if record.message.origin == "document" and _DIGEST in record.message.metadata
        ]

    def _is_same(self, last: SessionInfo) -> bool:
        return all(last.metadata.get(name) == self._about[name] for name in (_DIGEST, _TYPE))

    def _is_repeated(self, stored: list[Record]) -> bool:
        """Return whether this request was already handled. A newer version may have followed it."""
        keys = {row.idempotency_key for row in self.rows} - {None}
        same_key = [record.message for record in stored if record.message.idempotency_key in keys]
        if any(message.metadata.get(_DIGEST) != self._about[_DIGEST] for message in same_key):
            hint = "Use a new key for other content. Repeat a key only with the same file."
            raise ConflictError("The idempotency key belongs to another version of the file.", hint=hint)
        return bool(same_key)

    def _labels(self) -> JsonObject:
        """Return the session's metadata about the file, redacted like its passages."""
        stored = json.loads(self.rows[0].metadata)
        return {_FILE: stored[_FILE], _DIGEST: self._about[_DIGEST], _TYPE: self._about[_TYPE]}

    def _result(
        self, session: SessionInfo, added: int = 0, *, retained: int, retracted: int = 0, forgotten: int = 0
    ) -> AddedFile:
        return AddedFile(
            session=session,
            sha256=str(self._about[_DIGEST]),
            media_type=str(self._about[_TYPE]),
            added=added,
            unchanged=retained,
            retracted=retracted,
            cut=self.cut if added or retracted else 0,
            deleted_before=forgotten,
        )


def _count_live(records: list[Record]) -> int:
    return sum(record.retracted_at is None for record in records)


def _difference(rows: list[Prepared], live: list[Record]) -> _Difference:
    """Compare passages by text and headings. Repeated passages count separately."""
    unmatched: dict[tuple[str, str], list[Record]] = {}
    for record in reversed(live):
        unmatched.setdefault((record.message.content, _headings(record.message.metadata)), []).append(record)
    new: list[Prepared] = []
    for row in rows:
        same = unmatched.get((row.content, _headings(json.loads(row.metadata))))
        if same:
            same.pop()
        else:
            new.append(row)
    removed = [record for records in unmatched.values() for record in records]
    return _Difference(new, sorted(removed, key=lambda record: (record.recorded_at, record.number)))


def _headings(metadata: JsonObject) -> str:
    return json.dumps(metadata.get(_HEADINGS, []))
