"""Workers with running jobs, and when their leases end."""

from itertools import groupby
from typing import Any

from bethink.model.jobs import Job, JobStatus
from bethink.model.operations.monitoring import LIST_JOBS, ListJobsRequest
from bethink.web.visit import MenuItem, PageRoute, PageView, Twin, Visit

_PAGE = 100


def _running(visit: Visit) -> Twin:
    del visit
    return LIST_JOBS, ListJobsRequest(status=JobStatus.RUNNING, limit=_PAGE)


async def workers(visit: Visit) -> PageView:
    """Show running jobs by worker. Idle workers are not listed."""
    operation, request = _running(visit)
    page = await visit.run(operation, request)
    by_name = groupby(sorted(page.items, key=_name), _name)
    values: dict[str, Any] = {"workers": [(name, list(group)) for name, group in by_name], "more": page.next}
    return PageView(template="workers.html", values=values)


def _name(job: Job) -> str:
    return job.worker or ""


ROUTES = (PageRoute(path="/workers", handler=workers, twin=_running),)
MENU = (
    MenuItem(
        section="Operations",
        name="Workers",
        step="workers",
        operation=LIST_JOBS,
        shortcut="w",
        position=20,
        in_space=False,
    ),
)
