"""Turns of spaces on PostgreSQL: found by their index, and taken by one worker at a time."""

from collections.abc import AsyncIterator
from datetime import timedelta

import anyio
import pytest

from bethink.model.jobs import JobKind, JobStatus
from bethink.store import jobs
from bethink.store.db import Tx
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions
from bethink.store.sql import Dialect, Query, queries


@pytest.fixture
async def database(clean_dsn: str) -> AsyncIterator[PostgresDatabase]:
    database = PostgresDatabase(PostgresOptions(dsn=clean_dsn, pool_size=4))
    await database.open()
    yield database
    await database.close()


@pytest.mark.parametrize(
    ("name", "index"),
    [("claim_extractions", "learning_turns_fresh"), ("claim_tried_extractions", "learning_turns_retries")],
)
async def test_turns_of_spaces_are_found_by_their_index(database: PostgresDatabase, name: str, index: str) -> None:
    query = queries(Dialect.POSTGRES)[name]
    values = {"now": "1", "limit": "1", "worker": "'w'", "lease": "1"}

    def plan(tx: Tx) -> str:
        tx.script("SET LOCAL plan_cache_mode = force_generic_plan")
        tx.script(f"PREPARE claim_turns AS {query.text}")
        tx.script("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off")
        text = f"EXPLAIN EXECUTE claim_turns ({', '.join(values[key] for key in query.parameters)})"
        return "\n".join(row["QUERY PLAN"] for row in tx._fetch(Query(name="plan", text=text, parameters=()), []))

    text = await database.transact(plan)

    assert index in text
    assert "jobs_said" in text
    assert "Seq Scan" not in text


async def test_concurrent_workers_never_lease_two_sessions_of_a_space(database: PostgresDatabase) -> None:
    def mark(tx: Tx, space: str) -> None:
        jobs.ensure_space(tx, space=space)
        for number in range(3):
            jobs.queue(tx, space=space, kind=JobKind.EXTRACT, key=f"ses_{number}", watermark=1)

    spaces = [f"space-{number}" for number in range(5)]
    for space in spaces:
        await database.transact(lambda tx, space=space: mark(tx, space), space=space)
    learned: list[str] = []

    async def work() -> None:
        for _ in range(20):
            leases = await database.transact(
                lambda tx: jobs.lease_jobs(
                    tx, kind=JobKind.EXTRACT, worker="w", duration=timedelta(minutes=1), limit=2
                )
            )  # fmt: skip
            for held in leases:
                await database.transact(
                    lambda tx, held=held: jobs.finish(tx, held, status=JobStatus.DONE, outcome=None), space=held.space
                )
                learned.append(f"{held.space} {held.key}")

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(work)

    for space in spaces:
        keys = [name.split()[1] for name in learned if name.startswith(f"{space} ")]
        assert keys == ["ses_0", "ses_1", "ses_2"]
