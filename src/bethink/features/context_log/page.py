"""Who was told what, and when: the ledger with the texts, each in the version that was shown."""

from typing import Any

from bethink.errors import NotFound
from bethink.features.context_log.operations import PAGE_SHOWN, PageShownRequest
from bethink.web.visit import MenuItem, Page, PageRoute, Twin, Visit

_PAGE = 20


def _listed(visit: Visit) -> Twin:
    session = visit.ask("session") or None
    return PAGE_SHOWN, PageShownRequest(session_id=session, as_of=visit.moment, limit=_PAGE, after=visit.ask("after"))


async def shown(visit: Visit) -> Page:
    """List what was shown, the newest first."""
    verb, request = _listed(visit)
    found = await visit.run(verb, request)
    values: dict[str, Any] = {
        "blocks": found.items,
        "session": request.session_id,
        "after": request.after,
        "more": visit.link("shown", session=request.session_id, after=found.next) if found.next else "",
        "most": 4,
    }
    return Page(template="context_log.html", values=values)


def _one(visit: Visit) -> Twin:
    return PAGE_SHOWN, PageShownRequest(showing_id=visit.names["showing"], as_of=visit.moment, limit=1)


async def showing(visit: Visit) -> Page:
    """Show all that was in one block or answer."""
    found = await visit.run(*_one(visit))
    if not found.items:
        raise NotFound("nothing was shown by that name here.", hint="Choose an entry from the list.")
    values: dict[str, Any] = {"blocks": found.items, "session": None, "after": "", "more": "", "most": 0}
    return Page(template="context_log.html", values=values)


ROUTES = (
    PageRoute(path="/s/{space}/shown", handler=shown, twin=_listed),
    PageRoute(path="/s/{space}/shown/{showing}", handler=showing, twin=_one),
)
MENU = (
    MenuItem(
        section="Memory",
        name="Shown",
        step="shown",
        operation=PAGE_SHOWN,
        shortcut="h",
        position=40,
        templates=("context_log",),
    ),
)
