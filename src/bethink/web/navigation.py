"""The menu: the pages that the key may open, with counts of pending items."""

from typing import NamedTuple

from bethink.model.jobs import JobStatus
from bethink.model.operations.base import Empty
from bethink.model.operations.installation import AUDIT
from bethink.model.operations.monitoring import GET_HEALTH, GET_SPACE_HEALTH
from bethink.model.summaries import Health, SpaceInfo
from bethink.web.pages import MENU
from bethink.web.visit import Visit, address

MenuCounts = SpaceInfo | Health | None
"""Failed jobs and pending reviews: of the space on its pages, otherwise of all spaces."""


class MenuEntry(NamedTuple):
    """A menu item. `pages` are the templates for which it is the current one."""

    name: str
    link: str
    pages: tuple[str, ...]
    key: str = ""
    waiting: str = ""
    """The number of pending items as text; empty if there are none."""


_SECTIONS = ("Memory", "Working memory", "Curation", "Operations", "Administration")
"""The sections of the menu, in the order in which they are listed."""


async def load_menu_counts(visit: Visit) -> MenuCounts:
    """Load the counts for the menu. They are kept up to date as data changes, so this is one small read."""
    if visit.is_past:  # the page shows a past state
        return None
    if visit.space:
        return await visit.run(GET_SPACE_HEALTH, Empty()) if visit.may(GET_SPACE_HEALTH) else None
    return await visit.run(GET_HEALTH, Empty()) if visit.may(GET_HEALTH) else None


def groups(visit: Visit, menu_counts: MenuCounts) -> list[tuple[str, list[MenuEntry]]]:
    """Return the menu of a page, in groups."""
    counts = _counts(menu_counts)
    sections: list[tuple[str, list[MenuEntry]]] = []
    for section in _SECTIONS:
        items = sorted((item for item in MENU if item.section == section), key=lambda item: item.position)
        entries = [
            MenuEntry(
                item.name,
                visit.link(item.step) if visit.space else address(item.step),
                item.templates or (item.step,),
                item.shortcut,
                counts.get(item.step, ""),
            )
            for item in items
            if item.in_space == bool(visit.space) and visit.may(item.operation)
        ]
        if entries:
            sections.append((section, entries))
    installation = [MenuEntry("Spaces", address("spaces"), ("spaces",), "p")]
    if visit.may(AUDIT):
        installation.insert(0, MenuEntry("Overview", address(), ("overview",), "o"))
    if visit.space:
        return [*sections, ("Installation", installation)]
    installation.append(MenuEntry("Getting started", address("start"), ("start",), "b"))
    return [("Installation", installation), *sections]


def _counts(menu_counts: MenuCounts) -> dict[str, str]:
    match menu_counts:
        case SpaceInfo():
            return {"review": format_count(menu_counts.pending, 100), "jobs": format_count(menu_counts.failed, 100)}
        case Health():
            return {
                "held": format_count(menu_counts.pending, 1_000),
                "jobs": format_count(menu_counts.jobs_in(JobStatus.ABANDONED)),
            }
        case None:
            return {}


def format_count(count: int, limit: int = 0) -> str:
    """Format a count: exact, or `1,000+` where counting stopped; empty for zero."""
    return f"{count:,}{'+' if 0 < limit <= count else ''}" if count else ""
