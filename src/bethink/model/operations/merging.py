"""Functions that merge the results of one operation on several databases. An operation declares one as `merge`."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import reduce
from typing import Any, Protocol, TypeVar

from bethink.model.jobs import Audit, JobKind, JobStatus, LearnReport, Spending, SpendingBy
from bethink.model.paging import Page
from bethink.model.summaries import Health

T = TypeVar("T")
_MAX_PENDING = 1_000
_Counts = Mapping[JobKind, Mapping[JobStatus, int]]


class Limited(Protocol):
    """A request with a limit."""

    @property
    def limit(self) -> int:
        """Maximum number of results."""
        ...


class SpendingQuery(Limited, Protocol):
    """A request for spending."""

    @property
    def by(self) -> SpendingBy:
        """The grouping."""
        ...


def first(request: object, results: Sequence[T]) -> T:
    """Return the first result, for operations with the same result in every database."""
    del request
    return results[0]


def sorted_page(
    key: Callable[[T], Any], *, cursor: Callable[[T], str] | None, reverse: bool = False
) -> Callable[[Limited, Sequence[Page[T]]], Page[T]]:
    """Return a function that merges sorted pages into one of at most `limit` items, without duplicates.

    Args:
        key: Returns the sort key of an item.
        cursor: Returns the cursor that continues after an item; None for a list without pages.
        reverse: Whether the largest key comes first.
    """

    def merge(request: Limited, results: Sequence[Page[T]]) -> Page[T]:
        items = sorted(dict.fromkeys(item for page in results for item in page), key=key, reverse=reverse)
        page_items = items[: request.limit]
        has_more = (
            cursor is not None
            and bool(page_items)
            and (len(items) > len(page_items) or any(page.next for page in results))
        )
        return Page(items=tuple(page_items), next=cursor(page_items[-1]) if cursor is not None and has_more else "")

    return merge


def merge_reports(request: object, results: Sequence[LearnReport]) -> LearnReport:
    """Sum the counts. `blocked` is the last reason of any database."""
    del request
    total = LearnReport()
    for report in results:
        blocked = total.blocked
        total.add(report)
        total.blocked = total.blocked or blocked
    return total


def merge_audits(request: object, results: Sequence[Audit]) -> Audit:
    """Sum the counts and the spending. The daily cap is the same everywhere."""
    del request
    return Audit(
        counts=_sum_counts([audit.counts for audit in results]),
        overdue=sum(audit.overdue for audit in results),
        expired_leases=sum(audit.expired_leases for audit in results),
        facts_without_source=sum(audit.facts_without_source for audit in results),
        broken_sessions=sum(audit.broken_sessions for audit in results),
        spaces_checked=sum(audit.spaces_checked for audit in results),
        spent_today=reduce(lambda total, usage: total + usage, (audit.spent_today for audit in results)),
        daily_budget=results[0].daily_budget,
        violations=sum(audit.violations for audit in results),
    )


def merge_counters(request: object, results: Sequence[Health]) -> Health:
    """Sum the counts."""
    del request
    pending = min(_MAX_PENDING, sum(counters.pending for counters in results))
    return Health(jobs=_sum_counts([counters.jobs for counters in results]), pending=pending)


def merge_spending(request: SpendingQuery, results: Sequence[Page[Spending]]) -> Page[Spending]:
    """Sum the costs of the same day and name. By space, return the spaces with the highest cost of each day."""
    totals: dict[tuple[date, str], Spending] = {}
    for entry in (entry for entries in results for entry in entries):
        before = totals.get((entry.day, entry.name))
        usage = entry.usage if before is None else before.usage + entry.usage
        totals[entry.day, entry.name] = replace(entry, usage=usage)
    entries = sorted(totals.values(), key=lambda entry: (entry.day, -entry.usage.cost, entry.name))
    if request.by is not SpendingBy.SPACE:
        return Page(items=tuple(entries))
    by_day: dict[date, list[Spending]] = {}
    for entry in entries:
        by_day.setdefault(entry.day, []).append(entry)
    return Page(items=tuple(entry for day in by_day.values() for entry in day[: request.limit]))


def joined_page(request: object, results: Sequence[Page[T]]) -> Page[T]:
    """Return one page with the items of all pages, for a list without a limit."""
    del request
    return Page(items=tuple(item for page in results for item in page))


def _sum_counts(counts: Sequence[_Counts]) -> dict[JobKind, dict[JobStatus, int]]:
    totals: dict[JobKind, Counter[JobStatus]] = {}
    for statuses_by_kind in counts:
        for kind, statuses in statuses_by_kind.items():
            totals.setdefault(kind, Counter()).update(statuses)
    return {kind: dict(statuses) for kind, statuses in totals.items()}
