"""Spaces, agents, conversations, sessions and their marks."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from bethink.errors import DatabaseBusyError
from bethink.model.filters import Filter
from bethink.model.ids import new_id
from bethink.model.jobs import JobKind, JobStatus
from bethink.model.moments import from_micros, from_micros_or_none, to_micros
from bethink.model.records import Agent, AgentKind, EndReason, SessionEntry, SessionInfo, SessionState, Trigger
from bethink.model.rules import QUIET_CHECK, TURN_THRESHOLD
from bethink.model.text import JsonObject, canonical_json
from bethink.store import jobs
from bethink.store.db import Row, Tx
from bethink.store.terms import SpaceIndex, read_space_index

_FAILED = (JobStatus.FAILED, JobStatus.ABANDONED)


def ensure_agent(tx: Tx, *, space: str, name: str, kind: AgentKind) -> Agent:
    """Find an agent by name, creating it and its space at first use. An agent keeps its first kind."""
    row = tx.first("find_agent", space=space, name=name)
    if row is None:
        jobs.ensure_space(tx, space=space)
        tx.run("ensure_agent", space=space, id=new_id("agt"), name=name, kind=kind, now=tx.now)
        row = tx.first("find_agent", space=space, name=name)
        if row is None:
            raise _deleted_error(space)
    return Agent(space=space, id=row["id"], name=row["name"], kind=AgentKind(row["kind"]))


def ensure_conversation(tx: Tx, *, agent: Agent, key: str) -> str:
    """Return the id of an agent's conversation, creating it at first use."""
    conversation_id = find_conversation(tx, space=agent.space, agent=agent.name, key=key)
    if conversation_id is None:
        tx.run("ensure_conversation", space=agent.space, id=new_id("cnv"), agent=agent.id, key=key, now=tx.now)
        conversation_id = find_conversation(tx, space=agent.space, agent=agent.name, key=key)
        if conversation_id is None:
            raise _deleted_error(agent.space)
    return conversation_id


def find_conversation(tx: Tx, *, space: str, agent: str, key: str) -> str | None:
    """Return the id of a conversation, if it exists."""
    row = tx.first("find_conversation", space=space, agent=agent, key=key)
    return None if row is None else row["id"]


def key_of(tx: Tx, *, space: str, conversation: str) -> str | None:
    """Return the name of a conversation."""
    row = tx.first("conversation_key", space=space, id=conversation)
    return None if row is None else row["key"]


def lock_conversation(tx: Tx, *, space: str, conversation: str) -> None:
    """Lock a conversation until this transaction ends, so that only one session can become active."""
    tx.first("lock_conversation", space=space, id=conversation)


def open_next(tx: Tx, *, space: str, conversation: str, ordinal: int, learns: bool) -> SessionInfo:
    """Open the next session of a locked conversation."""
    session_id = new_id("ses")
    tx.run(
        "insert_session",
        space=space, id=session_id, conversation=conversation, ordinal=ordinal, learns=int(learns), now=tx.now,
    )  # fmt: skip
    if learns:
        jobs.schedule_idle_check(tx, space=space, session_id=session_id, due=tx.now + QUIET_CHECK)
    _queue_index(tx, space=space)
    session = find(tx, space=space, session_id=session_id)
    if session is None:
        raise _deleted_error(space)
    return session


def label(tx: Tx, session: SessionInfo, *, tags: Sequence[str], metadata: JsonObject) -> SessionInfo:
    """Replace the tags and the metadata of a session, and return it with them."""
    if (tuple(tags), metadata) == (session.tags, session.metadata):
        return session
    values = {"tags": canonical_json(tags), "metadata": canonical_json(metadata)}
    tx.run("label_session", space=session.space, id=session.id, **values)
    return replace(session, tags=tuple(tags), metadata=metadata)


def find(tx: Tx, *, space: str, session_id: str, lock: bool = False) -> SessionInfo | None:
    """Return a session, if it exists; with `lock`, it is locked until this transaction ends."""
    row = tx.first("lock_session" if lock else "find_session", space=space, id=session_id)
    return None if row is None else _session(row)


def newest(tx: Tx, *, space: str, conversation: str) -> SessionInfo | None:
    """Return the newest session of a conversation, ended or not."""
    row = tx.first("newest_session", space=space, conversation=conversation)
    return None if row is None else _session(row)


def end(tx: Tx, *, space: str, session_id: str, reason: EndReason) -> bool:
    """End a session. Returns False if it had already ended."""
    ended = tx.run("end_session", space=space, id=session_id, reason=reason, now=tx.now) == 1
    if ended:
        _queue_index(tx, space=space)
    return ended


class Reserved(NamedTuple):
    """The last of the reserved numbers, the thread of the session, and where its messages are indexed and linked."""

    last: int
    thread_id: str | None
    indexed: SpaceIndex
    link: str = ""
    """The digest of the message before, which the next seal follows."""
    erased_keys: bool = False
    """Whether a deleted message of the space had an idempotency key."""
    learns_now: bool = False
    """Whether the session has to be learned from, once the messages are stored."""
    is_paused: bool = False
    """Whether the job of the session failed, so that these messages restart it."""


def take_numbers(tx: Tx, *, space: str, session_id: str, count: int) -> Reserved | None:
    """Reserve `count` numbers. Returns None if no open session has this id.

    The row stays locked until the commit, so that numbers become visible in order. Beyond the threshold it is marked:
    call `queue_marked` once the messages are stored.
    """
    row = tx.first("take_numbers", space=space, id=session_id, count=count, threshold=TURN_THRESHOLD, now=tx.now)
    if row is None:
        return None
    return Reserved(
        last=row["last_number"],
        thread_id=row["thread_id"],
        indexed=read_space_index(row),
        link=row["link"] or "",
        erased_keys=bool(row["erased_keys"]),
        # Marked just now, or by a clock that was ahead, whose job would wait for it.
        learns_now=(row["marked_at"] or 0) >= to_micros(tx.now) or bool(row["rests"]),
        is_paused=bool(row["rests"]),
    )


