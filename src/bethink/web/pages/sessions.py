"""Which talks there were, what was said in one, and what was learnt of it."""

from typing import Any

from bethink.model.operations.memory import FORGET
from bethink.model.operations.sessions import (
    LIST_SESSIONS,
    RETRY,
    SESSION_MEMORY,
    TRANSCRIPT,
    ListSessionsRequest,
    SessionRequest,
    TranscriptRequest,
)
from bethink.model.records import SessionState
from bethink.model.transcripts import TranscriptRow
from bethink.web.visit import Goto, MenuItem, Page, PageRoute, Twin, Visit

_PAGE = 50


def _listed(visit: Visit) -> Twin:
    conversation = visit.ask("conversation") or None
    state = SessionState(visit.ask("state")) if visit.ask("state") in set(SessionState) else None
    return LIST_SESSIONS, ListSessionsRequest(
        limit=_PAGE, before=visit.ask("before"), conversation=conversation, state=state, until=visit.moment
    )


async def sessions(visit: Visit) -> Page:
    """List sessions, the newest first."""
    verb, request = _listed(visit)
    found = await visit.run(verb, request)
    more = ""
    if len(found) == _PAGE:
        more = visit.link(
            "sessions", before=found[-1].session.id, conversation=request.conversation, state=request.state
        )
    values = {
        "sessions": found,
        "more": more,
        "conversation": request.conversation,
        "before": request.before,
        "state": request.state,
        "states": tuple(SessionState),
    }
    return Page(template="sessions.html", values=values)


def _read(visit: Visit) -> Twin:
    around = visit.number("at", 0) or visit.number("around", 0) or 1
    return TRANSCRIPT, TranscriptRequest(session_id=visit.names["session"], around=around, limit=_PAGE)


async def transcript(visit: Visit) -> Page:
    """Show what was said in a session, around one message if the address names it, and what became of each line."""
    verb, request = _read(visit)
    name = visit.names["session"]
    found = await visit.run(verb, request)
    memory = await visit.run(SESSION_MEMORY, SessionRequest(session_id=name))
    lines = [each for each in found.lines if _was_said(visit, each)]
    values: dict[str, Any] = {
        "info": found.session,
        "lines": lines,
        "memory": memory,
        "at_number": visit.number("at", 0),
        "earlier": _further(visit, name, found.lines[0].record.number - _PAGE // 2) if found.earlier else "",
        "later": _further(visit, name, found.lines[-1].record.number + _PAGE // 2) if found.later else "",
        "shown_link": visit.link("shown", session=name),
        "may_forget": visit.may_change(FORGET),
        "may_retry": visit.may_change(RETRY) and found.session.learns,
    }
    return Page(template="transcript.html", values=values)


def _was_said(visit: Visit, line: TranscriptRow) -> bool:
    return visit.moment is None or (line.record.message.said_at or line.record.recorded_at) <= visit.moment


def _further(visit: Visit, name: str, around: int) -> str:
    return visit.link("sessions", name, around=max(around, 1))


async def retry(visit: Visit) -> Goto:
    """Learn from a session again."""
    name = visit.names["session"]
    done = await visit.run(RETRY, SessionRequest(session_id=name))
    return Goto(visit.link("sessions", name, told="retried" if done else "settled"))


ROUTES = (
    PageRoute(path="/s/{space}/sessions", handler=sessions, twin=_listed),
    PageRoute(path="/s/{space}/sessions/{session}", handler=transcript, twin=_read),
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
