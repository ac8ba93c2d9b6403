"""Puts the parts together: settings become databases, Memory and the stores of single agents."""

import math
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import anyio

from bethink.background import Startup
from bethink.errors import Invalid, Misconfigured, StoreError
from bethink.extend import Embedder, Model, Redactor
from bethink.facts.service import Facts
from bethink.log.history import History
from bethink.log.live import LiveHistory
from bethink.logs import logger, redact_logs
from bethink.memory import Memory
from bethink.model.jobs import JobKind
from bethink.model.records import AgentKind, ConversationKey, Message, conversation_text
from bethink.plugins import Senses
from bethink.providers.default_redactor import redactor_for
from bethink.providers.no_redaction import NoRedaction
from bethink.settings import Settings, load_settings, settings_of
from bethink.store.db import Database
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions

if TYPE_CHECKING:  # loaded by whoever makes one
    from bethink.recall.search import Searcher
    from bethink.worker import Rest, Worker
    from bethink.working.ladder import Compactor
    from bethink.working.process import Engine

DEFAULT_SPACE = "default"

_MAX_HELD = 10_000
_log = logger()

Services = TypedDict("Services", {"memory.history": History, "memory.store": Facts})


def _open_sqlite(settings: Settings) -> Database | None:
    path = settings.database_path
    return _sqlite_file(path, settings) if path else None


def _sqlite_file(path: str, settings: Settings) -> Database:
    return SqliteDatabase(
        SqliteOptions(
            path=path,
            wal=settings.sqlite_wal,
            synchronous=settings.sqlite_synchronous,
            busy_timeout=settings.sqlite_busy_timeout,
            readers=settings.sqlite_readers,
        )
    )


def _open_postgres(settings: Settings) -> Database | None:
    if not settings.postgres_dsn:
        return None
    # Imported here: psycopg is an extra, and its import alone costs more than a hook on a prompt may take.
    try:
        from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions  # noqa: PLC0415
    except ImportError as error:
        raise Misconfigured(
            "PostgreSQL needs a driver.", hint="pip install 'bethink[postgres]', or '.[postgres]' from a clone."
        ) from error

    return PostgresDatabase(
        PostgresOptions(
            dsn=settings.postgres_dsn,
            pool_size=settings.postgres_pool_size,
            connect_timeout=settings.postgres_connect_timeout,
            statement_timeout=settings.postgres_statement_timeout,
            lock_timeout=settings.postgres_lock_timeout,
            idle_timeout=settings.postgres_idle_timeout,
            tcp_timeout=settings.postgres_tcp_timeout,
        )
    )


MODULES: dict[str, Callable[[Settings], Database | None]] = {
    "memory.sqlite": _open_sqlite,
    "memory.postgres": _open_postgres,
}


def worker_from(
    settings: Settings,
    database: Database,
    *,
    redactor: Redactor,
    model: Model | None,
    embedder: Embedder | None = None,
    rest: "Rest | None" = None,
    unfit: Mapping[JobKind, Misconfigured] | None = None,
) -> "Worker":
    """Build a worker that learns with a model, or without one by quoting; jobs it is `unfit` for wait."""
    # Imported here: a process that only appends need not load what learns.
    from bethink.learning.documents.consolidate import ConsolidationRules, Consolidator  # noqa: PLC0415
    from bethink.learning.documents.runs import Runs  # noqa: PLC0415
    from bethink.learning.documents.transcripts import Scribe, post  # noqa: PLC0415
    from bethink.learning.extraction.extract import Extractor, Prices  # noqa: PLC0415
    from bethink.learning.extraction.idle import QuietRules  # noqa: PLC0415
    from bethink.providers.estimated_tokens import EstimatedTokens  # noqa: PLC0415
    from bethink.recall.index import Indexer  # noqa: PLC0415
    from bethink.worker import Handler, Worker, WorkerOptions  # noqa: PLC0415

    prices = Prices(input=settings.model_price_input, output=settings.model_price_output)
    tokens, slot = EstimatedTokens(), os.getpid() % 64
    quiet = QuietRules(
        idle_hours=settings.scan_idle_hours,
        age_days=settings.scan_age_days,
        channels=tuple(filter(None, map(str.strip, settings.scan_channels.split(",")))),
    )
    rules = ConsolidationRules(
        max_unused_days=settings.max_unused_days,
        limit=settings.max_consolidated,
        review=settings.review,
        folder=settings.artefacts_dir,
    )
    extractor = Extractor(
        database=database,
        model=model,
        redactor=redactor,
        tokens=tokens,
        prices=prices,
        quiet=quiet,
        post=post if settings.write_transcripts and model is not None else None,
        slot=slot,
    )
    runs = Runs(database=database, model=model, redactor=redactor, tokens=tokens, prices=prices, slot=slot)
    consolidator = Consolidator(runs=runs, rules=rules)
    options = WorkerOptions(
        interval=settings.worker_interval,
        batch=settings.worker_batch,
        concurrency=settings.worker_concurrency,
        lease=settings.worker_lease,
        max_attempts=settings.worker_max_attempts,
        scan_limit=settings.scan_limit,
        scan_claims=settings.scan_claims,
        daily_cap=_cap(settings, free=model is None and JobKind.EXTRACT not in (unfit or {})),
    )
    handlers: dict[JobKind, Handler] = {
        JobKind.EXTRACT: extractor,
        JobKind.WRITE: Scribe(runs=runs),
        JobKind.CONSOLIDATE: consolidator,
    }
    if embedder is not None:
        handlers[JobKind.INDEX] = Indexer(database=database, embedder=embedder)
    return Worker(database, handlers, options, rest=rest, unfit=unfit)


