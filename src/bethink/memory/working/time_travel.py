"""The past states of a thread: read, compare, fork, and rebuild them from events."""

from collections.abc import Sequence

from bethink.errors import ConflictError, NotFoundError
from bethink.memory.working.chunk_list import GAP
from bethink.memory.working.process import Engine, apply_event, get_thread
from bethink.model.ids import new_id
from bethink.model.thread_results import StateDiff
from bethink.model.working import Chunk, Mode, State, StateCause, Thread
from bethink.store import sessions, states, threads
from bethink.store.db import Tx


def state_at(tx: Tx, thread: Thread, number: int) -> State:
    """Return one state with its chunks. Raises `NotFoundError` if the thread never had this state."""
    infos = states.infos(tx, thread=thread, first=number, limit=1)
    if not infos or infos[0].number != number:
        raise NotFoundError(
            f"Thread {thread.id} has no state {number}.", hint=f"Its last state is {thread.state_number}."
        )
    return State(info=infos[0], chunks=tuple(states.at(tx, thread=thread, number=number)))


def diff(before: State, after: State) -> StateDiff:
    """Compare two states."""
    old, new = ({chunk.id: chunk for chunk in state.chunks} for state in (before, after))
    shared = [chunk.id for chunk in before.chunks if chunk.id in new]
    order = [chunk.id for chunk in after.chunks if chunk.id in old]
    return StateDiff(
        added=tuple(chunk for chunk in after.chunks if chunk.id not in old),
        removed=tuple(chunk for chunk in before.chunks if chunk.id not in new),
        moved=tuple(name for name, other in zip(order, shared, strict=True) if name != other),
    )


def fork(tx: Tx, *, space: str, source_id: str, at: int, mode: Mode, thread_id: str | None = None) -> Thread:
    """Open a new thread that begins with a state of another, which does not change.

    It is deleted together with the conversation of the other thread, even if that thread is deleted first.
    Raises `NotFoundError` for an unknown thread or state, and `ConflictError` if the id is taken.
    """
    name = thread_id or new_id("thread")
    conversation = threads.conversation_of(tx, space=space, thread_id=source_id)
    if conversation is not None:
        # Lock it before the thread, as everywhere else. Otherwise it could be deleted between the read and the write.
        sessions.lock_conversation(tx, space=space, conversation=conversation)
    source = get_thread(tx, space=space, thread_id=source_id, lock=True)
    base = state_at(tx, source, at)
    is_created = threads.create(
        tx, space=space, thread_id=name, mode=mode, conversation=conversation, forked=(source.id, at)
    )
    if not is_created:
        raise ConflictError(f"Thread {name!r} already exists.", hint="Pass another id as `into`, or omit it.")
    return _copy_chunks(tx, get_thread(tx, space=space, thread_id=name), base.chunks)


def _copy_chunks(tx: Tx, thread: Thread, chunks: Sequence[Chunk]) -> Thread:
    for index, chunk in enumerate(chunks, 1):
        states.put_chunk(tx, thread=thread, chunk=chunk)
        states.place_chunk(tx, thread=thread, chunk_id=chunk.id, state=0, position=index * GAP)
    total = sum(chunk.tokens for chunk in chunks)
    states.record(tx, thread=thread, number=0, source=StateCause.FORK, total_tokens=total)
    states.begin_at(
        tx,
        thread=thread,
        position=len(chunks) * GAP,
        total=total,
        compressible=sum(chunk.tokens for chunk in chunks if chunk.compressible),
    )
    return get_thread(tx, space=thread.space, thread_id=thread.id)


def replay(tx: Tx, thread: Thread, engine: Engine) -> tuple[Chunk, ...]:
    """Rebuild the current state from the events of a thread, without a model, and return its chunks.

    It uses a scratch thread, which is removed in the same transaction.
    """
    scratch = new_id("replay")  # a new id cannot collide with the name of an existing thread
    threads.create(tx, space=thread.space, thread_id=scratch, mode=Mode.STEPPING)
    first = states.at(tx, thread=thread, number=0)  # empty, except for a fork
    again = _copy_chunks(tx, get_thread(tx, space=thread.space, thread_id=scratch), first)
    for event in threads.applied_events(tx, space=thread.space, thread_id=thread.id, upto=thread.applied):
        again = apply_event(tx, again, event, engine).thread
    chunks = tuple(chunk for chunk, _ in states.current(tx, thread=again))
    threads.remove(tx, space=thread.space, thread_id=scratch)
    return chunks
