"""Prometheus metrics: counts and times of requests, and the state of learning. Spaces are never labels."""

import os
import time
from collections.abc import Callable
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from bethink.errors import BethinkError
from bethink.host.backend import Backend
from bethink.http.names import NAMESPACE
from bethink.model.access import Caller, Interface, calling_as
from bethink.model.jobs import JobKind, JobStatus, LearnReport
from bethink.model.operations.base import Empty
from bethink.model.operations.installation import AUDIT

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_WAITING = (JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.FAILED)
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable of the folder in which the processes of a server combine their metrics."""
_FRESH = 15.0
"""Seconds for which the counts of the tables are cached."""


class Metrics:
    """The metrics of one server and all its processes, in a separate registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._shared = SHARED_FOLDER in os.environ
        self._active: Callable[[], int] = lambda: 0
        self._refreshed_at: float | None = None
        self._requests = self._counter("requests_total", "Requests answered.", "method", "route", "status")
        self._seconds = self._histogram("request_seconds", "Time to answer.", "method", "route")
        self._capture = self._counter("capture_total", "Requests to store messages.", "result")
        self._capture_seconds = self._histogram("capture_seconds", "Time to store messages durably.")
        self._recall_seconds = self._histogram("recall_seconds", "Time to recall.")
        self._erasure_seconds = self._histogram("erasure_seconds", "Time to forget.")
        self._in_progress = self._gauge("requests_in_progress", "Requests in progress.", mode="livesum")
        self._jobs = self._counter("worker_jobs_total", "Jobs finished by this worker.", "outcome")
        self._depth = self._gauge("queue_depth", "Jobs that are queued, running or to be retried.", "stage")
        self._dead = self._gauge("dead_letter", "Abandoned jobs.", "stage")
        self._overdue = self._gauge("jobs_overdue", "Jobs that no worker has leased in time.")
        self._violations = self._gauge("invariant_violations", "Violated invariants at the last check.")
        self._cost = self._gauge("llm_cost_usd_today", "Cost of models today (UTC), in USD.")

    def follow(self, active: Callable[[], int]) -> None:
        """Report the number of requests in progress. With several processes, each reports its last value."""
        self._active = active
        if not self._shared:
            self._in_progress.set_function(active)

    def count_jobs(self, report: LearnReport) -> None:
        """Count the jobs of one run of a worker."""
        for outcome, count in report.outcomes.items():
            self._jobs.labels(outcome).inc(count)

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request by the template of its route."""
        if self._shared:
            self._in_progress.set(self._active())
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(method, route).observe(seconds)

    def count_capture(self, status: int, seconds: float) -> None:
        """Count a request to store messages. Only successful requests are timed."""
        result = "ok" if _is_success(status) else "refused" if 400 <= status < 500 else "failed"
        self._capture.labels(result).inc()
        if _is_success(status):
            self._capture_seconds.observe(seconds)

    def time_recall(self, status: int, seconds: float) -> None:
        """Record the time of a successful recall."""
        if _is_success(status):
            self._recall_seconds.observe(seconds)

    def time_deletion(self, status: int, seconds: float) -> None:
        """Record the time of a successful deletion."""
        if _is_success(status):
            self._erasure_seconds.observe(seconds)

    async def page(self, backend: Backend) -> bytes:
        """Return all metrics as text. Those of learning may be some seconds old."""
        now = time.monotonic()
        if self._refreshed_at is None or now - self._refreshed_at >= _FRESH:
            self._refreshed_at = now
            await self._refresh(backend)
        if not self._shared:
            return generate_latest(self.registry)
        self._in_progress.set(self._active())
        combined = CollectorRegistry()
        MultiProcessCollector(combined)
        return generate_latest(combined)

    async def _refresh(self, backend: Backend) -> None:
        try:
            with calling_as(Caller(interface=Interface.PROBE)):
                audit = await backend.run(AUDIT, "", Empty())
        except BethinkError:
            return  # without learning there is nothing to report, and other metrics show a lost database
        for stage in JobKind:
            counts = audit.counts.get(stage, {})
            self._depth.labels(stage).set(sum(counts.get(status, 0) for status in _WAITING))
            self._dead.labels(stage).set(counts.get(JobStatus.ABANDONED, 0))
        self._overdue.set(audit.overdue)
        self._violations.set(audit.violations)
        self._cost.set(audit.spent_today.cost / 1_000_000)

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(name, about, labels, namespace=NAMESPACE, registry=self.registry)

    def _gauge(
        self, name: str, about: str, *labels: str, mode: Literal["livesum", "mostrecent"] = "mostrecent"
    ) -> Gauge:
        return Gauge(name, about, labels, namespace=NAMESPACE, registry=self.registry, multiprocess_mode=mode)

    def _histogram(self, name: str, about: str, *labels: str) -> Histogram:
        return Histogram(name, about, labels, namespace=NAMESPACE, registry=self.registry, buckets=_SECONDS)


def _is_success(status: int) -> bool:
    return 0 < status < 400  # 0 is a request that ended without a response
