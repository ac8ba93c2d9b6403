"""What happened to a memory, in order: said, learnt, corrected, written, shown, forgotten."""

from itertools import groupby
from typing import Any

from bethink.errors import Invalid
from bethink.model.operations.timeline import TIMELINE, TimelineRequest
from bethink.model.recall import Ref
from bethink.model.timeline import TimelineEntry, TimelineKind
from bethink.web.lineage import link_of
from bethink.web.text import day
from bethink.web.visit import MenuItem, Page, PageRoute, Twin, Visit

WORDS = {
    TimelineKind.MESSAGE: "said",
    TimelineKind.FACT: "learnt",
    TimelineKind.CORRECTION: "corrected",
    TimelineKind.RETIRED: "retired",
    TimelineKind.DOCUMENT: "written",
    TimelineKind.SHOWING: "shown",
    TimelineKind.ERASURE: "forgotten",
}


def _listed(visit: Visit) -> Twin:
    kinds = tuple(TimelineKind(each) for each in visit.query.get("kind", ()) if each in set(TimelineKind))
    return TIMELINE, TimelineRequest(
        kinds=kinds or tuple(TimelineKind), as_of=visit.moment, limit=50, after=visit.ask("after")
    )


async def timeline(visit: Visit) -> Page:
    """Show what happened, the newest first, by day."""
    verb, request = _listed(visit)
    found = await visit.run(verb, request)
    kinds = [] if request.kinds == tuple(TimelineKind) else list(request.kinds)
    values: dict[str, Any] = {
        "days": [(title, [linked(visit, each) for each in group]) for title, group in groupby(found.items, _day)],
        "words": WORDS,
        "kinds": kinds,
        "all_kinds": tuple(TimelineKind),
        "after": request.after,
        "more": visit.link("timeline", kind=kinds, after=found.next) if found.next else "",
    }
    return Page(template="timeline.html", values=values)


def _day(entry: TimelineEntry) -> str:
    return day(entry.at)


def linked(visit: Visit, entry: TimelineEntry) -> tuple[TimelineEntry, str]:
    """Return an entry with the page that shows it in its place; an empty link if there is none."""
    try:
        return entry, link_of(visit, Ref.read(entry.ref))
    except Invalid:  # a showing or an erasure: there is no memory to lead to
        if entry.kind is TimelineKind.SHOWING:
            return entry, visit.link("shown", entry.ref)
        return entry, visit.link("sessions", entry.session_id) if entry.session_id else ""


ROUTES = (PageRoute(path="/s/{space}/timeline", handler=timeline, twin=_listed),)
MENU = (MenuItem(section="Memory", name="Timeline", step="timeline", operation=TIMELINE, shortcut="l", position=20),)
