"""What runs, waits, failed or was given up, in all spaces or in one; why; and letting it start over."""

from dataclasses import replace
from typing import Any

from bethink.errors import NotFound
from bethink.model.jobs import Job, JobKind, JobStatus
from bethink.model.operations.monitoring import (
    GET_JOB,
    PAGE_JOBS,
    PAGE_SPACE_JOBS,
    RETRY_JOB,
    JobRequest,
    PageJobsRequest,
    PageSpaceJobsRequest,
)
from bethink.web.pages.overview import STATUSES
from bethink.web.visit import Goto, MenuItem, Page, PageRoute, Twin, Visit, address

_PAGE = 50
_FAILED = (JobStatus.FAILED, JobStatus.DEAD)


def _kind(name: str) -> JobKind | None:
    return JobKind(name) if name in set(JobKind) else None


def _status(name: str) -> JobStatus | None:
    return JobStatus(name) if name in set(JobStatus) else None


def _across(visit: Visit) -> Twin:
    status = _status(visit.ask("status"))
    return PAGE_JOBS, PageJobsRequest(
        status=JobStatus.DEAD if status is None or status not in STATUSES else status,
        kind=_kind(visit.ask("kind")),
        limit=_PAGE,
        after=visit.ask("after"),
    )


def _in_space(visit: Visit) -> Twin:
    return PAGE_SPACE_JOBS, PageSpaceJobsRequest(
        status=_status(visit.ask("status")), kind=_kind(visit.ask("kind")), limit=_PAGE, after=visit.ask("after")
    )


async def jobs(visit: Visit) -> Page:
    """List jobs, the last queued first."""
    verb, request = _in_space(visit) if visit.space else _across(visit)
    found = await visit.run(verb, request)

    def link(**query: object) -> str:
        return visit.link("jobs", **query) if visit.space else address("jobs", **query)

    values: dict[str, Any] = {
        "jobs": found.items,
        "status": request.status,
        "kind": request.kind,
        "after": request.after,
        "statuses": (None, *JobStatus) if visit.space else tuple(reversed(STATUSES)),
        "kinds": tuple(JobKind),
        "link": link,
        "more": link(status=request.status, kind=request.kind, after=found.next) if found.next else "",
        "failed": _FAILED,
        "may_retry": visit.may_change(RETRY_JOB),
    }
    return Page(template="jobs.html", values=values)


def _named(visit: Visit) -> JobRequest:
    kind = _kind(visit.names["kind"])
    if kind is None:
        raise NotFound(f"unknown kind of job {visit.names['kind'][:40]!r}.", hint=f"Use {', '.join(JobKind)}.")
    return JobRequest(kind=kind, key=visit.names["key"])


def _one(visit: Visit) -> Twin:
    return GET_JOB, _named(visit)


async def job(visit: Visit) -> Page:
    """Show one job: its times, its failed attempts, and what models answered."""
    found = await visit.run(GET_JOB, _named(visit))
    values: dict[str, Any] = {
        "job": found.job,
        "failures": found.failures,
        "answers": found.answers,
        "may_retry": visit.may_change(RETRY_JOB) and found.job.status in _FAILED,
    }
    return Page(template="job.html", values=values)


async def retry(visit: Visit) -> Goto:
    """Let a job start over."""
    request = _named(visit)
    done = await visit.run(RETRY_JOB, request)
    if visit.filled("back") == "all" and visit.may(PAGE_JOBS):
        return Goto(address("jobs", status=visit.filled("status"), told="again" if done else "running"))
    return Goto(visit.link("jobs", request.kind, request.key, told="again" if done else "running"))


async def retry_page(visit: Visit) -> Goto:
    """Let every job of a page start over, each with the rights of the key in its space."""
    visit.require(RETRY_JOB)
    asked = replace(visit, query={name: (visit.filled(name),) for name in ("status", "kind", "after")})
    verb, request = _in_space(asked) if visit.space else _across(asked)
    if request.status not in _FAILED:
        raise NotFound("only jobs that failed or were given up start over.", hint="Choose one of these states.")
    for each in (await visit.run(verb, request)).items:
        await _retried(visit, each)
    query = {"status": request.status, "kind": request.kind, "told": "all-again"}
    return Goto(visit.link("jobs", **query) if visit.space else address("jobs", **query))


async def _retried(visit: Visit, found: Job) -> None:
    try:
        await visit.within(found.space).run(RETRY_JOB, JobRequest(kind=found.kind, key=found.key))
    except NotFound:  # it was forgotten meanwhile
        return


ROUTES = (
    PageRoute(path="/jobs", handler=jobs, twin=_across),
    PageRoute(path="/jobs/retry", handler=retry_page, method="POST"),
    PageRoute(path="/s/{space}/jobs", handler=jobs, twin=_in_space),
    PageRoute(path="/s/{space}/jobs/retry", handler=retry_page, method="POST"),
    PageRoute(path="/s/{space}/jobs/{kind}/{key}", handler=job, twin=_one),
    PageRoute(path="/s/{space}/jobs/{kind}/{key}/retry", handler=retry, method="POST"),
)
MENU = (
    MenuItem(
        section="Running",
        name="Jobs",
        step="jobs",
        operation=PAGE_SPACE_JOBS,
        shortcut="j",
        position=20,
        templates=("jobs", "job"),
    ),
    MenuItem(
        section="Running",
        name="Jobs",
        step="jobs",
        operation=PAGE_JOBS,
        shortcut="j",
        position=10,
        templates=("jobs", "job"),
        in_space=False,
    ),
)
