"""The number of statements per call does not grow with the stored data."""

from collections.abc import Callable
from typing import Any

import pytest
from mcp.client.client import Client

import bethink
from bethink.mcp import Grant, make_server
from bethink.memory.documents import changes, tree
from bethink.model.documents import DocumentDraft, Provenance
from bethink.model.facts import Quote, SourceMessage
from bethink.model.jobs import JobKind, JobStatus
from bethink.store import facts, jobs
from bethink.store.db import Database, Tx
from bethink.store.engines.postgres import PostgresDatabase, PostgresOptions, PostgresTx
from bethink.store.engines.sqlite import SqliteTx
from bethink.store.sql import Dialect, Query, queries
from tests.doors.mcp_kit import structure
from tests.facts_kit import change_fact, learn_fact
from tests.rooms.learn_kit import worker

DOCUMENTS = 102
JOBS = 20_000
ACROSS = ("count_overdue", "sample_spaces", "spent")
"""The queries of an audit that look at all spaces at once."""


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The text of every statement that runs, on either database."""
    ran: list[str] = []

    def counted(method: Callable[[Any, Query, list[object]], Any]) -> Callable[[Any, Query, list[object]], Any]:
        def call(tx: Any, query: Query, values: list[object]) -> Any:
            ran.append(query.text)
            return method(tx, query, values)

        return call

    for engine in (SqliteTx, PostgresTx):
        for name in ("_run", "_fetch"):
            monkeypatch.setattr(engine, name, counted(getattr(engine, name)))
    return ran


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each transaction that ran a statement, on either database."""
    transactions: list[str] = []

    def noted(method: Callable[[Any], None]) -> Callable[[Any], None]:
        def call(tx: Any) -> None:
            transactions.append(tx.dialect)
            method(tx)

        return call

    for engine in (SqliteTx, PostgresTx):
        monkeypatch.setattr(engine, "_open", noted(engine._open))
    return transactions


async def _grow(memory: bethink.Memory) -> None:
    """Store 102 documents, 100 facts and 12 sessions."""

    def body(tx: Tx) -> None:
        by = Provenance()
        top = tree.create(tx, DocumentDraft(slug="memory", title="Memory"), space="alice", provenance=by)
        people = tree.create(tx, DocumentDraft(slug="people", title="P", parent=top.id), space="alice", provenance=by)
        for number in range(DOCUMENTS - 2):
            draft = DocumentDraft(slug=f"p{number:03}", title=f"Person {number}", body="x", parent=people.id)
            tree.create(tx, draft, space="alice", provenance=by)
            facts.put(tx, space="alice", fact=bethink.Fact(id=f"fact-{number:03}", text=f"fact {number}"))

    await memory.backend.local().database.transact(body, space="alice")
    for number in range(12):
        await memory.space("alice").remember("hello", conversation=f"chat-{number}")


async def test_a_tree_is_read_with_a_few_statements(memory: bethink.Memory, statements: list[str]) -> None:
    await _grow(memory)
    statements.clear()

    found = await memory.space("alice").documents.list()

    assert len(found) == DOCUMENTS
    assert {entry.path: entry.title for entry in found}["~/memory/people/p007"] == "Person 7"
    assert 1 <= len(statements) <= 5, statements
    assert not any("body" in text for text in statements), statements


async def test_a_consolidation_reads_its_documents_with_a_few_statements(
    memory: bethink.Memory, database: Database, statements: list[str]
) -> None:
    await _grow(memory)
    statements.clear()

    shelf = await database.transact(lambda tx: changes.read_tree(tx, space="alice"), space="alice", read_only=True)

    assert len(shelf.documents) == DOCUMENTS
    assert 1 <= len(statements) <= 5, statements


@pytest.mark.parametrize(
    ("tool", "arguments", "listed"),
    [
        ("list_memories", {"limit": 100}, 20),
        ("list_memories", {"kind": "fact", "limit": 100}, 20),
        ("timeline", {"limit": 100}, 12),
    ],
)
async def test_a_list_over_mcp_takes_a_few_statements(
    memory: bethink.Memory, statements: list[str], tool: str, arguments: dict[str, object], listed: int
) -> None:
    await _grow(memory)
    async with Client(make_server(memory, grant=lambda: Grant(space="alice"))) as client:
        statements.clear()
        found = structure(await client.call_tool(tool, arguments))

    assert len(found["items"]) >= listed
    assert 1 <= len(statements) <= 10, statements


async def test_the_resources_over_mcp_are_listed_with_a_few_statements(
    memory: bethink.Memory, statements: list[str]
) -> None:
    await _grow(memory)
    async with Client(make_server(memory, grant=lambda: Grant(space="alice"))) as client:
        statements.clear()
        found = await client.list_resources()

    assert len(found.resources) == DOCUMENTS
    assert 1 <= len(statements) <= 10, statements


