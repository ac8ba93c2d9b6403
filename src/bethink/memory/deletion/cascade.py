"""Forgets what was derived from messages that are gone: nothing outlives its sources."""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from bethink.memory.deletion import identity, naming, proof
from bethink.memory.deletion.proof import Erased
from bethink.memory.deletion.sinks import names_in
from bethink.memory.facts import revive
from bethink.model.erasures import DOCUMENT_KEY, IDEMPOTENCY_KEY, PASSAGE, SAID, SPACE, THREAD, WRITTEN
from bethink.model.files import passage_name
from bethink.model.jobs import JobKind
from bethink.model.recall import RefKind
from bethink.model.records import Forgotten
from bethink.store import changes, facts, holds, jobs, learning, relearnings, reviews, sessions
from bethink.store.db import NO_LIMIT, Row, Tx


def forget_conversation(tx: Tx, *, space: str, conversation: str) -> Forgotten:
    """Forget every message of a locked conversation, and what was derived from them."""
    found = sessions.ids_of(tx, space=space, conversation=conversation)
    return forget_sessions(tx, space=space, conversation=conversation, gone=found)


def forget_sessions(tx: Tx, *, space: str, conversation: str, gone: list[str]) -> Forgotten:
    """Forget every message of some sessions of a locked conversation, and what was derived from them."""
    sessions.clear_purged_marks(tx, space=space, sessions=gone)
    shaken = [row["fact_id"] for row in tx.all("facts_from_sessions", space=space, sessions=gone)]
    named = naming.tests_naming(tx, lambda: naming.texts_of_sessions(tx, gone, space=space), space=space)
    rows = tx.all("list_going_messages", space=space, sessions=gone)
    since = _note_messages(tx, rows, (identity.moment_of(row) for row in rows))
    erased = Erased(naming.texts_of_sessions(tx, gone, space=space), since=since)
    removed = tx.run("forget_messages", space=space, sessions=gone)
    reviews.forget_sessions(tx, space=space, sessions=gone)
    unsaid = _unsaid(tx, shaken, space=space)
    forgotten = _forget_derived(tx, space=space, conversation=conversation, gone=gone, removed=removed, unsaid=unsaid)
    return naming.also(_forget_unproven(tx, forgotten, erased, space=space), named)


def forget_messages(
    tx: Tx, *, space: str, conversation: str, session_id: str, numbers: Collection[int]
) -> Forgotten | None:
    """Forget some messages of one session of a locked conversation. Returns None if there are none of them.

    The memory of the session is forgotten, too, and is made again when something new is said there. A passage of a file
    does not come back with a later version of the file; a file that is forgotten as a whole may be added again.
    """
    shaken: set[str] = set()
    removed = 0
    said = list(naming.texts_of_messages(tx, numbers, space=space, session_id=session_id))
    named = naming.tests_naming(tx, lambda: said, space=space)
    every = [{"space": space, "session": session_id, "number": number} for number in numbers]
    rows = [row for one in every for row in tx.all("find_going_message", **one)]
    since = _note_messages(tx, rows, identity.names_of_messages(tx, rows, space=space))
    tx.lose(PASSAGE, _passages(rows))
    for one in every:
        shaken |= {row["id"] for row in tx.all("facts_from_message", None, **one)}
        removed += tx.run("forget_message", **one)
    if not removed:
        return None
    reviews.forget_messages(tx, space=space, session_id=session_id, numbers=numbers)
    unsaid, gone = _unsaid(tx, shaken, space=space), [session_id]
    forgotten = _forget_derived(tx, space=space, conversation=conversation, gone=gone, removed=removed, unsaid=unsaid)
    return naming.also(_forget_unproven(tx, forgotten, Erased(said, since=since), space=space), named)


def forget_learnt_from(tx: Tx, *, space: str, conversation: str, session_id: str, number: int) -> None:
    """Forget what rests on a message that stays, however far its session was learnt from. Raises `UnderLegalHold`.

    Threads stay, too: they are an agent's own state.
    """
    one = {"space": space, "session": session_id, "number": number}
    rests = tx.one("what_rests_on_message", **one) or {"noted": False, "told": False}
    noted = rests["noted"] or learning.has_answered(tx, space=space, session_id=session_id, number=number)
    if not noted and not rests["told"]:
        return
    holds.refuse_if_held(tx, space=space)
    shaken = {row["id"] for row in tx.all("facts_from_message", None, **one)}
    tx.run("drop_message_sources", **one)
    tx.run("drop_message_quotes", **one)
    reviews.forget_messages(tx, space=space, session_id=session_id, numbers=[number])
    unsaid, gone = _unsaid(tx, shaken, space=space), [session_id] if noted else []
    _forget_derived(tx, space=space, conversation=conversation, gone=gone, removed=0, unsaid=unsaid, threads=False)


