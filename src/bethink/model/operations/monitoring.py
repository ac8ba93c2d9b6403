"""Operations for operators: spaces, jobs, pending reviews, health, settings and costs."""

from datetime import date, timedelta
from typing import Annotated

from bethink.base.frozen import frozen
from bethink.errors import InvalidFieldError
from bethink.model.access import Scope
from bethink.model.checks import Between, KnownWord, Length, any_of
from bethink.model.held import PendingItem, PendingKind
from bethink.model.jobs import Job, JobDetail, JobKind, JobStatus, Spending, SpendingBy
from bethink.model.moments import Moment, Since
from bethink.model.operations.base import Cursor, Empty, Limit, Name, Operation, Request, Retry, served_by
from bethink.model.operations.merging import first, merge_counters, merge_spending, sorted_page
from bethink.model.pages import cursor_of
from bethink.model.paging import Page
from bethink.model.setting_entries import SettingEntry
from bethink.model.summaries import Health, SpaceInfo

READ, WRITE, OPERATE = Scope.READ, Scope.WRITE, Scope.OPERATE
_MAX_DAYS, _MAX_DAYS_BY_SPACE = 366, 31
_LISTABLE_STATUSES = (JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.FAILED, JobStatus.ABANDONED)


@frozen
class ListJobsRequest(Request):
    """A page of the jobs of all spaces."""

    status: Annotated[JobStatus, KnownWord()] = JobStatus.ABANDONED
    """Status of the jobs: `queued`, `running`, `failed` or `abandoned` (default `abandoned`)."""
    kind: Annotated[JobKind, KnownWord()] | None = None
    """Kind of the jobs (default: any)."""
    limit: Limit = 50
    """Maximum number of jobs (default 50)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", any_of("status", (self.status,), JobStatus)[0])
        if self.kind is not None:
            object.__setattr__(self, "kind", any_of("kind", (self.kind,), JobKind)[0])
        if self.status not in _LISTABLE_STATUSES:
            hint = f"Use {', '.join(_LISTABLE_STATUSES)}, or list the jobs of one space."
            raise InvalidFieldError("status", f"cannot be {self.status.value!r}.", hint=hint)
        Request.__post_init__(self)


@frozen
class ListSpaceJobsRequest(Request):
    """A page of the jobs of a space."""

    status: Annotated[JobStatus, KnownWord()] | None = None
    """Status of the jobs (default: any)."""
    kind: Annotated[JobKind, KnownWord()] | None = None
    """Kind of the jobs (default: any)."""
    limit: Limit = 50
    """Maximum number of jobs (default 50)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""

    def __post_init__(self) -> None:
        if self.status is not None:
            object.__setattr__(self, "status", any_of("status", (self.status,), JobStatus)[0])
        if self.kind is not None:
            object.__setattr__(self, "kind", any_of("kind", (self.kind,), JobKind)[0])
        Request.__post_init__(self)


@frozen
class JobRequest(Request):
    """One job."""

    kind: Annotated[JobKind, KnownWord()]
    """Kind of the job."""
    key: Name
    """Key of the job, as in lists of jobs: a session id, an agent, or `space`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", any_of("kind", (self.kind,), JobKind)[0])
        Request.__post_init__(self)


@frozen
class ListSpaceSpendingRequest(Request):
    """A range of days."""

    since: Since | None = None
    """First day (default: 30 days before the last)."""
    until: Moment | None = None
    """Last day (default: today)."""

    def days(self, today: date) -> tuple[date, date]:
        """Return the first and the last day. Raise `InvalidFieldError` if the range is too long."""
        last = today if self.until is None else self.until.date()
        first = last - timedelta(days=min(30, last.toordinal() - 1)) if self.since is None else self.since.date()
        if (last - first).days >= self.max_days():
            raise InvalidFieldError(
                "since", f"must be less than {self.max_days()} days before `until`.", hint="Request fewer days."
            )
        return first, last

    def max_days(self) -> int:
        """Return the maximum number of days in the range."""
        return _MAX_DAYS


@frozen
class ListSpendingRequest(ListSpaceSpendingRequest):
    """A range of days, and a grouping."""

    by: Annotated[SpendingBy, KnownWord()] = SpendingBy.DAY
    """Grouping of each day: `day` (default: the total), `kind`, `model` or `space`."""
    limit: Limit = 20
    """Maximum number of spaces for each day if grouped by space, highest cost first (default 20)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", any_of("by", (self.by,), SpendingBy)[0])
        Request.__post_init__(self)

    def max_days(self) -> int:
        """Return the maximum number of days in the range, which is smaller if grouped by space."""
        return _MAX_DAYS_BY_SPACE if self.by is SpendingBy.SPACE else _MAX_DAYS


@frozen
class ListPendingRequest(Request):
    """A page of items that need review."""

    kind: Annotated[PendingKind, KnownWord()] | None = None
    """Kind of the items: `claim` or `changes` (default: both)."""
    limit: Annotated[int, Between(1, 100)] = 50
    """Maximum number of items (default 50)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""

    def __post_init__(self) -> None:
        if self.kind is not None:
            object.__setattr__(self, "kind", any_of("kind", (self.kind,), PendingKind)[0])
        Request.__post_init__(self)


@frozen
class ListSpacesRequest(Request):
    """A page of spaces."""

    prefix: Annotated[str, Length(0, 200)] = ""
    """Start of the space names (default: all spaces)."""
    limit: Limit = 100
    """Maximum number of spaces (default 100)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""


