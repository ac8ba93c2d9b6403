"""The start page for operators: health, pending reviews, abandoned jobs and cost."""

from datetime import UTC, datetime, timedelta
from typing import Any

from bethink.model.jobs import Audit, JobKind, JobStatus
from bethink.model.operations.base import Empty
from bethink.model.operations.installation import AUDIT
from bethink.model.operations.monitoring import (
    LIST_JOBS,
    LIST_PENDING,
    LIST_SPACES,
    LIST_SPENDING,
    ListJobsRequest,
    ListPendingRequest,
    ListSpacesRequest,
    ListSpendingRequest,
)
from bethink.web.costs import CostDay, chart
from bethink.web.pages.home import spaces
from bethink.web.pages.start import start
from bethink.web.visit import Goto, PageRoute, PageView, Twin, Visit, address

_DAYS = 14
_FEW = 5
STATUSES = (JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.FAILED, JobStatus.ABANDONED)


def _audit_request(visit: Visit) -> Twin | None:
    return (AUDIT, Empty()) if visit.may(AUDIT) else None


async def overview(visit: Visit) -> PageView | Goto:
    """Show the state of the installation; without that permission, the spaces that the key can access."""
    if not visit.may(AUDIT) or visit.query_value("space"):
        return await spaces(visit)
    if not await visit.run(LIST_SPACES, ListSpacesRequest(limit=1)):
        return await start(visit)
    audit = await visit.run(AUDIT, Empty())
    today = datetime.now(UTC)
    since = today - timedelta(days=_DAYS - 1)
    spending = await visit.run(LIST_SPENDING, ListSpendingRequest(since=since))
    pending = await visit.run(LIST_PENDING, ListPendingRequest(limit=_FEW))
    dead = await visit.run(LIST_JOBS, ListJobsRequest(status=JobStatus.ABANDONED, limit=_FEW))
    days = [CostDay(entry.day, {"": entry.usage}) for entry in spending]
    values: dict[str, Any] = {
        "audit": audit,
        "trouble": _problems(audit),
        "kinds": tuple(JobKind),
        "statuses": STATUSES,
        "held": pending,
        "abandoned": dead.items,
        "chart": chart(days, since.date(), today.date(), ("",)),
        "spent": sum(entry.usage.cost for entry in spending),
        "days": _DAYS,
    }
    return PageView(template="overview.html", values=values)


def _problems(audit: Audit) -> list[tuple[str, str, str, str]]:
    """Return problems, each with severity, description, next step and link."""
    problems: list[tuple[str, str, str, str]] = []
    if audit.violations:
        description = f"{audit.violations:,} integrity violations: facts without a source, or broken sessions."
        problems.append(("bad", description, "Run bethink doctor.", ""))
    if audit.expired_leases:
        description = f"{audit.expired_leases:,} jobs were started by a worker that has stopped."
        problems.append(
            ("bad", description, "Another worker takes over. Check that one is running.", address("workers"))
        )
    if audit.overdue > audit.expired_leases:
        description = f"{audit.overdue - audit.expired_leases:,} jobs are due, but no worker has started them."
        problems.append(("warn", description, "Start a worker: bethink worker.", address("workers")))
    if audit.abandoned:
        description = f"{audit.abandoned:,} {'job was' if audit.abandoned == 1 else 'jobs were'} abandoned."
        problems.append(("warn", description, "See why and retry.", address("jobs")))
    if audit.is_capped:
        description = "Learning is paused until midnight UTC: the daily budget is spent."
        problems.append(("warn", description, "Raise daily_budget, or wait.", address("cost")))
    return problems


ROUTES = (PageRoute(path="/", handler=overview, twin=_audit_request),)
