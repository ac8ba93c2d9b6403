"""A person's requests to forget, with what became of them."""

import hashlib
from collections.abc import Iterable
from datetime import datetime

from bethink.base.frozen import frozen
from bethink.model.facts import SourceMessage
from bethink.model.forgetting import ForgetScope, ForgetStatus
from bethink.model.ids import base32
from bethink.model.moments import from_micros
from bethink.model.records import Record
from bethink.model.refs import Ref, RefKind
from bethink.store.db import Row, Tx, until
from bethink.store.messages import record_of

MAX_LISTED = 200
"""Maximum number of requests of a space that are compared with a new message, the newest ones."""


@frozen
class RequestToForget:
    """A person's request to forget, as a message states it. `target` is empty for what was said last."""

    id: str
    message: SourceMessage
    scope: ForgetScope
    target: str
    statement: str
    said_at: datetime
    status: ForgetStatus
    recorded_at: datetime | None = None
    decided_at: datetime | None = None


def request_id(session_id: str, number: int) -> str:
    """Return the id of the request of a message: two copies of a space give it the same one."""
    digest = hashlib.blake2b(f"{session_id}:{number}".encode(), digest_size=16).digest()
    return f"fgt_{base32(int.from_bytes(digest))}"


def add(tx: Tx, request: RequestToForget, *, space: str) -> bool:
    """Store a request. Return False if it was stored before."""
    return bool(
        tx.run(
            "insert_forget_request",
            space=space, id=request.id, session=request.message.session_id, number=request.message.number,
            scope=request.scope, target=request.target, statement=request.statement, said_at=request.said_at,
            status=request.status, now=tx.now,
        )
    )  # fmt: skip


def find(tx: Tx, *, space: str, request_id: str) -> RequestToForget | None:
    """Return a request by its id."""
    row = tx.first("find_forget_request", space=space, id=request_id)
    return None if row is None else _request_of(row)


def of_message(tx: Tx, *, space: str, message: SourceMessage) -> RequestToForget | None:
    """Return the request that a message states."""
    row = tx.first("forget_request_of_message", space=space, session=message.session_id, number=message.number)
    return None if row is None else _request_of(row)


def hiding(tx: Tx, ref: Ref, *, space: str) -> RequestToForget | None:
    """Return the newest request that hides a fact, or words of a message."""
    query = {RefKind.MESSAGE: "request_hiding_message", RefKind.FACT: "request_hiding_fact"}.get(ref.kind)
    row = None if query is None else tx.first(query, space=space, id=ref.id, number=ref.number)
    return None if row is None else _request_of(row)


def newest(tx: Tx, *, space: str, limit: int = MAX_LISTED) -> list[RequestToForget]:
    """Return the requests of a space, the newest first."""
    return [_request_of(row) for row in tx.all("list_forget_requests", space=space, limit=limit)]


def set_status(tx: Tx, *, space: str, request_id: str, status: ForgetStatus) -> None:
    """Set what became of a request."""
    tx.run("set_forget_request_status", space=space, id=request_id, status=status, now=tx.now)


def read_messages(tx: Tx, *, space: str, refs: Iterable[SourceMessage], at: datetime | None = None) -> list[Record]:
    """Return some messages in the order they were said; with a time, those that were said by then."""
    pairs = list(refs)
    ids, numbers = [ref.session_id for ref in pairs], [ref.number for ref in pairs]
    rows = tx.all("read_messages_by_ref", space=space, ids=ids, numbers=numbers, at=until(at)) if pairs else []
    return [record_of(row) for row in rows]


def quotes_of(tx: Tx, *, space: str, refs: Iterable[SourceMessage]) -> list[tuple[str, SourceMessage, str]]:
    """Return the quotes of some messages: the fact that each supports, its message, and its text."""
    pairs = list(refs)
    ids, numbers = [ref.session_id for ref in pairs], [ref.number for ref in pairs]
    rows = tx.all("quotes_of_messages", space=space, ids=ids, numbers=numbers) if pairs else []
    return [(row["fact_id"], SourceMessage(row["session_id"], row["number"]), row["text"]) for row in rows]


def _request_of(row: Row) -> RequestToForget:
    return RequestToForget(
        id=row["id"],
        message=SourceMessage(row["session_id"], row["number"]),
        scope=ForgetScope(row["scope"]),
        target=row["target"],
        statement=row["statement"],
        said_at=from_micros(row["said_at"]),
        status=ForgetStatus(row["status"]),
        recorded_at=from_micros(row["recorded_at"]),
        decided_at=from_micros(row["decided_at"]),
    )
