"""Operations on the timeline."""

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.checks import any_of
from bethink.model.moments import Moment
from bethink.model.operations.base import Cursor, Limit, Request, Retry, Verb, served_by
from bethink.model.timeline import TimelineKind, TimelinePage

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
VERBS = served_by("bethink.memory.log.timeline", TIMELINE)
