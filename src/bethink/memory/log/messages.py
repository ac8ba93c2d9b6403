"""Appends messages: removes context blocks, cleans and redacts texts, and stores each exactly once, with a number."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from bethink.errors import ConflictError, DuplicateError, InvalidRequestError, NotFoundError, SessionEndedError
from bethink.extend import Redactor
from bethink.memory.log.names import stored_name
from bethink.model.erasures import IDEMPOTENCY_KEY
from bethink.model.facts import SourceMessage
from bethink.model.filters import Filter
from bethink.model.framing import text_cleaner
from bethink.model.moments import to_micros
from bethink.model.records import EndReason, Message, Record
from bethink.model.text import canonical_json
from bethink.store import erasures, messages, restores, sessions
from bethink.store.db import Database, Tx
from bethink.store.messages import KeyedMessage, Prepared

_MAX_NAME = 256
"""The maximum length of the name of a speaker or tool: it is looked up, and PostgreSQL cannot index long values."""
T = TypeVar("T")


def size_of(drafts: Iterable[Message]) -> int:
    """Return about how many characters the texts of messages have."""
    return sum(
        len(draft.content)
        + (len(repr(draft.tool_calls)) if draft.tool_calls else 0)
        + (len(repr(draft.metadata)) if draft.metadata else 0)
        for draft in drafts
    )


def prepare(drafts: Iterable[Message], redactor: Redactor, pause: Callable[[], None] | None = None) -> list[Prepared]:
    """Convert messages to rows: frames are removed from all their texts, which are then cleaned and redacted.

    Call it before the transaction, in a turn of `database.lanes`: no other write waits for it then. `pause` is called
    before each text. A message that is only a frame becomes empty, and keeps its number.
    """

    def redact(text: str) -> str:
        if pause is not None:
            pause()
        return redactor.redact(text)

    cut = text_cleaner(redact)
    # The messages of a batch have few origins, so cache their cleaned texts.
    origins = _CutCache(cut)
    return [_prepare_row(draft, cut, origins, redactor) for draft in drafts]


class _CutCache(dict[str, str]):
    def __init__(self, cut: Callable[[str], str]) -> None:
        super().__init__()
        self._cut = cut

    def __missing__(self, text: str) -> str:
        self[text] = result = self._cut(text)
        return result


def _prepare_row(
    message: Message, cut: Callable[[str], str], origins: Mapping[str, str], redactor: Redactor
) -> Prepared:
    if message.name is not None and len(message.name) > _MAX_NAME:
        raise InvalidRequestError(
            f"The `name` of a message has {len(message.name)} characters.",
            hint=f"Use at most {_MAX_NAME} characters; put longer values into `metadata`.",
        )
    content, name = cut(message.content), None if message.name is None else cut(message.name)
    origin = origins[message.origin or ""]
    return Prepared(
        message.role,
        content,
        name,
        canonical_json(message.tool_calls, cut) if message.tool_calls else "[]",
        None if message.tool_call_id is None else cut(message.tool_call_id),
        int(message.is_error),
        canonical_json(message.metadata, cut) if message.metadata else "{}",
        origin,
        None if message.idempotency_key is None else stored_name(message.idempotency_key, redactor),
        None if message.trace_parent is None else cut(message.trace_parent),
        None if message.said_at is None else to_micros(message.said_at),
        canonical_json(message.tags, cut) if message.tags else "[]",
        messages.words_of(content, name, by_user=messages.is_by_user(message.role, origin)),
    )


class Appended(NamedTuple):
    """The positions of stored messages, and the thread that has to process their events."""

    sources: list[SourceMessage]
    thread_id: str | None = None

    @property
    def numbers(self) -> list[int]:
        """The number of each message in its session."""
        return [source.number for source in self.sources]


ExistingKeys = Mapping[str | None, KeyedMessage]
"""The stored messages that have one of the idempotency keys, by key."""


def append(
    tx: Tx, *, space: str, session_id: str, rows: list[Prepared], existing: ExistingKeys | None = None
) -> Appended:
    """Store messages and return their numbers; one whose idempotency key is already stored keeps its number.

    A key applies to the entire conversation: a retry may come after the session it was first sent to has ended.
    Pass `existing` if it was read in this transaction.
    """
    if existing is None:
        existing = find_existing(tx, space=space, rows=rows)
    tx.repeatable = all(row.idempotency_key is not None for row in rows)
    if existing:
        _check_same(tx, space, session_id, rows, existing)
    new_rows = [row for row in rows if row.idempotency_key not in existing] if existing else rows
    if not new_rows:
        return Appended(_sources(session_id, rows, existing, 1))
    reserved = sessions.take_numbers(tx, space=space, session_id=session_id, count=len(new_rows))
    if reserved is None:
        raise _append_error(tx, space, session_id)
    if reserved.erased_keys:
        _check_not_erased(tx, space, new_rows)
    first = reserved.last - len(new_rows) + 1
    index, link = reserved.indexed, reserved.link
    messages.append(tx, space=space, session_id=session_id, first=first, rows=new_rows, index=index, link=link)
    sessions.queue_marked(tx, reserved, space=space, session_id=session_id)
    if reserved.thread_id is not None:
        # Imported only if there is a thread: most sessions have none, and the module takes a while to load.
        from bethink.memory.log.events import queue_events  # noqa: PLC0415

        queue_events(tx, space=space, thread_id=reserved.thread_id, session_id=session_id, first=first, rows=new_rows)
    return Appended(_sources(session_id, rows, existing, first), reserved.thread_id)


def find_existing(tx: Tx, *, space: str, rows: list[Prepared]) -> ExistingKeys:
    """Return the stored messages of the space that have the idempotency key of one of these."""
    keys = [row.idempotency_key for row in rows if row.idempotency_key is not None]
    if len(set(keys)) != len(keys):
        raise ConflictError(
            "Two messages of one batch have the same idempotency key.", hint="Give each message its own key."
        )
    return {**messages.find_by_keys(tx, space=space, keys=keys)} if keys else {}


def _check_same(tx: Tx, space: str, session_id: str, rows: list[Prepared], existing: ExistingKeys) -> None:
    session = sessions.find(tx, space=space, session_id=session_id)
    conversation = None if session is None else session.conversation_id
    for row in rows:
        holder = existing.get(row.idempotency_key)
        if holder is not None and (holder.conversation_id, holder.role, holder.content) != (
            conversation,
            row.role,
            row.content,
        ):
            raise ConflictError(
                f"The idempotency key {row.idempotency_key!r} already belongs to another message, "
                f"number {holder.number} of session {holder.session_id}.",
                hint="Use a new key for a new message. Repeat a key only with the same message.",
            )


def _check_not_erased(tx: Tx, space: str, rows: list[Prepared]) -> None:
    """Raise `ErasedKeyError` for a late retry of a message that was erased recently."""
    keys = [row.idempotency_key for row in rows if row.idempotency_key is not None]
    erasures.check_keys(tx, IDEMPOTENCY_KEY, keys, space=space)


def _sources(session_id: str, rows: list[Prepared], existing: ExistingKeys, first: int) -> list[SourceMessage]:
    new_sources = (SourceMessage(session_id, number) for number in range(first, first + len(rows)))
    if not existing:
        return list(new_sources)
    return [
        SourceMessage(holder.session_id, holder.number)
        if (holder := existing.get(row.idempotency_key))
        else next(new_sources)
        for row in rows
    ]


def _append_error(tx: Tx, space: str, session_id: str) -> Exception:
    session = sessions.find(tx, space=space, session_id=session_id)
    if session is None:
        return NotFoundError(f"No session {session_id!r} in space {space!r}.")
    restore = restores.last(tx) if session.end_reason is EndReason.RESTORED else None
    reason = f"ended ({session.end_reason})." if restore is None else f"ended. {restore}"
    return SessionEndedError(f"Session {session_id} {reason}")


def read_messages(
    tx: Tx,
    *,
    space: str,
    session_id: str,
    after: int,
    limit: int,
    only: Filter | None = None,
    last: int | None = None,
) -> list[Record]:
    """Return the messages of a session after a number that match a filter, in order, or only the last of them."""
    if last is not None:
        last = min(last, limit)
        return messages.newest(tx, space=space, session_id=session_id, number=after, limit=last, only=only)
    return messages.after(tx, space=space, session_id=session_id, number=after, limit=limit, only=only)


async def append_once(database: Database, body: Callable[[Tx], T], *, space: str) -> T:
    """Run a transaction that appends. If another task has just stored one of its keys, run it again."""
    try:
        return await database.transact(body, space=space)
    except DuplicateError:
        return await database.transact(body, space=space)
