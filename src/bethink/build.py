"""Puts the parts of a memory together, as the settings say."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bethink.backend import Local, Parts
from bethink.build_worker import worker_maker
from bethink.databases import CELLS, cell_directory, database_from, sqlite_file
from bethink.extend import Embedder, Model, Redactor, Tokens
from bethink.logs import logger, redact_logs
from bethink.memory import Memory
from bethink.model.jobs import JobKind
from bethink.model.text import clean
from bethink.off import Off
from bethink.plugins import Providers
from bethink.providers.default_redactor import redactor_for
from bethink.providers.no_redaction import NoRedaction
from bethink.settings import Settings, load_settings, settings_of, with_values
from bethink.store.db import Clock, Database, system_clock

if TYPE_CHECKING:  # each is loaded by the first use
    from bethink.answering.service import Answerer
    from bethink.background import Background
    from bethink.model.verbs.relearning import RelearnRequest
    from bethink.recall.search import Searcher
    from bethink.relearn import RelearnService
    from bethink.spending import Budget
    from bethink.worker import Worker
    from bethink.working.ladder import Compactor
    from bethink.working.process import Engine

_log = logger("memory")


def _cells(settings: Settings, make: "Callable[[Settings], Memory]", clock: Clock) -> Memory:
    """Return the Memory of a directory of cells; `make` returns that of one cell."""
    from bethink.cells.backend import Cells  # noqa: PLC0415 - few fleets have one
    from bethink.cells.directory import Directory  # noqa: PLC0415

    def of_cell(dsn: str) -> Settings:
        return replace(settings, module="memory.postgres", postgres=replace(settings.postgres, dsn=dsn))

    return Memory(
        Cells(
            Directory(cell_directory(settings, clock)),
            lambda dsn: make(of_cell(dsn)).local(),
            database=lambda dsn: database_from(of_cell(dsn), clock),
        )
    )


def memory_from(  # noqa: PLR0913 - each is a part that can be passed in
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
) -> Memory:
    """Return the Memory that the settings describe, on their database or on the one given. `prompt` asks for claims.

    Raises:
        Misconfigured: if a setting names something unknown.
    """
    if not settings.enabled:
        _log.warning("memory is switched off: nothing will be stored")
        return Memory(Off())
    if settings.module == CELLS and database is None:
        make = partial(
            memory_from, redactor=redactor, engine=engine, compactor=compactor, model=model, embedder=embedder,
            tokens=tokens, clock=clock, prompt=prompt,
        )  # fmt: skip
        return _cells(settings, make, clock)
    database = database or database_from(settings, clock)
    providers = Providers(settings, model=model, embedder=embedder, tokens=tokens)
    cut = redactor or redactor_from(settings, database)
    if settings.redaction.enabled or redactor is not None:
        redact_logs(cut)
    worker = None
    if settings.learning.enabled:
        worker = worker_maker(settings, database, redactor=cut, providers=providers, prompt=prompt)
    parts = Parts(
        database=database,
        redactor=cut,
        searcher=_searcher(database, providers),
        worker=worker,
        relearning=_relearning(settings, database, redactor=cut, model=model) if worker is not None else None,
        background=None if worker is None else _background(settings, database, worker, providers),
        engine=engine,
        compactor=compactor or _compactor(settings, database, providers),
        answering=_answering(settings, database, providers) if providers.has_model else None,
        max_history_len=settings.max_history_len,
        files_folder=settings.learning.artefacts_dir,
        allow_private=settings.webhooks.allow_private,
        access_days=settings.access.keep_days,
        settings=settings,
    )
    return Memory(Local(parts))


def _background(
    settings: Settings, database: Database, worker: "Callable[[], Worker]", providers: Providers
) -> "Background | None":
    """Return what learns in this process, if it may."""
    if not settings.learning.in_background:
        return None
    from bethink.background import Background  # noqa: PLC0415 - it loads the store, which an import need not

    kinds = [kind for kind in JobKind if kind is not JobKind.INDEX or providers.has_embedder]
    return Background(
        worker, database, kinds=kinds, learn_after=settings.learning.after if providers.has_model else None
    )


def _relearning(
    settings: Settings, database: Database, *, redactor: Redactor, model: Model | None
) -> "Callable[[], RelearnService]":
    def shadow(path: Path, request: "RelearnRequest") -> Memory:
        values: dict[str, object] = {"learn_in_background": False, "daily_spend_cap": math.inf, "artefacts_dir": ""}
        if request.model:
            values["model"] = request.model
        if request.second_model:
            values["second_model"] = request.second_model
        own = with_values(settings, values)
        used = None if request.model else model
        # The log was redacted before: fingerprints of its secrets must not change.
        prompt = redactor.redact(clean(request.prompt))
        return memory_from(own, database=sqlite_file(str(path), own), redactor=redactor, model=used, prompt=prompt)

    def make() -> "RelearnService":
        from bethink.relearn import RelearnService  # noqa: PLC0415 - few processes relearn

        return RelearnService(database, shadow=shadow, daily_cap=settings.daily_cap)

    return make


def _compactor(settings: Settings, database: Database, providers: Providers) -> "Compactor | None":
    """Return what compacts with the model, if there is one and learning is on."""
    if not (settings.learning.enabled and providers.has_model):
        return None
    from bethink.working.model_compactor import DefaultCompactor  # noqa: PLC0415 - it needs a model

    return DefaultCompactor(providers.model, _budget(settings, database))


def _budget(settings: Settings, database: Database) -> "Budget":
    from bethink.spending import Budget  # noqa: PLC0415 - as above

    return Budget(database=database, prices=settings.model.prices, daily_cap=settings.daily_cap)


def _answering(settings: Settings, database: Database, providers: Providers) -> "Callable[[], Answerer]":
    def make() -> "Answerer":
        from bethink.answering.service import Answerer  # noqa: PLC0415 - most processes never answer

        searcher, budget = _searcher(database, providers)(), _budget(settings, database)
        return Answerer(database, searcher=searcher, model=providers.model(), budget=budget)

    return make


def _searcher(database: Database, providers: Providers) -> "Callable[[], Searcher]":
    def make() -> "Searcher":
        # Imported where something is asked: a process that only appends need not load what searches.
        from bethink.recall.search import Searcher  # noqa: PLC0415

        embedder, reranker = providers.searching()
        return Searcher(
            database,
            tokens=providers.tokens(),
            embedder=embedder,
            reranker=reranker,
            signals=providers.signals(),
        )

    return make


def redactor_from(settings: Settings, database: Database | None) -> Redactor:
    """Return the redactor that the settings describe."""
    redaction = settings.redaction
    if not redaction.enabled:
        return NoRedaction()
    return redactor_for(database, key=redaction.key, also=redaction.personal_kinds)


def connect(  # noqa: PLR0913 - each is a choice of its own, and all are named
    target: str | Path = "",
    *,
    key: str = "",
    timeout: float = 30.0,
    retries: int = 5,
    enabled: bool = True,
    model: Model | str | None = None,
    embedder: Embedder | str | None = None,
    tokens: Tokens | None = None,
    redactor: Redactor | None = None,
    engine: "Engine | None" = None,
    compactor: "Compactor | None" = None,
    clock: Clock = system_clock,
    settings: Settings | None = None,
    **arguments: object,
) -> Memory:
    """Return a Memory. Open it with `async with`.

    Args:
        target: A file, `:memory:`, a `postgresql://` address, the `cells://` address of a directory of cells, or the
            `https://` address of a server. Without one, the settings decide; where they name no database either, it is
            the file that the command line uses.
        key: The key for a server; the setting `key` (BETHINK_KEY), if left out.
        timeout: Seconds to wait for a server: to connect, and then for each part of its answer. `learn` waits longer.
        retries: How many times to send a request to a server again where that is safe; 0 for never.
        enabled: Whether to store anything at all. A memory that is switched off finds nothing and never fails.
        model: A model, or its name such as `openai:gpt-5`. Without one, learning only quotes.
        embedder: An embedder, or its name such as `bge-small-en`. By default it is that of `bethink[local]`, if
            installed; without one, or with `none`, recall searches by words.
        tokens: Counts tokens; an estimate, if left out.
        redactor: Cuts secrets out of texts before they are stored.
        engine: The rules of working memory.
        compactor: Writes the summaries of working memory; the model does, if left out, and without one they quote.
        clock: Returns the current time, as an aware datetime.
        settings: Settings to use instead of the settings file and the environment. Other arguments come first.
        arguments: Single settings, by name.

    Raises:
        Misconfigured: for an unknown setting or a value that cannot be used.
    """
    address = str(target)
    is_server = address.startswith(("http://", "https://"))
    if isinstance(model, str):
        arguments["model"], model = model, None
    if isinstance(embedder, str):
        arguments["embedder"], embedder = embedder, None
    if not enabled:
        arguments["enabled"] = False
    if not is_server:
        arguments |= settings_of(address)
    settings = with_values(settings, arguments) if settings else load_settings(**arguments)  # pyright: ignore[reportArgumentType]
    if is_server and settings.enabled:
        # Imported here: only programs that call a server need the client.
        from bethink.client.remote import Remote  # noqa: PLC0415

        return Memory(Remote(address, key=key or settings.key, timeout=timeout, retries=retries))
    return memory_from(
        settings,
        redactor=redactor,
        engine=engine,
        compactor=compactor,
        model=model,
        embedder=embedder,
        tokens=tokens,
        clock=clock,
    )
