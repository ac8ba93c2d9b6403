"""The menu: only pages that the key may open."""

from typing import Any, NamedTuple

from bethink.model.verbs.base import Verb
from bethink.model.verbs.documents import TREE
from bethink.model.verbs.facts import LIST_FACTS
from bethink.model.verbs.memory import FORGET, RECALL
from bethink.model.verbs.pages import PAGE_SHOWN, TIMELINE
from bethink.model.verbs.reviews import LIST_REVIEWS
from bethink.model.verbs.service import LIST_KEYS
from bethink.model.verbs.sessions import LIST_SESSIONS
from bethink.model.verbs.tests import LIST_TESTS
from bethink.model.verbs.threads import LIST_THREADS
from bethink.web.visit import Visit, address


class MenuEntry(NamedTuple):
    """A line of the menu. `pages` are the templates for which it is the current one."""

    name: str
    link: str
    pages: tuple[str, ...]
    key: str = ""


_SPACE: tuple[tuple[str, tuple[tuple[str, str, tuple[str, ...], Verb[Any, Any], str], ...]], ...] = (
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
            ("Memory tests", "tests", ("tests",), LIST_TESTS, "m"),
            ("Erasure", "erasure", ("erasure",), FORGET, "e"),
        ),
    ),
)


def groups(visit: Visit) -> list[tuple[str, list[MenuEntry]]]:
    """Return the menu of a page, in groups."""
    found: list[tuple[str, list[MenuEntry]]] = []
    if visit.space:
        for title, lines in _SPACE:
            entries = [
                MenuEntry(name, visit.link(step), pages, key)
                for name, step, pages, verb, key in lines
                if visit.may(verb)
            ]
            if entries:
                found.append((title, entries))
    whole = [MenuEntry("Spaces", address(), ("spaces",))]
    if visit.may(LIST_KEYS):
        whole.append(MenuEntry("Access keys", address("access"), ("access",), "k"))
    whole.append(MenuEntry("Getting started", address("start"), ("start",)))
    found.append(("Installation", whole))
    return found
