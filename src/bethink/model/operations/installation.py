"""Operations on the whole memory: learning and audits."""

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.checks import any_of
from bethink.model.jobs import Audit, JobKind, LearnReport
from bethink.model.operations.base import Empty, Operation, Request, Retry, served_by
from bethink.model.operations.merging import merge_audits, merge_reports

OPERATE = Scope.OPERATE


@frozen
class LearnRequest(Request):
    """Kinds of jobs to run."""

    kinds: tuple[JobKind, ...] | None = None
    """Kinds of jobs to run (default: all)."""

    def __post_init__(self) -> None:
        if self.kinds is not None:
            object.__setattr__(self, "kinds", any_of("kinds", self.kinds, JobKind))
        Request.__post_init__(self)


AUDIT: Operation[Empty, Audit] = Operation(
    "memory.admin.audit", Empty, Audit, "GET /audit", OPERATE, Retry.SAFE,
    "Return counts of unfinished jobs, today's cost and violations of invariants.",
    merge=merge_audits,
)  # fmt: skip
LEARN: Operation[LearnRequest, LearnReport] = Operation(
    "memory.learn", LearnRequest, LearnReport, "POST /learn", OPERATE, Retry.ONCE,
    "Run all queued learning jobs in all spaces once, and return a report.",
    timed=False, merge=merge_reports,
    details=(
        "Waits for background jobs of this process and includes their results since the last call in the report. "
        "Does not wait for other processes. Afterwards, unless `kinds` is set, changes are sent to webhooks."
    ),
)  # fmt: skip
OPERATIONS = served_by("bethink.jobs.service", AUDIT, LEARN)
