"""What Prometheus reads: counts and times of requests, and how learning stands. No space is ever a label."""

import os
import time
from collections.abc import Callable
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from bethink.errors import BethinkError
from bethink.host.backend import Backend
from bethink.http.names import NAMESPACE
from bethink.model.access import Caller, Door, asked_by
from bethink.model.jobs import JobKind, JobStatus, RunReport
from bethink.model.operations.base import Empty
from bethink.model.operations.installation import AUDIT

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_WAITING = (JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.FAILED)
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder where processes of one server add their figures up; the library reads it."""
_FRESH = 15.0
"""Seconds for which one look at the tables serves every reader."""


class Metrics:
    """The figures of one server, in a registry of their own; those of all its processes, where there are several."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._shared = SHARED_FOLDER in os.environ
        self._active: Callable[[], int] = lambda: 0
        self._looked: float | None = None
        self._requests = self._counter("requests_total", "Requests answered.", "method", "route", "status")
        self._seconds = self._histogram("request_seconds", "Time to answer.", "method", "route")
        self._capture = self._counter("capture_total", "Requests to store messages.", "result")
        self._capture_seconds = self._histogram("capture_seconds", "Time to store messages durably.")
        self._recall_seconds = self._histogram("recall_seconds", "Time to recall.")
        self._erasure_seconds = self._histogram("erasure_seconds", "Time to forget.")
        self._in_progress = self._gauge("requests_in_progress", "Requests at work.", mode="livesum")
        self._jobs = self._counter("worker_jobs_total", "Jobs that this worker has ended.", "outcome")
        self._depth = self._gauge("queue_depth", "Jobs that wait, run, or are tried again.", "stage")
        self._dead = self._gauge("dead_letter", "Jobs that were given up.", "stage")
        self._overdue = self._gauge("jobs_overdue", "Jobs that no worker has claimed in time.")
        self._violations = self._gauge("invariant_violations", "What must never be, at the last look.")
        self._cost = self._gauge("llm_cost_usd_today", "What models were paid today, UTC.")

    def follow(self, active: Callable[[], int]) -> None:
        """Show how many requests are at work. Several processes show what each had at its last answer."""
        self._active = active
        if not self._shared:
            self._in_progress.set_function(active)

    def worked(self, report: RunReport) -> None:
        """Count the jobs of one run of a worker."""
        for outcome, count in report.outcomes.items():
            self._jobs.labels(outcome).inc(count)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request by the template of its route."""
        if self._shared:
            self._in_progress.set(self._active())
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(method, route).observe(seconds)

    def captured(self, status: int, seconds: float) -> None:
        """Count a request to store messages; only those that were stored are timed."""
        result = "ok" if _done(status) else "refused" if 400 <= status < 500 else "failed"
        self._capture.labels(result).inc()
        if _done(status):
            self._capture_seconds.observe(seconds)

    def recalled(self, status: int, seconds: float) -> None:
        """Time a request to recall that was answered."""
        if _done(status):
            self._recall_seconds.observe(seconds)

    def forgot(self, status: int, seconds: float) -> None:
        """Time a request to forget that was done."""
        if _done(status):
            self._erasure_seconds.observe(seconds)

    async def page(self, backend: Backend) -> bytes:
        """Write every figure down; those of learning are as fresh as the last look at the tables."""
        now = time.monotonic()
        if self._looked is None or now - self._looked >= _FRESH:
            self._looked = now
            await self._look(backend)
        if not self._shared:
            return generate_latest(self.registry)
        self._in_progress.set(self._active())
        every = CollectorRegistry()
        MultiProcessCollector(every)
        return generate_latest(every)

    async def _look(self, backend: Backend) -> None:
        try:
            with asked_by(Caller(door=Door.PROBE)):
                audit = await backend.run(AUDIT, "", Empty())
        except BethinkError:
            return  # without learning there is nothing to report, and a lost database shows in other metrics
        for stage in JobKind:
            counts = audit.counts.get(stage, {})
            self._depth.labels(stage).set(sum(counts.get(status, 0) for status in _WAITING))
            self._dead.labels(stage).set(counts.get(JobStatus.DEAD, 0))
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


def _done(status: int) -> bool:
    return 0 < status < 400  # 0 is a request that was broken off before it was answered
