"""Carries out add_file: a file becomes a conversation of its own, and each of its passages a message.

read     reading.py    the text, by its media type
cut      passages.py   into passages, each with its place in the text
redact   secrets.py    so that no secret is missed because it stands in two of them
compare  _Difference   with what the log holds of the file, in one transaction that stores what is new and takes
                       back what is gone
"""

import hashlib
import json
from typing import NamedTuple, Self

import anyio

from bethink.errors import Conflict, Invalid
from bethink.extend import Redactor
from bethink.features.files.operations import ADD_FILE, AddFileRequest
from bethink.features.files.passages import FilePassage, passages_of
from bethink.features.files.reading import media_type_of, read_file
from bethink.features.files.secrets import RedactedOnce, kept_together
from bethink.features.files.sources import SourceText
from bethink.memory.deletion.retract import retract
from bethink.memory.log import messages, sessions
from bethink.memory.log.listeners import Listeners
from bethink.memory.log.names import stored_conversation
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
    conversation_key,
    keyed,
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
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database, redactor=host.redactor, listeners=host.listeners())

    @handles(ADD_FILE)
    async def add(self, space: str, request: AddFileRequest) -> AddedFile:
        """Store a file, or what changed in it."""
        key = conversation_key(CHANNEL, request.name)
        media_type = media_type_of(request.name, request.media_type)
        data = (request.text or "").encode() if request.data is None else request.data
        about = {_FILE: request.name, _DIGEST: hashlib.sha256(data).hexdigest()}
        adding = _Adding(space, key, {**about, _TYPE: media_type}, self._redactor)
        # Reading and redacting a long file takes seconds, and most files have not changed since the last time.
        known = await self._database.transact(adding.unchanged, space=space, read=True)
        if known is not None:
            return known
        try:
            source = await read_file(media_type, text=request.text, data=request.data)
            adding.rows, adding.cut = await anyio.to_thread.run_sync(_prepared, source, request, about, self._redactor)
        except Invalid as error:
            raise Invalid(f"cannot add {request.name!r}: {error.args[0]}", hint=error.hint) from error
        done = await messages.append_once(self._database, adding.body, space=space)
        if done.opened:
            await self._listeners.opened(done.result.session)
        if done.result.added:
            await self._listeners.tell(space, done.result.session.id, thread_id=done.thread_id)
        return done.result


def _prepared(
    source: SourceText, request: AddFileRequest, about: JsonObject, redactor: Redactor
) -> tuple[list[Prepared], int]:
    """Return the passages of a file as rows: redacted, with where they stand, and without those that are empty then.

    Also returns about how many characters were cut out.
    """
    once = RedactedOnce(redactor)
    found = kept_together(source.text, passages_of(source), once)
    drafts = [_message(source.text, each, about) for each in found]
    if request.idempotency_key is not None:
        drafts = keyed(drafts, request.idempotency_key)
    made = messages.prepare(drafts, once)
    cut = sum(max(0, len(draft.content) - len(row.content)) for draft, row in zip(drafts, made, strict=True))
    rows = [row for row in made if row.content.strip()]
    if not rows:
        raise Invalid("all of it is private or a secret.", hint="Nothing of it was stored.")
    return rows, cut


def _message(text: str, passage: FilePassage, about: JsonObject) -> Message:
    metadata: dict[str, object] = {**about, "start": passage.start, "end": passage.end}
    if passage.headings:
        metadata[_HEADINGS] = passage.headings
    if passage.page is not None:
        metadata["page"] = passage.page
    # Of the role of a tool: neither the user nor the assistant says it, and no question of either finds it as theirs.
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
    """What the log lacks of a file, and what it has that is gone from the file."""

    new: list[Prepared]
    gone: list[Record]


