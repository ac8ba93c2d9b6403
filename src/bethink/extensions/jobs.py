"""Background jobs: the worker that runs them, and the query for due jobs."""

from bethink.jobs.worker import Worker
from bethink.model.jobs import JobKind, LearnReport
from bethink.store.db import Database
from bethink.store.jobs import due

__all__ = ["Database", "JobKind", "LearnReport", "Worker", "due"]
