"""Converts messages to events for the thread of their session."""

import json

from bethink.model.records import Role
from bethink.model.working import Event, EventType
from bethink.store import threads
from bethink.store.db import Tx
from bethink.store.messages import Prepared


def queue_events(tx: Tx, *, space: str, thread_id: str, session_id: str, first: int, rows: list[Prepared]) -> None:
    """Queue an event for each message, in the transaction that stores it."""
    events = [_event(row, session_id, number) for number, row in enumerate(rows, first)]
    threads.push(tx, space=space, thread_id=thread_id, events=events)


def _event(row: Prepared, session_id: str, number: int) -> Event:
    """Return the event for a message; it carries the number of the message."""
    payload: dict[str, object] = {"text": row.content, "message_number": number, "session_id": session_id}
    if row.name is not None:
        payload["name"] = row.name
    if row.tool_calls != "[]":
        payload["tool_calls"] = json.loads(row.tool_calls)
    return Event(type=_event_type(row), payload=payload)


def _event_type(row: Prepared) -> EventType:
    if row.role == Role.ASSISTANT:
        return EventType.LLM_TEXT_RESPONSE if row.tool_calls == "[]" else EventType.LLM_TOOL_CALL
    if row.role == Role.TOOL:
        return EventType.TOOL_ERROR if row.is_error else EventType.TOOL_RESULT
    return EventType.USER_MESSAGE if row.role == Role.USER else EventType.EXTERNAL_INJECT