def _forget_unproven(tx: Tx, forgotten: Forgotten, erased: Erased, *, space: str) -> Forgotten:
    """Forget also what models wrote with words that no message says any more, whatever sources they named."""
    found = proof.unproven(tx, erased, space=space)
    proof.drop_texts(tx, erased, found.words, space=space)
    done = [forgotten]
    for fact_id in found.ids[RefKind.FACT]:
        done.append(forget_fact(tx, space=space, fact_id=fact_id) or Forgotten())
    for session_id in found.ids[RefKind.SESSION_MEMORY]:
        done.append(forget_session_memory(tx, space=space, session_id=session_id) or Forgotten())
    pages = proof.redact_versions(tx, found, space=space)
    if pages:
        changes.record_forgotten(tx, RefKind.DOCUMENT, space=space, ids=sorted(set(pages)))
        tx.lose(RefKind.DOCUMENT, sorted(set(pages)))
        done.append(Forgotten(documents=len(pages)))
        forget_resting_on(tx, space=space, gone=sorted(set(pages)), again=True)
    return replace(
        forgotten,
        facts=sum(each.facts for each in done),
        session_memories=sum(each.session_memories for each in done),
        documents=sum(each.documents for each in done),
        tests_naming=tuple(dict.fromkeys(name for each in done for name in each.tests_naming)),
    )


def _note_messages(tx: Tx, rows: list[Row], names: Iterable[str]) -> int:
    """Note what goes, for the receipt, and return when the first of it was recorded."""
    tx.lose(RefKind.MESSAGE, (f"{row['session_id']}:{row['number']}" for row in rows))
    tx.lose(IDEMPOTENCY_KEY, (row["idempotency_key"] for row in rows if row["idempotency_key"] is not None))
    tx.lose(SAID, names)
    return min((row["recorded_at"] for row in rows), default=NO_LIMIT)


def _passages(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        metadata = json.loads(row["metadata"])
        if row["origin"] == "document" and "file" in metadata:
            yield passage_name(row["content"], metadata)


def _unsaid(tx: Tx, shaken: Collection[str], *, space: str) -> list[str]:
    """Return those facts that lost a word of what they were first made of. Others lose what was made of it later."""
    facts.drop_broken_supports(tx, space=space, fact_ids=shaken)
    found: list[str] = []
    for fact_id in sorted(shaken):
        first = facts.learnt_effect(tx, space=space, fact_id=fact_id)
        whole = {support.effect for support in facts.supports(tx, space=space, fact_id=fact_id)}
        if first is not None and first not in whole:
            found.append(fact_id)
    return found


def _forget_derived(
    tx: Tx,
    *,
    space: str,
    conversation: str,
    gone: list[str],
    removed: int,
    unsaid: list[str],
    threads: bool = True,
) -> Forgotten:
    # A worker that is learning from these sessions has read what is gone: it loses its claim, and the job starts over.
    tx.run("fence_extractors", space=space, kind=JobKind.EXTRACT, sessions=gone, now=tx.now)
    # A thread and a summary move from one session of a conversation to the next, with their text.
    every = sessions.ids_of(tx, space=space, conversation=conversation) if threads else []
    sessions.drop_summary(tx, space=space, conversation=conversation)
    tx.lose(THREAD, (row["id"] for row in tx.all("list_going_threads", space=space, sessions=every)))
    removed_threads = tx.run("forget_threads", space=space, sessions=every) if every else 0
    memories = tx.run("forget_session_memories", space=space, sessions=gone)
    tx.lose(RefKind.SESSION_MEMORY, gone)
    told = {source.session_id for each in unsaid for source in facts.sources_of(tx, space=space, fact_id=each)}
    tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=sorted(told.union(gone)))
    tx.forgets = True
    named = naming.tests_naming(tx, lambda: naming.texts_of_lost_facts(tx, unsaid, space=space), space=space)
    lost = revive.forget_unsupported(tx, space=space, unsaid=unsaid)
    changes.record_forgotten(tx, RefKind.SESSION_MEMORY, space=space, ids=gone)
    changes.record_forgotten(tx, RefKind.FACT, space=space, ids=lost)
    tx.lose(RefKind.FACT, lost)
    touched = forget_resting_on(tx, space=space, gone=[*gone, *lost], again=memories > 0)
    return Forgotten(
        messages=removed,
        facts=len(lost),
        session_memories=memories,
        documents=touched,
        threads=removed_threads,
        tests_naming=named,
    )


def forget_session_memory(tx: Tx, *, space: str, session_id: str) -> Forgotten | None:
    """Forget the memory of a session until it is learnt from again. Returns None if there is none."""
    if not tx.run("forget_session_memories", space=space, sessions=[session_id]):
        return None
    tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=[session_id])
    tx.forgets = True
    changes.record_forgotten(tx, RefKind.SESSION_MEMORY, space=space, ids=[session_id])
    tx.lose(RefKind.SESSION_MEMORY, [session_id])
    return Forgotten(session_memories=1, documents=forget_resting_on(tx, space=space, gone=[session_id], again=True))