def _cap(settings: Settings, *, free: bool) -> int | None:
    free = free or settings.model_price_input + settings.model_price_output == 0
    return None if free or math.isinf(settings.daily_spend_cap) else round(settings.daily_spend_cap * 1_000_000)


def memory_from(
    settings: Settings,
    *,
    redactor: Redactor | None = None,
    engine: "Engine | None" = None,
    compactor: "Compactor | None" = None,
    model: Model | None = None,
    embedder: Embedder | None = None,
) -> Memory:
    """Build the Memory that the settings describe; switched off or unconfigured, one that does nothing."""
    make = MODULES.get(settings.module)
    if make is None:
        raise Misconfigured(f"no module {settings.module!r}.", hint=f"Use one of {', '.join(MODULES)}.")
    database = make(settings) if settings.enabled else None
    if database is None:
        _log.warning("nothing will be remembered: memory is %s", "without a place" if settings.enabled else "off")
    cut = redactor or _redactor(settings, database)
    if not isinstance(cut, NoRedaction):
        redact_logs(cut)
    senses = Senses(settings, model=model, embedder=embedder)
    make, startup = _learning(settings, database, redactor=cut, senses=senses)
    return Memory(
        database,
        redactor=cut,
        max_history_len=settings.max_history_len,
        engine=engine,
        compactor=compactor,
        worker=make,
        startup=startup,
        searcher=_searching(database, senses),
        artefacts_dir=settings.artefacts_dir,
    )


def _searching(database: Database | None, senses: Senses) -> "Callable[[], Searcher]":
    def make() -> "Searcher":
        # Imported where something is asked: a process that only appends need not load what searches.
        from bethink.providers.estimated_tokens import EstimatedTokens  # noqa: PLC0415
        from bethink.recall.search import Searcher  # noqa: PLC0415

        embedder, reranker = senses.searching()
        return Searcher(database, tokens=EstimatedTokens(), embedder=embedder, reranker=reranker)

    return make


def _redactor(settings: Settings, database: Database | None) -> Redactor:
    if not settings.redact:
        return NoRedaction()
    return redactor_for(database, key=settings.redaction_key)


def _learning(
    settings: Settings, database: Database | None, *, redactor: Redactor, senses: Senses
) -> "tuple[Callable[[], Worker] | None, Startup | None]":
    if database is None or not settings.learn:
        return None, None
    last: Worker | None = None

    def make() -> "Worker":
        nonlocal last  # a model that is away stays away, whichever worker asks
        rest = None if last is None else last.rest
        model, embedder, unfit = _fit(senses)
        last = worker_from(
            settings, database, redactor=redactor, model=model, embedder=embedder, rest=rest, unfit=unfit
        )
        return last

    if not settings.learn_at_start:
        return make, None
    return make, Startup(make)


def _fit(senses: Senses) -> tuple[Model | None, Embedder | None, dict[JobKind, Misconfigured]]:
    """Make what a worker needs, and say which jobs must wait because a part of it cannot be made."""
    unfit: dict[JobKind, Misconfigured] = {}
    model = embedder = None
    try:
        model = senses.model()
    except Misconfigured as error:
        unfit |= dict.fromkeys(set(JobKind) - {JobKind.INDEX}, error)
    try:
        embedder = senses.embedder()
    except Misconfigured as error:
        unfit[JobKind.INDEX] = error
    return model, embedder, unfit


def services(memory: Memory, *, space: str, agent: str = "assistant") -> Services:
    """Return the two tiers of a memory under the names a host registers them by."""
    return {
        "memory.history": memory.history(space=space, agent=agent),
        "memory.store": memory.facts(space=space),
    }


