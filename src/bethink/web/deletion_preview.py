"""Preview of a deletion: the affected items by name. The dry run counts them exactly."""

from collections.abc import Iterable
from typing import NamedTuple

from bethink.errors import NotFoundError
from bethink.model.operations.memory import ASSISTANT, EXPLAIN, ExplainRequest, ForgetRequest
from bethink.model.operations.sessions import (
    LIST_SESSIONS,
    SESSION_SUMMARY,
    TRANSCRIPT,
    ListSessionsRequest,
    SessionRequest,
    TranscriptRequest,
)
from bethink.model.recall import Lineage
from bethink.model.records import Origin, Record
from bethink.model.refs import Ref, RefKind
from bethink.web.visit import Visit

_MAX_LINES = 100
_MAX_FACTS = 40
_MAX_SESSIONS = 20


class AffectedItem(NamedTuple):
    """An item to delete or redact. A shared item has other sources and may remain."""

    ref: Ref
    text: str | None
    origin: Origin | None = None
    shared: bool = False


class DeletionPreview(NamedTuple):
    """The targets of a request and the data derived from them, as far as they can be listed."""

    targets: list[AffectedItem]
    derived: list[AffectedItem]
    sessions: list[tuple[str, str, int]]
    """For a conversation: the ID, summary and message count of each session."""
    more: bool = False
    """Whether some items are not listed."""


async def preview_deletion(visit: Visit, request: ForgetRequest) -> DeletionPreview:
    """Return the items that a request would delete."""
    if request.session_id is not None:
        return await _preview_session(visit, request.session_id)
    if request.conversation is not None:
        entries = await visit.run(
            LIST_SESSIONS,
            ListSessionsRequest(
                conversation=request.conversation, agent=request.agent or ASSISTANT, limit=_MAX_SESSIONS + 1
            ),
        )
        sessions = [
            (entry.session.id, entry.summary or "", entry.session.last_number) for entry in entries[:_MAX_SESSIONS]
        ]
        return DeletionPreview([], [], sessions, more=len(entries) > _MAX_SESSIONS)
    if request.ref is not None:
        return await _preview_ref(visit, request.ref)
    return DeletionPreview([], [], [])


async def _preview_ref(visit: Visit, ref: Ref) -> DeletionPreview:
    line = await visit.run(EXPLAIN, ExplainRequest(ref=ref))
    targets = [AffectedItem(line.ref, line.text, line.origin)]
    if ref.kind is RefKind.FACT and len(line.versions) > 1:
        targets = [AffectedItem(item.ref, item.text, line.origin) for item in line.versions]
    facts = [item for item in line.derived if item.kind is RefKind.FACT]
    others = [item for item in line.derived if item.kind is not RefKind.FACT]
    message_keys = {(ref.id, ref.number)} if ref.kind is RefKind.MESSAGE else set[tuple[str, int]]()
    derived, used = await _facts(visit, facts, message_keys)
    derived += [await _load_item(visit, item) for item in _newest_versions((*others, *used))]
    return DeletionPreview(targets, derived, [], more=len(facts) > _MAX_FACTS)


async def _preview_session(visit: Visit, session_id: str) -> DeletionPreview:
    transcript = await visit.run(TRANSCRIPT, TranscriptRequest(session_id=session_id, around=1, limit=_MAX_LINES))
    targets = [_message(session_id, item.record) for item in transcript.lines]
    facts = list(dict.fromkeys(fact.ref for line in transcript.lines for fact in line.facts))
    message_keys = {(session_id, number) for number in range(1, transcript.session.last_number + 1)}
    derived, used = await _facts(visit, facts, message_keys)
    memory = await visit.run(SESSION_SUMMARY, SessionRequest(session_id=session_id))
    if memory is not None:
        ref = Ref(RefKind.SESSION_SUMMARY, session_id, 0)
        derived.insert(0, AffectedItem(ref, memory.summary))
        used += (await visit.run(EXPLAIN, ExplainRequest(ref=ref))).derived
    used += [ref for line in transcript.lines for ref in line.documents]
    derived += [await _load_item(visit, item) for item in _newest_versions(used)]
    return DeletionPreview(targets, derived, [], more=transcript.later or len(facts) > _MAX_FACTS)


def _message(session_id: str, record: Record) -> AffectedItem:
    message = record.message
    return AffectedItem(
        Ref(RefKind.MESSAGE, session_id, record.number), message.content, Origin(message.origin or "import")
    )


async def _facts(
    visit: Visit, refs: Iterable[Ref], message_keys: set[tuple[str, int]]
) -> tuple[list[AffectedItem], list[Ref]]:
    """Return facts based on the deleted messages, and the data derived from the facts that are deleted, too."""
    items: list[AffectedItem] = []
    used: list[Ref] = []
    for ref in list(_newest_versions(refs))[:_MAX_FACTS]:
        line = await visit.run(EXPLAIN, ExplainRequest(ref=ref))
        shared = not _has_no_other_source(line, message_keys)
        items.append(AffectedItem(ref, line.text, line.origin, shared=shared))
        used += () if shared else line.derived
    return items, used


def _has_no_other_source(line: Lineage, message_keys: set[tuple[str, int]]) -> bool:
    """Return whether all sources of a fact are deleted. For other facts, the deletion itself decides."""
    return message_keys.issuperset((entry.source.session_id, entry.source.number) for entry in line.sources)


def _newest_versions(refs: Iterable[Ref]) -> list[Ref]:
    newest: dict[tuple[RefKind, str], Ref] = {}
    for ref in refs:
        existing = newest.get((ref.kind, ref.id))
        if existing is None or ref.number > existing.number:
            newest[ref.kind, ref.id] = ref
    return list(newest.values())


async def _load_item(visit: Visit, ref: Ref) -> AffectedItem:
    try:
        line = await visit.run(EXPLAIN, ExplainRequest(ref=ref))
    except NotFoundError:
        return AffectedItem(ref, None)
    return AffectedItem(ref, line.text, line.origin)