def forget_fact(tx: Tx, *, space: str, fact_id: str) -> Forgotten | None:
    """Forget all versions of a fact, the answers it was learnt from, and the memories of the sessions that note it.

    Returns None if there is none.
    """
    facts.lock(tx, space=space)
    if tx.one("successor_of_fact", space=space, id=fact_id) is None:
        return None
    learnt_from = {source.session_id for source in facts.sources_of(tx, space=space, fact_id=fact_id)}
    tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=sorted(learnt_from))
    named = naming.tests_naming(tx, lambda: naming.texts_of_facts(tx, [fact_id], space=space), space=space)
    noting = _noting(tx, fact_id, sorted(learnt_from), space=space)
    memories = tx.run("forget_session_memories", space=space, sessions=noting)
    facts.delete(tx, space=space, fact_id=fact_id)
    changes.record_forgotten(tx, RefKind.SESSION_MEMORY, space=space, ids=noting)
    changes.record_forgotten(tx, RefKind.FACT, space=space, ids=[fact_id])
    tx.lose(RefKind.SESSION_MEMORY, noting)
    tx.lose(RefKind.FACT, [fact_id])
    touched = forget_resting_on(tx, space=space, gone=[fact_id, *noting], again=memories > 0)
    return Forgotten(facts=1, session_memories=memories, documents=touched, tests_naming=named)


def _noting(tx: Tx, fact_id: str, sessions: list[str], *, space: str) -> list[str]:
    """Return those sessions whose memory says what a fact says."""
    said = {each.content for each in facts.versions(tx, space=space, fact_id=fact_id)}
    said |= {support.statement for support in facts.supports(tx, space=space, fact_id=fact_id)}
    memories = {each: learning.find_memory(tx, space=space, session_id=each) for each in sessions}
    return [
        each
        for each, memory in memories.items()
        if memory is not None and any(text in memory.raw_memory for text in said)
    ]


def forget_document(tx: Tx, *, space: str, document_id: str) -> Forgotten | None:
    """Remove the text from every version of a document; it stays in the tree. Returns None if it has no text.

    A document that was made from facts and session memories is rebuilt from them, as long as those exist.
    """
    runs = [row["run"] for row in tx.all("runs_of_document", space=space, id=document_id)]
    named = naming.tests_naming(tx, lambda: naming.texts_of_document(tx, document_id, space=space), space=space)
    written = identity.names_of_versions(tx, document_id, space=space)
    touched = tx.run("redact_versions", space=space, id=document_id)
    if not touched:
        return None
    tx.lose(WRITTEN, written)
    tx.forgets = True
    changes.record_forgotten(tx, RefKind.DOCUMENT, space=space, ids=[document_id])
    tx.lose(RefKind.DOCUMENT, [document_id])
    tx.lose(DOCUMENT_KEY, (row["key"] for row in tx.all("list_document_operations", space=space, id=document_id)))
    tx.run("delete_document_operations", space=space, id=document_id)
    for run in runs:
        tx.run("drop_change_set", space=space, run=run)
    forget_resting_on(tx, space=space, gone=[document_id], again=True)
    return Forgotten(documents=touched, tests_naming=named)


def forget_space(tx: Tx, *, space: str) -> Forgotten | None:
    """Remove a space with its entire content, and count it. Returns None if there is no such space."""
    held = count_space(tx, space=space)
    if held is None:
        return None
    tx.lose(IDEMPOTENCY_KEY, (row["key"] for row in tx.all("list_idempotency_keys", space=space)))
    tx.lose(DOCUMENT_KEY, (row["key"] for row in tx.all("list_document_keys", space=space)))
    tx.lose(SPACE, [space])
    if not tx.run("forget_space", space=space):
        return None
    tx.forgets = True
    changes.forget(tx, space=space)
    return held


def count_space(tx: Tx, *, space: str) -> Forgotten | None:
    """Count the content of a space. Returns None if there is no such space."""
    held = tx.one("count_space", space=space)
    return None if held is None else Forgotten(**held, tests=len(naming.held_ids(tx, space=space)))


def forget_resting_on(tx: Tx, *, space: str, gone: list[str], again: bool = False) -> int:
    """Remove the text of everything that rests on what is gone, and queue jobs to rebuild it where needed.

    Documents lose their text at once, in every version. Returns how many versions that were.
    """
    # A running writer may have read it: it loses its claim, and the run starts over.
    tx.run("fence_writers", space=space, kind=JobKind.EXTRACT, now=tx.now)
    touched = [row["id"] for row in tx.all("redact_resting_on", space=space, ids=gone)]
    tx.forgets = True
    changes.record_forgotten(tx, RefKind.DOCUMENT, space=space, ids=sorted(set(touched)))
    tx.lose(RefKind.DOCUMENT, sorted(set(touched)))
    tx.run("forget_writers_answers", space=space, kind=JobKind.EXTRACT)
    relearnings.drop_proposals(tx, space=space)
    proposed = _drop_change_sets(tx, space=space, gone=gone)
    if again or touched or proposed:
        tx.run("clear_selection", space=space)
        jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY, watermark=0)
    return len(touched)


def _drop_change_sets(tx: Tx, *, space: str, gone: list[str]) -> bool:
    named = [row["run"] for row in tx.all("list_change_set_texts", space=space) if not names_in(row).isdisjoint(gone)]
    for run in named:
        tx.run("drop_change_set", space=space, run=run)
    return bool(named)
