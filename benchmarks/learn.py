"""How soon a worker starts on a marked session, and how fast a backlog drains beside the same statements bare."""

import argparse
import multiprocessing
import statistics
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from multiprocessing.context import ForkProcess
from typing import Any

import anyio
import psycopg

import bethink
from benchmarks import learn_bare
from bethink.jobs.worker import Worker, WorkerOptions
from bethink.memory.learning.extraction.extract import Extractor
from bethink.model.calls import ModelCall
from bethink.model.jobs import JobKind
from bethink.model.records import conversation_key
from bethink.providers.default_redactor import redactor_for
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.engines import postgres as store
from faults.scripted import new_lines
from tools import postgres

_fork = multiprocessing.get_context("fork")
LATENCY_GOAL = 0.2
RATE_GOAL = 0.5
WORKERS = 2
_SPACES = 100

_FILL = """
INSERT INTO spaces (id, shard, created_at) VALUES (%(space)s, 0, 1);
INSERT INTO agents (space_id, id, name, kind, created_at) VALUES (%(space)s, 'agt', 'assistant', 'primary', 1);
INSERT INTO conversations (space_id, id, agent_id, key, created_at)
SELECT %(space)s, 'cnv-' || n, 'agt', 'bench:' || n || ':', 1 FROM generate_series(1, %(count)s) n;
INSERT INTO sessions (space_id, id, conversation_id, agent_id, ordinal, learns, created_at, last_number,
                      invalidated_at, marked_at, marked_by)
SELECT %(space)s, 'ses-' || n, 'cnv-' || n, 'agt', 1, 1, 1, 1, 1, 1, 'idle' FROM generate_series(1, %(count)s) n;
INSERT INTO messages (space_id, session_id, number, role, content, tool_calls, is_error, metadata, origin, said_at,
                      recorded_at)
SELECT %(space)s, 'ses-' || n, 1, 'user', 'note w' || n || 'x about the harbour', '[]', 0, '{}', 'user', 1, 1
FROM generate_series(1, %(count)s) n;
INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at, input_watermark)
SELECT %(space)s, 'extract', 'ses-' || n, 1, 'queued', 1, 1 FROM generate_series(1, %(count)s) n;
"""


def scripted(call: ModelCall) -> str:
    """One claim for the one message, and that it is said, at once."""
    if call.schema_name == "verdicts":
        return learn_bare.VERDICTS
    return learn_bare.answer(new_lines(call.prompt)[0].text)


