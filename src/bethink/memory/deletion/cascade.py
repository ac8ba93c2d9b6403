"""Deletes data derived from deleted messages: nothing outlives its sources."""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from bethink.memory.deletion import identity, naming, proof
from bethink.memory.deletion.proof import ErasedWords
from bethink.memory.deletion.sinks import names_in
from bethink.memory.facts import revive
from bethink.memory.facts.marking import mark_repetitions
from bethink.model.erasures import DOCUMENT_KEY, IDEMPOTENCY_KEY, PASSAGE, SAID, SPACE, THREAD, WRITTEN
from bethink.model.files import passage_name
from bethink.model.jobs import JobKind
from bethink.model.records import Deletion
from bethink.model.refs import RefKind
from bethink.store import changes, facts, holds, jobs, learning, marks, relearnings, reviews, sessions, views
from bethink.store.db import NO_LIMIT, Row, Tx
from bethink.store.marks import DELETED, MarkKind


def forget_conversation(tx: Tx, *, space: str, conversation: str) -> Deletion:
    """Delete every message of a locked conversation, and derived data."""
    session_ids = sessions.ids_of(tx, space=space, conversation=conversation)
    return forget_sessions(tx, space=space, conversation=conversation, session_ids=session_ids)


def forget_sessions(tx: Tx, *, space: str, conversation: str, session_ids: list[str]) -> Deletion:
    """Delete every message of some sessions of a locked conversation, and derived data."""
    sessions.clear_purged_marks(tx, space=space, sessions=session_ids)
    affected_facts = [row["fact_id"] for row in tx.all("facts_from_sessions", space=space, sessions=session_ids)]
    test_ids = naming.mentioning_tests(tx, lambda: naming.texts_of_sessions(tx, session_ids, space=space), space=space)
    rows = tx.all("list_going_messages", space=space, sessions=session_ids)
    since = _note_messages(tx, rows, (identity.moment_of(row) for row in rows))
    erased_words = ErasedWords(naming.texts_of_sessions(tx, session_ids, space=space), since=since)
    removed = tx.run("forget_messages", space=space, sessions=session_ids)
    reviews.forget_sessions(tx, space=space, sessions=session_ids)
    unsupported_facts = _find_unsupported(tx, affected_facts, space=space)
    deletion = _forget_derived(
        tx,
        space=space,
        conversation=conversation,
        session_ids=session_ids,
        removed=removed,
        unsupported_facts=unsupported_facts,
    )
    return naming.add_mentioning_tests(_forget_unproven(tx, deletion, erased_words, space=space), test_ids)


def forget_messages(
    tx: Tx, *, space: str, conversation: str, session_id: str, numbers: Collection[int]
) -> Deletion | None:
    """Delete some messages of one session of a locked conversation. Return None if none of them exists.

    The session summary is deleted, too, and is rebuilt after the next message. A passage of a file does not come back
    with a later version of the file; a file that is deleted as a whole may be added again.
    """
    keys = {"space": space, "session": session_id, "numbers": sorted(numbers)}
    rows = tx.all("find_going_messages", None, **keys)
    texts = [row["content"] for row in rows]
    test_ids = naming.mentioning_tests(tx, lambda: texts, space=space)
    since = _note_messages(tx, rows, identity.names_of_messages(tx, rows, space=space))
    tx.note_deleted(PASSAGE, _passages(rows))
    if rows:
        mark_repetitions(
            tx, space=space, session_id=session_id, numbers=numbers, kind=MarkKind.HIDDEN, cause=DELETED
        )  # fmt: skip
    affected_facts = {row["id"] for row in tx.all("facts_from_messages", None, **keys)}
    removed = tx.run("forget_some_messages", **keys)
    marks.delete_of_causes(tx, [marks.cause_of(session_id, number) for number in numbers], space=space)
    if not removed:
        return None
    reviews.forget_messages(tx, space=space, session_id=session_id, numbers=numbers)
    unsupported_facts, session_ids = _find_unsupported(tx, affected_facts, space=space), [session_id]
    deletion = _forget_derived(
        tx,
        space=space,
        conversation=conversation,
        session_ids=session_ids,
        removed=removed,
        unsupported_facts=unsupported_facts,
    )
    return naming.add_mentioning_tests(
        _forget_unproven(tx, deletion, ErasedWords(texts, since=since), space=space), test_ids
    )


