"""Carries out the verbs of those who run a memory."""

from dataclasses import replace
from typing import Self

from bethink.config.masked import setting_entries
from bethink.config.settings import Settings
from bethink.errors import NotFound
from bethink.memory.registry import Host, handles
from bethink.model.held import HeldItem, HeldPage
from bethink.model.jobs import Job, JobDetail, JobKind, JobPage, Spending
from bethink.model.operations.base import Empty
from bethink.model.operations.monitoring import (
    COUNTERS,
    GET_JOB,
    HELD,
    PAGE_JOBS,
    PAGE_SPACE_JOBS,
    PAGE_SPACES,
    RETRY_JOB,
    SETTINGS,
    SPACE_SPENDING,
    SPENDING,
    SUMMARY,
    HeldRequest,
    JobRequest,
    PageJobsRequest,
    PageSpaceJobsRequest,
    PageSpacesRequest,
    SpaceSpendingRequest,
    SpendingRequest,
)
from bethink.model.setting_entries import SettingEntry
from bethink.model.summaries import Counters, SpacePage, SpaceSummary
from bethink.store import held, job_pages, jobs, summaries
from bethink.store.db import Database, Tx


class OperationService:
    """Jobs and spending, of every space in one database."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database, host.settings)

    @handles(SETTINGS)
    async def settings(self, space: str, request: Empty) -> list[SettingEntry]:
        """List the settings, with secrets masked."""
        del space, request
        return setting_entries(self._settings)

    @handles(PAGE_JOBS)
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

    @handles(PAGE_SPACE_JOBS)
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

    @handles(GET_JOB)
    async def job(self, space: str, request: JobRequest) -> JobDetail:
        """Return a job with its failed attempts and answers."""
        return await self._database.transact(
            lambda tx: job_pages.detail(tx, _found(tx, space, request)), space=space, read=True
        )

    @handles(RETRY_JOB)
    async def retry(self, space: str, request: JobRequest) -> bool:
        """Let a job that failed or was given up start over."""

        def body(tx: Tx) -> bool:
            job = _found(tx, space, request)
            return jobs.retry(tx, space=space, kind=job.kind, key=job.key)

        return await self._database.transact(body, space=space, repeatable=True)

    @handles(HELD)
    async def held(self, space: str, request: HeldRequest) -> HeldPage:
        """List what waits for a person in all spaces."""
        del space
        page = await self._database.transact(
            lambda tx: held.page(tx, kind=request.kind, after=request.after, limit=request.limit), read=True
        )
        # What it says is read space by space: no transaction sees the texts of two.
        found: dict[str, HeldItem] = {}
        for name in dict.fromkeys(item.space for item in page.items):
            own = [item for item in page.items if item.space == name]
            described = await self._database.transact(
                lambda tx, own=own, name=name: held.described(tx, own, space=name), space=name, read=True
            )
            found |= {item.id: item for item in described}
        return replace(page, items=tuple(found[item.id] for item in page.items if item.id in found))

    @handles(PAGE_SPACES)
    async def page_spaces(self, space: str, request: PageSpacesRequest) -> SpacePage:
        """List spaces, each with how it stands."""
        del space
        return await self._database.transact(
            lambda tx: summaries.page(tx, prefix=request.prefix, after=request.after, limit=request.limit), read=True
        )

    @handles(SUMMARY)
    async def summary(self, space: str, request: Empty) -> SpaceSummary:
        """Return how a space stands."""
        del request
        return await self._database.transact(lambda tx: summaries.summary(tx, space=space), space=space, read=True)

    @handles(COUNTERS)
    async def counters(self, space: str, request: Empty) -> Counters:
        """Count what waits in all spaces."""
        del space, request
        return await self._database.transact(lambda tx: Counters(jobs=jobs.counts(tx), held=held.count(tx)), read=True)

    @handles(SPENDING)
    async def spending(self, space: str, request: SpendingRequest) -> list[Spending]:
        """List what models cost in all spaces."""
        del space

        def body(tx: Tx) -> list[Spending]:
            first, last = map(job_pages.day_number, request.days(tx.now.date()))
            return job_pages.spending(tx, by=request.by, first=first, last=last, limit=request.limit)

        return await self._database.transact(body, read=True)

    @handles(SPACE_SPENDING)
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
