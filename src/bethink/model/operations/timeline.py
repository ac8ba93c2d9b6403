"""Operations on the timeline."""

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.checks import any_of
from bethink.model.operations.base import Cursor, Limit, Operation, Request, Retry, served_by
from bethink.model.operations.viewing import ViewRequest
from bethink.model.paging import Page
from bethink.model.timeline import TimelineEntry, TimelineKind

READ = Scope.READ


@frozen
class TimelineRequest(ViewRequest):
    """A page of the timeline."""

    kinds: tuple[TimelineKind, ...] = tuple(TimelineKind)
    """Kinds of entries (default: all)."""
    limit: Limit = 50
    """Maximum number of entries (default 50)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", any_of("kinds", self.kinds, TimelineKind))
        Request.__post_init__(self)


TIMELINE: Operation[TimelineRequest, Page[TimelineEntry]] = Operation(
    "space.admin.timeline.list", TimelineRequest, Page[TimelineEntry], "GET /spaces/{space}/timeline", READ, Retry.SAFE,
    "List messages, facts, document versions, uses and deletions of the space. Newest first.",
    details="The cost of a page does not depend on the size of the space. Pages can have fewer entries than `limit`.",
)  # fmt: skip
OPERATIONS = served_by("bethink.memory.log.timeline", TIMELINE)
