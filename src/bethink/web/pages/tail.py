"""Live tail: the newest messages, facts, documents and deletions, updated as they happen."""

import time
from hashlib import sha256
from itertools import takewhile
from typing import Any

from bethink.errors import VersionConflictError
from bethink.host import codec
from bethink.http.streams import run_waiting_call
from bethink.model.operations.changes import LIST_CHANGES, ListChangesRequest
from bethink.model.operations.timeline import TIMELINE, TimelineRequest
from bethink.model.paging import Page
from bethink.model.timeline import TimelineEntry
from bethink.web.pages.timeline import WORDS, with_link
from bethink.web.visit import MenuItem, PageRoute, PageView, Twin, Visit

Entries = Page[TimelineEntry]

_MAX_ENTRIES = 50
_WAIT = 20.0
"""Seconds that a request waits for new entries before the page asks again."""
_POLL_INTERVAL = 1.5
"""Seconds between checks while waiting: a new message is not in the change feed until it is learned from."""


def _list_request(visit: Visit) -> Twin:
    del visit
    return TIMELINE, TimelineRequest(limit=_MAX_ENTRIES)


async def tail(visit: Visit) -> PageView:
    """Show the latest entries. With `wait`, respond as soon as they differ from those on the page."""
    digest = visit.query_value("known")
    if visit.query_value("wait"):
        visit.require(TIMELINE)
        page = await run_waiting_call(lambda: _wait_for_news(visit, digest), visit.context, visit.key.prefix)
    else:
        page = await _load(visit)
    top = visit.query_value("top")
    fresh = len(list(takewhile(lambda entry: entry.ref != top, page.items))) if top else 0
    values: dict[str, Any] = {
        "entries": [with_link(visit, entry) for entry in page.items],
        "fresh": fresh,
        "words": WORDS,
        "paused": bool(visit.query_value("paused")),
        "renewed": visit.link("tail", wait="1", known=_digest(page), top=page.items[0].ref if page.items else ""),
        "server": f"http://{visit.host}",
    }
    return PageView(template="tail.html", values=values)


async def _load(visit: Visit) -> Entries:
    operation, request = _list_request(visit)
    return await visit.run(operation, request)


async def _wait_for_news(visit: Visit, digest: str) -> Entries:
    until = time.monotonic() + _WAIT
    newest = await visit.run(LIST_CHANGES, ListChangesRequest(limit=1))
    number = newest[-1].number if newest else 0
    while True:
        page = await _load(visit)
        if _digest(page) != digest or time.monotonic() >= until:
            return page
        try:
            changes = await visit.run(LIST_CHANGES, ListChangesRequest(after=number, limit=1, wait=_POLL_INTERVAL))
        except VersionConflictError as error:  # these changes have been pruned
            number = int(error.current or 0)
        else:
            number = changes[-1].number if changes else number


def _digest(page: Entries) -> str:
    return sha256(codec.encode_result(TIMELINE, page)).hexdigest()[:16]


ROUTES = (PageRoute(path="/s/{space}/tail", handler=tail, twin=_list_request),)
MENU = (MenuItem(section="Operations", name="Live tail", step="tail", operation=TIMELINE, shortcut="n", position=10),)
