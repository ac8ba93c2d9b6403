"""Carries out the verbs of jobs and of the installation: learn, consolidate, audit, and lists of jobs and spaces."""

from typing import Self

import anyio

from bethink.errors import Invalid
from bethink.jobs.hosting import LearningHost
from bethink.memory.learning.extraction.extract import Extractor
from bethink.memory.learning.extraction.preview import Previewer
from bethink.memory.log.succession import queue_consolidation
from bethink.memory.registry import handles
from bethink.model.jobs import Audit, Job, JobKind, RunReport
from bethink.model.operations.base import Empty
from bethink.model.operations.installation import AUDIT, LEARN, LIST_SPACES, LearnRequest, ListSpacesRequest
from bethink.model.operations.memory import CONSOLIDATE, JOBS, LEARN_SPACE, JobsRequest
from bethink.model.operations.steering import PREVIEW, PreviewRequest
from bethink.model.preview import Preview
from bethink.store import jobs


class JobService:
    """Jobs of every space in one database."""

    def __init__(self, host: LearningHost) -> None:
        self._host = host
        self._database = host.database

    @classmethod
    def of(cls, host: LearningHost) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host)

    @handles(LEARN)
    @handles(LEARN_SPACE)
    async def learn(self, space: str, request: LearnRequest) -> RunReport:
        """Learn once from everything that is marked, in all spaces or in one, with what the background has begun."""
        worker, background = self._host.worker(), self._host.background
        try:
            if background is None:
                return await worker.run_once(only=request.only, space=space or None)
            with background.held():
                await anyio.to_thread.run_sync(background.wait, abandon_on_cancel=True)
                report = background.take(space or None)
                report.add(await worker.run_once(only=request.only, space=space or None))
            return report
        finally:
            if request.only is None:
                await worker.finish_tasks()

    @handles(AUDIT)
    async def audit(self, space: str, request: Empty) -> Audit:
        """Count jobs, spending, and violations of invariants."""
        del space, request
        return await self._host.worker().audit()

    @handles(LIST_SPACES)
    async def spaces(self, space: str, request: ListSpacesRequest) -> list[str]:
        """List the names of all spaces."""
        del space
        return await self._database.transact(
            lambda tx: jobs.spaces(tx, limit=request.limit, after=request.after), read=True
        )

    @handles(JOBS)
    async def jobs(self, space: str, request: JobsRequest) -> list[Job]:
        """List the jobs of a space."""
        return await self._database.transact(
            lambda tx: jobs.listed(tx, space=space, limit=request.limit), space=space, read=True
        )

    @handles(CONSOLIDATE)
    async def consolidate(self, space: str, request: Empty) -> bool:
        """Queue a consolidation."""
        del request
        await self._database.transact(lambda tx: queue_consolidation(tx, space=space), space=space)
        return True

    @handles(PREVIEW)
    async def preview(self, space: str, request: PreviewRequest) -> Preview:
        """Return what would be learned from messages, and store nothing."""
        worker = self._host.worker()
        extractor = worker.handler(JobKind.EXTRACT)
        if not isinstance(extractor, Extractor):
            raise Invalid("there is nothing to learn with.", hint="Set model, such as 'openai:NAME'.")
        return await Previewer(extractor=extractor, daily_cap=worker.options.daily_cap).preview(space, request)
