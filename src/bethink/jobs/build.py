"""Builds a worker from the settings: models, prices, handlers and tasks."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from bethink.config.groups import split_list
from bethink.config.settings import Settings
from bethink.errors import ConfigurationError
from bethink.extend import Embedder, Model, Redactor, Tokens
from bethink.memory.plugins import Providers
from bethink.model.jobs import JobKind
from bethink.store.db import Database

if TYPE_CHECKING:  # a process that only appends does not load the learning code
    from bethink.jobs.options import Handler, WorkerOptions
    from bethink.jobs.tasks import WorkerTask
    from bethink.jobs.worker import Cooldown, Worker
    from bethink.memory.learning.documents.runs import Runs
    from bethink.memory.learning.extraction.extract import Extractor


def worker_factory(
    settings: Settings, database: Database, *, redactor: Redactor, providers: Providers, prompt: str
) -> "Callable[[], Worker]":
    """Return a factory for the workers of this process. Each worker inherits the cooldown of the last one."""
    last: Worker | None = None
    tasks: Sequence[WorkerTask] | None = None

    def make() -> "Worker":
        from bethink.jobs.tasks import TaskParts, all_tasks  # noqa: PLC0415

        nonlocal last, tasks  # an unavailable model is unavailable for every worker of this process
        cooldown = None if last is None else last.cooldown
        tasks = tasks or all_tasks(TaskParts(database=database, settings=settings, redactor=redactor))
        model, reader, embedder, unavailable = _load_providers(providers)
        last = worker_from(
            settings,
            database,
            redactor=redactor,
            model=model,
            reader=reader,
            tokens=providers.tokens(),
            embedder=embedder,
            cooldown=cooldown,
            unavailable=unavailable,
            prompt=prompt,
            tasks=tasks,
        )
        return last

    return make


def worker_from(  # noqa: PLR0913 - each is a separate choice, and all are keyword arguments
    settings: Settings,
    database: Database,
    *,
    redactor: Redactor,
    model: Model | None,
    reader: Model | None = None,
    tokens: Tokens,
    embedder: Embedder | None = None,
    cooldown: "Cooldown | None" = None,
    unavailable: Mapping[JobKind, ConfigurationError] | None = None,
    prompt: str = "",
    tasks: Sequence["WorkerTask"] = (),
) -> "Worker":
    """Build a worker that learns with a model, or without one by quoting. Jobs in `unavailable` wait.

    `prompt` replaces the built-in prompt for claims. Without a model, learning waits for the model that the database
    names, if any.
    """
    from bethink.jobs.worker import Worker  # noqa: PLC0415
    from bethink.memory.learning.documents.runs import Runs  # noqa: PLC0415
    from bethink.memory.learning.learner import Learner  # noqa: PLC0415
    from bethink.memory.recall.index import Indexer  # noqa: PLC0415

    unavailable = unavailable or {}
    learns = JobKind.EXTRACT not in unavailable
    runs = Runs(database=database, model=model, redactor=redactor, tokens=tokens, prices=settings.model.prices)
    handlers = _handlers(settings, runs, reader=reader, prompt=prompt)
    if embedder is not None:
        handlers[JobKind.INDEX] = Indexer(database=database, embedder=embedder)
    return Worker(
        database,
        handlers,
        _options(settings, daily_cap=None if model is None and learns else settings.daily_cap),
        cooldown=cooldown,
        unavailable=unavailable,
        tasks=tasks,
        learner=Learner(database, settings.model.name if model is None else model.name) if learns else None,
    )


def _handlers(settings: Settings, runs: "Runs", *, reader: Model | None, prompt: str) -> "dict[JobKind, Handler]":
    from bethink.memory.learning.documents.consolidate import ConsolidationRules, Consolidator  # noqa: PLC0415
    from bethink.memory.learning.documents.transcripts import TranscriptWriter  # noqa: PLC0415

    rules = ConsolidationRules(
        max_unused_days=settings.learning.max_unused_days,
        limit=settings.learning.max_consolidated,
        review=settings.learning.review_documents,
        folder=settings.learning.artifacts_dir,
    )
    return {
        JobKind.EXTRACT: _extractor(settings, runs, reader=reader, prompt=prompt),
        JobKind.WRITE: TranscriptWriter(runs=runs),
        JobKind.CONSOLIDATE: Consolidator(runs=runs, rules=rules),
    }


def _extractor(settings: Settings, runs: "Runs", *, reader: Model | None, prompt: str) -> "Extractor":
    from bethink.memory.learning.documents.transcripts import post  # noqa: PLC0415
    from bethink.memory.learning.extraction.extract import PROMPT, Extractor  # noqa: PLC0415
    from bethink.memory.learning.extraction.idle import IdleRules  # noqa: PLC0415
    from bethink.memory.learning.extraction.request import zone_of  # noqa: PLC0415
    from bethink.memory.learning.prompts import builtin_prompt, custom_prompt  # noqa: PLC0415

    return Extractor(
        database=runs.database,
        model=runs.model,
        reader=reader,
        redactor=runs.redactor,
        tokens=runs.tokens,
        prices=runs.prices,
        quiet=IdleRules(
            idle_hours=settings.scan.idle_hours,
            age_days=settings.scan.age_days,
            channels=split_list(settings.scan.channels),
        ),
        zone=zone_of(settings.learning.time_zone),
        review_flags=split_list(settings.learning.review_flags),
        post=post if settings.learning.write_transcripts and runs.model is not None else None,
        prompt=custom_prompt(prompt) if prompt else builtin_prompt(PROMPT),
    )


def _options(settings: Settings, *, daily_cap: int | None) -> "WorkerOptions":
    from bethink.jobs.options import WorkerOptions  # noqa: PLC0415

    return WorkerOptions(
        interval=settings.worker.interval,
        batch=settings.worker.batch,
        concurrency=settings.worker.concurrency,
        lease=settings.worker.lease,
        max_attempts=settings.worker.max_attempts,
        scan_limit=settings.scan.limit,
        scan_claims=settings.scan.claims,
        daily_cap=daily_cap,
    )


def _load_providers(
    providers: Providers,
) -> tuple[Model | None, Model | None, Embedder | None, dict[JobKind, ConfigurationError]]:
    """Load the model, reader and embedder, and return the jobs that must wait because one cannot be loaded."""
    unavailable: dict[JobKind, ConfigurationError] = {}
    model = reader = embedder = None
    try:
        model, reader = providers.model(), providers.reader()
    except ConfigurationError as error:
        unavailable |= dict.fromkeys(set(JobKind) - {JobKind.INDEX}, error)
    try:
        embedder = providers.embedder()
    except ConfigurationError as error:
        unavailable[JobKind.INDEX] = error
    return model, reader, embedder, unavailable
