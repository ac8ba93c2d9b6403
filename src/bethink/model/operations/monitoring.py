"""The verbs of those who run a memory: jobs of all spaces or one, tried again, and what models cost."""

from datetime import date, timedelta
from typing import Annotated

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.checks import Between, InvalidField, KnownWord, Length, any_of
from bethink.model.held import HeldKind, HeldPage
from bethink.model.jobs import JobDetail, JobKind, JobPage, JobStatus, Spending, SpendingBy
from bethink.model.moments import Moment, Since
from bethink.model.operations.base import Cursor, Empty, Limit, Name, Request, Retry, Verb, served_by
from bethink.model.operations.merging import first, merge_counters, merge_spending
from bethink.model.setting_entries import SettingEntry
from bethink.model.summaries import Counters, SpacePage, SpaceSummary

READ, WRITE, OPERATE = Scope.READ, Scope.WRITE, Scope.OPERATE
_DAYS, _DAYS_BY_SPACE = 366, 31
_ACROSS = (JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.FAILED, JobStatus.DEAD)


@frozen
class PageJobsRequest(Request):
    """A page of the jobs of all spaces."""

    status: Annotated[JobStatus, KnownWord()] = JobStatus.DEAD
    """Only jobs that are queued, running, failed, or dead, which were given up."""
    kind: Annotated[JobKind, KnownWord()] | None = None
    """Only jobs of this kind."""
    limit: Limit = 50
    """How many jobs to return at most."""
    after: Cursor = ""
    """Only what follows: the `next` of the previous page."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", any_of("status", (self.status,), JobStatus)[0])
        if self.kind is not None:
            object.__setattr__(self, "kind", any_of("kind", (self.kind,), JobKind)[0])
        if self.status not in _ACROSS:
            hint = f"Use {', '.join(_ACROSS)}, or list the jobs of one space."
            raise InvalidField("status", f"cannot be {self.status.value!r}.", hint=hint)
        Request.__post_init__(self)


@frozen
class PageSpaceJobsRequest(Request):
    """A page of the jobs of a space."""

    status: Annotated[JobStatus, KnownWord()] | None = None
    """Only jobs in this state."""
    kind: Annotated[JobKind, KnownWord()] | None = None
    """Only jobs of this kind."""
    limit: Limit = 50
    """How many jobs to return at most."""
    after: Cursor = ""
    """Only what follows: the `next` of the previous page."""

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
    """What it does."""
    key: Name
    """What it works on, as lists of jobs name it: a session, an agent, or `space`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", any_of("kind", (self.kind,), JobKind)[0])
        Request.__post_init__(self)


@frozen
class SpaceSpendingRequest(Request):
    """Days to list."""

    since: Since | None = None
    """The first day; 30 days before the last, if left out."""
    until: Moment | None = None
    """The last day; today, if left out."""

    def days(self, today: date) -> tuple[date, date]:
        """Return the first and the last day. Raises `InvalidField` for too many."""
        last = today if self.until is None else self.until.date()
        first = last - timedelta(days=min(30, last.toordinal() - 1)) if self.since is None else self.since.date()
        if (last - first).days >= self.most_days():
            raise InvalidField("since", f"is more than {self.most_days()} days ago.", hint="Ask for fewer days.")
        return first, last

    def most_days(self) -> int:
        """Return how many days can be listed."""
        return _DAYS