def connect(
    target: str | Path = "",
    *,
    redactor: Redactor | None = None,
    engine: "Engine | None" = None,
    compactor: "Compactor | None" = None,
    model: Model | str | None = None,
    embedder: Embedder | str | None = None,
    **arguments: object,
) -> Memory:
    """Return a Memory on a file, on `:memory:`, or on a `postgresql://` address; open it with `async with`.

    Without a target, the settings file and the environment decide. Further arguments are settings, as are a model and
    an embedder that are given by name.
    """
    if isinstance(model, str):
        arguments["model"], model = model, None
    if isinstance(embedder, str):
        arguments["embedder"], embedder = embedder, None
    settings = load_settings(**arguments, **settings_of(str(target)))  # pyright: ignore[reportArgumentType]
    return memory_from(settings, redactor=redactor, engine=engine, compactor=compactor, model=model, embedder=embedder)


async def open_history_store(path: str | Path, *, agent: str = "assistant") -> tuple[History, Database]:
    """Open one file as the history of one agent, with no settings at all. Close the database when done."""
    database = _sqlite_file(str(path), Settings())
    await database.open()
    return _history(database, agent, redactor_for(database)), database


def _history(database: Database, agent: str, redactor: Redactor) -> History:
    return History(database, space=DEFAULT_SPACE, agent=agent, kind=AgentKind.PRIMARY, redactor=redactor)


class AgentStores:
    """One file for each agent, opened when it is first asked for and once only."""

    def __init__(self, settings: Settings, *, redactor: Redactor | None = None) -> None:
        self._settings = settings
        self._redactor = redactor
        self._opened: dict[str, tuple[History, Database]] = {}
        self._held: dict[tuple[str, str], list[Message]] = {}
        self._blind: set[tuple[str, str]] = set()
        self._turns: dict[tuple[str, str], anyio.Lock] = {}
        self._guard = anyio.Lock()

    def path_of(self, agent: str) -> Path | None:
        """Say where an agent's file is, or None if it has no memory."""
        if not agent or agent in (".", "..") or set(agent) & set("/\\\0"):
            raise Invalid(f"{agent!r} cannot be an agent's folder.", hint="Use a name without slashes.")
        own = self._settings.agent(agent)
        if not (self._settings.enabled and own.enabled):
            return None
        if own.data_dir:
            return Path(own.data_dir) / "memory.db"
        if not self._settings.data_dir:
            return None
        return Path(self._settings.data_dir) / "agents" / agent / "memory.db"

    async def resolve_history(self, agent: str) -> History | None:
        """Return an agent's history, or None if its memory is switched off or has nowhere to be.

        A file that failed to open is tried again next time.
        """
        if agent in self._opened:
            return self._opened[agent][0]
        path = self.path_of(agent)
        if path is None:
            return None
        async with self._guard:
            if agent not in self._opened:
                database = _sqlite_file(str(path), self._settings)
                await database.open()
                self._opened[agent] = (_history(database, agent, self._redactor_of(database)), database)
        return self._opened[agent][0]

    def _redactor_of(self, database: Database) -> Redactor:
        return self._redactor or _redactor(self._settings, database)

    async def turn(
        self,
        agent: str,
        key: ConversationKey | str,
        text: str,
        *,
        think: Callable[[list[Message]], Awaitable[str]],
        send: Callable[[str], Awaitable[None]],
    ) -> str:
        """Take one message through an agent: remembered, thought about, answered, and the answer remembered.

        The conversation is restored when this process first meets it. An answer that could not be sent is not kept.
        """
        place = (agent, conversation_text(key))
        async with self._turns.setdefault(place, anyio.Lock()):
            history = await self._history_or_none(agent)
            held = self._held.pop(place, None)
            if history is not None and place in self._blind:
                held = None  # what it held came from a time without its memory
            self._blind.discard(place)
            limit = self._settings.max_history_len
            async with LiveHistory(history, key, max_history_len=limit, held=held) as live:
                restored = live.failures == 0
                try:
                    await live.append(Message(role="user", content=text))
                    answer = await think(live.messages)
                    await send(answer)
                    await live.append(Message(role="assistant", content=answer))
                finally:
                    if restored:
                        self._hold(place, live.messages)
                    if history is None and self.path_of(agent) is not None:
                        self._blind.add(place)
            return answer

    async def _history_or_none(self, agent: str) -> History | None:
        try:
            return await self.resolve_history(agent)
        except StoreError as error:
            _log.error("agent %s goes on without its memory: %s", agent, type(error).__name__)
            return None

    def _hold(self, place: tuple[str, str], messages: list[Message]) -> None:
        self._held[place] = messages
        while len(self._held) > _MAX_HELD:  # the one not heard of for longest; it is restored when it comes back
            oldest = next(iter(self._held))
            del self._held[oldest]
            self._turns.pop(oldest, None)

    async def close(self) -> None:
        """Close every file that was opened."""
        opened, self._opened = self._opened, {}
        self._held.clear()
        async with AsyncExitStack() as stack:
            for _, database in opened.values():
                stack.push_async_callback(database.close)
