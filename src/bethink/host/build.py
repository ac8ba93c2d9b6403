"""Builds a backend from settings."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bethink.base.frozen import frozen
from bethink.base.logs import logger, redact_logs
from bethink.config.settings import Settings, with_values
from bethink.extend import Embedder, Model, Redactor, Tokens
from bethink.host.backend import Backend, LocalBackend
from bethink.host.databases import MODULES, backend_factory, database_from, sqlite_file
from bethink.host.local import Local, Parts
from bethink.host.off import Off
from bethink.jobs.build import worker_factory
from bethink.memory.plugins import Providers
from bethink.model.jobs import JobKind
from bethink.model.text import clean
from bethink.providers.default_redactor import redactor_for
from bethink.providers.no_redaction import NoRedaction
from bethink.store.db import Clock, Database, system_clock

if TYPE_CHECKING:  # each is loaded by the first use
    from bethink.jobs.background import Background
    from bethink.jobs.worker import Worker
    from bethink.memory.answering.answerer import Answerer
    from bethink.memory.recall.search import Searcher
    from bethink.memory.spending import Budget
    from bethink.memory.working.ladder import Compactor
    from bethink.memory.working.process import Engine

_log = logger("memory")


@frozen
class BackendParts:
    """Arguments of a backend factory that another package registers."""

    settings: Settings
    connect: "Callable[[Settings], Backend]"
    """Builds the backend of one database with the same model, redactor and clock, without opening it."""
    clock: Clock


def backend_from(  # noqa: PLR0913 - all are replaceable parts
    settings: Settings,
    *,
    database: Database | None = None,
    redactor: Redactor | None = None,
    engine: "Engine | None" = None,
    compactor: "Compactor | None" = None,
    model: Model | None = None,
    embedder: Embedder | None = None,
    tokens: Tokens | None = None,
    clock: Clock = system_clock,
    prompt: str = "",
) -> Backend:
    """Build the backend of the settings, on their database or on `database`. `prompt` replaces the learning prompt.

    Raises:
        ConfigurationError: if a setting has an unknown value.
    """
    if not settings.enabled:
        _log.warning("Memory is disabled: nothing will be stored")
        return Off()
    if settings.module not in MODULES and database is None:
        make = partial(
            backend_from, redactor=redactor, engine=engine, compactor=compactor, model=model, embedder=embedder,
            tokens=tokens, clock=clock, prompt=prompt,
        )  # fmt: skip
        parts = BackendParts(settings=settings, connect=make, clock=clock)
        return backend_factory(settings.module)(parts)
    database = database or database_from(settings, clock)
    providers = Providers(settings, model=model, embedder=embedder, tokens=tokens)
    text_redactor = redactor or redactor_from(settings, database)
    if settings.redaction.enabled or redactor is not None:
        redact_logs(text_redactor)
    worker = None
    if settings.learning.enabled:
        worker = worker_factory(settings, database, redactor=text_redactor, providers=providers, prompt=prompt)
    parts = Parts(
        database=database,
        redactor=text_redactor,
        searcher=_searcher(database, providers),
        worker=worker,
        shadow=_shadow(settings, redactor=text_redactor, model=model) if worker is not None else None,
        background=None if worker is None else _background(settings, database, worker, providers),
        engine=engine,
        compactor=compactor or _compactor(settings, database, providers),
        answerer=_answerer(settings, database, providers) if providers.has_model else None,
        settings=settings,
    )
    return Local(parts)


def _background(
    settings: Settings, database: Database, worker: "Callable[[], Worker]", providers: Providers
) -> "Background | None":
    """Return the background learner of this process, or None if it is disabled."""
    if not settings.learning.in_background:
        return None
    from bethink.jobs.background import Background  # noqa: PLC0415 - loads the store, which an import does not need

    kinds = [kind for kind in JobKind if kind is not JobKind.INDEX or providers.has_embedder]
    return Background(
        worker,
        database,
        kinds=kinds,
        learn_after_seconds=settings.learning.after_seconds if providers.has_model else None,
    )


def _shadow(
    settings: Settings, *, redactor: Redactor, model: Model | None
) -> "Callable[[Path, Mapping[str, object], str], LocalBackend]":
    def make(path: Path, changes: Mapping[str, object], prompt: str) -> LocalBackend:
        changed_settings = with_values(settings, dict(changes))
        # The messages were redacted before: fingerprints of their secrets must not change.
        return backend_from(
            changed_settings,
            database=sqlite_file(str(path), changed_settings),
            redactor=redactor,
            model=None if "model" in changes else model,
            prompt=redactor.redact(clean(prompt)),
        ).local()

    return make


def _compactor(settings: Settings, database: Database, providers: Providers) -> "Compactor | None":
    """Return the compactor that uses the model, or None without a model or with learning disabled."""
    if not (settings.learning.enabled and providers.has_model):
        return None
    from bethink.memory.working.model_compactor import DefaultCompactor  # noqa: PLC0415 - it needs a model

    return DefaultCompactor(providers.model, _budget(settings, database))


def _budget(settings: Settings, database: Database) -> "Budget":
    from bethink.memory.spending import Budget  # noqa: PLC0415 - as above

    return Budget(database=database, prices=settings.model.prices, daily_cap=settings.daily_cap)


def _answerer(settings: Settings, database: Database, providers: Providers) -> "Callable[[], Answerer]":
    def make() -> "Answerer":
        from bethink.memory.answering.answerer import Answerer  # noqa: PLC0415 - most processes never answer

        searcher, budget = _searcher(database, providers)(), _budget(settings, database)
        return Answerer(database, searcher=searcher, model=providers.model(), budget=budget)

    return make


def _searcher(database: Database, providers: Providers) -> "Callable[[], Searcher]":
    def make() -> "Searcher":
        # Imported on the first search: a process that only appends does not need it.
        from bethink.memory.recall.search import Searcher  # noqa: PLC0415

        embedder, reranker = providers.search_providers()
        return Searcher(
            database,
            tokens=providers.tokens(),
            embedder=embedder,
            reranker=reranker,
            signals=providers.signals(),
        )

    return make


def redactor_from(settings: Settings, database: Database | None) -> Redactor:
    """Build the redactor of the settings."""
    redaction = settings.redaction
    if not redaction.enabled:
        return NoRedaction()
    return redactor_for(database, key=redaction.key, also=redaction.personal_kinds)
