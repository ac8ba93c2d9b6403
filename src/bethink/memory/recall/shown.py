"""What was shown and what was of use: recording it in the ledger, and reading it back."""

import hashlib
from dataclasses import replace

from bethink.memory.log.succession import get_session
from bethink.memory.recall.lineage import trace
from bethink.memory.recall.walk import walk
from bethink.model.framing import cited as citations
from bethink.model.operations.memory import ExplainRequest, ShownRequest, UsedRequest
from bethink.model.operations.sessions import CitedRequest
from bethink.model.recall import Block, Lineage, Purpose, Recall, Showing
from bethink.store import ledger
from bethink.store.db import Database, Tx


def check_session(tx: Tx, space: str, session_id: str | None) -> None:
    """Raise `NotFound` for a session that is not in the space: the ledger must never name another space's."""
    if session_id is not None:
        get_session(tx, space=space, session_id=session_id)


def as_block(found: Recall) -> Block:
    """Return the answer to a question in the form in which the ledger records it."""
    digest = hashlib.blake2b("\n".join(str(item.ref) for item in found.items).encode(), digest_size=16).hexdigest()
    return Block(items=found.items, tokens=found.tokens, digest=digest)


async def record(
    database: Database, block: Block, purpose: Purpose, *, space: str, session_id: str, result: object
) -> None:
    """Record what a session is shown. With the `result` of the call, the access record is complete with it."""

    def body(tx: Tx) -> object:
        ledger.record(
            tx,
            space=space,
            purpose=purpose,
            session_id=session_id,
            items=[(item.ref, item.label) for item in block.items],
            tokens=block.tokens,
            digest=block.digest,
        )
        return result

    await database.transact(body, space=space)


async def explain(database: Database, space: str, request: ExplainRequest) -> Lineage:
    """Trace a memory back to its messages, and forward to where it was shown."""

    def body(tx: Tx) -> Lineage:
        found = trace(tx, space=space, ref=request.ref)
        if request.depth == 1:
            return found
        return replace(found, walk=walk(tx, space=space, ref=request.ref, depth=request.depth))

    return await database.transact(body, space=space, read=True)


async def used(database: Database, space: str, request: UsedRequest) -> int:
    """Count each of these memories, and what it was derived from, as used once."""
    return await database.transact(lambda tx: ledger.use(tx, space=space, refs=request.refs), space=space)


async def cited(database: Database, space: str, request: CitedRequest) -> str:
    """Count the memories that an answer cites as used, and return the answer without these citations."""
    labels = citations(request.answer).labels

    def body(tx: Tx) -> list[str]:
        check_session(tx, space, request.session_id)
        known = ledger.labelled(tx, space=space, session_id=request.session_id, labels=labels)
        if known:
            ledger.use(tx, space=space, refs=list(known.values()))
        return list(known)

    if not labels:
        return request.answer
    # A label that the session was never shown is an ordinary footnote, and stays.
    return citations(request.answer, only=await database.transact(body, space=space)).visible


async def shown(database: Database, space: str, request: ShownRequest) -> list[Showing]:
    """Return what was shown, newest first."""

    def body(tx: Tx) -> list[Showing]:
        check_session(tx, space, request.session_id)
        return ledger.showings(tx, space=space, session_id=request.session_id, as_of=request.as_of, limit=request.limit)

    return await database.transact(body, space=space, read=True)
