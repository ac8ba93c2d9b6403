"""The menu: only pages that the key may open, and how much waits on them."""

from typing import Any, NamedTuple

from bethink.memory_tests import page as memory_tests
from bethink.model.jobs import JobStatus
from bethink.model.summaries import Counters, SpaceSummary
from bethink.model.verbs.base import Empty, Verb
from bethink.model.verbs.documents import TREE
from bethink.model.verbs.facts import LIST_FACTS
from bethink.model.verbs.memory import FORGET, RECALL
from bethink.model.verbs.operations import (
    COUNTERS,
    HELD,
    PAGE_JOBS,
    PAGE_SPACE_JOBS,
    SETTINGS,
    SPACE_SPENDING,
    SPENDING,
    SUMMARY,
)
from bethink.model.verbs.pages import PAGE_SHOWN, TIMELINE
from bethink.model.verbs.reviews import LIST_REVIEWS
from bethink.model.verbs.service import AUDIT, LIST_KEYS
from bethink.model.verbs.sessions import LIST_SESSIONS
from bethink.model.verbs.threads import LIST_THREADS
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


_Lines = tuple[tuple[str, str, tuple[str, ...], Verb[Any, Any], str], ...]

_SPACE: tuple[tuple[str, _Lines], ...] = (
    (
        "Memory",
        (
            ("Recall", "recall", ("recall",), RECALL, "r"),
            ("Timeline", "timeline", ("timeline",), TIMELINE, "l"),
            ("Sessions", "sessions", ("sessions", "transcript"), LIST_SESSIONS, "s"),
            ("Shown", "shown", ("shown",), PAGE_SHOWN, "h"),
            ("Facts", "facts", ("facts", "fact"), LIST_FACTS, "f"),
            ("Documents", "documents", ("documents", "edit"), TREE, "d"),
        ),
    ),
    ("Working", (("Threads", "threads", ("threads", "stepper", "prompt"), LIST_THREADS, "t"),)),
    (
        "Keeping it right",
        (
            ("Review", "review", ("review",), LIST_REVIEWS, "v"),
            memory_tests.MENU,
            ("Erasure", "erasure", ("erasure",), FORGET, "e"),
        ),
    ),
    (
        "Running",
        (
            ("Live tail", "tail", ("tail",), TIMELINE, "n"),
            ("Jobs", "jobs", ("jobs", "job"), PAGE_SPACE_JOBS, "j"),
            ("Cost", "cost", ("cost",), SPACE_SPENDING, "c"),
        ),
    ),
)
_WHOLE: tuple[tuple[str, _Lines], ...] = (
    (
        "Running",
        (
            ("Jobs", "jobs", ("jobs", "job"), PAGE_JOBS, "j"),
            ("Workers", "workers", ("workers",), PAGE_JOBS, "w"),
            ("Waiting for you", "held", ("held",), HELD, "v"),
            ("Cost", "cost", ("cost",), SPENDING, "c"),
        ),
    ),
    (
        "Governing",
        (
            ("Access keys", "access", ("access",), LIST_KEYS, "k"),
            ("Settings", "settings", ("settings",), SETTINGS, "x"),
        ),
    ),
)


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
    found: list[tuple[str, list[MenuEntry]]] = []
    for title, lines in _SPACE if visit.space else _WHOLE:
        entries = [
            MenuEntry(name, visit.link(step) if visit.space else address(step), pages, key, counts.get(step, ""))
            for name, step, pages, verb, key in lines
            if visit.may(verb)
        ]
        if entries:
            found.append((title, entries))
    whole = [MenuEntry("Spaces", address("spaces"), ("spaces",), "p")]
    if visit.may(AUDIT):
        whole.insert(0, MenuEntry("Overview", address(), ("overview",), "o"))
    if visit.space:
        return [*found, ("Installation", whole)]
    whole.append(MenuEntry("Getting started", address("start"), ("start",), "b"))
    return [("Installation", whole), *found]


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