def forget_derived_from(tx: Tx, *, space: str, conversation: str, session_id: str, number: int) -> None:
    """Delete data derived from a message, but keep the message itself. Raises `LegalHoldError`.

    Threads stay as well: they are an agent's own state.
    """
    message_key = {"space": space, "session": session_id, "number": number}
    marks.delete_of_causes(tx, [marks.cause_of(session_id, number)], space=space)
    dependents = tx.first("what_rests_on_message", **message_key) or {"noted": False, "told": False}
    noted = dependents["noted"] or learning.has_answered(tx, space=space, session_id=session_id, number=number)
    if not noted and not dependents["told"]:
        return
    holds.check_not_on_hold(tx, space=space)
    rows = tx.all("facts_from_messages", space=space, session=session_id, numbers=[number])
    affected_facts = {row["id"] for row in rows}
    tx.run("drop_message_sources", **message_key)
    tx.run("drop_message_quotes", **message_key)
    reviews.forget_messages(tx, space=space, session_id=session_id, numbers=[number])
    unsupported_facts, session_ids = _find_unsupported(tx, affected_facts, space=space), [session_id] if noted else []
    _forget_derived(
        tx,
        space=space,
        conversation=conversation,
        session_ids=session_ids,
        removed=0,
        unsupported_facts=unsupported_facts,
        threads=False,
    )


def _forget_unproven(tx: Tx, deletion: Deletion, erased_words: ErasedWords, *, space: str) -> Deletion:
    """Delete model-written texts with words that no remaining message contains, whatever sources they cite."""
    unproven_texts = proof.find_unproven(tx, erased_words, space=space)
    proof.drop_texts(tx, erased_words, unproven_texts.words, space=space)
    parts = [deletion]
    for fact_id in unproven_texts.ids[RefKind.FACT]:
        parts.append(forget_fact(tx, space=space, fact_id=fact_id) or Deletion())
    for session_id in unproven_texts.ids[RefKind.SESSION_SUMMARY]:
        parts.append(forget_session_summary(tx, space=space, session_id=session_id) or Deletion())
    pages = proof.redact_versions(tx, unproven_texts, space=space)
    if pages:
        changes.record_forgotten(tx, RefKind.DOCUMENT, space=space, ids=sorted(set(pages)))
        tx.note_deleted(RefKind.DOCUMENT, sorted(set(pages)))
        parts.append(Deletion(documents=len(pages)))
        forget_dependents(tx, space=space, deleted_ids=sorted(set(pages)), rebuild=True)
    return replace(
        deletion,
        facts=sum(part.facts for part in parts),
        session_summaries=sum(part.session_summaries for part in parts),
        documents=sum(part.documents for part in parts),
        mentioning_tests=tuple(dict.fromkeys(name for part in parts for name in part.mentioning_tests)),
    )


def _note_messages(tx: Tx, rows: list[Row], names: Iterable[str]) -> int:
    """Note deleted messages for the receipt, and return the time at which the first was recorded."""
    tx.note_deleted(RefKind.MESSAGE, (f"{row['session_id']}:{row['number']}" for row in rows))
    tx.note_deleted(IDEMPOTENCY_KEY, (row["idempotency_key"] for row in rows if row["idempotency_key"] is not None))
    tx.note_deleted(SAID, names)
    return min((row["recorded_at"] for row in rows), default=NO_LIMIT)


