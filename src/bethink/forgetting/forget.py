"""Removes a memory and what was made of it in one transaction, and counts what went."""

from dataclasses import dataclass, replace

from bethink.errors import Invalid, NotFound
from bethink.forgetting import cascade as forgetting
from bethink.log.succession import get_session
from bethink.model.proof import still_said
from bethink.model.recall import Ref, RefKind
from bethink.model.records import ConversationKey, Forgotten, conversation_text
from bethink.store import facts, sessions
from bethink.store.db import Database, Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is to be forgotten: exactly one of these, `agent` only beside a conversation."""

    ref: Ref | None = None
    session_id: str | None = None
    conversation: ConversationKey | str | None = None
    agent: str = "assistant"
    everything: bool = False

    def __post_init__(self) -> None:
        named = [self.ref, self.session_id, self.conversation, self.everything or None]
        if sum(each is not None for each in named) != 1:
            raise Invalid(
                "not exactly one thing to forget is named.", hint="Give a ref, a session, a conversation or everything."
            )


class _Undone(Exception):
    # No error: it carries the count out of a transaction that is taken back.
    def __init__(self, forgotten: Forgotten) -> None:
        self.forgotten = forgotten


async def forget(database: Database | None, target: Target, *, space: str, dry_run: bool) -> Forgotten:
    """Forget a target. A dry run does all of it and takes it back, so that its counts are the true ones."""
    if database is None:
        return Forgotten(dry_run=dry_run)

    def body(tx: Tx) -> Forgotten:
        forgotten = _forget(tx, target, space=space, dry_run=dry_run)
        if dry_run:
            raise _Undone(replace(forgotten, dry_run=True))
        return forgotten

    try:
        return await database.transact(body, space=space)
    except _Undone as undone:
        return undone.forgotten


def _forget(tx: Tx, target: Target, *, space: str, dry_run: bool) -> Forgotten:
    if target.everything:
        # A space is counted, not taken away and put back: that would stand in the way of everyone who writes there.
        done = (forgetting.count_space if dry_run else forgetting.forget_space)(tx, space=space)
        if done is None:
            raise NotFound(f"no space {space!r}.", hint="`spaces` names those that there are.")
        return done
    facts.lock(tx, space=space)  # before all else: nobody may be adding a source to what is forgotten
    if target.ref is not None:
        return _forget_ref(tx, target.ref, space=space)
    if target.session_id is not None:
        conversation = _conversation_of(tx, space=space, session_id=target.session_id)
        gone = [target.session_id]
        return forgetting.forget_sessions(tx, space=space, conversation=conversation, gone=gone, still_said=still_said)
    assert target.conversation is not None  # noqa: S101 - it is what is left
    key = conversation_text(target.conversation)
    found = sessions.find_conversation(tx, space=space, agent=target.agent, key=key)
    if found is None:
        raise NotFound(f"no conversation {key!r} of {target.agent!r} in space {space!r}.")
    sessions.lock_conversation(tx, space=space, conversation=found)
    return forgetting.forget_conversation(tx, space=space, conversation=found, still_said=still_said)


def _forget_ref(tx: Tx, ref: Ref, *, space: str) -> Forgotten:
    match ref.kind:
        case RefKind.FACT:
            done = forgetting.forget_fact(tx, space=space, fact_id=ref.id)
        case RefKind.DOCUMENT:
            done = forgetting.forget_document(tx, space=space, document_id=ref.id)
        case RefKind.SESSION_MEMORY:
            _conversation_of(tx, space=space, session_id=ref.id)
            done = forgetting.forget_session_memory(tx, space=space, session_id=ref.id)
        case RefKind.MESSAGE:
            conversation = _conversation_of(tx, space=space, session_id=ref.id)
            done = forgetting.forget_message(
                tx, space=space, conversation=conversation, session_id=ref.id, number=ref.number, still_said=still_said
            )
    if done is None:
        raise NotFound(f"nothing by the name {ref} in space {space!r}.")
    return done


def _conversation_of(tx: Tx, *, space: str, session_id: str) -> str:
    found = get_session(tx, space=space, session_id=session_id)
    sessions.lock_conversation(tx, space=space, conversation=found.conversation_id)
    return found.conversation_id
