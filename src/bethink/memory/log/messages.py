"""Appends messages: removes recalled text, cleans and redacts them, and stores each exactly once with its number."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from bethink.errors import Conflict, Duplicate, Invalid, NotFound, SessionEnded
from bethink.extend import Redactor
from bethink.memory.log.names import stored_name
from bethink.model.erasures import IDEMPOTENCY_KEY
from bethink.model.facts import SourceMessage
from bethink.model.filters import Filter
from bethink.model.framing import text_cleaner
from bethink.model.moments import to_micros
from bethink.model.records import EndReason, Message, Record, message_from
from bethink.model.text import canonical_json
from bethink.store import erasures, messages, restores, sessions
from bethink.store.db import Database, Tx
from bethink.store.messages import Prepared, Taken

_MAX_NAME = 256
"""The maximum length of the name of a speaker or tool: it is looked up, and PostgreSQL cannot index long values."""
T = TypeVar("T")


def prepare(drafts: Iterable[Message | Mapping[str, object]], redactor: Redactor) -> list[Prepared]:
    """Convert messages to rows: frames are removed from all their texts, which are then cleaned and redacted.

    Call it before the first query of a transaction. A message that is only a frame becomes empty, and keeps its number.
    """
    cut = text_cleaner(redactor.redact)
    # The messages of a batch have few origins, and each is cut like any other text.
    origins = _Cut(cut)
    return [_prepared(message_from(draft), cut, origins, redactor) for draft in drafts]


class _Cut(dict[str, str]):
    def __init__(self, cut: Callable[[str], str]) -> None:
        super().__init__()
        self._cut = cut

    def __missing__(self, text: str) -> str:
        self[text] = made = self._cut(text)
        return made


def _prepared(message: Message, cut: Callable[[str], str], origins: Mapping[str, str], redactor: Redactor) -> Prepared:
    if message.name is not None and len(message.name) > _MAX_NAME:
        raise Invalid(
            f"the name of a message has {len(message.name)} characters.",
            hint=f"Use up to {_MAX_NAME}; put longer values into metadata.",
        )
    content, name = cut(message.content), None if message.name is None else cut(message.name)
    return Prepared(
        message.role,
        content,
        name,
        canonical_json(message.tool_calls, cut) if message.tool_calls else "[]",
        None if message.tool_call_id is None else cut(message.tool_call_id),
        int(message.is_error),
        canonical_json(message.metadata, cut) if message.metadata else "{}",
        origins[message.origin or ""],
        None if message.idempotency_key is None else stored_name(message.idempotency_key, redactor),
        None if message.trace_parent is None else cut(message.trace_parent),
        None if message.said_at is None else to_micros(message.said_at),
        canonical_json(message.tags, cut) if message.tags else "[]",
        messages.words_of(content, name),
    )


class Appended(NamedTuple):
    """Where messages were stored, and the thread that has their events to process."""

    sources: list[SourceMessage]
    thread_id: str | None = None

    @property
    def numbers(self) -> list[int]:
        """The number of each message in its session."""
        return [source.number for source in self.sources]


Known = Mapping[str | None, Taken]
"""The messages that already have an idempotency key, by their keys."""


def append(tx: Tx, *, space: str, session_id: str, rows: list[Prepared], known: Known | None = None) -> Appended:
    """Store messages and return their numbers; one whose idempotency key is known keeps its number.

    A key applies to the entire conversation: a retry may come after the session it was first sent to has ended.
    Pass `known` if it was read in this transaction.
    """
    if known is None:
        known = find_known(tx, space=space, rows=rows)
    tx.repeatable = all(row.idempotency_key is not None for row in rows)
    if known:
        _check_same(tx, space, session_id, rows, known)
    fresh = [row for row in rows if row.idempotency_key not in known] if known else rows
    if not fresh:
        return Appended(_sources(session_id, rows, known, 1))
    reserved = sessions.take_numbers(tx, space=space, session_id=session_id, count=len(fresh))
    if reserved is None:
        raise _refusal(tx, space, session_id)
    if reserved.erased_keys:
        _check_not_erased(tx, space, fresh)
    first = reserved.last - len(fresh) + 1
    index, link = reserved.indexed, reserved.link
    messages.append(tx, space=space, session_id=session_id, first=first, rows=fresh, index=index, link=link)
    if reserved.thread_id is not None:
        # Imported only if there is a thread: most sessions have none, and the module takes a while to load.
        from bethink.memory.log.events import queue_events  # noqa: PLC0415

        queue_events(tx, space=space, thread_id=reserved.thread_id, session_id=session_id, first=first, rows=fresh)
    return Appended(_sources(session_id, rows, known, first), reserved.thread_id)


def find_known(tx: Tx, *, space: str, rows: list[Prepared]) -> Known:
    """Return which of the messages have an idempotency key that is already stored in the space."""
    keys = [row.idempotency_key for row in rows if row.idempotency_key is not None]
    if len(set(keys)) != len(keys):
        raise Conflict(
            "two messages of one batch have the same idempotency key.", hint="Give each message its own key."
        )
    return {**messages.taken(tx, space=space, keys=keys)} if keys else {}


def _check_same(tx: Tx, space: str, session_id: str, rows: list[Prepared], known: Known) -> None:
    session = sessions.find(tx, space=space, session_id=session_id)
    conversation = None if session is None else session.conversation_id
    for row in rows:
        holder = known.get(row.idempotency_key)
        if holder is not None and (holder.conversation_id, holder.role, holder.content) != (
            conversation,
            row.role,
            row.content,
        ):
            raise Conflict(
                f"the idempotency key {row.idempotency_key!r} already belongs to another message, "
                f"number {holder.number} of session {holder.session_id}.",
                hint="Use a new key for a new message; repeat a key only with the message it was made for.",
            )


def _check_not_erased(tx: Tx, space: str, rows: list[Prepared]) -> None:
    """Refuse a late retry of a message that was erased not long ago."""
    keys = [row.idempotency_key for row in rows if row.idempotency_key is not None]
    erasures.check_keys(tx, IDEMPOTENCY_KEY, keys, space=space)


def _sources(session_id: str, rows: list[Prepared], known: Known, first: int) -> list[SourceMessage]:
    fresh = (SourceMessage(session_id, number) for number in range(first, first + len(rows)))
    if not known:
        return list(fresh)
    return [
        SourceMessage(holder.session_id, holder.number) if (holder := known.get(row.idempotency_key)) else next(fresh)
        for row in rows
    ]


def _refusal(tx: Tx, space: str, session_id: str) -> Exception:
    found = sessions.find(tx, space=space, session_id=session_id)
    if found is None:
        return NotFound(f"no session {session_id!r} in space {space!r}.")
    restore = restores.last(tx) if found.end_reason is EndReason.RESTORED else None
    why = f"ended ({found.end_reason})." if restore is None else f"ended. {restore}"
    return SessionEnded(f"session {session_id} {why}")


def read(
    tx: Tx,
    *,
    space: str,
    session_id: str,
    after: int,
    limit: int,
    only: Filter | None = None,
    last: int | None = None,
) -> list[Record]:
    """Return the messages of a session after a number that fit a filter, in order, or only the last of them."""
    if last is not None:
        last = min(last, limit)
        return messages.newest(tx, space=space, session_id=session_id, number=after, limit=last, only=only)
    return messages.after(tx, space=space, session_id=session_id, number=after, limit=limit, only=only)


async def append_once(database: Database, body: Callable[[Tx], T], *, space: str) -> T:
    """Run an appending transaction; if another task stored one of its keys meanwhile, run it again to find it."""
    try:
        return await database.transact(body, space=space)
    except Duplicate:
        return await database.transact(body, space=space)