class _Adding:
    """One transaction: what is new is stored, what is gone is taken back, and the session says which bytes it has."""

    def __init__(self, space: str, key: str, about: JsonObject, redactor: Redactor) -> None:
        self._space = space
        self._key = key
        self._about = about
        self._redactor = redactor
        self.rows: list[Prepared] = []
        self.cut = 0

    def unchanged(self, tx: Tx) -> AddedFile | None:
        """Return what memory holds of the file if that has the same bytes."""
        space = self._space
        name = stored_conversation(tx, space=space, agent=ASSISTANT, key=self._key, redactor=self._redactor)
        conversation = store.find_conversation(tx, space=space, agent=ASSISTANT, key=name)
        last = None if conversation is None else store.newest(tx, space=space, conversation=conversation)
        if conversation is None or last is None or not self._is_same(last):
            return None
        held = self._held(tx, conversation)
        return self._result(last, kept=_standing(held)) if held else None

    def body(self, tx: Tx) -> _Done:
        """Bring the log up to date with the file."""
        space = self._space
        name = stored_conversation(tx, space=space, agent=ASSISTANT, key=self._key, redactor=self._redactor)
        conversation = store.find_conversation(tx, space=space, agent=ASSISTANT, key=name)
        session, opened = (None, False) if conversation is not None else self._open(tx, name)
        if session is not None:
            conversation = session.conversation_id
        conversation = conversation or ""
        store.lock_conversation(tx, space=space, conversation=conversation)
        last = session or store.newest(tx, space=space, conversation=conversation)
        held = self._held(tx, conversation)
        tx.repeatable = True  # it compares, and so stores nothing twice
        if held and last is not None and (self._is_same(last) or self._is_repeated(held)):
            return _Done(self._result(last, kept=_standing(held)))
        found = _difference(self.rows, [record for record in held if record.retracted_at is None])
        new = self._not_forgotten(tx, found.new)
        if last is None or new:
            last, now = self._open(tx, name)
            opened = opened or now
        thread_id = self._store(tx, last, new) if new else None
        for record in found.gone:
            retract(tx, space=space, session_id=record.session_id, number=record.number)
        last = get_session(tx, space=space, session_id=last.id)
        last = store.label(tx, last, tags=last.tags, metadata={**last.metadata, **self._labels()})
        kept, forgotten = len(self.rows) - len(found.new), len(found.new) - len(new)
        result = self._result(last, len(new), kept=kept, retracted=len(found.gone), forgotten=forgotten)
        return _Done(result, opened, thread_id)

    def _not_forgotten(self, tx: Tx, rows: list[Prepared]) -> list[Prepared]:
        names = [passage_name(row.content, json.loads(row.metadata)) for row in rows]
        gone = erasures.buried(tx, PASSAGE, names, space=self._space)
        return [row for row, name in zip(rows, names, strict=True) if name not in gone]

    def _store(self, tx: Tx, session: SessionInfo, rows: list[Prepared]) -> str | None:
        appended = messages.append(tx, space=self._space, session_id=session.id, rows=rows)
        tx.repeatable = True
        number = max(appended.numbers)
        store.mark(tx, space=self._space, session_id=session.id, number=number, trigger=Trigger.IDLE)
        return appended.thread_id

    def _open(self, tx: Tx, name: str) -> tuple[SessionInfo, bool]:
        return sessions.open_session(tx, space=self._space, agent=ASSISTANT, kind=AgentKind.PRIMARY, key=name)

    def _held(self, tx: Tx, conversation: str) -> list[Record]:
        """Return what the log holds of the file, also what was taken back."""
        ids = store.ids_of(tx, space=self._space, conversation=conversation)
        found = [each for one in ids for each in after(tx, space=self._space, session_id=one, number=0, retracted=True)]
        return [each for each in found if each.message.origin == "document" and _DIGEST in each.message.metadata]

    def _is_same(self, last: SessionInfo) -> bool:
        return all(last.metadata.get(each) == self._about[each] for each in (_DIGEST, _TYPE))

    def _is_repeated(self, held: list[Record]) -> bool:
        """Return whether this very request was carried out before; another version may have followed it."""
        keys = {row.idempotency_key for row in self.rows} - {None}
        known = [record.message for record in held if record.message.idempotency_key in keys]
        if any(each.metadata.get(_DIGEST) != self._about[_DIGEST] for each in known):
            hint = "Use a new key for other bytes; repeat a key only with the file it was made for."
            raise Conflict("the idempotency key already belongs to another version of the file.", hint=hint)
        return bool(known)

    def _labels(self) -> JsonObject:
        """Return what the session says of the file, redacted like its passages."""
        stored = json.loads(self.rows[0].metadata)
        return {_FILE: stored[_FILE], _DIGEST: self._about[_DIGEST], _TYPE: self._about[_TYPE]}

    def _result(
        self, session: SessionInfo, added: int = 0, *, kept: int, retracted: int = 0, forgotten: int = 0
    ) -> AddedFile:
        return AddedFile(
            session=session,
            sha256=str(self._about[_DIGEST]),
            media_type=str(self._about[_TYPE]),
            added=added,
            kept=kept,
            retracted=retracted,
            cut=self.cut if added or retracted else 0,
            forgotten=forgotten,
        )


def _standing(held: list[Record]) -> int:
    return sum(record.retracted_at is None for record in held)


def _difference(rows: list[Prepared], live: list[Record]) -> _Difference:
    """Compare passages by their words and the headings above them, as often as each occurs."""
    left: dict[tuple[str, str], list[Record]] = {}
    for record in reversed(live):
        left.setdefault((record.message.content, _headings(record.message.metadata)), []).append(record)
    new: list[Prepared] = []
    for row in rows:
        same = left.get((row.content, _headings(json.loads(row.metadata))))
        if same:
            same.pop()
        else:
            new.append(row)
    gone = [record for records in left.values() for record in records]
    return _Difference(new, sorted(gone, key=lambda record: (record.recorded_at, record.number)))


def _headings(metadata: JsonObject) -> str:
    return json.dumps(metadata.get(_HEADINGS, []))
