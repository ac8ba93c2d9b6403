"""Jobs of one space or of all spaces: status, errors and retries."""

from dataclasses import replace
from typing import Any

from bethink.errors import NotFoundError
from bethink.model.jobs import Job, JobKind, JobStatus
from bethink.model.operations.monitoring import (
    GET_JOB,
    LIST_JOBS,
    LIST_SPACE_JOBS,
    RETRY_JOB,
    JobRequest,
    ListJobsRequest,
    ListSpaceJobsRequest,
)
from bethink.web.pages.overview import STATUSES
from bethink.web.visit import Goto, MenuItem, PageRoute, PageView, Twin, Visit, address

_PAGE = 50
_FAILED = (JobStatus.FAILED, JobStatus.ABANDONED)


def _kind(name: str) -> JobKind | None:
    return JobKind(name) if name in set(JobKind) else None


def _status(name: str) -> JobStatus | None:
    return JobStatus(name) if name in set(JobStatus) else None


def _all_spaces_request(visit: Visit) -> Twin:
    status = _status(visit.query_value("status"))
    return LIST_JOBS, ListJobsRequest(
        status=JobStatus.ABANDONED if status is None or status not in STATUSES else status,
        kind=_kind(visit.query_value("kind")),
        limit=_PAGE,
        after=visit.query_value("after"),
    )


def _space_request(visit: Visit) -> Twin:
    return LIST_SPACE_JOBS, ListSpaceJobsRequest(
        status=_status(visit.query_value("status")),
        kind=_kind(visit.query_value("kind")),
        limit=_PAGE,
        after=visit.query_value("after"),
    )


async def jobs(visit: Visit) -> PageView:
    """List jobs, most recently queued first."""
    operation, request = _space_request(visit) if visit.space else _all_spaces_request(visit)
    page = await visit.run(operation, request)

    def link(**query: object) -> str:
        return visit.link("jobs", **query) if visit.space else address("jobs", **query)

    values: dict[str, Any] = {
        "jobs": page.items,
        "status": request.status,
        "kind": request.kind,
        "after": request.after,
        "statuses": (None, *JobStatus) if visit.space else tuple(reversed(STATUSES)),
        "kinds": tuple(JobKind),
        "link": link,
        "more": link(status=request.status, kind=request.kind, after=page.next) if page.next else "",
        "failed": _FAILED,
        "may_retry": visit.may_change(RETRY_JOB),
    }
    return PageView(template="jobs.html", values=values)


def _job_request(visit: Visit) -> JobRequest:
    kind = _kind(visit.names["kind"])
    if kind is None:
        raise NotFoundError(f"Unknown job kind: {visit.names['kind'][:40]!r}.", hint=f"Use {', '.join(JobKind)}.")
    return JobRequest(kind=kind, key=visit.names["key"])


def _job_twin(visit: Visit) -> Twin:
    return GET_JOB, _job_request(visit)


async def job(visit: Visit) -> PageView:
    """Show one job: its times, failed attempts and model responses."""
    details = await visit.run(GET_JOB, _job_request(visit))
    values: dict[str, Any] = {
        "job": details.job,
        "failures": details.failures,
        "answers": details.answers,
        "may_retry": visit.may_change(RETRY_JOB) and details.job.status in _FAILED,
    }
    return PageView(template="job.html", values=values)


async def retry(visit: Visit) -> Goto:
    """Retry a job."""
    request = _job_request(visit)
    done = await visit.run(RETRY_JOB, request)
    if visit.form_value("back") == "all" and visit.may(LIST_JOBS):
        return Goto(address("jobs", status=visit.form_value("status"), told="again" if done else "running"))
    return Goto(visit.link("jobs", request.kind, request.key, told="again" if done else "running"))


async def retry_page(visit: Visit) -> Goto:
    """Retry all jobs of a page, each with the rights of the key in its space."""
    visit.require(RETRY_JOB)
    list_visit = replace(visit, query={name: (visit.form_value(name),) for name in ("status", "kind", "after")})
    operation, request = _space_request(list_visit) if visit.space else _all_spaces_request(list_visit)
    if request.status not in _FAILED:
        raise NotFoundError("Only failed or abandoned jobs can be retried.", hint="Select one of these statuses.")
    for entry in (await visit.run(operation, request)).items:
        await _retry_job(visit, entry)
    query = {"status": request.status, "kind": request.kind, "told": "all-again"}
    return Goto(visit.link("jobs", **query) if visit.space else address("jobs", **query))


async def _retry_job(visit: Visit, entry: Job) -> None:
    try:
        await visit.within(entry.space).run(RETRY_JOB, JobRequest(kind=entry.kind, key=entry.key))
    except NotFoundError:  # deleted in the meantime
        return


ROUTES = (
    PageRoute(path="/jobs", handler=jobs, twin=_all_spaces_request),
    PageRoute(path="/jobs/retry", handler=retry_page, method="POST"),
    PageRoute(path="/s/{space}/jobs", handler=jobs, twin=_space_request),
    PageRoute(path="/s/{space}/jobs/retry", handler=retry_page, method="POST"),
    PageRoute(path="/s/{space}/jobs/{kind}/{key}", handler=job, twin=_job_twin),
    PageRoute(path="/s/{space}/jobs/{kind}/{key}/retry", handler=retry, method="POST"),
)
MENU = (
    MenuItem(
        section="Operations",
        name="Jobs",
        step="jobs",
        operation=LIST_SPACE_JOBS,
        shortcut="j",
        position=20,
        templates=("jobs", "job"),
    ),
    MenuItem(
        section="Operations",
        name="Jobs",
        step="jobs",
        operation=LIST_JOBS,
        shortcut="j",
        position=10,
        templates=("jobs", "job"),
        in_space=False,
    ),
)
