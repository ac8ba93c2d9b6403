"""The plan of a deletion: a list of ids, which is recorded first and carried out by any process."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from bethink.errors import NotFoundError
from bethink.extend import Redactor
from bethink.memory.deletion import cascade, identity, naming
from bethink.memory.documents import tree
from bethink.memory.log.names import stored_conversation
from bethink.memory.log.succession import get_session
from bethink.model.changes import ChangeKind
from bethink.model.erasures import CONVERSATION, OTHERS, REVIEW, SESSION, SPACE, STATEMENT, THREAD, WRITTEN
from bethink.model.filters import Filter
from bethink.model.jobs import JobKind
from bethink.model.operations.memory import ASSISTANT, ForgetRequest
from bethink.model.records import Deletion
from bethink.model.refs import Ref, RefKind
from bethink.model.text import canonical_json
from bethink.store import (
    changes,
    consolidation,
    decisions,
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
    """One item to delete: its kind, its id, and the numbers of messages or versions. Contains no text."""

    kind: str
    id: str
    numbers: tuple[int, ...] = ()

    def names(self) -> list[tuple[str, str]]:
        """Return the names of its tombstones, each with its kind."""
        if self.kind == RefKind.MESSAGE:
            return [(self.kind, f"{self.id}:{number}") for number in self.numbers]
        if self.kind == VERSION:
            return [(self.kind, f"{self.id}:{self.numbers[0]}")]
        return [(self.kind, self.id)]


def steps_from(recorded: Sequence[Any]) -> list[Step]:
    """Parse recorded steps."""
    return [Step(kind, name, tuple(numbers)) for kind, name, numbers in recorded]


def resolve(tx: Tx, request: ForgetRequest, *, space: str, redactor: Redactor) -> list[Step]:
    """Return the steps of a request, except for a filter. Raises `NotFoundError` for an unknown conversation."""
    if request.everything:
        return [Step(SPACE, space)]
    if request.ref is not None:
        return [_step(request.ref, version_only=request.version_only)]
    if request.thread_id is not None:
        return [Step(THREAD, request.thread_id)]
    if request.session_id is not None:
        return [Step(SESSION, request.session_id)]
    assert request.conversation is not None  # noqa: S101 - the only remaining target
    agent = request.agent or ASSISTANT
    name = stored_conversation(tx, space=space, agent=agent, key=request.conversation, redactor=redactor)
    conversation_id = sessions.find_conversation(tx, space=space, agent=agent, key=name)
    if conversation_id is None:
        raise NotFoundError(f"No conversation {request.conversation!r} of {agent!r} in space {space!r}.")
    return [Step(CONVERSATION, conversation_id)]


def _step(ref: Ref, *, version_only: bool) -> Step:
    if version_only:
        return Step(VERSION, ref.id, (ref.number,))
    return Step(ref.kind, ref.id, (ref.number,) if ref.kind is RefKind.MESSAGE else ())


def names_of(tx: Tx, steps: Sequence[Step], *, space: str) -> list[tuple[str, str]]:
    """Return the tombstone names of steps: refs, and the names of conversations with their sessions."""
    names: list[tuple[str, str]] = []
    for step in steps:
        if step.kind == CONVERSATION:
            row = tx.first("name_of_conversation", space=space, id=step.id)
            names += [] if row is None else [(CONVERSATION, canonical_json([row["agent"], row["key"]]))]
            names += [(SESSION, session_id) for session_id in sessions.ids_of(tx, space=space, conversation=step.id)]
        else:
            names += step.names()
        if step.kind == RefKind.FACT:
            names += [(STATEMENT, name) for name in decisions.names_of_fact(tx, step.id, space=space)]
    return names


def carry_out(tx: Tx, steps: Sequence[Step], *, space: str, again: bool = False) -> Deletion | None:
    """Delete the items of the steps and count them. Return None if none of them exists.

    With `again`, the items were deleted before and only came back, so no legal hold protects them. Otherwise raises
    `LegalHoldError` if one does.
    """
    if not again:
        holds.check_not_on_hold(tx, space=space)  # this locks the space
    if steps and steps[0].kind == SPACE:
        return cascade.forget_space(tx, space=space)
    if again:
        facts.lock(tx, space=space)  # first: no source may be added to what is being deleted
    before = naming.all_test_ids(tx, space=space)
    done = [deletion for deletion in (_delete_step(tx, step, space=space) for step in steps) if deletion is not None]
    return naming.count_deleted_tests(tx, sum_deletions(done), before, space=space) if done else None


def carry_out_filter(
    tx: Tx, only: Filter, kinds: Collection[RefKind], *, space: str
) -> tuple[list[Step], Deletion]:  # fmt: skip
    """Delete the items that match a filter, and return them as steps. Raises `LegalHoldError`.

    Messages are deleted first: a fact that others also state then no longer matches.
    """
    holds.check_not_on_hold(tx, space=space)
    before = naming.all_test_ids(tx, space=space)
    steps: list[Step] = []
    deletions: list[Deletion | None] = []

    def run_step(step: Step) -> None:
        steps.append(step)
        deletions.append(_delete_step(tx, step, space=space))

    if RefKind.MESSAGE in kinds:
        for session_id, numbers in fitting.messages(tx, only, space=space).items():
            run_step(Step(RefKind.MESSAGE, session_id, tuple(numbers)))
    for kind in (RefKind.FACT, RefKind.SESSION_SUMMARY, RefKind.DOCUMENT):
        if kind in kinds:
            for item in fitting.ids(tx, kind, only, space=space):
                run_step(Step(kind, item))
    done = sum_deletions([item for item in deletions if item is not None])
    return steps, naming.count_deleted_tests(tx, done, before, space=space)


def sum_deletions(done: Sequence[Deletion]) -> Deletion:
    """Return the sum of deletions. Derived items are counted with the item that they were deleted with."""
    if len(done) == 1:
        return done[0]
    return Deletion(
        messages=sum(part.messages for part in done),
        facts=sum(part.facts for part in done),
        session_summaries=sum(part.session_summaries for part in done),
        documents=sum(part.documents for part in done),
        threads=sum(part.threads for part in done),
        others=sum(part.others for part in done),
        mentioning_tests=tuple(dict.fromkeys(name for part in done for name in part.mentioning_tests)),
    )


def not_found_error(step: Step, *, space: str) -> NotFoundError:
    """Return the error for an item that does not exist."""
    if step.kind == SPACE:
        return NotFoundError(f"No space {space!r}.", hint="List the spaces to see their names.")
    if step.kind == VERSION:
        return NotFoundError(
            f"Document {step.id!r} has no past version {step.numbers[0]}.",
            hint="Only past versions can be deleted. To delete the current one, write a new version first.",
        )
    if step.kind in (THREAD, SESSION):
        return NotFoundError(f"No {step.kind} {step.id!r} in space {space!r}.")
    number = step.numbers[0] if step.numbers else 0
    return NotFoundError(f"No item {step.kind}:{step.id}:{number} in space {space!r}.")


def _delete_step(tx: Tx, step: Step, *, space: str) -> Deletion | None:
    try:
        return _HANDLERS[step.kind](tx, step, space)
    except NotFoundError:
        return None


def _forget_messages(tx: Tx, step: Step, space: str) -> Deletion | None:
    target = {"space": space, "conversation": _lock_conversation_of(tx, space, step.id), "session_id": step.id}
    return cascade.forget_messages(tx, **target, numbers=step.numbers)


def _forget_session(tx: Tx, step: Step, space: str) -> Deletion:
    return cascade.forget_sessions(
        tx, space=space, conversation=_lock_conversation_of(tx, space, step.id), session_ids=[step.id]
    )


def _forget_conversation(tx: Tx, step: Step, space: str) -> Deletion:
    sessions.lock_conversation(tx, space=space, conversation=step.id)
    return cascade.forget_conversation(tx, space=space, conversation=step.id)


def _forget_session_summary(tx: Tx, step: Step, space: str) -> Deletion | None:
    _lock_conversation_of(tx, space, step.id)
    return cascade.forget_session_summary(tx, space=space, session_id=step.id)


def _forget_version(tx: Tx, step: Step, space: str) -> Deletion | None:
    [number] = step.numbers
    version_names = identity.names_of_versions(tx, step.id, number, space=space)
    if not documents.redact(tx, space=space, document_id=step.id, version=number, current=step.kind == WRITTEN):
        return None
    tx.note_deleted(WRITTEN, version_names)
    consolidation.forget_text(tx, space=space, document_id=step.id)
    ref = Ref(RefKind.DOCUMENT, step.id, number)
    changes.record(tx, space=space, kind=ChangeKind.DOCUMENT_FORGOTTEN, ref=ref)
    tx.note_deleted(VERSION, [f"{step.id}:{number}"])
    return Deletion(documents=1)


def _forget_thread(tx: Tx, step: Step, space: str) -> Deletion | None:
    if threads.find(tx, space=space, thread_id=step.id) is None:
        return None
    threads.remove(tx, space=space, thread_id=step.id)
    tx.note_deleted(THREAD, [step.id])
    return Deletion(threads=1)


def _forget_other(tx: Tx, step: Step, space: str) -> Deletion | None:
    review = reviews.find(tx, space=space, review_id=step.id) if step.kind == REVIEW else None
    if not people.forget_other(tx, step.kind, space=space, id=step.id):
        return None
    if review is not None:  # the answer behind it has the same text, and so may a proposal
        tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=[review.session_id])
        relearnings.drop_proposals(tx, space=space)
    return Deletion(others=1)


_HANDLERS: Mapping[str, Callable[[Tx, Step, str], Deletion | None]] = {
    RefKind.MESSAGE: _forget_messages,
    RefKind.FACT: lambda tx, step, space: cascade.forget_fact(tx, space=space, fact_id=step.id),
    RefKind.SESSION_SUMMARY: _forget_session_summary,
    RefKind.DOCUMENT: lambda tx, step, space: cascade.forget_document(tx, space=space, document_id=step.id),
    VERSION: _forget_version,
    WRITTEN: _forget_version,  # by a tombstone alone: a past version there may be the current one here
    SESSION: _forget_session,
    CONVERSATION: _forget_conversation,
    THREAD: _forget_thread,
    **dict.fromkeys(OTHERS, _forget_other),
}


def _lock_conversation_of(tx: Tx, space: str, session_id: str) -> str:
    session = get_session(tx, space=space, session_id=session_id)
    sessions.lock_conversation(tx, space=space, conversation=session.conversation_id)
    return session.conversation_id


def add_refs(tx: Tx, deletion: Deletion, *, space: str, max_refs: int = 1000) -> Deletion:
    """Add the refs of deleted items, and the paths of pages that lose text."""
    refs: list[str] = []
    for kind, names in tx.deleted_ids.items():
        if kind == RefKind.MESSAGE:
            refs += [f"{kind}:{name}" for name in names]
        elif kind in (RefKind.FACT, RefKind.DOCUMENT, RefKind.SESSION_SUMMARY):
            refs += [f"{kind}:{name}:0" for name in names]
    affected = set(list(tx.deleted_ids.get(RefKind.DOCUMENT, ()))[:max_refs])
    pages = tree.entries(tx, space=space) if affected else {}
    paths = sorted(path for path, entry in pages.items() if entry.id in affected)
    return replace(deletion, refs=tuple(refs[:max_refs]), document_paths=tuple(paths))
