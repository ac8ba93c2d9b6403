"""What a request to forget comes to: a list of ids, recorded first and carried out by any process that lives then."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from bethink.errors import NotFound
from bethink.extend import Redactor
from bethink.memory.deletion import cascade, identity, naming
from bethink.memory.documents import tree
from bethink.memory.log.names import stored_conversation
from bethink.memory.log.succession import get_session
from bethink.model.changes import ChangeKind
from bethink.model.erasures import CONVERSATION, OTHERS, REVIEW, SESSION, SPACE, THREAD, WRITTEN
from bethink.model.filters import Filter
from bethink.model.jobs import JobKind
from bethink.model.operations.memory import ASSISTANT, ForgetRequest
from bethink.model.recall import Ref, RefKind
from bethink.model.records import Forgotten
from bethink.model.text import canonical_json
from bethink.store import (
    changes,
    consolidation,
    documents,
    facts,
    fitting,
    holds,
    people,
    relearnings,
    reviews,
    sessions,
    threads,
)
from bethink.store.db import Tx

VERSION = "version"


class Step(NamedTuple):
    """One thing to forget: its kind, its id, and of messages and versions their numbers. It holds no text."""

    kind: str
    id: str
    numbers: tuple[int, ...] = ()

    def names(self) -> list[tuple[str, str]]:
        """Return the names that it is buried under, each with its kind."""
        if self.kind == RefKind.MESSAGE:
            return [(self.kind, f"{self.id}:{number}") for number in self.numbers]
        if self.kind == VERSION:
            return [(self.kind, f"{self.id}:{self.numbers[0]}")]
        return [(self.kind, self.id)]


def steps_from(recorded: Sequence[Any]) -> list[Step]:
    """Read steps as they were recorded."""
    return [Step(kind, name, tuple(numbers)) for kind, name, numbers in recorded]


def resolve(tx: Tx, request: ForgetRequest, *, space: str, redactor: Redactor) -> list[Step]:
    """Return what a request comes to, except for a filter. Raises `NotFound` for a conversation that is not there."""
    if request.everything:
        return [Step(SPACE, space)]
    if request.ref is not None:
        return [_step(request.ref, version_only=request.version_only)]
    if request.thread_id is not None:
        return [Step(THREAD, request.thread_id)]
    if request.session_id is not None:
        return [Step(SESSION, request.session_id)]
    assert request.conversation is not None  # noqa: S101 - it is what is left
    agent = request.agent or ASSISTANT
    name = stored_conversation(tx, space=space, agent=agent, key=request.conversation, redactor=redactor)
    found = sessions.find_conversation(tx, space=space, agent=agent, key=name)
    if found is None:
        raise NotFound(f"no conversation {request.conversation!r} of {agent!r} in space {space!r}.")
    return [Step(CONVERSATION, found)]


def _step(ref: Ref, *, version_only: bool) -> Step:
    if version_only:
        return Step(VERSION, ref.id, (ref.number,))
    return Step(ref.kind, ref.id, (ref.number,) if ref.kind is RefKind.MESSAGE else ())


def names_of(tx: Tx, steps: Sequence[Step], *, space: str) -> list[tuple[str, str]]:
    """Return what is buried before anything goes: refs, and the names of conversations with their sessions."""
    found: list[tuple[str, str]] = []
    for step in steps:
        if step.kind == CONVERSATION:
            row = tx.one("name_of_conversation", space=space, id=step.id)
            found += [] if row is None else [(CONVERSATION, canonical_json([row["agent"], row["key"]]))]
            found += [(SESSION, each) for each in sessions.ids_of(tx, space=space, conversation=step.id)]
        else:
            found += step.names()
    return found


def carry_out(tx: Tx, steps: Sequence[Step], *, space: str, again: bool = False) -> Forgotten | None:
    """Forget what the steps name and count it. Returns None if nothing of it is there.

    With `again` it was forgotten before and has only come back, so that no legal hold protects it. Otherwise raises
    `UnderLegalHold` if one does.
    """
    if not again:
        holds.refuse_if_held(tx, space=space)  # this locks the space
    if steps and steps[0].kind == SPACE:
        return cascade.forget_space(tx, space=space)
    if again:
        facts.lock(tx, space=space)  # first: no source may be added to what is being forgotten
    before = naming.held_ids(tx, space=space)
    done = [gone for gone in (_gone(tx, step, space=space) for step in steps) if gone is not None]
    return naming.settled(tx, added(done), before, space=space) if done else None


def carry_out_filter(
    tx: Tx, only: Filter, kinds: Collection[RefKind], *, space: str
) -> tuple[list[Step], Forgotten]:  # fmt: skip
    """Forget what fits a filter, and return it as steps. Raises `UnderLegalHold`.

    Messages go first: a fact that others state as well then no longer fits.
    """
    holds.refuse_if_held(tx, space=space)
    before = naming.held_ids(tx, space=space)
    steps: list[Step] = []
    gone: list[Forgotten | None] = []

    def go(step: Step) -> None:
        steps.append(step)
        gone.append(_gone(tx, step, space=space))

    if RefKind.MESSAGE in kinds:
        for session_id, numbers in fitting.messages(tx, only, space=space).items():
            go(Step(RefKind.MESSAGE, session_id, tuple(numbers)))
    for kind in (RefKind.FACT, RefKind.SESSION_MEMORY, RefKind.DOCUMENT):
        if kind in kinds:
            for each in fitting.ids(tx, kind, only, space=space):
                go(Step(kind, each))
    done = added([each for each in gone if each is not None])
    return steps, naming.settled(tx, done, before, space=space)


def added(done: Sequence[Forgotten]) -> Forgotten:
    """Return the sum of what was forgotten. What went with something else is counted there."""
    if len(done) == 1:
        return done[0]
    return Forgotten(
        messages=sum(each.messages for each in done),
        facts=sum(each.facts for each in done),
        session_memories=sum(each.session_memories for each in done),
        documents=sum(each.documents for each in done),
        threads=sum(each.threads for each in done),
        others=sum(each.others for each in done),
        tests_naming=tuple(dict.fromkeys(name for each in done for name in each.tests_naming)),
    )


def not_there(step: Step, *, space: str) -> NotFound:
    """Say that there is nothing to forget."""
    if step.kind == SPACE:
        return NotFound(f"no space {space!r}.", hint="List the spaces to see their names.")
    if step.kind == VERSION:
        return NotFound(
            f"document {step.id!r} has no past version {step.numbers[0]}.",
            hint="Only past versions can be forgotten: to forget the current one, write a new version first.",
        )
    if step.kind in (THREAD, SESSION):
        return NotFound(f"no {step.kind} {step.id!r} in space {space!r}.")
    number = step.numbers[0] if step.numbers else 0
    return NotFound(f"no memory {step.kind}:{step.id}:{number} in space {space!r}.")


def _gone(tx: Tx, step: Step, *, space: str) -> Forgotten | None:
    try:
        return _DOES[step.kind](tx, step, space)
    except NotFound:
        return None


def _forget_messages(tx: Tx, step: Step, space: str) -> Forgotten | None:
    named = {"space": space, "conversation": _conversation_of(tx, space, step.id), "session_id": step.id}
    return cascade.forget_messages(tx, **named, numbers=step.numbers)


def _forget_session(tx: Tx, step: Step, space: str) -> Forgotten:
    return cascade.forget_sessions(tx, space=space, conversation=_conversation_of(tx, space, step.id), gone=[step.id])


def _forget_conversation(tx: Tx, step: Step, space: str) -> Forgotten:
    sessions.lock_conversation(tx, space=space, conversation=step.id)
    return cascade.forget_conversation(tx, space=space, conversation=step.id)


def _forget_session_memory(tx: Tx, step: Step, space: str) -> Forgotten | None:
    _conversation_of(tx, space, step.id)
    return cascade.forget_session_memory(tx, space=space, session_id=step.id)


def _forget_version(tx: Tx, step: Step, space: str) -> Forgotten | None:
    [number] = step.numbers
    written = identity.names_of_versions(tx, step.id, number, space=space)
    if not documents.redact(tx, space=space, document_id=step.id, version=number, current=step.kind == WRITTEN):
        return None
    tx.lose(WRITTEN, written)
    consolidation.forget_text(tx, space=space, document_id=step.id)
    ref = Ref(RefKind.DOCUMENT, step.id, number)
    changes.record(tx, space=space, kind=ChangeKind.DOCUMENT_FORGOTTEN, ref=ref)
    tx.lose(VERSION, [f"{step.id}:{number}"])
    return Forgotten(documents=1)


def _forget_thread(tx: Tx, step: Step, space: str) -> Forgotten | None:
    if threads.find(tx, space=space, thread_id=step.id) is None:
        return None
    threads.remove(tx, space=space, thread_id=step.id)
    tx.lose(THREAD, [step.id])
    return Forgotten(threads=1)


def _forget_other(tx: Tx, step: Step, space: str) -> Forgotten | None:
    review = reviews.find(tx, space=space, review_id=step.id) if step.kind == REVIEW else None
    if not people.forget_other(tx, step.kind, space=space, id=step.id):
        return None
    if review is not None:  # the answer that it was taken from says the same, and so may a proposal
        tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=[review.session_id])
        relearnings.drop_proposals(tx, space=space)
    return Forgotten(others=1)


_DOES: Mapping[str, Callable[[Tx, Step, str], Forgotten | None]] = {
    RefKind.MESSAGE: _forget_messages,
    RefKind.FACT: lambda tx, step, space: cascade.forget_fact(tx, space=space, fact_id=step.id),
    RefKind.SESSION_MEMORY: _forget_session_memory,
    RefKind.DOCUMENT: lambda tx, step, space: cascade.forget_document(tx, space=space, document_id=step.id),
    VERSION: _forget_version,
    WRITTEN: _forget_version,  # by a tombstone alone: what is a past version there may be the current one here
    SESSION: _forget_session,
    CONVERSATION: _forget_conversation,
    THREAD: _forget_thread,
    **dict.fromkeys(OTHERS, _forget_other),
}


def _conversation_of(tx: Tx, space: str, session_id: str) -> str:
    found = get_session(tx, space=space, session_id=session_id)
    sessions.lock_conversation(tx, space=space, conversation=found.conversation_id)
    return found.conversation_id


def named(tx: Tx, forgotten: Forgotten, *, space: str, most: int = 1000) -> Forgotten:
    """Add the refs of what goes, and the paths of the pages that lose a text."""
    refs: list[str] = []
    for kind, names in tx.gone.items():
        if kind == RefKind.MESSAGE:
            refs += [f"{kind}:{name}" for name in names]
        elif kind in (RefKind.FACT, RefKind.DOCUMENT, RefKind.SESSION_MEMORY):
            refs += [f"{kind}:{name}:0" for name in names]
    found = [
        documents.find(tx, space=space, document_id=each) for each in list(tx.gone.get(RefKind.DOCUMENT, ()))[:most]
    ]
    pages = [tree.path_of(tx, each, space=space) for each in found if each is not None]
    return replace(forgotten, refs=tuple(refs[:most]), pages=tuple(sorted(pages)))
