"""Remembering without ceremony: a text or some messages, into a conversation of their own, in one transaction."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from bethink.errors import Invalid
from bethink.extend import Redactor
from bethink.log import messages as log
from bethink.log import sessions
from bethink.log.succession import get_session
from bethink.model.records import AgentKind, ConversationKey, Message, Session, Trigger, keyed, message_from
from bethink.store.db import Tx
from bethink.store.sessions import mark

NOTES = ConversationKey(channel="remember", chat="notes")
"""Where a text goes that belongs to no conversation."""


class Stored(NamedTuple):
    """Where messages went, and whether a session was opened for them."""

    session: Session
    appended: log.Appended
    opened: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where messages are to go: a session that is open, else the active one of an agent's conversation."""

    space: str
    session: Session | None
    conversation: ConversationKey | str
    agent: str


def nowhere(place: Place) -> Session:
    """Return the session into which messages would have gone, where nothing is stored."""
    return place.session or sessions.nowhere(space=place.space, agent=place.agent, key=place.conversation)


def drafts_of(
    what: str | Iterable[Message | Mapping[str, object]], idempotency_key: str | None
) -> list[Message | Mapping[str, object]]:
    """List what is to be stored: a text is a user's message. Those without a key get the given one and their place."""
    if isinstance(what, str) and not what.strip():
        raise Invalid("there is nothing to remember: the text is empty.", hint="Give a text, or a list of messages.")
    drafts = log.listed([Message(role="user", content=what)] if isinstance(what, str) else what)
    if idempotency_key is None:
        return drafts
    return [*keyed([message_from(draft) for draft in drafts], idempotency_key)]


def storing(drafts: list[Message | Mapping[str, object]], place: Place, redactor: Redactor) -> Callable[[Tx], Stored]:
    """Return the transaction that stores messages. In a conversation they are marked: nothing more is to come."""

    def body(tx: Tx) -> Stored:
        rows = log.prepare(drafts, redactor)
        if place.session is not None:
            return Stored(place.session, log.append(tx, place.session, rows), opened=False)
        session, opened = sessions.open_session(
            tx, space=place.space, agent=place.agent, kind=AgentKind.PRIMARY, key=place.conversation
        )
        appended = log.append(tx, session, rows)
        here = [source.number for source in appended.sources if source.session_id == session.id]
        last = max(here, default=0)
        if last > session.last_number:  # what was known already has been marked before
            mark(tx, space=place.space, session_id=session.id, number=last, trigger=Trigger.IDLE)
        return Stored(get_session(tx, space=place.space, session_id=session.id), appended, opened)

    return body