_SPACE = "/spaces/{space}"
_JOB = f"{_SPACE}/jobs/{{kind}}/{{key}}"
_NOT_FOUND = "NotFoundError: if the space has no such job."

LIST_JOBS: Operation[ListJobsRequest, Page[Job]] = Operation(
    "memory.admin.jobs.list", ListJobsRequest, Page[Job], "GET /jobs", OPERATE, Retry.SAFE,
    "List jobs of all spaces by status. Most recently queued first.",
    details="The cost of a page does not depend on the number of jobs.",
)  # fmt: skip
LIST_PENDING: Operation[ListPendingRequest, Page[PendingItem]] = Operation(
    "memory.admin.reviews.list", ListPendingRequest, Page[PendingItem], "GET /reviews", OPERATE, Retry.SAFE,
    "List claims and document changes that need review in all spaces. Newest first.",
    details="Items that are decided while a page is read may be missing from the page.",
)  # fmt: skip
LIST_SPENDING: Operation[ListSpendingRequest, Page[Spending]] = Operation(
    "memory.admin.costs.list", ListSpendingRequest, Page[Spending], "GET /costs", OPERATE, Retry.SAFE,
    "Return the daily cost of models in all spaces: in total, by kind of job, by model or by space.",
    raises="InvalidRequestError: if the range has more than 366 days, or 31 by space.",
    merge=merge_spending,
)  # fmt: skip
LIST_SPACES: Operation[ListSpacesRequest, Page[SpaceInfo]] = Operation(
    "memory.spaces.list", ListSpacesRequest, Page[SpaceInfo], "GET /spaces", OPERATE, Retry.SAFE,
    "List spaces, ordered by name, each with counts of failed jobs and pending reviews.",
    details="The cost of a page does not depend on the number or size of spaces.",
    merge=sorted_page(lambda space: space.name, cursor=lambda space: cursor_of(space.name)),
)  # fmt: skip
GET_HEALTH: Operation[Empty, Health] = Operation(
    "memory.admin.health", Empty, Health, "GET /health", OPERATE, Retry.SAFE,
    "Return counts of unfinished jobs by status and of pending reviews, in all spaces.",
    details="Bethink updates the counts as jobs change, so the cost does not depend on the number of jobs.",
    merge=merge_counters,
)  # fmt: skip
LIST_SETTINGS: Operation[Empty, list[SettingEntry]] = Operation(
    "memory.admin.settings", Empty, list[SettingEntry], "GET /settings", OPERATE, Retry.SAFE,
    "Return the effective settings, each with its default and source. Secrets are masked.",
    merge=first,
)  # fmt: skip
LIST_SPACE_JOBS: Operation[ListSpaceJobsRequest, Page[Job]] = Operation(
    "space.admin.jobs.list", ListSpaceJobsRequest, Page[Job], f"GET {_SPACE}/jobs", READ, Retry.SAFE,
    "List jobs of the space by status and kind. Most recently queued first.",
)  # fmt: skip
GET_JOB: Operation[JobRequest, JobDetail] = Operation(
    "space.admin.jobs.get", JobRequest, JobDetail, f"GET {_JOB}", READ, Retry.SAFE,
    "Return a job with its failed attempts and model responses.",
    raises=_NOT_FOUND,
)  # fmt: skip
RETRY_JOB: Operation[JobRequest, bool] = Operation(
    "space.admin.jobs.retry", JobRequest, bool, f"POST {_JOB}/retry", WRITE, Retry.IDEMPOTENT,
    "Retry a failed or abandoned job. Return False for a job in any other status.",
    raises=_NOT_FOUND,
)  # fmt: skip
GET_SPACE_HEALTH: Operation[Empty, SpaceInfo] = Operation(
    "space.admin.health", Empty, SpaceInfo, f"GET {_SPACE}/health", READ, Retry.SAFE,
    "Summarize failed jobs and pending reviews.",
)  # fmt: skip
LIST_SPACE_SPENDING: Operation[ListSpaceSpendingRequest, Page[Spending]] = Operation(
    "space.admin.costs.list", ListSpaceSpendingRequest, Page[Spending], f"GET {_SPACE}/costs", READ, Retry.SAFE,
    "Return the daily cost of models for the space.",
    raises="InvalidRequestError: if the range has more than 366 days.",
)  # fmt: skip

OPERATIONS = (
    LIST_JOBS, LIST_PENDING, LIST_SPENDING, LIST_SPACES, GET_HEALTH, LIST_SETTINGS, LIST_SPACE_JOBS, GET_JOB,
    RETRY_JOB, GET_SPACE_HEALTH,
    LIST_SPACE_SPENDING,
)  # fmt: skip
served_by(
    "bethink.jobs.monitoring",
    LIST_JOBS,
    LIST_PENDING,
    LIST_SPENDING,
    LIST_SPACES,
    GET_HEALTH,
    LIST_SPACE_JOBS,
    GET_JOB,
    RETRY_JOB,
    GET_SPACE_HEALTH,
    LIST_SPACE_SPENDING,
)
served_by("bethink.jobs.monitoring", LIST_SETTINGS)
