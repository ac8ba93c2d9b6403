"""The verbs of pages: what happened to a memory, in order, and what of it was shown to whom."""

from typing import Annotated

from bethink.frozen import frozen
from bethink.model.access import Scope
from bethink.model.checks import Between, any_of
from bethink.model.moments import Moment
from bethink.model.showings import ShownPage
from bethink.model.timeline import TimelineKind, TimelinePage
from bethink.model.verbs.base import Cursor, Limit, Name, Request, Retry, Verb, served_by

READ = Scope.READ


@frozen
class TimelineRequest(Request):
    """A page of the timeline."""

    kinds: tuple[TimelineKind, ...] = tuple(TimelineKind)
    """Only what is of one of these kinds."""
    as_of: Moment | None = None
    """Only what had happened by this time. A day means its end."""
    limit: Limit = 50
    """How many entries to return at most."""
    after: Cursor = ""
    """Only what follows: the `next` of the previous page."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", any_of("kinds", self.kinds, TimelineKind))
        Request.__post_init__(self)


@frozen
class PageShownRequest(Request):
    """A page of the ledger, with texts."""

    session_id: Name | None = None
    """Only what this session was shown."""
    showing_id: Name | None = None
    """Only this entry."""
    as_of: Moment | None = None
    """Only what had been shown by this time. A day means its end."""
    limit: Annotated[int, Between(1, 100)] = 20
    """How many entries to return at most."""
    after: Cursor = ""
    """Only what follows: the `next` of the previous page."""


TIMELINE: Verb[TimelineRequest, TimelinePage] = Verb(
    "space.timeline", TimelineRequest, TimelinePage, "GET /spaces/{space}/timeline", READ, Retry.SAFE,
    "List what was said, learnt, retired, written, shown and forgotten in the space, the newest first.",
    details="A page costs the same however much is stored. One with few kinds may be shorter than its limit.",
)  # fmt: skip
PAGE_SHOWN: Verb[PageShownRequest, ShownPage] = Verb(
    "space.page_shown", PageShownRequest, ShownPage, "GET /spaces/{space}/shown_page", READ, Retry.SAFE,
    "List what was shown to whom, the newest first, each memory with its text in the version that was shown.",
    raises="NotFound: if the space has no such session.",
)  # fmt: skip

VERBS = served_by("bethink.audit.pages", TIMELINE, PAGE_SHOWN)
