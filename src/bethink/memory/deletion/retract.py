"""Retracts messages: they stay in the log, but nothing shows or cites them anymore."""

from contextlib import suppress
from typing import Self

from bethink.errors import NotFoundError
from bethink.memory.deletion import cascade
from bethink.memory.facts.marking import mark_repetitions
from bethink.memory.registry import Host, handles
from bethink.model.changes import ChangeKind
from bethink.model.jobs import JobKind
from bethink.model.moments import Micros
from bethink.model.operations.sessions import RETRACT, RetractRequest
from bethink.model.refs import Ref, RefKind
from bethink.store import changes, messages, sessions
from bethink.store.db import Database, Tx
from bethink.store.marks import RETRACTED, MarkKind


class RetractService:
    """Retracts messages, in every space of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from the parts of an open memory."""
        return cls(host.database)

    @handles(RETRACT)
    async def retract(self, space: str, request: RetractRequest) -> bool:
        """Retract a message. Return False if it was already retracted."""
        return await self._database.transact(
            lambda tx: retract(tx, space=space, session_id=request.session_id, number=request.number),
            space=space,
            repeatable=True,
        )


def retract_as_of(tx: Tx, space: str, ref: Ref, at: Micros) -> None:
    """Retract a message that another copy of its space retracted at a time. Do nothing if it was deleted."""
    with suppress(NotFoundError):
        retract(tx, space=space, session_id=ref.id, number=ref.number, at=at)


def retract(tx: Tx, *, space: str, session_id: str, number: int, at: Micros | None = None) -> bool:
    """Retract a message, now or as of a time, with derived data. Return False if it was retracted by then.

    Raises:
        NotFoundError: if the message does not exist.
        LegalHoldError: if derived data would be deleted, and the space has a legal hold.
    """
    session = sessions.find(tx, space=space, session_id=session_id)
    if session is not None:
        sessions.lock_conversation(tx, space=space, conversation=session.conversation_id)
        session = sessions.find(tx, space=space, session_id=session_id, lock=True)
    done = messages.retract(tx, space=space, session_id=session_id, number=number, at=at)
    if session is None or done is None:
        raise NotFoundError(f"No message {number} in session {session_id!r} of space {space!r}.")
    if not done:
        return False
    # A worker that is learning from the session has read it: it loses its lease, and the job starts over.
    tx.run("fence_extractors", space=space, kind=JobKind.EXTRACT, sessions=[session_id], now=tx.now)
    cascade.forget_derived_from(
        tx, space=space, conversation=session.conversation_id, session_id=session_id, number=number
    )
    mark_repetitions(tx, space=space, session_id=session_id, numbers=[number], kind=MarkKind.CORRECTED, cause=RETRACTED)
    ref = Ref(RefKind.MESSAGE, session_id, number)
    changes.record(tx, space=space, kind=ChangeKind.MESSAGE_RETRACTED, ref=ref)
    return True
