"""Stores messages without an open session: they go into a conversation of their own, in one transaction."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bethink.extend import Redactor
from bethink.log import messages, sessions
from bethink.log.succession import get_session
from bethink.model.records import AgentKind, Message, SessionInfo, Trigger
from bethink.model.verbs.memory import RememberRequest
from bethink.store.db import Tx
from bethink.store.sessions import mark


class Stored(NamedTuple):
    """Where messages were stored, and whether a session was opened for them."""

    session: SessionInfo
    appended: messages.Appended
    opened: bool


def storing(
    drafts: Sequence[Message], request: RememberRequest, *, space: str, redactor: Redactor
) -> Callable[[Tx], Stored]:
    """Return the transaction that stores messages. In a conversation they are marked, because no more will follow."""

    def body(tx: Tx) -> Stored:
        rows = messages.prepare(drafts, redactor)
        if request.session_id is not None:
            appended = messages.append(tx, space=space, session_id=request.session_id, rows=rows)
            return Stored(get_session(tx, space=space, session_id=request.session_id), appended, opened=False)
        session, opened = sessions.open_session(
            tx, space=space, agent=request.agent, kind=AgentKind.PRIMARY, key=request.conversation
        )
        appended = messages.append(tx, space=space, session_id=session.id, rows=rows)
        here = [source.number for source in appended.sources if source.session_id == session.id]
        last = max(here, default=0)
        if last > session.last_number:  # messages that were already stored were marked then
            mark(tx, space=space, session_id=session.id, number=last, trigger=Trigger.IDLE)
        return Stored(get_session(tx, space=space, session_id=session.id), appended, opened)

    return body
