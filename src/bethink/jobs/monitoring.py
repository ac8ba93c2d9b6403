"""Operations for administrators: settings, jobs, pending items, spaces and spending."""

from dataclasses import replace
from typing import Self

from bethink.config.masking import setting_entries
from bethink.config.settings import Settings
from bethink.errors import NotFoundError
from bethink.memory.registry import Host, handles
from bethink.model.held import PendingItem
from bethink.model.jobs import Job, JobDetail, JobKind, Spending
from bethink.model.operations.base import Empty
from bethink.model.operations.monitoring import (
    GET_HEALTH,
    GET_JOB,
    GET_SPACE_HEALTH,
    LIST_JOBS,
    LIST_PENDING,
    LIST_SETTINGS,
    LIST_SPACE_JOBS,
    LIST_SPACE_SPENDING,
    LIST_SPACES,
    LIST_SPENDING,
    RETRY_JOB,
    JobRequest,
    ListJobsRequest,
    ListPendingRequest,
    ListSpaceJobsRequest,
    ListSpaceSpendingRequest,
    ListSpacesRequest,
    ListSpendingRequest,
)
from bethink.model.paging import Page
from bethink.model.setting_entries import SettingEntry
from bethink.model.summaries import Health, SpaceInfo
from bethink.store import held, job_pages, jobs, summaries
from bethink.store.db import Database, Tx


class OperationService:
    """Jobs and spending of every space in one database."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Create the service from the parts of an open memory."""
        return cls(host.database, host.settings)

    @handles(LIST_SETTINGS)
    async def settings(self, space: str, request: Empty) -> list[SettingEntry]:
        """List the settings, with secrets masked."""
        del space, request
        return setting_entries(self._settings)

    @handles(LIST_JOBS)
    async def page_jobs(self, space: str, request: ListJobsRequest) -> Page[Job]:
        """List the jobs of all spaces in one state."""
        del space
        kinds = tuple(JobKind) if request.kind is None else (request.kind,)
        return await self._database.transact(
            lambda tx: job_pages.across(
                tx, status=request.status, kinds=kinds, after=request.after, limit=request.limit
            ),
            read_only=True,
        )

    @handles(LIST_SPACE_JOBS)
    async def page_space_jobs(self, space: str, request: ListSpaceJobsRequest) -> Page[Job]:
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
            read_only=True,
        )

    @handles(GET_JOB)
    async def job(self, space: str, request: JobRequest) -> JobDetail:
        """Return a job with its failed attempts and answers."""
        return await self._database.transact(
            lambda tx: job_pages.detail(tx, _get_job(tx, space, request)), space=space, read_only=True
        )

    @handles(RETRY_JOB)
    async def retry(self, space: str, request: JobRequest) -> bool:
        """Retry a failed or abandoned job."""

        def body(tx: Tx) -> bool:
            job = _get_job(tx, space, request)
            return jobs.retry(tx, space=space, kind=job.kind, key=job.key)

        return await self._database.transact(body, space=space, repeatable=True)

    @handles(LIST_PENDING)
    async def list_pending(self, space: str, request: ListPendingRequest) -> Page[PendingItem]:
        """List the pending items of all spaces."""
        del space
        page = await self._database.transact(
            lambda tx: held.page(tx, kind=request.kind, after=request.after, limit=request.limit), read_only=True
        )
        # Texts are read space by space: no transaction sees the texts of two spaces.
        by_id: dict[str, PendingItem] = {}
        for name in dict.fromkeys(item.space for item in page.items):
            own = [item for item in page.items if item.space == name]
            details = await self._database.transact(
                lambda tx, own=own, name=name: held.with_texts(tx, own, space=name), space=name, read_only=True
            )
            by_id |= {item.id: item for item in details}
        return replace(page, items=tuple(by_id[item.id] for item in page.items if item.id in by_id))

    @handles(LIST_SPACES)
    async def page_spaces(self, space: str, request: ListSpacesRequest) -> Page[SpaceInfo]:
        """List spaces with their summaries."""
        del space
        return await self._database.transact(
            lambda tx: summaries.page(tx, prefix=request.prefix, after=request.after, limit=request.limit),
            read_only=True,
        )

    @handles(GET_SPACE_HEALTH)
    async def summary(self, space: str, request: Empty) -> SpaceInfo:
        """Return the summary of a space."""
        del request
        return await self._database.transact(lambda tx: summaries.summary(tx, space=space), space=space, read_only=True)

    @handles(GET_HEALTH)
    async def counters(self, space: str, request: Empty) -> Health:
        """Count jobs and pending items in all spaces."""
        del space, request
        return await self._database.transact(
            lambda tx: Health(jobs=jobs.counts(tx), pending=held.count(tx)), read_only=True
        )

    @handles(LIST_SPENDING)
    async def spending(self, space: str, request: ListSpendingRequest) -> Page[Spending]:
        """List the model costs of all spaces."""
        del space

        def body(tx: Tx) -> list[Spending]:
            first, last = map(job_pages.day_number, request.days(tx.now.date()))
            return job_pages.spending(tx, grouping=request.by, first=first, last=last, limit=request.limit)

        return Page(items=tuple(await self._database.transact(body, read_only=True)))

    @handles(LIST_SPACE_SPENDING)
    async def space_spending(self, space: str, request: ListSpaceSpendingRequest) -> Page[Spending]:
        """List the model costs of a space."""

        def body(tx: Tx) -> list[Spending]:
            first, last = map(job_pages.day_number, request.days(tx.now.date()))
            return job_pages.spending_of(tx, space=space, first=first, last=last)

        return Page(items=tuple(await self._database.transact(body, space=space, read_only=True)))


def _get_job(tx: Tx, space: str, request: JobRequest) -> Job:
    job = jobs.find(tx, space=space, kind=request.kind, key=request.key)
    if job is None:
        raise NotFoundError(f"No {request.kind} job {request.key!r} in space {space!r}.")
    return job
