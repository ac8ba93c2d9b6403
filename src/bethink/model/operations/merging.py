"""Functions that merge the results of one operation on several databases. An operation declares one as `merge`."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import reduce
from typing import Any, Protocol, TypeVar

from bethink.model.erasures import OpenErasures
from bethink.model.jobs import Audit, JobKind, JobStatus, RunReport, Spending, SpendingBy
from bethink.model.summaries import Counters

T = TypeVar("T")
_MAX_HELD = 1_000
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
    """Return the first result, for what is the same everywhere."""
    del request
    return results[0]


def sorted_page(key: Callable[[T], Any], *, reverse: bool = False) -> Callable[[Limited, Sequence[list[T]]], list[T]]:
    """Return a function that merges sorted lists into one of at most `limit` items, without duplicates."""

    def merge(request: Limited, results: Sequence[list[T]]) -> list[T]:
        items = dict.fromkeys(item for items in results for item in items)
        return sorted(items, key=key, reverse=reverse)[: request.limit]

    return merge


def merge_reports(request: object, results: Sequence[RunReport]) -> RunReport:
    """Sum the counts. `held` is the last reason that any database had."""
    del request
    total = RunReport()
    for report in results:
        held = total.held
        total.add(report)
        total.held = total.held or held
    return total


def merge_audits(request: object, results: Sequence[Audit]) -> Audit:
    """Sum the counts and the spending. The daily cap is the same everywhere."""
    del request
    return Audit(
        counts=_sum_counts([audit.counts for audit in results]),
        overdue=sum(audit.overdue for audit in results),
        abandoned=sum(audit.abandoned for audit in results),
        facts_without_source=sum(audit.facts_without_source for audit in results),
        broken_sessions=sum(audit.broken_sessions for audit in results),
        spaces_checked=sum(audit.spaces_checked for audit in results),
        spent_today=reduce(lambda total, usage: total + usage, (audit.spent_today for audit in results)),
        daily_cap=results[0].daily_cap,
        violations=sum(audit.violations for audit in results),
    )


def merge_counters(request: object, results: Sequence[Counters]) -> Counters:
    """Sum the counts."""
    del request
    held = min(_MAX_HELD, sum(counters.held for counters in results))
    return Counters(jobs=_sum_counts([counters.jobs for counters in results]), held=held)


def merge_spending(request: SpendingQuery, results: Sequence[list[Spending]]) -> list[Spending]:
    """Sum the costs of the same day and name. By space, return those that cost most on each day."""
    totals: dict[tuple[date, str], Spending] = {}
    for entry in (entry for entries in results for entry in entries):
        before = totals.get((entry.day, entry.name))
        usage = entry.usage if before is None else before.usage + entry.usage
        totals[entry.day, entry.name] = replace(entry, usage=usage)
    entries = sorted(totals.values(), key=lambda entry: (entry.day, -entry.usage.cost, entry.name))
    if request.by is not SpendingBy.SPACE:
        return entries
    by_day: dict[date, list[Spending]] = {}
    for entry in entries:
        by_day.setdefault(entry.day, []).append(entry)
    return [entry for day in by_day.values() for entry in day[: request.limit]]


def merge_open_erasures(request: object, results: Sequence[OpenErasures]) -> OpenErasures:
    """Join what is still to be confirmed."""
    del request
    return replace(results[0], waiting=tuple(entry for result in results for entry in result.waiting))


def _sum_counts(counts: Sequence[_Counts]) -> dict[JobKind, dict[JobStatus, int]]:
    totals: dict[JobKind, Counter[JobStatus]] = {}
    for statuses_by_kind in counts:
        for kind, statuses in statuses_by_kind.items():
            totals.setdefault(kind, Counter()).update(statuses)
    return {kind: dict(statuses) for kind, statuses in totals.items()}
