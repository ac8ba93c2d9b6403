"""The pages of the web UI: those of the core, and those of features."""

from bethink.base.features import modules_named
from bethink.web.pages import (
    cost,
    documents,
    erasure,
    facts,
    home,
    jobs,
    overview,
    patterns,
    pending,
    recall,
    review,
    sessions,
    settings,
    start,
    tail,
    threads,
    timeline,
    workers,
)
from bethink.web.visit import MenuItem, PageRoute

_PAGES = (
    overview,
    home,
    start,
    recall,
    timeline,
    sessions,
    facts,
    documents,
    threads,
    review,
    tail,
    jobs,
    workers,
    pending,
    cost,
    settings,
    erasure,
    patterns,
    *modules_named("page"),
)

ROUTES: tuple[PageRoute, ...] = tuple(route for page in _PAGES for route in page.ROUTES)
"""Every page and form, in the order in which their paths are tried."""
MENU: tuple[MenuItem, ...] = tuple(item for page in _PAGES for item in getattr(page, "MENU", ()))
"""All menu items, in no particular order."""
