"""Puts the parts of a memory together, as the settings say."""

import math
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bethink.backend import Local, Parts
from bethink.errors import Misconfigured
from bethink.extend import Embedder, Model, Redactor, Tokens
from bethink.logs import logger, redact_logs
from bethink.memory import Memory
from bethink.model.jobs import JobKind
from bethink.model.prices import Prices
from bethink.model.text import clean
from bethink.off import Off
from bethink.plugins import Providers
from bethink.providers.default_redactor import redactor_for
from bethink.providers.no_redaction import NoRedaction
from bethink.settings import Settings, data_folder, load_settings, settings_of, with_values
from bethink.store.db import Clock, Database, system_clock

if TYPE_CHECKING:  # each is loaded by the first use
    from bethink.answering.service import Answerer
    from bethink.model.verbs.relearning import RelearnRequest
    from bethink.recall.search import Searcher
    from bethink.relearn import RelearnService
    from bethink.spending import Budget
    from bethink.telling.teller import Teller
    from bethink.worker import Rest, Worker
    from bethink.working.ladder import Compactor
    from bethink.working.process import Engine

_log = logger("memory")


def _open_sqlite(settings: Settings, clock: Clock = system_clock) -> Database:
    return sqlite_file(settings.database_path, settings, clock)


def sqlite_file(path: str, settings: Settings, clock: Clock = system_clock) -> Database:
    """Return the database in a SQLite file, not yet open."""
    from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions  # noqa: PLC0415 - a client needs no driver

    return SqliteDatabase(
        SqliteOptions(
            path=path,
            wal=settings.sqlite.wal,
            synchronous=settings.sqlite.synchronous,
            busy_timeout=settings.sqlite.busy_timeout,
            readers=settings.sqlite.readers,
        ),
        clock=clock,
    )


def _open_postgres(settings: Settings, clock: Clock = system_clock) -> Database:
    if not settings.postgres.dsn:
        raise Misconfigured("memory.postgres has no address.", hint="Set postgres_dsn, or pass the address.")
    # Imported here: psycopg is an extra, and its import alone costs more than a hook on a prompt may take.
    try:
        from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions  # noqa: PLC0415
    except ImportError as error:
        raise Misconfigured(
            "PostgreSQL needs a driver.", hint="pip install 'bethink[postgres]', or '.[postgres]' from a clone."
        ) from error

    options = PostgresOptions(
        dsn=settings.postgres.dsn,
        pool_size=settings.postgres.pool_size,
        connect_timeout=settings.postgres.connect_timeout,
        statement_timeout=settings.postgres.statement_timeout,
        lock_timeout=settings.postgres.lock_timeout,
        idle_timeout=settings.postgres.idle_timeout,
        tcp_timeout=settings.postgres.tcp_timeout,
        deadline=settings.postgres.deadline,
        pooler=settings.postgres.pooler,
    )
    if settings.module == CELLS:
        from bethink.store.engines.directory import DirectoryDatabase  # noqa: PLC0415 - few fleets have one

        return DirectoryDatabase(options, clock=clock)
    return PostgresDatabase(options, clock=clock)


def _cells(settings: Settings, make: "Callable[[Settings], Memory]", clock: Clock) -> Memory:
    """Return the Memory of a directory of cells; `make` returns that of one cell."""
    from bethink.cells.backend import Cells  # noqa: PLC0415 - as above
    from bethink.cells.directory import Directory  # noqa: PLC0415

    def of_cell(dsn: str) -> Settings:
        return replace(settings, module="memory.postgres", postgres=replace(settings.postgres, dsn=dsn))

    return Memory(
        Cells(
            Directory(_open_postgres(settings, clock)),
            lambda dsn: make(of_cell(dsn)).local(),
            database=lambda dsn: database_from(of_cell(dsn), clock),
        )
    )


CELLS = "memory.cells"
MODULES: dict[str, Callable[[Settings, Clock], Database]] = {
    "memory.sqlite": _open_sqlite,
    "memory.postgres": _open_postgres,
}


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
) -> "Worker":
    """Build a worker that learns with a model, or without one by quoting; jobs it is `unfit` for wait.

    `prompt` asks for claims in place of ours. Without a model, learning is left to the one that the database names.
    """
    # Imported here: a process that only appends need not load what learns.
    from bethink.learning.documents.consolidate import ConsolidationRules, Consolidator  # noqa: PLC0415
    from bethink.learning.documents.runs import Runs  # noqa: PLC0415
    from bethink.learning.documents.transcripts import TranscriptWriter, post  # noqa: PLC0415
    from bethink.learning.extraction.extract import PROMPT, Extractor  # noqa: PLC0415
    from bethink.learning.extraction.idle import IdleRules  # noqa: PLC0415
    from bethink.learning.extraction.request import zone_of  # noqa: PLC0415
    from bethink.learning.learner import Learner  # noqa: PLC0415
    from bethink.learning.prompts import own, shipped  # noqa: PLC0415
    from bethink.recall.index import Indexer  # noqa: PLC0415
    from bethink.worker import Handler, Worker, WorkerOptions  # noqa: PLC0415

    prices, slot = _prices(settings), _slot()
    quiet = IdleRules(
        idle_hours=settings.scan.idle_hours,
        age_days=settings.scan.age_days,
        channels=tuple(filter(None, map(str.strip, settings.scan.channels.split(",")))),
    )
    rules = ConsolidationRules(
        max_unused_days=settings.learning.max_unused_days,
        limit=settings.learning.max_consolidated,
        review=settings.learning.review,
        folder=settings.learning.artefacts_dir,
    )
    extractor = Extractor(
        database=database,
        model=model,
        reader=reader,
        redactor=redactor,
        tokens=tokens,
        prices=prices,
        quiet=quiet,
        zone=zone_of(settings.learning.time_zone),
        held_flags=tuple(filter(None, map(str.strip, settings.learning.held_flags.split(",")))),
        post=post if settings.learning.write_transcripts and model is not None else None,
        slot=slot,
        prompt=own(prompt) if prompt else shipped(PROMPT),
    )
    runs = Runs(database=database, model=model, redactor=redactor, tokens=tokens, prices=prices, slot=slot)
    consolidator = Consolidator(runs=runs, rules=rules)
    options = WorkerOptions(
        interval=settings.worker.interval,
        batch=settings.worker.batch,
        concurrency=settings.worker.concurrency,
        lease=settings.worker.lease,
        max_attempts=settings.worker.max_attempts,
        scan_limit=settings.scan.limit,
        scan_claims=settings.scan.claims,
        daily_cap=_cap(settings, free=model is None and JobKind.EXTRACT not in (unfit or {})),
    )
    handlers: dict[JobKind, Handler] = {
        JobKind.EXTRACT: extractor,
        JobKind.WRITE: TranscriptWriter(runs=runs),
        JobKind.CONSOLIDATE: consolidator,
    }
    if embedder is not None:
        handlers[JobKind.INDEX] = Indexer(database=database, embedder=embedder)
    learner = None
    if JobKind.EXTRACT not in (unfit or {}):
        learner = Learner(database, settings.model.name if model is None else model.name)
    return Worker(
        database, handlers, options, rest=rest, unfit=unfit, teller=_teller(settings, database), learner=learner
    )


