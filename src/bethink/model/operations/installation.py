"""Operations on an installation: spaces, learning and audits."""

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.checks import any_of
from bethink.model.jobs import Audit, JobKind, RunReport
from bethink.model.operations.base import Empty, Limit, Request, Retry, Verb, served_by
from bethink.model.operations.merging import merge_audits, merge_reports, sorted_page

OPERATE = Scope.OPERATE


@frozen
class ListSpacesRequest(Request):
    """A page of spaces."""

    limit: Limit = 100
    """How many names to return at most."""
    after: str = ""
    """Only spaces that follow this one: the last name of the previous page."""


@frozen
class LearnRequest(Request):
    """What to learn."""

    only: tuple[JobKind, ...] | None = None
    """Only these kinds of jobs."""

    def __post_init__(self) -> None:
        if self.only is not None:
            object.__setattr__(self, "only", any_of("only", self.only, JobKind))
        Request.__post_init__(self)


LIST_SPACES: Verb[ListSpacesRequest, list[str]] = Verb(
    "memory.list_spaces", ListSpacesRequest, list[str], "GET /spaces", OPERATE, Retry.SAFE,
    "List the names of all spaces that hold anything, in order.",
    merge=sorted_page(str),
)  # fmt: skip
AUDIT: Verb[Empty, Audit] = Verb(
    "memory.audit", Empty, Audit, "GET /audit", OPERATE, Retry.SAFE,
    "Count the jobs that are not done by status, what was spent today, and violations of invariants.",
    merge=merge_audits,
)  # fmt: skip
LEARN: Verb[LearnRequest, RunReport] = Verb(
    "memory.learn", LearnRequest, RunReport, "POST /learn", OPERATE, Retry.ONCE,
    "Learn once from everything that is marked, in all spaces, and report what came of it.",
    timed=False, merge=merge_reports,
    details=(
        "It waits for what this process has already begun in the background, and the report includes what was learnt "
        "there since the last call. It does not wait for other processes. What changed is then sent to webhooks, "
        "unless `only` is given."
    ),
)  # fmt: skip
VERBS = served_by("bethink.jobs.service", LIST_SPACES, AUDIT, LEARN)