def fill(dsn: str, sessions: int) -> None:
    """Create the schema and so many marked sessions, spread over spaces."""
    anyio.run(_create, dsn)
    with psycopg.connect(dsn, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        for number in range(_SPACES):
            space = f"space-{number:03}"
            connection.execute("SELECT set_config('bethink.space', %s, false)", [space])
            connection.execute(_FILL, {"space": space, "count": sessions // _SPACES})
        connection.execute("ANALYZE")


async def _create(dsn: str) -> None:
    async with bethink.connect(dsn, learn=False):
        pass


def drain(dsn: str) -> None:
    """Be one worker, until there is nothing left."""

    async def work() -> None:
        with psycopg.connect(dsn, autocommit=True) as watch:
            async with _worker(dsn, ScriptedModel(scripted)) as worker, anyio.create_task_group() as tasks:
                tasks.start_soon(worker.run)
                while _count(watch, _LEFT):  # noqa: ASYNC110 - another process may do the last one
                    await anyio.sleep(0.1)
                tasks.cancel_scope.cancel()

    anyio.run(work)


_LEFT = "SELECT count(*) FROM jobs WHERE kind = 'extract' AND status IN ('queued', 'running', 'failed')"


@asynccontextmanager
async def _worker(dsn: str, model: ScriptedModel) -> AsyncGenerator[Worker]:
    database = store.PostgresDatabase(store.PostgresOptions(dsn=dsn))
    await database.open()
    extractor = Extractor(
        database=database,
        model=model,
        reader=model,
        redactor=redactor_for(database),
        tokens=EstimatedTokens(),
    )
    yield Worker(database, {JobKind.EXTRACT: extractor}, WorkerOptions(daily_cap=10**15))
    await database.close()


def timed(work: Callable[[str], None], dsn: str) -> float:
    """Let both workers run to the end and return how long that took."""
    workers = [_fork.Process(target=work, args=(dsn,)) for _ in range(WORKERS)]
    start = time.perf_counter()
    _run(workers)
    return time.perf_counter() - start


def _run(workers: list[ForkProcess]) -> None:
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise SystemExit("a worker failed")


def check(dsn: str, sessions: int) -> None:
    """Make sure that everything was learnt before anything is said about how fast."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        facts = 0
        for number in range(_SPACES):
            connection.execute("SELECT set_config('bethink.space', %s, false)", [f"space-{number:03}"])
            facts += _count(connection, "SELECT count(*) FROM facts")
        left = _count(connection, "SELECT count(*) FROM jobs WHERE kind = 'extract' AND status <> 'waiting'")
    if facts != sessions or left:
        raise SystemExit(f"{facts} facts of {sessions}, {left} jobs left: this was no drain")


def _count(connection: "psycopg.Connection[Any]", query: str) -> int:
    row = connection.execute(query.encode()).fetchone()
    return 0 if row is None else row[0]


def statements(dsn: str) -> "Counter[str]":
    """Count the statements that one worker issues for one session, as the real one does."""
    seen: Counter[str] = Counter()
    run, fetch = store.PostgresTx._run, store.PostgresTx._fetch

    def noted(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: store.PostgresTx, query: store.Query, values: list[object]) -> Any:
            seen[query.name] += 1
            return original(self, query, values)

        return call

    store.PostgresTx._run, store.PostgresTx._fetch = noted(run), noted(fetch)
    try:
        drain(dsn)
    finally:
        store.PostgresTx._run, store.PostgresTx._fetch = run, fetch
    return seen


def rate(superuser: str, sessions: int) -> float:
    """Drain the same backlog by our workers and bare, in turns, and return the ratio of the rates."""
    one = postgres.create_database(superuser, "one")
    fill(one, _SPACES)
    issued = statements(one)
    bare = {name: count * _SPACES for name, count in Counter(learn_bare.STATEMENTS).items()}
    bare["find_agent"] += _SPACES  # a space's first session makes its writer, and looks twice
    ours = {name: count for name, count in issued.items() if name in bare}
    if ours != bare:
        raise SystemExit(f"not the same statements: {ours} and {bare}")
    ratios: list[float] = []
    for number in range(3):
        took: dict[str, float] = {}
        for name, work in (("ours", drain), ("bare", learn_bare.drain)):
            dsn = postgres.create_database(superuser, f"{name}_{number}")
            fill(dsn, sessions)
            took[name] = timed(work, dsn)
            check(dsn, sessions)
        ratios.append(took["bare"] / took["ours"])
        print(f"{sessions} sessions: {sessions / took['ours']:.0f}/s, bare {sessions / took['bare']:.0f}/s", flush=True)
    return statistics.median(ratios)


def latency(superuser: str, rounds: int) -> float:
    """Mark a session, and measure how long after the commit one of two waiting workers asks its model."""
    dsn = postgres.create_database(superuser, "latency")
    anyio.run(_create, dsn)
    heard: Any = _fork.SimpleQueue()
    workers = [_fork.Process(target=_wait_for_work, args=(dsn, heard), daemon=True) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    for _ in workers:
        heard.get()

    async def mark() -> list[float]:
        took: list[float] = []
        async with bethink.connect(dsn, learn=False) as memory:
            for number in range(rounds):
                key = conversation_key(channel="bench", chat=str(number))
                session = await memory.space(f"space-{number}").session(key)
                await session.append([{"role": "user", "content": "note about the harbour"}])
                await session.checkpoint(force=True)
                committed = time.monotonic()
                took.append((await anyio.to_thread.run_sync(heard.get)) - committed)
        return took

    try:
        return statistics.median(anyio.run(mark))
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def _wait_for_work(dsn: str, heard: Any) -> None:
    def started(_: ModelCall) -> str:
        heard.put(time.monotonic())
        return '{"claims": []}'

    async def work() -> None:
        async with _worker(dsn, ScriptedModel(started)) as worker:
            await worker.run_once()
            heard.put(0.0)
            await worker.run()

    anyio.run(work)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10_000, help="how many marked sessions are drained")
    parser.add_argument("--rounds", type=int, default=50, help="how many sessions are marked one by one")
    options = parser.parse_args()
    with postgres.running(durable=True) as superuser:
        wait = latency(superuser, options.rounds)
        ratio = rate(superuser, options.sessions)
    print(
        f"a marked session is started {wait:.3f} s after its commit (median of {options.rounds}, goal {LATENCY_GOAL}); "
        f"{options.sessions} sessions drain at {ratio:.2f} of the bare rate (goal {RATE_GOAL})"
    )
    return 0 if wait <= LATENCY_GOAL and ratio >= RATE_GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
