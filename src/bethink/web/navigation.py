"""The menu: only pages that the key may open, and how much waits on them."""

from typing import NamedTuple

from bethink.model.jobs import JobStatus
from bethink.model.operations.base import Empty
from bethink.model.operations.installation import AUDIT
from bethink.model.operations.monitoring import COUNTERS, SUMMARY
from bethink.model.summaries import Counters, SpaceSummary
from bethink.web.pages import MENU
from bethink.web.visit import Visit, address

Standing = SpaceSummary | Counters | None
"""What the menu counts: in a space, what failed and waits there; elsewhere, in all of them."""


class MenuEntry(NamedTuple):
    """A line of the menu. `pages` are the templates for which it is the current one."""

    name: str
    link: str
    pages: tuple[str, ...]
    key: str = ""
    waiting: str = ""
    """How much waits there, in words; empty if nothing does."""


_SECTIONS = ("Memory", "Working", "Keeping it right", "Running", "Governing")
"""The sections of the menu, in the order in which they are listed."""


async def standing(visit: Visit) -> Standing:
    """Read what the menu counts: one look at rows that are kept, whatever is stored."""
    if visit.as_of:  # the page shows another time
        return None
    if visit.space:
        return await visit.run(SUMMARY, Empty()) if visit.may(SUMMARY) else None
    return await visit.run(COUNTERS, Empty()) if visit.may(COUNTERS) else None


def groups(visit: Visit, stands: Standing) -> list[tuple[str, list[MenuEntry]]]:
    """Return the menu of a page, in groups."""
    counts = _counts(stands)
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
    whole = [MenuEntry("Spaces", address("spaces"), ("spaces",), "p")]
    if visit.may(AUDIT):
        whole.insert(0, MenuEntry("Overview", address(), ("overview",), "o"))
    if visit.space:
        return [*sections, ("Installation", whole)]
    whole.append(MenuEntry("Getting started", address("start"), ("start",), "b"))
    return [("Installation", whole), *sections]


def _counts(stands: Standing) -> dict[str, str]:
    match stands:
        case SpaceSummary():
            return {"review": counted(stands.held, 100), "jobs": counted(stands.failed, 100)}
        case Counters():
            return {"held": counted(stands.held, 1_000), "jobs": counted(stands.jobs_in(JobStatus.DEAD))}
        case None:
            return {}


def counted(count: int, most: int = 0) -> str:
    """Return a number as pages show it: exact, or `1,000+` where counting stopped; empty for none."""
    return f"{count:,}{'+' if 0 < most <= count else ''}" if count else ""
