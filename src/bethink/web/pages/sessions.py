"""Sessions, their transcripts, and what was learned from them."""

from typing import Any

from bethink.model.operations.memory import FORGET
from bethink.model.operations.sessions import (
    LIST_SESSIONS,
    RELEARN_SESSION,
    SESSION_SUMMARY,
    TRANSCRIPT,
    ListSessionsRequest,
    SessionRequest,
    TranscriptRequest,
)
from bethink.model.records import SessionState
from bethink.model.transcripts import TranscriptRow
from bethink.web.visit import Goto, MenuItem, PageRoute, PageView, Twin, Visit

_PAGE = 50


def _list_request(visit: Visit) -> Twin:
    conversation = visit.query_value("conversation") or None
    state = SessionState(visit.query_value("state")) if visit.query_value("state") in set(SessionState) else None
    return LIST_SESSIONS, ListSessionsRequest(
        limit=_PAGE, after=visit.query_value("after"), conversation=conversation, state=state, until=visit.until
    )


async def sessions(visit: Visit) -> PageView:
    """List sessions, newest first."""
    operation, request = _list_request(visit)
    entries = await visit.run(operation, request)
    more = ""
    if entries.next:
        more = visit.link("sessions", after=entries.next, conversation=request.conversation, state=request.state)
    values = {
        "sessions": entries,
        "more": more,
        "conversation": request.conversation,
        "after": request.after,
        "state": request.state,
        "states": tuple(SessionState),
    }
    return PageView(template="sessions.html", values=values)


def _transcript_request(visit: Visit) -> Twin:
    around = visit.query_number("at", 0) or visit.query_number("around", 0) or 1
    return TRANSCRIPT, TranscriptRequest(session_id=visit.names["session"], around=around, limit=_PAGE)


async def transcript(visit: Visit) -> PageView:
    """Show the messages of a session, around one message if the address names it, with what was derived from each."""
    operation, request = _transcript_request(visit)
    name = visit.names["session"]
    excerpt = await visit.run(operation, request)
    memory = await visit.run(SESSION_SUMMARY, SessionRequest(session_id=name))
    lines = [line for line in excerpt.lines if _is_visible(visit, line)]
    values: dict[str, Any] = {
        "info": excerpt.session,
        "lines": lines,
        "memory": memory,
        "at_number": visit.query_number("at", 0),
        "earlier": _transcript_link(visit, name, excerpt.lines[0].record.number - _PAGE // 2)
        if excerpt.earlier
        else "",
        "later": _transcript_link(visit, name, excerpt.lines[-1].record.number + _PAGE // 2) if excerpt.later else "",
        "shown_link": visit.link("shown", session=name),
        "may_forget": visit.may_change(FORGET),
        "may_retry": visit.may_change(RELEARN_SESSION) and excerpt.session.is_learned_from,
    }
    return PageView(template="transcript.html", values=values)


def _is_visible(visit: Visit, line: TranscriptRow) -> bool:
    return visit.until is None or (line.record.message.said_at or line.record.recorded_at) <= visit.until


def _transcript_link(visit: Visit, name: str, around: int) -> str:
    return visit.link("sessions", name, around=max(around, 1))


async def retry(visit: Visit) -> Goto:
    """Learn from a session again."""
    name = visit.names["session"]
    done = await visit.run(RELEARN_SESSION, SessionRequest(session_id=name))
    return Goto(visit.link("sessions", name, told="retried" if done else "settled"))


ROUTES = (
    PageRoute(path="/s/{space}/sessions", handler=sessions, twin=_list_request),
    PageRoute(path="/s/{space}/sessions/{session}", handler=transcript, twin=_transcript_request),
    PageRoute(path="/s/{space}/sessions/{session}/retry", handler=retry, method="POST"),
)
MENU = (
    MenuItem(
        section="Memory",
        name="Sessions",
        step="sessions",
        operation=LIST_SESSIONS,
        shortcut="s",
        position=30,
        templates=("sessions", "transcript"),
    ),
)
