"""Which functions carry out the verbs that most processes never need: threads, pages, steering, relearning."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from bethink.audit.access import AccessService
from bethink.audit.operations import OperationService
from bethink.audit.pages import PageService
from bethink.errors import Invalid
from bethink.extend import Redactor
from bethink.facts.opinions import OpinionService
from bethink.learning.extraction.extract import Extractor
from bethink.learning.extraction.preview import Previewer
from bethink.masked_settings import setting_entries
from bethink.model.answers import MemoryAnswer, no_model
from bethink.model.jobs import JobKind
from bethink.model.preview import Preview
from bethink.model.setting_entries import SettingEntry
from bethink.model.verbs import access, operations, pages, relearning, steering, threads
from bethink.model.verbs.base import Empty
from bethink.model.verbs.memory import ASK, AskRequest
from bethink.model.verbs.steering import PreviewRequest
from bethink.settings import Settings
from bethink.store.db import Database
from bethink.worker import Worker
from bethink.working.service import ThreadService

if TYPE_CHECKING:
    from bethink.answering.service import Answerer
    from bethink.forgetting.people import Run
    from bethink.forgetting.retention import RetentionService
    from bethink.relearn import RelearnService
    from bethink.working.memory import WorkingMemory

Handlers = dict[str, Callable[[str, Any], Awaitable[Any]]]


def thread_handlers(working: "Callable[[str], WorkingMemory]") -> Handlers:
    """Return the functions of threads, by the verb's name."""
    found = ThreadService(working)
    return {
        threads.OPEN_THREAD.name: found.open,
        threads.LIST_THREADS.name: found.all,
        threads.GET_THREAD.name: found.get,
        threads.DISPATCH.name: found.dispatch,
        threads.STEP.name: found.step,
        threads.SET_MODE.name: found.set_mode,
        threads.QUEUE.name: found.queue,
        threads.FAILED_EVENTS.name: found.failed_events,
        threads.STATES.name: found.states,
        threads.STATE.name: found.state,
        threads.DIFF_STATES.name: found.diff,
        threads.PROMPT.name: found.prompt,
        threads.TOKEN_USAGE.name: found.usage,
        threads.FORK.name: found.fork,
        threads.REPLAY.name: found.replay,
    }


def asking_handlers(answering: "Callable[[], Answerer] | None") -> Handlers:
    """Return the function that answers questions. It is made for each request: a model may be there by now."""

    async def ask(space: str, request: AskRequest) -> MemoryAnswer:
        if answering is None:
            raise no_model()
        return await answering().ask(space, request)

    return {ASK.name: ask}


def page_handlers(database: Database, settings: Settings | None) -> Handlers:
    """Return the functions of timelines, jobs, spending and settings, by the verb's name."""
    found, jobs = PageService(database), OperationService(database)

    async def listed(space: str, request: Empty) -> list[SettingEntry]:
        del space, request
        return setting_entries(settings or Settings())

    return {
        pages.TIMELINE.name: found.timeline,
        pages.PAGE_SHOWN.name: found.shown,
        operations.PAGE_JOBS.name: jobs.page_jobs,
        operations.HELD.name: jobs.held,
        operations.PAGE_SPACES.name: jobs.page_spaces,
        operations.COUNTERS.name: jobs.counters,
        operations.SUMMARY.name: jobs.summary,
        operations.PAGE_SPACE_JOBS.name: jobs.page_space_jobs,
        operations.GET_JOB.name: jobs.job,
        operations.RETRY_JOB.name: jobs.retry,
        operations.SPENDING.name: jobs.spending,
        operations.SPACE_SPENDING.name: jobs.space_spending,
        operations.SETTINGS.name: listed,
        access.ACCESS.name: AccessService(database).access,
    }


def retention_service(database: Database, settings: Settings | None, *, redactor: Redactor) -> "RetentionService":
    """Return what keeps the rules of retention and legal holds."""
    from bethink.forgetting.retention import RetentionOptions, RetentionService  # noqa: PLC0415 - few processes do

    given = settings or Settings()
    options = RetentionOptions(
        message_days=given.retention.message_days, expired_days=given.retention.expired_days
    )  # fmt: skip
    return RetentionService(
        database, redactor=redactor, files_folder=given.learning.artefacts_dir, options=options
    )  # fmt: skip


def people_handlers(database: Database, redactor: Redactor, *, files_folder: str, run: "Run") -> Handlers:
    """Return the functions of people, by the verb's name. `run` carries out a verb in one space."""
    from bethink.forgetting.forget import ForgetService  # noqa: PLC0415 - few processes ask for a person
    from bethink.forgetting.people import PeopleService  # noqa: PLC0415

    forgetting = ForgetService(database, redactor=redactor, files_folder=files_folder)
    return PeopleService(database, redactor=redactor, forgetting=forgetting, run=run).handlers()


def relearn_handlers(service: "Callable[[], RelearnService]") -> Handlers:
    """Return the functions of relearning, by the verb's name."""
    return {
        relearning.RELEARN.name: lambda space, request: service().relearn(space, request),
        relearning.APPLY_RELEARNING.name: lambda space, request: service().apply(space, request),
        relearning.UNDO_RELEARNING.name: lambda space, request: service().undo(space, request),
    }


def steering_handlers(database: Database, redactor: Redactor, worker: Callable[[], Worker]) -> Handlers:
    """Return the functions of previews, pins and feedback, by the verb's name."""
    found = OpinionService(database, redactor=redactor)

    async def preview(space: str, request: PreviewRequest) -> Preview:
        learns = worker()
        extractor = learns.handler(JobKind.EXTRACT)
        if not isinstance(extractor, Extractor):
            raise Invalid("there is nothing to learn with.", hint="Set model, such as 'openai:NAME'.")
        return await Previewer(extractor=extractor, daily_cap=learns.options.daily_cap).preview(space, request)

    return {
        steering.PREVIEW.name: preview,
        steering.PIN.name: found.pin,
        steering.UNPIN.name: found.unpin,
        steering.PINS.name: found.pins,
        steering.FEEDBACK.name: found.feedback,
    }
