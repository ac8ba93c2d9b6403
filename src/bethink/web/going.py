"""What would go with something that is forgotten, by name: the dry run counts it exactly, this says what it is."""

from collections.abc import Iterable
from typing import NamedTuple

from bethink.errors import NotFound
from bethink.model.operations.memory import ASSISTANT, EXPLAIN, ExplainRequest, ForgetRequest
from bethink.model.operations.sessions import (
    LIST_SESSIONS,
    SESSION_MEMORY,
    TRANSCRIPT,
    ListSessionsRequest,
    SessionRequest,
    TranscriptRequest,
)
from bethink.model.recall import Lineage, Ref, RefKind
from bethink.model.records import Origin, Record
from bethink.web.visit import Visit

_MOST_LINES = 100
_MOST_FACTS = 40
_MOST_SESSIONS = 20


class Going(NamedTuple):
    """Something that is about to go, or to lose its text. What also rests on something else may stay."""

    ref: Ref
    text: str | None
    origin: Origin | None = None
    shared: bool = False


class Reach(NamedTuple):
    """What a request names and what was made of that, as far as it can be listed."""

    named: list[Going]
    made: list[Going]
    sessions: list[tuple[str, str, int]]
    """Of a conversation: each session with its summary and how many messages it has."""
    more: bool = False
    """Whether there is more than is listed."""


async def reach_of(visit: Visit, request: ForgetRequest) -> Reach:
    """Return what a request would remove, by name."""
    if request.session_id is not None:
        return await _of_session(visit, request.session_id)
    if request.conversation is not None:
        found = await visit.run(
            LIST_SESSIONS,
            ListSessionsRequest(
                conversation=request.conversation, agent=request.agent or ASSISTANT, limit=_MOST_SESSIONS + 1
            ),
        )
        listed = [(each.session.id, each.summary or "", each.session.last_number) for each in found[:_MOST_SESSIONS]]
        return Reach([], [], listed, more=len(found) > _MOST_SESSIONS)
    if request.ref is not None:
        return await _of_ref(visit, request.ref)
    return Reach([], [], [])


async def _of_ref(visit: Visit, ref: Ref) -> Reach:
    line = await visit.run(EXPLAIN, ExplainRequest(ref=ref))
    named = [Going(line.ref, line.text, line.origin)]
    if ref.kind is RefKind.FACT and len(line.versions) > 1:
        named = [Going(each.ref, each.text, line.origin) for each in line.versions]
    facts = [each for each in line.used_in if each.kind is RefKind.FACT]
    others = [each for each in line.used_in if each.kind is not RefKind.FACT]
    said = {(ref.id, ref.number)} if ref.kind is RefKind.MESSAGE else set[tuple[str, int]]()
    made, used = await _facts(visit, facts, said)
    made += [await _other(visit, each) for each in _newest((*others, *used))]
    return Reach(named, made, [], more=len(facts) > _MOST_FACTS)


async def _of_session(visit: Visit, session_id: str) -> Reach:
    found = await visit.run(TRANSCRIPT, TranscriptRequest(session_id=session_id, around=1, limit=_MOST_LINES))
    named = [_message(session_id, each.record) for each in found.lines]
    facts = list(dict.fromkeys(fact.ref for line in found.lines for fact in line.facts))
    said = {(session_id, number) for number in range(1, found.session.last_number + 1)}
    made, used = await _facts(visit, facts, said)
    memory = await visit.run(SESSION_MEMORY, SessionRequest(session_id=session_id))
    if memory is not None:
        ref = Ref(RefKind.SESSION_MEMORY, session_id, 0)
        made.insert(0, Going(ref, memory.summary))
        used += (await visit.run(EXPLAIN, ExplainRequest(ref=ref))).used_in
    used += [ref for line in found.lines for ref in line.documents]
    made += [await _other(visit, each) for each in _newest(used)]
    return Reach(named, made, [], more=found.later or len(facts) > _MOST_FACTS)


def _message(session_id: str, record: Record) -> Going:
    said = record.message
    return Going(Ref(RefKind.MESSAGE, session_id, record.number), said.content, Origin(said.origin or "import"))


async def _facts(visit: Visit, refs: Iterable[Ref], said: set[tuple[str, int]]) -> tuple[list[Going], list[Ref]]:
    """Return facts that rest on what goes, and what was written from those that go with it."""
    made: list[Going] = []
    used: list[Ref] = []
    for ref in list(_newest(refs))[:_MOST_FACTS]:
        line = await visit.run(EXPLAIN, ExplainRequest(ref=ref))
        shared = not _only_there(line, said)
        made.append(Going(ref, line.text, line.origin, shared=shared))
        used += () if shared else line.used_in
    return made, used


def _only_there(line: Lineage, said: set[tuple[str, int]]) -> bool:
    """Return whether a fact rests on nothing that is left: then it goes. Forgetting decides about the others."""
    return said.issuperset((each.source.session_id, each.source.number) for each in line.sources)


def _newest(refs: Iterable[Ref]) -> list[Ref]:
    found: dict[tuple[RefKind, str], Ref] = {}
    for ref in refs:
        known = found.get((ref.kind, ref.id))
        if known is None or ref.number > known.number:
            found[ref.kind, ref.id] = ref
    return list(found.values())


async def _other(visit: Visit, ref: Ref) -> Going:
    try:
        line = await visit.run(EXPLAIN, ExplainRequest(ref=ref))
    except NotFound:
        return Going(ref, None)
    return Going(ref, line.text, line.origin)
