"""The context log page: memories shown to sessions, each in the version that was shown."""

from typing import Any

from bethink.errors import NotFoundError
from bethink.features.context_log.operations import LIST_CONTEXT_LOG, ListContextLogRequest
from bethink.web.visit import MenuItem, PageRoute, PageView, Twin, Visit

_PAGE = 20


def _list_request(visit: Visit) -> Twin:
    session = visit.query_value("session") or None
    return LIST_CONTEXT_LOG, ListContextLogRequest(
        session_id=session, **visit.times, limit=_PAGE, after=visit.query_value("after")
    )


async def list_entries(visit: Visit) -> PageView:
    """List the entries of the context log, newest first."""
    operation, request = _list_request(visit)
    page = await visit.run(operation, request)
    values: dict[str, Any] = {
        "blocks": page.items,
        "session": request.session_id,
        "after": request.after,
        "more": visit.link("shown", session=request.session_id, after=page.next) if page.next else "",
        "most": 4,
    }
    return PageView(template="context_log.html", values=values)


def _entry_request(visit: Visit) -> Twin:
    return LIST_CONTEXT_LOG, ListContextLogRequest(entry_id=visit.names["showing"], **visit.times, limit=1)


async def show_entry(visit: Visit) -> PageView:
    """Show all memories of one block or result."""
    page = await visit.run(*_entry_request(visit))
    if not page.items:
        raise NotFoundError("No such entry in the context log of this space.", hint="Select an entry from the list.")
    values: dict[str, Any] = {"blocks": page.items, "session": None, "after": "", "more": "", "most": 0}
    return PageView(template="context_log.html", values=values)


ROUTES = (
    PageRoute(path="/s/{space}/shown", handler=list_entries, twin=_list_request),
    PageRoute(path="/s/{space}/shown/{showing}", handler=show_entry, twin=_entry_request),
)
MENU = (
    MenuItem(
        section="Memory",
        name="Context log",
        step="shown",
        operation=LIST_CONTEXT_LOG,
        shortcut="h",
        position=40,
        templates=("context_log",),
    ),
)
