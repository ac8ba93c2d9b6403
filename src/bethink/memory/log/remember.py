"""Stores messages without an open session: in the active session of a conversation, in one transaction."""

from collections.abc import Callable
from typing import NamedTuple

from bethink.extend import Redactor
from bethink.memory.log import messages, sessions
from bethink.memory.log.names import conversation_in, redacted_conversation
from bethink.memory.log.succession import get_session
from bethink.model.operations.memory import RememberRequest
from bethink.model.records import AgentKind, SessionInfo, Trigger
from bethink.store.db import Tx
from bethink.store.messages import Prepared
from bethink.store.sessions import find_conversation, mark


class Stored(NamedTuple):
    """The session and positions of stored messages, and whether the session was opened for them."""

    session: SessionInfo
    appended: messages.Appended
    opened: bool


def build_transaction(
    rows: list[Prepared], request: RememberRequest, *, space: str, redactor: Redactor
) -> Callable[[Tx], Stored]:
    """Return the transaction that stores messages. Those of a conversation are marked for learning at once."""
    redacted = "" if request.session_id is not None else redacted_conversation(request.conversation, redactor)

    def body(tx: Tx) -> Stored:
        if request.session_id is not None:
            appended = messages.append(tx, space=space, session_id=request.session_id, rows=rows)
            return Stored(get_session(tx, space=space, session_id=request.session_id), appended, opened=False)
        agent, key = request.agent, request.conversation
        name = conversation_in(tx, space=space, agent=agent, key=key, name=redacted)
        session, appended, opened = store(tx, space=space, agent=agent, kind=AgentKind.PRIMARY, key=name, rows=rows)
        numbers = [source.number for source in appended.sources if source.session_id == session.id]
        last = max(numbers, default=0)
        if last > session.last_number:  # messages that were stored before are already marked
            mark(tx, space=space, session_id=session.id, number=last, trigger=Trigger.IDLE)
        return Stored(get_session(tx, space=space, session_id=session.id), appended, opened)

    return body


def store(tx: Tx, *, space: str, agent: str, kind: AgentKind, key: str, rows: list[Prepared]) -> Stored:
    """Store messages in the active session of a conversation, opening one if needed.

    If all of them are already stored there, nothing is opened: their session may have ended since.
    """
    existing = messages.find_existing(tx, space=space, rows=rows)
    if existing and len(existing) == len(rows):
        conversation = find_conversation(tx, space=space, agent=agent, key=key)
        if all(holder.conversation_id == conversation for holder in existing.values()):
            stored_session_id = existing[rows[-1].idempotency_key].session_id
            appended = messages.append(tx, space=space, session_id=stored_session_id, rows=rows, existing=existing)
            return Stored(get_session(tx, space=space, session_id=stored_session_id), appended, opened=False)
    session, opened = sessions.open_session(tx, space=space, agent=agent, kind=kind, key=key)
    appended = messages.append(tx, space=space, session_id=session.id, rows=rows, existing=existing)
    return Stored(session, appended, opened)
