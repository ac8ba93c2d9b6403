"""Puts a worker together, as the settings say: what learns, writes and indexes, at which prices."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from bethink.config.groups import listed
from bethink.config.settings import Settings
from bethink.errors import Misconfigured
from bethink.extend import Embedder, Model, Redactor, Tokens
from bethink.memory.plugins import Providers
from bethink.model.jobs import JobKind
from bethink.store.db import Database

if TYPE_CHECKING:  # a process that only appends need not load what learns
    from bethink.jobs.options import Handler, WorkerOptions
    from bethink.jobs.tasks import WorkerTask
    from bethink.jobs.worker import Rest, Worker
    from bethink.memory.learning.documents.runs import Runs
    from bethink.memory.learning.extraction.extract import Extractor


def worker_maker(
    settings: Settings, database: Database, *, redactor: Redactor, providers: Providers, prompt: str
) -> "Callable[[], Worker]":
    """Return what makes the workers of this process; each goes on with what the one before knew of the model."""
    last: Worker | None = None
    tasks: Sequence[WorkerTask] | None = None

    def make() -> "Worker":
        from bethink.jobs.tasks import TaskParts, all_tasks  # noqa: PLC0415

        nonlocal last, tasks  # a model that is away stays away for every worker of this process
        rest = None if last is None else last.rest
        tasks = tasks or all_tasks(TaskParts(database=database, settings=settings, redactor=redactor))
        model, reader, embedder, unfit = _fit(providers)
        last = worker_from(
            settings,
            database,
            redactor=redactor,
            model=model,
            reader=reader,
            tokens=providers.tokens(),
            embedder=embedder,
            rest=rest,
            unfit=unfit,
            prompt=prompt,
            tasks=tasks,
        )
        return last

    return make


def worker_from(  # noqa: PLR0913 - each is a choice of its own, and all are named
    settings: Settings,
    database: Database,
    *,
    redactor: Redactor,
    model: Model | None,
    reader: Model | None = None,
    tokens: Tokens,
    embedder: Embedder | None = None,
    rest: "Rest | None" = None,
    unfit: Mapping[JobKind, Misconfigured] | None = None,
    prompt: str = "",
    tasks: Sequence["WorkerTask"] = (),
) -> "Worker":
    """Build a worker that learns with a model, or without one by quoting; jobs it is `unfit` for wait.

    `prompt` asks for claims in place of ours. Without a model, learning is left to the one that the database names.
    """
    from bethink.jobs.worker import Worker  # noqa: PLC0415
    from bethink.memory.learning.documents.runs import Runs  # noqa: PLC0415
    from bethink.memory.learning.learner import Learner  # noqa: PLC0415
    from bethink.memory.recall.index import Indexer  # noqa: PLC0415

    unfit = unfit or {}
    learns = JobKind.EXTRACT not in unfit
    runs = Runs(database=database, model=model, redactor=redactor, tokens=tokens, prices=settings.model.prices)
    handlers = _handlers(settings, runs, reader=reader, prompt=prompt)
    if embedder is not None:
        handlers[JobKind.INDEX] = Indexer(database=database, embedder=embedder)
    return Worker(
        database,
        handlers,
        _options(settings, daily_cap=None if model is None and learns else settings.daily_cap),
        rest=rest,
        unfit=unfit,
        tasks=tasks,
        learner=Learner(database, settings.model.name if model is None else model.name) if learns else None,
    )


def _handlers(settings: Settings, runs: "Runs", *, reader: Model | None, prompt: str) -> "dict[JobKind, Handler]":
    from bethink.memory.learning.documents.consolidate import ConsolidationRules, Consolidator  # noqa: PLC0415
    from bethink.memory.learning.documents.transcripts import TranscriptWriter  # noqa: PLC0415

    rules = ConsolidationRules(
        max_unused_days=settings.learning.max_unused_days,
        limit=settings.learning.max_consolidated,
        review=settings.learning.review,
        folder=settings.learning.artefacts_dir,
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
    from bethink.memory.learning.prompts import own, shipped  # noqa: PLC0415

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
            channels=listed(settings.scan.channels),
        ),
        zone=zone_of(settings.learning.time_zone),
        held_flags=listed(settings.learning.held_flags),
        post=post if settings.learning.write_transcripts and runs.model is not None else None,
        prompt=own(prompt) if prompt else shipped(PROMPT),
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


def _fit(
    providers: Providers,
) -> tuple[Model | None, Model | None, Embedder | None, dict[JobKind, Misconfigured]]:
    """Make what a worker needs, and say which jobs must wait because a part of it cannot be made."""
    unfit: dict[JobKind, Misconfigured] = {}
    model = reader = embedder = None
    try:
        model, reader = providers.model(), providers.reader()
    except Misconfigured as error:
        unfit |= dict.fromkeys(set(JobKind) - {JobKind.INDEX}, error)
    try:
        embedder = providers.embedder()
    except Misconfigured as error:
        unfit[JobKind.INDEX] = error
    return model, reader, embedder, unfit
