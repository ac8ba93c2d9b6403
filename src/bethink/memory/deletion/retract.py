"""Takes messages back: they stay in the log, and nothing shows them or rests on them any more."""

from contextlib import suppress
from typing import Self

from bethink.errors import NotFound
from bethink.memory.deletion import cascade
from bethink.memory.registry import Host, handles
from bethink.model.changes import ChangeKind
from bethink.model.jobs import JobKind
from bethink.model.moments import Micros
from bethink.model.operations.sessions import RETRACT, RetractRequest
from bethink.model.recall import Ref, RefKind
from bethink.store import changes, messages, sessions
from bethink.store.db import Database, Tx


class RetractService:
    """Takes messages back, in every space of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database)

    @handles(RETRACT)
    async def retract(self, space: str, request: RetractRequest) -> bool:
        """Take a message back. Returns False if it was taken back before."""
        return await self._database.transact(
            lambda tx: retract(tx, space=space, session_id=request.session_id, number=request.number),
            space=space,
            repeatable=True,
        )


def retract_as_of(tx: Tx, space: str, ref: Ref, at: Micros) -> None:
    """Take a message back that another copy of its space took back at a time. Does nothing if it is gone."""
    with suppress(NotFound):
        retract(tx, space=space, session_id=ref.id, number=ref.number, at=at)


def retract(tx: Tx, *, space: str, session_id: str, number: int, at: Micros | None = None) -> bool:
    """Take a message back, now or as of a time, with what rests on it. Returns False if it was taken back by then.

    Raises:
        NotFound: if the message does not exist.
        UnderLegalHold: if something rests on it, which would go, and a hold stands on the space.
    """
    session = sessions.find(tx, space=space, session_id=session_id)
    if session is not None:
        sessions.lock_conversation(tx, space=space, conversation=session.conversation_id)
        session = sessions.find(tx, space=space, session_id=session_id, lock=True)
    done = messages.retract(tx, space=space, session_id=session_id, number=number, at=at)
    if session is None or done is None:
        raise NotFound(f"no message {number} in session {session_id!r} of space {space!r}.")
    if not done:
        return False
    # A worker that is learning from the session has read it: it loses its claim, and the job starts over.
    tx.run("fence_extractors", space=space, kind=JobKind.EXTRACT, sessions=[session_id], now=tx.now)
    cascade.forget_learnt_from(
        tx, space=space, conversation=session.conversation_id, session_id=session_id, number=number
    )
    ref = Ref(RefKind.MESSAGE, session_id, number)
    changes.record(tx, space=space, kind=ChangeKind.MESSAGE_RETRACTED, ref=ref)
    return True
