"""The verbs of pages: what happened to a memory, in order."""

from bethink.frozen import frozen
from bethink.model.access import Scope
from bethink.model.checks import any_of
from bethink.model.moments import Moment
from bethink.model.timeline import TimelineKind, TimelinePage
from bethink.model.verbs.base import Cursor, Limit, Request, Retry, Verb

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


TIMELINE: Verb[TimelineRequest, TimelinePage] = Verb(
    "space.timeline", TimelineRequest, TimelinePage, "GET /spaces/{space}/timeline", READ, Retry.SAFE,
    "List what was said, learnt, retired, written, shown and forgotten in the space, the newest first.",
    details="A page costs the same however much is stored. One with few kinds may be shorter than its limit.",
)  # fmt: skip

VERBS = (TIMELINE,)
