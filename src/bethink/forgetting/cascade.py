"""Forgets what was derived from messages that are gone: nothing outlives its sources."""

import json
from collections.abc import Collection

from bethink.facts import revive
from bethink.model.jobs import JobKind
from bethink.model.records import Forgotten
from bethink.store import facts, jobs, reviews, sessions
from bethink.store.db import Row, Tx


def forget_conversation(tx: Tx, *, space: str, conversation: str) -> Forgotten:
    """Forget every message of a locked conversation, and what was derived from them."""
    found = sessions.ids_of(tx, space=space, conversation=conversation)
    return forget_sessions(tx, space=space, conversation=conversation, gone=found)


def forget_sessions(tx: Tx, *, space: str, conversation: str, gone: list[str]) -> Forgotten:
    """Forget every message of some sessions of a locked conversation, and what was derived from them."""
    sessions.clear_purged_marks(tx, space=space, sessions=gone)
    shaken = [row["fact_id"] for row in tx.all("facts_from_sessions", space=space, sessions=gone)]
    removed = tx.run("forget_messages", space=space, sessions=gone)
    reviews.forget_sessions(tx, space=space, sessions=gone)
    unsaid = _unsaid(tx, shaken, space=space)
    return _forget_derived(tx, space=space, conversation=conversation, gone=gone, removed=removed, unsaid=unsaid)


def forget_messages(
    tx: Tx, *, space: str, conversation: str, session_id: str, numbers: Collection[int]
) -> Forgotten | None:
    """Forget some messages of one session of a locked conversation. Returns None if there are none of them.

    The memory of the session is forgotten, too, and is made again when something new is said there.
    """
    shaken: set[str] = set()
    removed = 0
    for number in numbers:
        named = {"space": space, "session": session_id, "number": number}
        shaken |= {row["id"] for row in tx.all("facts_from_message", None, **named)}
        removed += tx.run("forget_message", **named)
    if not removed:
        return None
    reviews.forget_messages(tx, space=space, session_id=session_id, numbers=numbers)
    unsaid, gone = _unsaid(tx, shaken, space=space), [session_id]
    return _forget_derived(tx, space=space, conversation=conversation, gone=gone, removed=removed, unsaid=unsaid)


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
    tx: Tx, *, space: str, conversation: str, gone: list[str], removed: int, unsaid: list[str]
) -> Forgotten:
    # A worker that is learning from these sessions has read what is gone: it loses its claim, and the job starts over.
    tx.run("fence_extractors", space=space, kind=JobKind.EXTRACT, sessions=gone, now=tx.now)
    # A thread and a summary move from one session of a conversation to the next, with their text.
    every = sessions.ids_of(tx, space=space, conversation=conversation)
    sessions.drop_summary(tx, space=space, conversation=conversation)
    threads = tx.run("forget_threads", space=space, sessions=every)
    memories = tx.run("forget_session_memories", space=space, sessions=gone)
    told = {source.session_id for each in unsaid for source in facts.sources_of(tx, space=space, fact_id=each)}
    tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=sorted(told.union(gone)))
    tx.forgets = True
    lost = revive.forget_unsupported(tx, space=space, unsaid=unsaid)
    touched = forget_resting_on(tx, space=space, gone=[*gone, *lost], again=memories > 0)
    return Forgotten(messages=removed, facts=len(lost), session_memories=memories, documents=touched, threads=threads)


def forget_session_memory(tx: Tx, *, space: str, session_id: str) -> Forgotten | None:
    """Forget the memory of a session until it is learnt from again. Returns None if there is none."""
    if not tx.run("forget_session_memories", space=space, sessions=[session_id]):
        return None
    tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=[session_id])
    tx.forgets = True
    return Forgotten(session_memories=1, documents=forget_resting_on(tx, space=space, gone=[session_id], again=True))


def forget_fact(tx: Tx, *, space: str, fact_id: str) -> Forgotten | None:
    """Forget all versions of a fact, and the answers of models it was learnt from. Returns None if there is none."""
    facts.lock(tx, space=space)
    if tx.one("successor_of_fact", space=space, id=fact_id) is None:
        return None
    learnt_from = {source.session_id for source in facts.sources_of(tx, space=space, fact_id=fact_id)}
    tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=sorted(learnt_from))
    # The memory of a session is made of its facts, in the same words.
    memories = tx.run("forget_session_memories", space=space, sessions=sorted(learnt_from))
    facts.delete(tx, space=space, fact_id=fact_id)
    touched = forget_resting_on(tx, space=space, gone=[fact_id, *sorted(learnt_from)], again=memories > 0)
    return Forgotten(facts=1, session_memories=memories, documents=touched)


def forget_document(tx: Tx, *, space: str, document_id: str) -> Forgotten | None:
    """Remove the text from every version of a document; it stays in the tree. Returns None if it has no text.

    A document that was made from facts and session memories is rebuilt from them, as long as those exist.
    """
    runs = [row["run"] for row in tx.all("runs_of_document", space=space, id=document_id)]
    touched = tx.run("redact_versions", space=space, id=document_id)
    if not touched:
        return None
    tx.forgets = True
    for run in runs:
        tx.run("drop_change_set", space=space, run=run)
    forget_resting_on(tx, space=space, gone=[document_id], again=True)
    return Forgotten(documents=touched)


def forget_space(tx: Tx, *, space: str) -> Forgotten | None:
    """Remove a space with its entire content, and count it. Returns None if there is no such space."""
    held = count_space(tx, space=space)
    if held is None or not tx.run("forget_space", space=space):
        return None
    tx.forgets = True
    return held


def count_space(tx: Tx, *, space: str) -> Forgotten | None:
    """Count the content of a space. Returns None if there is no such space."""
    held = tx.one("count_space", space=space)
    return None if held is None else Forgotten(**held)


def forget_resting_on(tx: Tx, *, space: str, gone: list[str], again: bool = False) -> int:
    """Remove the text of everything that rests on what is gone, and queue jobs to rebuild it where needed.

    Documents lose their text at once, in every version. Returns how many versions that were.
    """
    # A running writer may have read it: it loses its claim, and the run starts over.
    tx.run("fence_writers", space=space, kind=JobKind.EXTRACT, now=tx.now)
    touched = tx.run("redact_resting_on", space=space, ids=gone)
    tx.forgets = True
    tx.run("forget_writers_answers", space=space, kind=JobKind.EXTRACT)
    proposed = _drop_change_sets(tx, space=space, gone=gone)
    if again or touched or proposed:
        tx.run("clear_selection", space=space)
        jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY, watermark=0)
    return touched


def _drop_change_sets(tx: Tx, *, space: str, gone: list[str]) -> bool:
    named = [row["run"] for row in tx.all("list_change_set_texts", space=space) if not _names(row).isdisjoint(gone)]
    for run in named:
        tx.run("drop_change_set", space=space, run=run)
    return bool(named)


def _names(row: Row) -> set[str]:
    """Return the ids of what a change set looked at, rests on and writes."""
    changes = json.loads(row["changes"])
    names = {session_id for session_id, _ in json.loads(row["selection"])}
    names |= {name for change in changes for _, name, _ in change["sources"]}
    return names | {change["document_id"] for change in changes}