async def test_context_takes_constant_statements_and_two_transactions(
    memory: bethink.Memory, database: Database, statements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await _grow(memory)
    session = await memory.space("alice").session("asking")
    run, ran = database.transact, list[str]()

    def counted(*given: Any, **more: Any) -> Any:
        ran.append("read" if more.get("read_only") else "write")
        return run(*given, **more)

    monkeypatch.setattr(database, "transact", counted)
    taken: dict[int, int] = {}
    for budget in (300, 3_000):
        ran.clear()
        statements.clear()
        block = await session.context("fact 7", budget=budget)
        taken[len(block.items)] = len(statements)
        assert ran == ["read", "write"]  # all that is read, then the ledger with the access record

    (few, first), (many, second) = taken.items()
    assert few + 10 < many
    assert second <= first + 1 <= 30, taken


async def test_learning_and_deleting_a_line_take_few_statements(
    target: str, statements: list[str], begun: list[str]
) -> None:
    async with bethink.connect(target, embedder="none", learn_in_background=False) as memory:
        alice = memory.space("alice")
        taken: list[list[tuple[int, int]]] = []
        for number in range(6):
            counted: list[tuple[int, int]] = []
            await alice.remember(f"I like tea number {number}, and my cat is called Miez.", conversation=f"c{number}")
            statements.clear()
            begun.clear()
            report = await alice.admin.learn()
            counted.append((len(statements), len(begun)))
            assert report.outcomes["succeeded"] == 2  # the session, and the documents
            found = (await alice.recall(f"tea number {number}")).items[0]
            statements.clear()
            begun.clear()
            deleted = await alice.forget(found.ref)
            counted.append((len(statements), len(begun)))
            assert deleted.messages == deleted.session_summaries == 1
            taken.append(counted)

    # The first line also creates the root of the documents and the key of tombstones.
    for (learning, transactions), (deleting, of_deletion) in taken:
        assert learning <= 80, taken
        assert transactions <= 11, taken
        assert deleting <= 65, taken
        assert of_deletion <= 3, taken
    assert taken[1:] == [taken[1]] * (len(taken) - 1)


async def test_current_facts_are_looked_up_with_one_statement(
    memory: bethink.Memory, database: Database, statements: list[str]
) -> None:
    mira = memory.space("mira")
    asked = queries(database.dialect)["facts_stated_by"].text
    sessions = [
        (await mira.remember(f"I live in town {number}.", conversation=f"chat-{number}")).session.id
        for number in range(12)
    ]
    statements.clear()
    await mira.recall("Where do I live?")
    without = len(statements)
    assert asked not in statements

    for number, session_id in enumerate(sessions):
        source = SourceMessage(session_id, 1)

        def learn(tx: Tx, number: int = number, source: SourceMessage = source) -> None:
            fact = bethink.Fact(id=f"home-{number:02}", text=f"User lives in town {number}")
            quote = Quote(session_id=source.session_id, number=source.number, text=f"I live in town {number}.")
            support = facts.Support(fact.id, fact.text, (quote,))
            learn_fact(tx, fact, support, space="mira")
            if number:
                change_fact(tx, f"home-{number - 1:02}", by=fact.id, space="mira")

        await database.transact(learn, space="mira")
    statements.clear()
    found = await mira.recall("Where do I live?", limit=20)

    assert statements.count(asked) == 1
    assert sum(item.replaced_by is not None for item in found.items) == 11
    # Facts are matched and read. What took their place is looked up and read, with its messages and their marks.
    assert len(statements) <= without + 8


async def _finish_many(database: Database) -> None:
    """Make a backlog of jobs that are done, and a few that are not."""
    series = (
        f"generate_series(1, {JOBS}) AS n"
        if database.dialect is Dialect.POSTGRES
        else f"(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {JOBS}) SELECT n FROM s) s"
    )

    def body(tx: Tx) -> None:
        jobs.ensure_space(tx, space="alice")
        tx.script(
            "INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at) "
            f"SELECT 'alice', 'extract', 'done-' || n, n, 'done', NULL FROM {series}"
        )
        for number in range(3):
            jobs.queue(tx, space="alice", kind=JobKind.EXTRACT, key=f"queued-{number}", watermark=1)
        jobs.schedule_idle_check(tx, space="alice", session_id="quiet", due=tx.now)

    await database.transact(body, space="alice")


async def test_an_audit_counts_the_jobs_that_are_not_done(database: Database, statements: list[str]) -> None:
    await _finish_many(database)
    statements.clear()

    found = await worker(database, None).audit()

    assert found.counts == {
        JobKind.EXTRACT: {JobStatus.QUEUED: 3, JobStatus.WAITING: 1},
        JobKind.INDEX: {JobStatus.QUEUED: 1},
    }
    assert 1 <= len(statements) <= 10, statements


async def test_no_query_of_an_audit_reads_all_jobs(fresh_dsn: str) -> None:
    database = PostgresDatabase(PostgresOptions(dsn=fresh_dsn, pool_size=1))
    await database.open()
    await _finish_many(database)
    values = {"kind": "'extract'", "before": "1", "limit": "20", "day": "1"}

    def plan(tx: Tx, name: str) -> str:
        query = queries(Dialect.POSTGRES)[name]
        given = ", ".join(values[each] for each in query.parameters)
        tx.script(f"PREPARE {name} AS {query.text}")
        text = f"EXPLAIN EXECUTE {name} ({given})" if given else f"EXPLAIN EXECUTE {name}"
        return "\n".join(row["QUERY PLAN"] for row in tx._fetch(Query(name=name, text=text, parameters=()), []))

    def plans(tx: Tx) -> dict[str, str]:
        tx.script(f"INSERT INTO spending SELECT n, 0, 1, 1, 1, 1 FROM generate_series(1, {JOBS}) AS n")
        tx.script("ANALYZE jobs; ANALYZE spending")
        return {name: plan(tx, name) for name in ACROSS}

    found = await database.transact(plans)
    await database.close()

    for name, text in found.items():
        assert "Index" in text, (name, text)
        assert "Seq Scan" not in text, (name, text)
    assert "jobs" not in queries(Dialect.POSTGRES)["count_jobs"].text.replace("job_counts", "").split()
