"""Timeline of a space: messages, facts, corrections, documents, context log entries and deletions."""

from itertools import groupby
from typing import Any

from bethink.errors import InvalidRequestError
from bethink.model.operations.timeline import TIMELINE, TimelineRequest
from bethink.model.refs import Ref
from bethink.model.timeline import TimelineEntry, TimelineKind
from bethink.web.lineage import link_of
from bethink.web.text import day
from bethink.web.visit import MenuItem, PageRoute, PageView, Twin, Visit

WORDS = {
    TimelineKind.MESSAGE: "messages",
    TimelineKind.FACT: "learned",
    TimelineKind.CORRECTION: "corrected",
    TimelineKind.RETIRED: "replaced",
    TimelineKind.DOCUMENT: "written",
    TimelineKind.SHOWING: "shown",
    TimelineKind.ERASURE: "deleted",
}


def _list_request(visit: Visit) -> Twin:
    kinds = tuple(TimelineKind(kind) for kind in visit.query.get("kind", ()) if kind in set(TimelineKind))
    return TIMELINE, TimelineRequest(
        kinds=kinds or tuple(TimelineKind), **visit.times, limit=50, after=visit.query_value("after")
    )


async def timeline(visit: Visit) -> PageView:
    """Show the timeline by day, newest first."""
    operation, request = _list_request(visit)
    page = await visit.run(operation, request)
    kinds = [] if request.kinds == tuple(TimelineKind) else list(request.kinds)
    values: dict[str, Any] = {
        "days": [(title, [with_link(visit, entry) for entry in group]) for title, group in groupby(page.items, _day)],
        "words": WORDS,
        "kinds": kinds,
        "all_kinds": tuple(TimelineKind),
        "after": request.after,
        "more": visit.link("timeline", kind=kinds, after=page.next) if page.next else "",
    }
    return PageView(template="timeline.html", values=values)


def _day(entry: TimelineEntry) -> str:
    return day(entry.at)


def with_link(visit: Visit, entry: TimelineEntry) -> tuple[TimelineEntry, str]:
    """Return an entry with the address of its page; empty if it has none."""
    try:
        return entry, link_of(visit, Ref.coerce(entry.ref))
    except InvalidRequestError:  # a context log entry or an erasure: there is no memory to link to
        if entry.kind is TimelineKind.SHOWING:
            return entry, visit.link("shown", entry.ref)
        return entry, visit.link("sessions", entry.session_id) if entry.session_id else ""


ROUTES = (PageRoute(path="/s/{space}/timeline", handler=timeline, twin=_list_request),)
MENU = (MenuItem(section="Memory", name="Timeline", step="timeline", operation=TIMELINE, shortcut="l", position=20),)
