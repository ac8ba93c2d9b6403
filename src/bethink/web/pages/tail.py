"""What happens now: the newest of what was said, learnt, written and forgotten, renewed as it changes."""

import time
from hashlib import sha256
from itertools import takewhile
from typing import Any

from bethink.errors import Stale
from bethink.host import codec
from bethink.http.streams import waited
from bethink.model.operations.changes import CHANGES, ChangesRequest
from bethink.model.operations.timeline import TIMELINE, TimelineRequest
from bethink.model.timeline import TimelinePage
from bethink.web.pages.timeline import WORDS, linked
from bethink.web.visit import MenuItem, Page, PageRoute, Twin, Visit

_KEPT = 50
_WAIT = 20.0
"""Seconds for which a page waits for something new before it asks again."""
_LOOK = 1.5
"""Seconds after which a waiting page looks by itself: what was said changes memory only once it is learnt from."""


def _listed(visit: Visit) -> Twin:
    del visit
    return TIMELINE, TimelineRequest(limit=_KEPT)


async def tail(visit: Visit) -> Page:
    """Show what happened last. With `wait`, answer as soon as that is no longer what the page has."""
    known = visit.ask("known")
    if visit.ask("wait"):
        visit.require(TIMELINE)
        found = await waited(lambda: _news(visit, known), visit.context, visit.key.prefix)
    else:
        found = await _look(visit)
    top = visit.ask("top")
    fresh = len(list(takewhile(lambda each: each.ref != top, found.items))) if top else 0
    values: dict[str, Any] = {
        "entries": [linked(visit, each) for each in found.items],
        "fresh": fresh,
        "words": WORDS,
        "paused": bool(visit.ask("paused")),
        "renewed": visit.link("tail", wait="1", known=_digest(found), top=found.items[0].ref if found.items else ""),
        "server": f"http://{visit.host}",
    }
    return Page(template="tail.html", values=values)


async def _look(visit: Visit) -> TimelinePage:
    verb, request = _listed(visit)
    return await visit.run(verb, request)


async def _news(visit: Visit, known: str) -> TimelinePage:
    until = time.monotonic() + _WAIT
    newest = await visit.run(CHANGES, ChangesRequest(limit=1))
    number = newest[-1].number if newest else 0
    while True:
        found = await _look(visit)
        if _digest(found) != known or time.monotonic() >= until:
            return found
        try:
            changes = await visit.run(CHANGES, ChangesRequest(after=number, limit=1, wait=_LOOK))
        except Stale as error:  # they are no longer kept
            number = int(error.current or 0)
        else:
            number = changes[-1].number if changes else number


def _digest(page: TimelinePage) -> str:
    return sha256(codec.encode_result(TIMELINE, page)).hexdigest()[:16]


ROUTES = (PageRoute(path="/s/{space}/tail", handler=tail, twin=_listed),)
MENU = (MenuItem(section="Running", name="Live tail", step="tail", operation=TIMELINE, shortcut="n", position=10),)
