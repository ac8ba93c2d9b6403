"""Forgets what was made of messages that are gone: nothing derived outlives what it was derived from."""

import json
from collections.abc import Collection

from bethink.facts import revive
from bethink.model.jobs import JobKind
from bethink.model.proof import still_said
from bethink.model.records import Forgotten
from bethink.store import facts, full_text, jobs, messages, sessions
from bethink.store.db import Row, Tx


def forget_conversation(tx: Tx, *, space: str, conversation: str) -> Forgotten:
    """Forget every message of a conversation that is locked, and what was made of them."""
    found = sessions.ids_of(tx, space=space, conversation=conversation)
    return forget_sessions(tx, space=space, conversation=conversation, gone=found)


def forget_sessions(tx: Tx, *, space: str, conversation: str, gone: list[str]) -> Forgotten:
    """Forget every message of some sessions of a conversation that is locked, and what was made of them."""
    sessions.settle_purged(tx, space=space, sessions=gone)
    shaken = [row["fact_id"] for row in tx.all("facts_from_sessions", space=space, sessions=gone)]
    removed = tx.run("forget_messages", space=space, sessions=gone)
    unsaid = _unsaid(tx, shaken, space=space)
    return _forget_derived(tx, space=space, conversation=conversation, gone=gone, removed=removed, unsaid=unsaid)


def forget_message(tx: Tx, *, space: str, conversation: str, session_id: str, number: int) -> Forgotten | None:
    """Forget one message of a conversation that is locked. None if there is no such message.

    What was made of its session as a whole goes with it, and is made again when something new is said there.
    """
    rows = tx.all("facts_from_message", space=space, session=session_id, number=number)
    if not tx.run("forget_message", space=space, session=session_id, number=number):
        return None
    unsaid = _unsaid(tx, {row["id"] for row in rows}, space=space)
    gone = [session_id]
    return _forget_derived(tx, space=space, conversation=conversation, gone=gone, removed=1, unsaid=unsaid)


def _unsaid(tx: Tx, shaken: Collection[str], *, space: str) -> list[str]:
    """Name those of some facts that lost a source which the messages left to them do not say."""
    found: list[str] = []
    for fact_id in sorted(shaken):
        learnt = facts.learnt_version(tx, space=space, fact_id=fact_id)
        left = messages.behind_fact(tx, space=space, fact_id=fact_id)
        if learnt is not None and left and not still_said(learnt, left):
            found.append(fact_id)
    return found


def _forget_derived(
    tx: Tx, *, space: str, conversation: str, gone: list[str], removed: int, unsaid: list[str]
) -> Forgotten:
    # Whoever learns from these sessions right now has read what is gone: that claim is lost, and the job begins again.
    tx.run("fence_extractors", space=space, kind=JobKind.EXTRACT, sessions=gone, now=tx.now)
    # A thread and a summary go from one session of a conversation to the next, and what they hold with them.
    every = sessions.ids_of(tx, space=space, conversation=conversation)
    sessions.drop_summary(tx, space=space, conversation=conversation)
    threads = tx.run("forget_threads", space=space, sessions=every)
    memories = tx.run("forget_session_memories", space=space, sessions=gone)
    told = {source.session_id for each in unsaid for source in facts.sources_of(tx, space=space, fact_id=each)}
    tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=sorted(told.union(gone)))
    full_text.forget(tx, "messages", "session_memories")
    lost = revive.forget_unsupported(tx, space=space, unsaid=unsaid)
    touched = forget_resting_on(tx, space=space, gone=[*gone, *lost], again=memories > 0)
    return Forgotten(messages=removed, facts=len(lost), session_memories=memories, documents=touched, threads=threads)


def forget_session_memory(tx: Tx, *, space: str, session_id: str) -> Forgotten | None:
    """Forget what is remembered of a session as a whole, until it is learnt from again. None if nothing was."""
    if not tx.run("forget_session_memories", space=space, sessions=[session_id]):
        return None
    tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=[session_id])
    full_text.forget(tx, "session_memories")
    return Forgotten(session_memories=1, documents=forget_resting_on(tx, space=space, gone=[session_id], again=True))


def forget_fact(tx: Tx, *, space: str, fact_id: str) -> Forgotten | None:
    """Forget a fact with every version it had, and what models said when it was learnt. None if there is none."""
    facts.lock(tx, space=space)
    if tx.one("successor_of_fact", space=space, id=fact_id) is None:
        return None
    learnt_from = {source.session_id for source in facts.sources_of(tx, space=space, fact_id=fact_id)}
    tx.run("forget_session_answers", space=space, kind=JobKind.EXTRACT, sessions=sorted(learnt_from))
    facts.delete(tx, space=space, fact_id=fact_id)
    return Forgotten(facts=1, documents=forget_resting_on(tx, space=space, gone=[fact_id]))


def forget_document(tx: Tx, *, space: str, document_id: str) -> Forgotten | None:
    """Take the text out of every version of a document; its place in the tree stays. None if it has no text.

    One that was made from facts and session memories is made again from them, as long as those are there.
    """
    runs = [row["run"] for row in tx.all("runs_of_document", space=space, id=document_id)]
    touched = tx.run("redact_versions", space=space, id=document_id)
    if not touched:
        return None
    full_text.forget(tx, "documents")
    for run in runs:
        tx.run("drop_change_set", space=space, run=run)
    forget_resting_on(tx, space=space, gone=[document_id], again=True)
    return Forgotten(documents=touched)


def forget_space(tx: Tx, *, space: str) -> Forgotten | None:
    """Remove a space with all that is in it, and say how much that was. None if there is no such space."""
    held = count_space(tx, space=space)
    if held is None or not tx.run("forget_space", space=space):
        return None
    full_text.forget(tx, "messages", "session_memories", "facts", "documents")
    return held


def count_space(tx: Tx, *, space: str) -> Forgotten | None:
    """Count what a space holds. None if there is no such space."""
    held = tx.one("count_space", space=space)
    return None if held is None else Forgotten(**held)


def forget_resting_on(tx: Tx, *, space: str, gone: list[str], again: bool = False) -> int:
    """Take the text of what is gone out of everything that rests on it, and promise to make it anew where needed.

    Documents lose their text at once, in every version. Return how many versions that were.
    """
    # Whoever is writing right now may hold it in its hands: that claim is lost, and the run begins again.
    tx.run("fence_writers", space=space, kind=JobKind.EXTRACT, now=tx.now)
    touched = tx.run("redact_resting_on", space=space, ids=gone)
    full_text.forget(tx, "documents")  # also where nothing was: what was thinned out before may have left words behind
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
    """Name what a change set looked at, rests on and writes."""
    changes = json.loads(row["changes"])
    names = {session_id for session_id, _ in json.loads(row["selection"])}
    names |= {name for change in changes for _, name, _ in change["sources"]}
    return names | {change["document_id"] for change in changes}