def _passages(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        metadata = json.loads(row["metadata"])
        if row["origin"] == "document" and "file" in metadata:
            yield passage_name(row["content"], metadata)


def _find_unsupported(tx: Tx, affected_facts: Collection[str], *, space: str) -> list[str]:
    """Return the facts that lost a quote of their first source. Other facts only lose later support."""
    facts.drop_broken_supports(tx, space=space, fact_ids=affected_facts)
    unsupported: list[str] = []
    for fact_id in sorted(affected_facts):
        first = facts.learned_effect(tx, space=space, fact_id=fact_id)
        effects = {support.effect for support in facts.supports(tx, space=space, fact_id=fact_id)}
        if first is not None and first not in effects:
            unsupported.append(fact_id)
    return unsupported


def _forget_derived(
    tx: Tx,
    *,
    space: str,
    conversation: str,
    session_ids: list[str],
    removed: int,
    unsupported_facts: list[str],
    threads: bool = True,
) -> Deletion:
    # A worker that is learning from these sessions has read the messages: it loses its lease, and the job restarts.
    tx.run("fence_extractors", space=space, kind=JobKind.EXTRACT, sessions=session_ids, now=tx.now)
    # A thread and a summary move from one session of a conversation to the next, with their text.
    all_sessions = sessions.ids_of(tx, space=space, conversation=conversation) if threads else []
    sessions.drop_summary(tx, space=space, conversation=conversation)
    removed_threads = tx.all("forget_threads", space=space, sessions=all_sessions) if all_sessions else []
    tx.note_deleted(THREAD, sorted(row["id"] for row in removed_threads))
    memories = tx.run("forget_session_summaries", space=space, sessions=session_ids)
    tx.note_deleted(RefKind.SESSION_SUMMARY, session_ids)
    source_sessions = {
        source.session_id
        for fact_id in unsupported_facts
        for source in facts.sources_of(tx, space=space, fact_id=fact_id)
    }
    tx.run(
        "forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=sorted(source_sessions.union(session_ids))
    )
    tx.deletes = True
    test_ids = naming.mentioning_tests(
        tx, lambda: naming.texts_of_deleted_facts(tx, unsupported_facts, space=space), space=space
    )
    deleted_facts = revive.delete_unsupported(tx, space=space, extra_ids=unsupported_facts)
    changes.record_forgotten(tx, RefKind.SESSION_SUMMARY, space=space, ids=session_ids)
    changes.record_forgotten(tx, RefKind.FACT, space=space, ids=deleted_facts)
    tx.note_deleted(RefKind.FACT, deleted_facts)
    touched = forget_dependents(tx, space=space, deleted_ids=[*session_ids, *deleted_facts], rebuild=memories > 0)
    return Deletion(
        messages=removed,
        facts=len(deleted_facts),
        session_summaries=memories,
        documents=touched,
        threads=len(removed_threads),
        mentioning_tests=test_ids,
    )


def forget_session_summary(tx: Tx, *, space: str, session_id: str) -> Deletion | None:
    """Delete the summary of a session until the session is learned from again. Return None if there is none."""
    if not tx.run("forget_session_summaries", space=space, sessions=[session_id]):
        return None
    tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=[session_id])
    tx.deletes = True
    changes.record_forgotten(tx, RefKind.SESSION_SUMMARY, space=space, ids=[session_id])
    tx.note_deleted(RefKind.SESSION_SUMMARY, [session_id])
    return Deletion(
        session_summaries=1, documents=forget_dependents(tx, space=space, deleted_ids=[session_id], rebuild=True)
    )


def forget_fact(tx: Tx, *, space: str, fact_id: str) -> Deletion | None:
    """Delete all versions of a fact, the answers it was learned from, and the session summaries that mention it.

    Returns None if there is none.
    """
    facts.lock(tx, space=space)
    if not facts.versions(tx, space=space, fact_id=fact_id):
        return None
    source_sessions = {source.session_id for source in facts.sources_of(tx, space=space, fact_id=fact_id)}
    tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=sorted(source_sessions))
    test_ids = naming.mentioning_tests(tx, lambda: naming.texts_of_facts(tx, [fact_id], space=space), space=space)
    mentioning_sessions = _mentioning_sessions(tx, fact_id, sorted(source_sessions), space=space)
    memories = tx.run("forget_session_summaries", space=space, sessions=mentioning_sessions)
    affected = views.neighbors(tx, space=space, fact_ids=[fact_id])
    facts.delete(tx, space=space, fact_id=fact_id)
    views.refresh(tx, space=space, fact_ids=affected - {fact_id})
    changes.record_forgotten(tx, RefKind.SESSION_SUMMARY, space=space, ids=mentioning_sessions)
    changes.record_forgotten(tx, RefKind.FACT, space=space, ids=[fact_id])
    tx.note_deleted(RefKind.SESSION_SUMMARY, mentioning_sessions)
    tx.note_deleted(RefKind.FACT, [fact_id])
    touched = forget_dependents(tx, space=space, deleted_ids=[fact_id, *mentioning_sessions], rebuild=memories > 0)
    return Deletion(facts=1, session_summaries=memories, documents=touched, mentioning_tests=test_ids)


