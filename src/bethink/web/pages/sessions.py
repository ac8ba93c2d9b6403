"""Which talks there were, what was said in one, and what was learnt of it."""

from typing import Any

from bethink.model.records import Role
from bethink.model.verbs.memory import FORGET
from bethink.model.verbs.sessions import (
    GET_SESSION,
    LIST_SESSIONS,
    READ_MESSAGES,
    RETRY,
    SESSION_MEMORY,
    ListSessionsRequest,
    ReadRequest,
    SessionRequest,
)
from bethink.web.visit import Goto, Page, PageRoute, Twin, Visit

_PAGE = 50
_BEFORE = 10
"""How many messages stand above the one that a link leads to."""


def _listed(visit: Visit) -> Twin:
    conversation = visit.ask("conversation") or None
    return LIST_SESSIONS, ListSessionsRequest(
        limit=_PAGE, before=visit.ask("before"), conversation=conversation, until=visit.moment
    )


async def sessions(visit: Visit) -> Page:
    """List sessions, the newest first."""
    verb, request = _listed(visit)
    found = await visit.run(verb, request)
    more = ""
    if len(found) == _PAGE:
        more = visit.link("sessions", before=found[-1].session.id, conversation=visit.ask("conversation"))
    values = {"sessions": found, "more": more, "conversation": visit.ask("conversation"), "before": visit.ask("before")}
    return Page(template="sessions.html", values=values)


def _read(visit: Visit) -> Twin:
    at = visit.number("at", 0)
    after = visit.number("after", max(at - _BEFORE - 1, 0))
    return READ_MESSAGES, ReadRequest(session_id=visit.names["session"], after=after, limit=_PAGE, until=visit.moment)


async def transcript(visit: Visit) -> Page:
    """Show what was said in a session, around one message if the address names it, with what was learnt."""
    verb, request = _read(visit)
    name = visit.names["session"]
    info = await visit.run(GET_SESSION, SessionRequest(session_id=name))
    records = await visit.run(verb, request)
    memory = await visit.run(SESSION_MEMORY, SessionRequest(session_id=name))
    last = records[-1].number if records else 0
    values: dict[str, Any] = {
        "info": info,
        "records": records,
        "memory": memory,
        "at_number": visit.number("at", 0),
        "earlier": visit.link("sessions", name, after=max(request.after - _PAGE, 0)) if request.after else "",
        "later": visit.link("sessions", name, after=last) if last < info.last_number and records else "",
        "tool": Role.TOOL,
        "may_retry": visit.may_change(RETRY) and info.learns,
        "may_forget": visit.may_change(FORGET),
    }
    return Page(template="transcript.html", values=values)


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
