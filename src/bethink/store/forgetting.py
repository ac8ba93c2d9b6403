"""Forgets what was made of messages that are gone: nothing derived outlives what it was derived from."""

from bethink.model.jobs import JobKind
from bethink.store import facts, jobs, words
from bethink.store.db import Tx


def forget_conversation(tx: Tx, *, space: str, conversation: str) -> None:
    """Forget what was made of a conversation whose messages were removed in this transaction.

    Documents that rest on it lose their text at once, in every version, and are made again from what is left.
    """
    sessions = [row["id"] for row in tx.all("conversation_sessions", space=space, conversation=conversation)]
    forgotten = tx.run("forget_conversation_memories", space=space, conversation=conversation)
    tx.run("forget_conversation_answers", space=space, kind=JobKind.EXTRACT, conversation=conversation)
    words.forget(tx, "messages", "session_memories")
    gone = [*sessions, *facts.forget_unsupported(tx, space=space)]
    forget_resting_on(tx, space=space, gone=gone, again=forgotten > 0)


def forget_resting_on(tx: Tx, *, space: str, gone: list[str], again: bool = False) -> None:
    """Take the text of what is gone out of everything that rests on it, and promise to make it anew where needed."""
    # Whoever is writing right now may hold it in its hands: that claim is lost, and the run begins again.
    tx.run("fence_writers", space=space, kind=JobKind.EXTRACT, now=tx.now)
    touched = tx.run("redact_resting_on", space=space, ids=gone)
    if touched:
        words.forget(tx, "documents")
    if not (again or touched):
        return
    tx.run("clear_selection", space=space)
    tx.run("forget_writers_answers", space=space, kind=JobKind.EXTRACT)
    for row in tx.all("list_change_set_texts", space=space):
        if any(each in row["changes"] or each in row["selection"] for each in gone):
            tx.run("drop_change_set", space=space, run=row["run"])
    jobs.queue(tx, space=space, kind=JobKind.CONSOLIDATE, key=jobs.SPACE_KEY, watermark=0)
