"""Background jobs: the worker that runs them, and the queries that find those that are due."""

from bethink.jobs.worker import Worker
from bethink.model.jobs import JobKind, RunReport
from bethink.store.db import Database
from bethink.store.jobs import due

__all__ = ["Database", "JobKind", "RunReport", "Worker", "due"]