@frozen
class SpendingRequest(SpaceSpendingRequest):
    """Days to list, and by what."""

    by: Annotated[SpendingBy, KnownWord()] = SpendingBy.DAY
    """List each day in all, by kind, by model, or by space: those that cost most."""
    limit: Limit = 20
    """By space, how many of each day."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", any_of("by", (self.by,), SpendingBy)[0])
        Request.__post_init__(self)

    def most_days(self) -> int:
        """Return how many days can be listed: of spaces, a month."""
        return _DAYS_BY_SPACE if self.by is SpendingBy.SPACE else _DAYS


@frozen
class HeldRequest(Request):
    """A page of what waits for a person."""

    kind: Annotated[HeldKind, KnownWord()] | None = None
    """Only claims, or only changes."""
    limit: Annotated[int, Between(1, 100)] = 50
    """How many items to return at most."""
    after: Cursor = ""
    """Only what follows: the `next` of the previous page."""

    def __post_init__(self) -> None:
        if self.kind is not None:
            object.__setattr__(self, "kind", any_of("kind", (self.kind,), HeldKind)[0])
        Request.__post_init__(self)


@frozen
class PageSpacesRequest(Request):
    """A page of spaces."""

    prefix: Annotated[str, Length(0, 200)] = ""
    """Only spaces whose names begin with it."""
    limit: Annotated[int, Between(1, 100)] = 50
    """How many spaces to return at most."""
    after: Cursor = ""
    """Only what follows: the `next` of the previous page."""


_SPACE = "/spaces/{space}"
_JOB = f"{_SPACE}/jobs/{{kind}}/{{key}}"
_MISSING = "NotFound: if the space has no such job."

PAGE_JOBS: Verb[PageJobsRequest, JobPage] = Verb(
    "memory.page_jobs", PageJobsRequest, JobPage, "GET /jobs", OPERATE, Retry.SAFE,
    "List the jobs of all spaces that are queued, running, failed or given up, the last queued first.",
    details="A page costs the same however many jobs there are.",
)  # fmt: skip
HELD: Verb[HeldRequest, HeldPage] = Verb(
    "memory.held", HeldRequest, HeldPage, "GET /held", OPERATE, Retry.SAFE,
    "List what waits for a person in all spaces, the newest first: claims under review, and changes of documents.",
    details="What is decided while a page is read may be missing in it.",
)  # fmt: skip
SPENDING: Verb[SpendingRequest, list[Spending]] = Verb(
    "memory.spending", SpendingRequest, list[Spending], "GET /spending", OPERATE, Retry.SAFE,
    "List what models cost on each day, in all, by kind of work, by model, or by space.",
    raises="Invalid: for more than 366 days, or 31 by space.",
    merge=merge_spending,
)  # fmt: skip
PAGE_SPACES: Verb[PageSpacesRequest, SpacePage] = Verb(
    "memory.page_spaces", PageSpacesRequest, SpacePage, "GET /space_page", OPERATE, Retry.SAFE,
    "List spaces by name, each with what failed in it and what waits for a person.",
    details="A page costs the same however many spaces there are, and however much they hold.",
)  # fmt: skip
COUNTERS: Verb[Empty, Counters] = Verb(
    "memory.counters", Empty, Counters, "GET /counters", OPERATE, Retry.SAFE,
    "Count the jobs that are not done by status, and what waits for a person, in all spaces.",
    details="Jobs are counted as their states change, so it costs the same however many there are.",
    merge=merge_counters,
)  # fmt: skip
SETTINGS: Verb[Empty, list[SettingEntry]] = Verb(
    "memory.settings", Empty, list[SettingEntry], "GET /settings", OPERATE, Retry.SAFE,
    "List the settings in force, each with its default and where it comes from. Secrets are masked.",
    merge=first,
)  # fmt: skip
PAGE_SPACE_JOBS: Verb[PageSpaceJobsRequest, JobPage] = Verb(
    "space.page_jobs", PageSpaceJobsRequest, JobPage, f"GET {_SPACE}/job_page", READ, Retry.SAFE,
    "List the jobs of the space by status and kind, the last queued first.",
)  # fmt: skip
GET_JOB: Verb[JobRequest, JobDetail] = Verb(
    "space.job", JobRequest, JobDetail, f"GET {_JOB}", READ, Retry.SAFE,
    "Return a job with its failed attempts and what models answered.",
    raises=_MISSING,
)  # fmt: skip
RETRY_JOB: Verb[JobRequest, bool] = Verb(
    "space.retry_job", JobRequest, bool, f"POST {_JOB}/retry", WRITE, Retry.IDEMPOTENT,
    "Let a job of any kind that failed or was given up start over. Returns False if it did neither.",
    raises=_MISSING,
)  # fmt: skip
SUMMARY: Verb[Empty, SpaceSummary] = Verb(
    "space.summary", Empty, SpaceSummary, f"GET {_SPACE}/summary", READ, Retry.SAFE,
    "Return what failed in the space and what waits for a person.",
)  # fmt: skip
SPACE_SPENDING: Verb[SpaceSpendingRequest, list[Spending]] = Verb(
    "space.spending", SpaceSpendingRequest, list[Spending], f"GET {_SPACE}/spending", READ, Retry.SAFE,
    "List what models cost for the space on each day.",
    raises="Invalid: for more than 366 days.",
)  # fmt: skip

VERBS = (
    PAGE_JOBS, HELD, SPENDING, PAGE_SPACES, COUNTERS, SETTINGS, PAGE_SPACE_JOBS, GET_JOB, RETRY_JOB, SUMMARY,
    SPACE_SPENDING,
)  # fmt: skip
served_by(
    "bethink.jobs.monitoring",
    PAGE_JOBS,
    HELD,
    SPENDING,
    PAGE_SPACES,
    COUNTERS,
    PAGE_SPACE_JOBS,
    GET_JOB,
    RETRY_JOB,
    SUMMARY,
    SPACE_SPENDING,
)
served_by("bethink.jobs.monitoring", SETTINGS)