def _teller(settings: Settings, database: Database) -> "Teller":
    """Return what sends changes to webhooks."""
    from bethink.telling.deliver import Deliverer, DeliveryOptions  # noqa: PLC0415 - only workers send
    from bethink.telling.teller import Teller  # noqa: PLC0415

    sending = DeliveryOptions(
        allow_private=settings.webhooks.allow_private,
        timeout=settings.webhooks.timeout,
        give_up_days=settings.webhooks.give_up_days,
    )
    return Teller(database, Deliverer(database, sending), keep_days=settings.changes.keep_days)


def _prices(settings: Settings) -> Prices:
    return Prices(input=settings.model.price_input, output=settings.model.price_output)


def _slot() -> int:
    """Return the row of the day's spending that this process counts in, so that few processes share one."""
    return os.getpid() % 64


def _cap(settings: Settings, *, free: bool) -> int | None:
    free = free or settings.model.price_input + settings.model.price_output == 0
    cap = settings.learning.daily_spend_cap
    return None if free or math.isinf(cap) else round(cap * 1_000_000)


def database_from(settings: Settings, clock: Clock = system_clock) -> Database:
    """Return the database that the settings describe, not yet open.

    Raises:
        Misconfigured: if they name an unknown module.
    """
    if settings.module == "memory.sqlite" and not settings.database_path:
        settings = replace(settings, data_dir=str(data_folder()))
    open_database = MODULES.get(settings.module)
    if settings.module == CELLS:
        raise Misconfigured(
            "this needs one database, and a directory of cells has many.",
            hint="Give the address of one cell; 'bethink cells list' shows them.",
        )
    if open_database is None:
        raise Misconfigured(f"unknown module {settings.module!r}.", hint=f"Use one of {', '.join((*MODULES, CELLS))}.")
    database = open_database(settings, clock)
    database.tombstones_path = settings.tombstones_path
    database.keys_refused = timedelta(days=settings.retention.key_days)
    return database


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
        worker = _worker(settings, database, redactor=cut, providers=providers, prompt=prompt)
    background = None
    if worker is not None and settings.learning.in_background:
        from bethink.background import Background  # noqa: PLC0415 - it loads the store, which an import need not

        kinds = [kind for kind in JobKind if kind is not JobKind.INDEX or providers.has_embedder]
        quiet = settings.learning.after if providers.has_model else None
        background = Background(worker, database, kinds=kinds, learn_after=quiet)
    parts = Parts(
        database=database,
        redactor=cut,
        searcher=_searcher(database, providers),
        worker=worker,
        relearning=_relearning(settings, database, redactor=cut, model=model) if worker is not None else None,
        background=background,
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

        return RelearnService(database, shadow=shadow, daily_cap=_cap(settings, free=False))

    return make


def _compactor(settings: Settings, database: Database, providers: Providers) -> "Compactor | None":
    """Return what compacts with the model, if there is one and learning is on."""
    if not (settings.learning.enabled and providers.has_model):
        return None
    from bethink.working.model_compactor import DefaultCompactor  # noqa: PLC0415 - it needs a model

    return DefaultCompactor(providers.model, _budget(settings, database))


def _budget(settings: Settings, database: Database) -> "Budget":
    from bethink.spending import Budget  # noqa: PLC0415 - as above

    return Budget(database=database, prices=_prices(settings), daily_cap=_cap(settings, free=False), slot=_slot())


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


def _worker(
    settings: Settings, database: Database, *, redactor: Redactor, providers: Providers, prompt: str
) -> "Callable[[], Worker]":
    last: Worker | None = None
    tidy: Callable[[], Awaitable[None]] | None = None

    def make() -> "Worker":
        nonlocal last, tidy  # a model that is away stays away for every worker of this process
        rest = None if last is None else last.rest
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
        )
        if tidy is None:
            from bethink.services import retention_service  # noqa: PLC0415 - only workers look after erasures

            tidy = retention_service(database, settings, redactor=redactor).tidy
        last.tidy = tidy
        return last

    return make


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