def _mentioning_sessions(tx: Tx, fact_id: str, sessions: list[str], *, space: str) -> list[str]:
    """Return the sessions whose summary repeats a fact."""
    texts = {item.text for item in facts.versions(tx, space=space, fact_id=fact_id)}
    texts |= {support.statement for support in facts.supports(tx, space=space, fact_id=fact_id)}
    memories = {item: learning.find_memory(tx, space=space, session_id=item) for item in sessions}
    return [
        item
        for item, memory in memories.items()
        if memory is not None and any(text in memory.raw_memory for text in texts)
    ]


def forget_document(tx: Tx, *, space: str, document_id: str) -> Deletion | None:
    """Remove the text from every version of a document; it stays in the tree. Returns None if it has no text.

    A document that was built from facts and session summaries is rebuilt from those that still exist.
    """
    runs = [row["run"] for row in tx.all("runs_of_document", space=space, id=document_id)]
    test_ids = naming.mentioning_tests(tx, lambda: naming.texts_of_document(tx, document_id, space=space), space=space)
    version_names = identity.names_of_versions(tx, document_id, space=space)
    touched = tx.run("redact_versions", space=space, id=document_id)
    if not touched:
        return None
    tx.note_deleted(WRITTEN, version_names)
    tx.deletes = True
    changes.record_forgotten(tx, RefKind.DOCUMENT, space=space, ids=[document_id])
    tx.note_deleted(RefKind.DOCUMENT, [document_id])
    tx.note_deleted(
        DOCUMENT_KEY, (row["key"] for row in tx.all("list_document_operations", space=space, id=document_id))
    )
    tx.run("delete_document_operations", space=space, id=document_id)
    if runs:
        tx.run("drop_change_sets", space=space, runs=runs)
    forget_dependents(tx, space=space, deleted_ids=[document_id], rebuild=True)
    return Deletion(documents=touched, mentioning_tests=test_ids)


def forget_space(tx: Tx, *, space: str) -> Deletion | None:
    """Remove a space with its entire content, and count it. Returns None if there is no such space."""
    counts = count_space(tx, space=space)
    if counts is None:
        return None
    tx.note_deleted(IDEMPOTENCY_KEY, (row["key"] for row in tx.all("list_idempotency_keys", space=space)))
    tx.note_deleted(DOCUMENT_KEY, (row["key"] for row in tx.all("list_document_keys", space=space)))
    tx.note_deleted(SPACE, [space])
    if not tx.run("forget_space", space=space):
        return None
    tx.deletes = True
    changes.forget(tx, space=space)
    return counts


def count_space(tx: Tx, *, space: str) -> Deletion | None:
    """Count the content of a space. Returns None if there is no such space."""
    counts = tx.first("count_space", space=space)
    return None if counts is None else Deletion(**counts, tests=len(naming.all_test_ids(tx, space=space)))


def forget_dependents(tx: Tx, *, space: str, deleted_ids: list[str], rebuild: bool = False) -> int:
    """Remove the text of everything derived from deleted items, and queue jobs to rebuild it if needed.

    Documents lose their text at once, in every version. Return the number of these versions.
    """
    # A running writer may have read the text: it loses its lease, and the run starts over.
    tx.run("fence_writers", space=space, kind=JobKind.EXTRACT, now=tx.now)
    touched = [row["id"] for row in tx.all("redact_resting_on", space=space, ids=deleted_ids)]
    tx.deletes = True
    changes.record_forgotten(tx, RefKind.DOCUMENT, space=space, ids=sorted(set(touched)))
    tx.note_deleted(RefKind.DOCUMENT, sorted(set(touched)))
    tx.run("forget_writers_answers", space=space, kind=JobKind.EXTRACT)
    relearnings.drop_proposals(tx, space=space)
    proposed = _drop_change_sets(tx, space=space, deleted_ids=deleted_ids)
    if rebuild or touched or proposed:
        tx.run("clear_selection", space=space)
        jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY, watermark=0)
    return len(touched)


def _drop_change_sets(tx: Tx, *, space: str, deleted_ids: list[str]) -> bool:
    runs = [
        row["run"] for row in tx.all("list_change_set_texts", space=space) if not names_in(row).isdisjoint(deleted_ids)
    ]
    if runs:
        tx.run("drop_change_sets", space=space, runs=runs)
    return bool(runs)