def queue_marked(tx: Tx, reserved: Reserved, *, space: str, session_id: str) -> None:
    """Queue the extraction of a session that the last messages have marked. Its order depends on stored messages."""
    if reserved.learns_now:
        _queue_extraction(tx, space=space, session_id=session_id, number=reserved.last)
    if reserved.is_paused:
        tx.run("wake_session", space=space, session=session_id)


def mark(tx: Tx, *, space: str, session_id: str, number: int, trigger: Trigger) -> bool:
    """Set or raise the mark of a session. Returns False if it is already that high, or learning is off for it."""
    raised = tx.run("mark_session", space=space, id=session_id, number=number, trigger=trigger, now=tx.now) == 1
    if raised:
        _queue_extraction(tx, space=space, session_id=session_id, number=number)
    return raised


def _queue_extraction(tx: Tx, *, space: str, session_id: str, number: int) -> None:
    jobs.queue(tx, space=space, kind=JobKind.EXTRACT, key=session_id, watermark=number)
    _queue_index(tx, space=space)


def _queue_index(tx: Tx, *, space: str) -> None:
    # Not with every message, which would cost a statement each. Workers find the messages in between.
    jobs.queue(tx, space=space, kind=JobKind.INDEX, key=jobs.SPACE_KEY, watermark=0)


def clear_mark(tx: Tx, *, space: str, session_id: str, until: int, expected: int) -> bool:
    """Clear the mark and record how far was learned, if the mark is still `expected`."""
    cleared = tx.run("clear_mark", space=space, id=session_id, until=until, expected=expected) == 1
    if cleared:
        jobs.cancel(tx, space=space, kind=JobKind.EXTRACT, key=session_id)
    return cleared


def clear_purged_marks(tx: Tx, *, space: str, sessions: list[str]) -> None:
    """Clear the marks of sessions whose messages were deleted; their numbers are never reused."""
    tx.run("clear_purged_marks", space=space, sessions=sessions)
    jobs.cancel_forgotten(tx, space=space, sessions=sessions)


def ids_of(tx: Tx, *, space: str, conversation: str) -> list[str]:
    """Return the ids of a conversation's sessions, the oldest first."""
    return [row["id"] for row in tx.all("conversation_sessions", space=space, conversation=conversation)]


def list_sessions(
    tx: Tx,
    *,
    space: str,
    limit: int,
    before: str,
    only: Filter | None = None,
    state: SessionState | None = None,
    starting: str | None = None,
) -> list[SessionEntry]:
    """Return the sessions of a space that are older than one and fit a filter, the newest first."""
    parameters: dict[str, object] = {"starting": starting, **({} if state is None else {state.value: True})}
    return [
        SessionEntry(
            session=_session(row),
            conversation=row["key"],
            agent=row["name"],
            started_at=from_micros_or_none(row["begun_at"]),
            last_at=from_micros_or_none(row["last_at"]),
            summary=row["summary"],
            state=_state(row),
            error=row["last_error"] if row["status"] in _FAILED else None,
        )
        for row in tx.all("list_sessions", only, space=space, limit=limit, before=before or None, **parameters)
    ]


def _state(row: Row) -> SessionState:
    if not row["learns"]:
        return SessionState.EPHEMERAL
    if row["status"] in _FAILED:
        return SessionState.FAILED
    if row["invalidated_at"] is not None:
        return SessionState.QUEUED
    is_learned = row["last_number"] > 0 and (row["processed_until"] or 0) >= row["last_number"]
    return SessionState.LEARNED if is_learned else SessionState.OPEN


def still_marked(tx: Tx, *, space: str, ids: list[str]) -> list[SessionInfo]:
    """Return those of the sessions that are marked now."""
    return [_session(row) for row in tx.all("find_marked", space=space, ids=ids)]


def set_summary(tx: Tx, *, space: str, conversation: str, content: str) -> None:
    """Replace the summary of a conversation."""
    tx.run("set_summary", space=space, conversation=conversation, content=content, now=tx.now)


def get_summary(tx: Tx, *, space: str, conversation: str) -> str:
    """Return the summary of a conversation, empty if it has none."""
    row = tx.first("get_summary", space=space, conversation=conversation)
    return "" if row is None else row["content"]


def drop_summary(tx: Tx, *, space: str, conversation: str) -> None:
    """Remove the summary of a conversation."""
    tx.run("drop_summary", space=space, conversation=conversation)


def _deleted_error(space: str) -> DatabaseBusyError:
    return DatabaseBusyError(f"Space {space!r} was deleted by another caller at the same time.")


def _session(row: Row) -> SessionInfo:
    return SessionInfo(
        space=row["space_id"],
        id=row["id"],
        conversation_id=row["conversation_id"],
        agent_id=row["agent_id"],
        ordinal=row["ordinal"],
        is_learned_from=bool(row["learns"]),
        created_at=from_micros(row["created_at"]),
        ended_at=from_micros_or_none(row["ended_at"]),
        end_reason=None if row["end_reason"] is None else EndReason(row["end_reason"]),
        last_number=row["last_number"],
        invalidated_at=row["invalidated_at"],
        marked_at=from_micros_or_none(row["marked_at"]),
        marked_by=None if row["marked_by"] is None else Trigger(row["marked_by"]),
        processed_until=row["processed_until"],
        tags=tuple(json.loads(row["tags"])),
        metadata=json.loads(row["metadata"]),
    )
