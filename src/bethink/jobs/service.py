"""Operations on jobs and the installation: learn, consolidate, audit, and lists of jobs and spaces."""

from typing import Self

import anyio

from bethink.errors import InvalidRequestError
from bethink.jobs.hosting import LearningHost
from bethink.memory.learning.extraction.extract import Extractor
from bethink.memory.learning.extraction.preview import Previewer
from bethink.memory.log.succession import queue_consolidation
from bethink.memory.registry import handles
from bethink.model.jobs import Audit, JobKind, LearnReport
from bethink.model.operations.base import Empty
from bethink.model.operations.installation import AUDIT, LEARN, LearnRequest
from bethink.model.operations.memory import LEARN_SPACE, REFRESH_DOCUMENTS
from bethink.model.operations.steering import PREVIEW_RULES, PreviewRulesRequest
from bethink.model.preview import Preview


class JobService:
    """Jobs of every space in one database."""

    def __init__(self, host: LearningHost) -> None:
        self._host = host
        self._database = host.database

    @classmethod
    def from_host(cls, host: LearningHost) -> Self:
        """Create the service from the parts of an open memory."""
        return cls(host)

    @handles(LEARN)
    @handles(LEARN_SPACE)
    async def learn(self, space: str, request: LearnRequest) -> LearnReport:
        """Learn once from all marked sessions, in all spaces or in one, and include the work of the background."""
        worker, background = self._host.worker(), self._host.background
        try:
            if background is None:
                return await worker.run_once(only=request.kinds, space=space or None)
            with background.paused():
                await anyio.to_thread.run_sync(background.wait, abandon_on_cancel=True)
                report = background.pop_report(space or None)
                report.add(await worker.run_once(only=request.kinds, space=space or None))
            return report
        finally:
            if request.kinds is None:
                await worker.finish_tasks()

    @handles(AUDIT)
    async def audit(self, space: str, request: Empty) -> Audit:
        """Count jobs, spending, and violations of invariants."""
        del space, request
        return await self._host.worker().audit()

    @handles(REFRESH_DOCUMENTS)
    async def consolidate(self, space: str, request: Empty) -> bool:
        """Queue a consolidation."""
        del request
        await self._database.transact(lambda tx: queue_consolidation(tx, space=space), space=space)
        return True

    @handles(PREVIEW_RULES)
    async def preview(self, space: str, request: PreviewRulesRequest) -> Preview:
        """Return the claims that would be learned from messages, without storing them."""
        worker = self._host.worker()
        extractor = worker.handler(JobKind.EXTRACT)
        if not isinstance(extractor, Extractor):
            raise InvalidRequestError("No model is configured.", hint="Set `model`, for example 'openai:gpt-5-mini'.")
        return await Previewer(extractor=extractor, daily_cap=worker.options.daily_cap).preview(space, request)
