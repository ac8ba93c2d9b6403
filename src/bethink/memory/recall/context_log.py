"""The context log: record what a session was shown and what was used, and read it back."""

import hashlib
from dataclasses import replace

from bethink.memory.log.succession import get_session
from bethink.memory.recall.lineage import newest_version, trace
from bethink.memory.recall.walk import walk
from bethink.model.framing import label_of, parse_citations
from bethink.model.operations.memory import ExplainRequest, MarkUsedRequest
from bethink.model.operations.sessions import StripCitationsRequest
from bethink.model.recall import ContextBlock, Lineage, Purpose, RecallResult
from bethink.model.refs import Ref, RefKind
from bethink.store import ledger
from bethink.store.db import Database, Tx


def check_session(tx: Tx, space: str, session_id: str | None) -> None:
    """Raise `NotFoundError` for a session of another space: the context log must never name it."""
    if session_id is not None:
        get_session(tx, space=space, session_id=session_id)


def as_block(answer: RecallResult) -> ContextBlock:
    """Return the answer to a question as a block, for the context log."""
    digest = hashlib.blake2b("\n".join(str(item.ref) for item in answer.items).encode(), digest_size=16).hexdigest()
    return ContextBlock(items=answer.items, tokens=answer.tokens, digest=digest)


async def record(
    database: Database, block: ContextBlock, purpose: Purpose, *, space: str, session_id: str, result: object
) -> None:
    """Record what a session is shown. The `result` of the call completes the entry in the access log."""

    def body(tx: Tx) -> object:
        ledger.record(
            tx,
            space=space,
            purpose=purpose,
            session_id=session_id,
            items=_shown(block),
            tokens=block.tokens,
            digest=block.digest,
        )
        return result

    await database.transact(body, space=space)


def _shown(block: ContextBlock) -> list[tuple[Ref, str]]:
    """Return the items with their labels, and the lines that they answer."""
    shown = {item.ref: item.label for item in block.items}
    lines = (item.reply_to.source for item in block.items if item.reply_to is not None)
    for ref in (Ref(RefKind.MESSAGE, source.session_id, source.number) for source in lines):
        shown.setdefault(ref, label_of(ref))
    return list(shown.items())


async def explain(database: Database, space: str, request: ExplainRequest) -> Lineage:
    """Trace a memory back to its messages, and forward to its context log entries."""

    def body(tx: Tx) -> Lineage:
        ref, view = newest_version(tx, space=space, ref=request.ref, view=request.view), request.view
        lineage = trace(tx, space=space, ref=ref, view=view)
        if request.depth == 1:
            return lineage
        return replace(lineage, walk=walk(tx, space=space, ref=ref, depth=request.depth, view=view))

    return await database.transact(body, space=space, read_only=True)


async def mark_used(database: Database, space: str, request: MarkUsedRequest) -> int:
    """Mark each of these memories, and its sources, as used once."""
    return await database.transact(lambda tx: ledger.use(tx, space=space, refs=request.refs), space=space)


async def strip_citations(database: Database, space: str, request: StripCitationsRequest) -> str:
    """Mark the memories that an answer cites as used, and return the answer without these citations."""
    labels = parse_citations(request.reply).labels

    def body(tx: Tx) -> list[str]:
        check_session(tx, space, request.session_id)
        refs_by_label = ledger.label_refs(tx, space=space, session_id=request.session_id, labels=labels)
        if refs_by_label:
            ledger.use(tx, space=space, refs=list(refs_by_label.values()))
        return list(refs_by_label)

    if not labels:
        return request.reply
    # A label that the session was never shown is an ordinary footnote. Leave it.
    return parse_citations(request.reply, only=await database.transact(body, space=space)).visible
