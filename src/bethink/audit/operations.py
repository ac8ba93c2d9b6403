"""Carries out the verbs of those who run a memory."""

from bethink.errors import NotFound
from bethink.model.jobs import Job, JobDetail, JobKind, JobPage, Spending
from bethink.model.verbs.operations import (
    JobRequest,
    PageJobsRequest,
    PageSpaceJobsRequest,
    SpaceSpendingRequest,
    SpendingRequest,
)
from bethink.store import job_pages, jobs
from bethink.store.db import Database, Tx


class OperationService:
    """Jobs and spending, of every space in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page_jobs(self, space: str, request: PageJobsRequest) -> JobPage:
        """List the jobs of all spaces in one state."""
        del space
        kinds = tuple(JobKind) if request.kind is None else (request.kind,)
        return await self._database.transact(
            lambda tx: job_pages.across(
                tx, status=request.status, kinds=kinds, after=request.after, limit=request.limit
            ),
            read=True,
        )

    async def page_space_jobs(self, space: str, request: PageSpaceJobsRequest) -> JobPage:
        """List the jobs of a space."""
        return await self._database.transact(
            lambda tx: job_pages.of_space(
                tx,
                space=space,
                status=request.status,
                kind=request.kind,
                after=request.after,
                limit=request.limit,
            ),
            space=space,
            read=True,
        )

    async def job(self, space: str, request: JobRequest) -> JobDetail:
        """Return a job with its failed attempts and answers."""
        return await self._database.transact(
            lambda tx: job_pages.detail(tx, _found(tx, space, request)), space=space, read=True
        )

    async def retry(self, space: str, request: JobRequest) -> bool:
        """Let a job that failed or was given up start over."""

        def body(tx: Tx) -> bool:
            job = _found(tx, space, request)
            return jobs.retry(tx, space=space, kind=job.kind, key=job.key)

        return await self._database.transact(body, space=space, repeatable=True)

    async def spending(self, space: str, request: SpendingRequest) -> list[Spending]:
        """List what models cost in all spaces."""
        del space

        def body(tx: Tx) -> list[Spending]:
            first, last = map(job_pages.day_number, request.days(tx.now.date()))
            return job_pages.spending(tx, by=request.by, first=first, last=last, limit=request.limit)

        return await self._database.transact(body, read=True)

    async def space_spending(self, space: str, request: SpaceSpendingRequest) -> list[Spending]:
        """List what models cost for a space."""

        def body(tx: Tx) -> list[Spending]:
            first, last = map(job_pages.day_number, request.days(tx.now.date()))
            return job_pages.spending_of(tx, space=space, first=first, last=last)

        return await self._database.transact(body, space=space, read=True)


def _found(tx: Tx, space: str, request: JobRequest) -> Job:
    found = jobs.find(tx, space=space, kind=request.kind, key=request.key)
    if found is None:
        raise NotFound(f"no {request.kind} job {request.key!r} in space {space!r}.")
    return found
