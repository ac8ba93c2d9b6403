"""Who is at work: the workers that hold a job now, since when, and how long their leases last."""

from itertools import groupby
from typing import Any

from bethink.model.jobs import Job, JobStatus
from bethink.model.operations.monitoring import PAGE_JOBS, PageJobsRequest
from bethink.web.visit import MenuItem, Page, PageRoute, Twin, Visit

_PAGE = 100


def _running(visit: Visit) -> Twin:
    del visit
    return PAGE_JOBS, PageJobsRequest(status=JobStatus.RUNNING, limit=_PAGE)


async def workers(visit: Visit) -> Page:
    """Show the jobs that run by the worker that does them. A worker without a job is not known."""
    verb, request = _running(visit)
    found = await visit.run(verb, request)
    by_name = groupby(sorted(found.items, key=_name), _name)
    values: dict[str, Any] = {"workers": [(name, list(group)) for name, group in by_name], "more": found.next}
    return Page(template="workers.html", values=values)


def _name(job: Job) -> str:
    return job.worker or ""


ROUTES = (PageRoute(path="/workers", handler=workers, twin=_running),)
MENU = (
    MenuItem(
        section="Running",
        name="Workers",
        step="workers",
        operation=PAGE_JOBS,
        shortcut="w",
        position=20,
        in_space=False,
    ),
)
