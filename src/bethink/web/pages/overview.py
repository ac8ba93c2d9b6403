"""The first page of those who run a memory: is it well, what waits, what was given up, and what did today cost?"""

from datetime import UTC, datetime, timedelta
from typing import Any

from bethink.model.jobs import Audit, JobKind, JobStatus
from bethink.model.operations.base import Empty
from bethink.model.operations.installation import AUDIT, LIST_SPACES, ListSpacesRequest
from bethink.model.operations.monitoring import HELD, PAGE_JOBS, SPENDING, HeldRequest, PageJobsRequest, SpendingRequest
from bethink.web.costs import CostDay, chart
from bethink.web.pages.home import spaces
from bethink.web.pages.start import start
from bethink.web.visit import Goto, Page, PageRoute, Twin, Visit, address

_DAYS = 14
_FEW = 5
STATUSES = (JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.FAILED, JobStatus.DEAD)


def _audited(visit: Visit) -> Twin | None:
    return (AUDIT, Empty()) if visit.may(AUDIT) else None


async def overview(visit: Visit) -> Page | Goto:
    """Show how the whole memory stands; to those who may not see that, the spaces that they may open."""
    if not visit.may(AUDIT) or visit.ask("space"):
        return await spaces(visit)
    if not await visit.run(LIST_SPACES, ListSpacesRequest(limit=1)):
        return await start(visit)
    audit = await visit.run(AUDIT, Empty())
    today = datetime.now(UTC)
    since = today - timedelta(days=_DAYS - 1)
    spent = await visit.run(SPENDING, SpendingRequest(since=since))
    held = await visit.run(HELD, HeldRequest(limit=_FEW))
    dead = await visit.run(PAGE_JOBS, PageJobsRequest(status=JobStatus.DEAD, limit=_FEW))
    days = [CostDay(each.day, {"": each.usage}) for each in spent]
    values: dict[str, Any] = {
        "audit": audit,
        "trouble": _trouble(audit),
        "kinds": tuple(JobKind),
        "statuses": STATUSES,
        "held": held,
        "dead": dead.items,
        "chart": chart(days, since.date(), today.date(), ("",)),
        "spent": sum(each.usage.cost for each in spent),
        "days": _DAYS,
    }
    return Page(template="overview.html", values=values)


def _trouble(audit: Audit) -> list[tuple[str, str, str, str]]:
    """Return what is wrong: how bad it is, what it is, what to do, and where."""
    found: list[tuple[str, str, str, str]] = []
    if audit.violations:
        what = f"{audit.violations:,} of what must never be: facts without a source, or broken sessions."
        found.append(("bad", what, "Run bethink doctor.", ""))
    if audit.abandoned:
        what = f"{audit.abandoned:,} jobs were begun by a worker that is gone."
        found.append(("bad", what, "Another worker takes them over: see whether one runs.", address("workers")))
    if audit.overdue > audit.abandoned:
        what = f"{audit.overdue - audit.abandoned:,} jobs are due, and no worker has taken them."
        found.append(("warn", what, "Start one: bethink worker.", address("workers")))
    if audit.dead:
        what = f"{audit.dead:,} {'job was' if audit.dead == 1 else 'jobs were'} given up."
        found.append(("warn", what, "See why, and let them start over.", address("jobs")))
    if audit.capped:
        what = "Learning is paused until midnight UTC: the budget of the day is spent."
        found.append(("warn", what, "Raise daily_spend_cap, or wait.", address("cost")))
    return found


ROUTES = (PageRoute(path="/", handler=overview, twin=_audited),)
