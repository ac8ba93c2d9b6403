"""Removes a memory and what was derived from it in one transaction, and counts what was removed."""

from collections.abc import Collection
from dataclasses import replace

from bethink.documents.files import clear_files
from bethink.errors import NotFound
from bethink.extend import Redactor
from bethink.forgetting import cascade, naming
from bethink.log.names import stored_conversation
from bethink.log.succession import get_session
from bethink.model.changes import ChangeKind
from bethink.model.filters import Filter
from bethink.model.recall import Ref, RefKind
from bethink.model.records import Forgotten
from bethink.model.verbs.memory import ForgetRequest
from bethink.store import changes, consolidation, documents, facts, fitting, memory_tests, sessions, threads
from bethink.store.db import Database, Tx


class _Undone(Exception):
    # Not an error: it carries the count out of a transaction that is rolled back.
    def __init__(self, forgotten: Forgotten) -> None:
        self.forgotten = forgotten


class ForgetService:
    """Forgets memories, in every space of one database."""

    def __init__(self, database: Database, *, redactor: Redactor, files_folder: str = "") -> None:
        self._database = database
        self._redactor = redactor
        self._files_folder = files_folder

    async def forget(self, space: str, request: ForgetRequest) -> Forgotten:
        """Forget what a request names. A dry run does all the work and rolls it back, so that its counts are exact."""

        def body(tx: Tx) -> Forgotten:
            forgotten = _forget(tx, request, space=space, redactor=self._redactor)
            if request.dry_run:
                raise _Undone(replace(forgotten, dry_run=True))
            return forgotten

        try:
            forgotten = await self._database.transact(body, space=space)
        except _Undone as undone:
            return undone.forgotten
        if self._files_folder:
            await clear_files(self._files_folder, space)
        return forgotten


def _forget(tx: Tx, request: ForgetRequest, *, space: str, redactor: Redactor) -> Forgotten:
    if request.everything:
        # For a dry run, a space is only counted: removing it and rolling back would block every writer there.
        done = (cascade.count_space if request.dry_run else cascade.forget_space)(tx, space=space)
        if done is None:
            raise NotFound(f"no space {space!r}.", hint="List the spaces to see their names.")
        return done
    facts.lock(tx, space=space)  # first: no source may be added to what is being forgotten
    tests = [test.id for test in memory_tests.page(tx, space=space)]
    forgotten = _forget_part(tx, request, space=space, redactor=redactor)
    return naming.settled(tx, forgotten, tests, space=space)


def _forget_part(tx: Tx, request: ForgetRequest, *, space: str, redactor: Redactor) -> Forgotten:
    """Forget what a request names that is less than the whole space."""
    if request.only is not None:
        return _forget_fitting(tx, request.only, request.kinds, space=space)
    if request.ref is not None:
        return _forget_ref(tx, request.ref, space=space, version_only=request.version_only)
    if request.thread_id is not None:
        return _forget_thread(tx, space=space, thread_id=request.thread_id)
    if request.session_id is not None:
        conversation = _conversation_of(tx, space=space, session_id=request.session_id)
        return cascade.forget_sessions(tx, space=space, conversation=conversation, gone=[request.session_id])
    assert request.conversation is not None  # noqa: S101 - it is what is left
    name = stored_conversation(tx, space=space, agent=request.agent, key=request.conversation, redactor=redactor)
    found = sessions.find_conversation(tx, space=space, agent=request.agent, key=name)
    if found is None:
        raise NotFound(f"no conversation {request.conversation!r} of {request.agent!r} in space {space!r}.")
    sessions.lock_conversation(tx, space=space, conversation=found)
    return cascade.forget_conversation(tx, space=space, conversation=found)


def _forget_fitting(tx: Tx, only: Filter, kinds: Collection[RefKind], *, space: str) -> Forgotten:
    """Forget what fits a filter. Messages go first: a fact that others state as well then no longer fits."""
    gone: list[Forgotten | None] = []
    if RefKind.MESSAGE in kinds:
        for session_id, numbers in fitting.messages(tx, only, space=space).items():
            conversation = _conversation_of(tx, space=space, session_id=session_id)
            named = {"space": space, "conversation": conversation, "session_id": session_id}
            gone.append(cascade.forget_messages(tx, **named, numbers=numbers))
    for kind in (RefKind.FACT, RefKind.SESSION_MEMORY, RefKind.DOCUMENT):
        if kind in kinds:
            gone += [_gone(tx, Ref(kind, each), space=space) for each in fitting.ids(tx, kind, only, space=space)]
    done = [each for each in gone if each is not None]  # what went with something else is counted there
    return Forgotten(
        messages=sum(each.messages for each in done),
        facts=sum(each.facts for each in done),
        session_memories=sum(each.session_memories for each in done),
        documents=sum(each.documents for each in done),
        threads=sum(each.threads for each in done),
        tests_naming=tuple(dict.fromkeys(name for each in done for name in each.tests_naming)),
    )


def _forget_ref(tx: Tx, ref: Ref, *, space: str, version_only: bool) -> Forgotten:
    done = _forget_version(tx, ref, space=space) if version_only else _gone(tx, ref, space=space)
    if done is None:
        raise NotFound(f"no memory {ref} in space {space!r}.")
    return done


def _gone(tx: Tx, ref: Ref, *, space: str) -> Forgotten | None:
    match ref.kind:
        case RefKind.FACT:
            return cascade.forget_fact(tx, space=space, fact_id=ref.id)
        case RefKind.DOCUMENT:
            return cascade.forget_document(tx, space=space, document_id=ref.id)
        case RefKind.SESSION_MEMORY:
            _conversation_of(tx, space=space, session_id=ref.id)
            return cascade.forget_session_memory(tx, space=space, session_id=ref.id)
        case RefKind.MESSAGE:
            conversation = _conversation_of(tx, space=space, session_id=ref.id)
            named = {"space": space, "conversation": conversation, "session_id": ref.id}
            return cascade.forget_messages(tx, **named, numbers=[ref.number])


def _forget_version(tx: Tx, ref: Ref, *, space: str) -> Forgotten:
    if not documents.redact(tx, space=space, document_id=ref.id, version=ref.number):
        raise NotFound(
            f"document {ref.id!r} has no past version {ref.number}.",
            hint="Only past versions can be forgotten: to forget the current one, write a new version first.",
        )
    consolidation.forget_text(tx, space=space, document_id=ref.id)
    changes.record(tx, space=space, kind=ChangeKind.DOCUMENT_FORGOTTEN, ref=ref)
    return Forgotten(documents=1)


def _forget_thread(tx: Tx, *, space: str, thread_id: str) -> Forgotten:
    if threads.find(tx, space=space, thread_id=thread_id) is None:
        raise NotFound(f"no thread {thread_id!r} in space {space!r}.")
    threads.remove(tx, space=space, thread_id=thread_id)
    return Forgotten(threads=1)


def _conversation_of(tx: Tx, *, space: str, session_id: str) -> str:
    found = get_session(tx, space=space, session_id=session_id)
    sessions.lock_conversation(tx, space=space, conversation=found.conversation_id)
    return found.conversation_id
