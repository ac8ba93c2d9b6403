"""Sessions by learning state, and transcripts with the data derived from each message."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bethink import Fact, Memory
from bethink.errors import NotFoundError
from bethink.memory.documents import tree
from bethink.model.documents import DocumentDraft, DocumentSource, Provenance, SourceKind
from bethink.model.facts import Quote
from bethink.model.jobs import JobKind, JobStatus, Outcome
from bethink.model.recall import Purpose
from bethink.model.records import SessionState
from bethink.model.refs import Ref, RefKind
from bethink.store import facts, jobs, ledger
from bethink.store.db import Database, Tx
from tests.conftest import FakeClock
from tests.facts_kit import learn_fact
from tests.page_kit import EVERY_CHECK, analyze, cost_of


async def _talk(memory: Memory, count: int, *, space: str = "mira") -> str:
    stored = await memory.space(space).remember(
        [{"role": "user", "content": f"message {number}"} for number in range(1, count + 1)]
    )
    return stored.session.id


async def test_a_transcript_shows_the_messages_around_one(memory: Memory) -> None:
    name = await _talk(memory, 30)
    session = await memory.space("mira").sessions.get(name)

    part = await session.transcript(around=17, limit=6)
    last = await session.transcript(limit=4)
    all_of_it = await session.transcript(around=1, limit=40)

    assert [line.record.number for line in part.lines] == [14, 15, 16, 17, 18, 19]
    assert (part.earlier, part.later) == (True, True)
    assert [line.record.number for line in last.lines] == [27, 28, 29, 30]
    assert (last.earlier, last.later) == (True, False)
    assert len(all_of_it.lines) == 30
    assert (all_of_it.earlier, all_of_it.later) == (False, False)
    assert [line.record.number for line in (await session.transcript(around=30, limit=4)).lines] == [27, 28, 29, 30]


@settings(max_examples=30, suppress_health_check=EVERY_CHECK)
@given(count=st.integers(1, 12), around=st.integers(0, 14), limit=st.integers(1, 8))
async def test_transcript_page_respects_its_limit(
    memory: Memory, clock: FakeClock, count: int, around: int, limit: int
) -> None:
    space = f"s{clock.time.timestamp()}"
    session = await memory.space(space).sessions.get(await _talk(memory, count, space=space))

    part = await session.transcript(around=around, limit=limit)

    numbers = [line.record.number for line in part.lines]
    assert numbers == list(range(numbers[0], numbers[0] + min(limit, count)))
    assert around in numbers or not 1 <= around <= count
    assert (part.earlier, part.later) == (numbers[0] > 1, numbers[-1] < count)


async def _made_of(memory: Memory, database: Database, name: str, space: str = "mira") -> None:
    """A fact, a document and a showing of the second message."""

    def body(tx: Tx) -> None:
        quote = Quote(session_id=name, number=2, text="message 2")
        fact = Fact(id="f1", text="There are two")
        learn_fact(tx, fact, facts.Support("e", fact.text, (quote,)), space=space)
        by = Provenance(sources=(DocumentSource(kind=SourceKind.MESSAGE, id=name, number=2),))
        tree.create(tx, DocumentDraft(slug="d", title="D"), space=space, provenance=by, document_id="doc_d")
        ref = Ref(RefKind.MESSAGE, name, 2)
        for digest in ("a", "b"):
            ledger.record(
                tx, space=space, purpose=Purpose.RECALL, session_id=name, items=[(ref, "m")], tokens=1, digest=digest
            )

    await database.transact(body, space=space)


async def test_each_line_says_what_became_of_it(memory: Memory, database: Database) -> None:
    name = await _talk(memory, 3)
    await _made_of(memory, database, name)
    session = await memory.space("mira").sessions.get(name)

    first, second, third = (await session.transcript()).lines

    assert (first.facts, first.documents, first.claims, first.shown_count) == ((), (), (), 0)
    assert [(each.ref, each.text, each.retired) for each in second.facts] == [("fact:f1:1", "There are two", False)]
    assert second.documents == ("document:doc_d:1",)
    assert (second.shown_count, third.shown_count) == (2, 0)

    await memory.space("mira").facts.rate("fact:f1:1", "outdated")
    [_, second, _] = (await session.transcript()).lines
    assert [(fact.ref, fact.retired) for fact in second.facts] == [("fact:f1:1", True)]


async def test_transcript_of_another_space_is_not_found(memory: Memory, database: Database) -> None:
    name = await _talk(memory, 3)
    await _talk(memory, 3, space="anna")
    await _made_of(memory, database, name)

    with pytest.raises(NotFoundError):
        await (await memory.space("anna").sessions.get(name)).transcript()


async def test_transcript_page_cost_is_independent_of_length(
    memory: Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long = await _talk(memory, 60, space="short"), await _talk(memory, 900, space="long")
    await analyze(database, "messages", "fact_sources", "document_sources")
    costs = [
        await cost_of(monkeypatch, lambda space=space, name=name: _read(memory, space, name))
        for space, name in (("short", short), ("long", long))
    ]

    assert costs[0].statements == costs[1].statements <= 8
    assert costs[1].rows <= costs[0].rows * 1.3 + 5


async def _read(memory: Memory, space: str, name: str) -> None:
    session = await memory.space(space).sessions.get(name)
    await session.transcript(around=30, limit=20)


async def _fail(database: Database, name: str, *, space: str = "mira") -> None:
    def body(tx: Tx) -> None:
        jobs.queue(tx, space=space, kind=JobKind.EXTRACT, key=name, watermark=1)
        row = tx.first("find_job", space=space, kind=JobKind.EXTRACT, key=name)
        assert row is not None
        tx.script(
            f"UPDATE jobs SET status = '{JobStatus.ABANDONED}', outcome = '{Outcome.FAILED}', last_error = 'no', "
            f"due_at = NULL WHERE space_id = '{space}' AND key = '{name}'"
        )

    await database.transact(body, space=space)


async def test_sessions_are_listed_by_how_far_learning_has_come(memory: Memory, database: Database) -> None:
    mira = memory.space("mira")
    ids: dict[SessionState, str] = {}
    for state in SessionState:
        session = await mira.session(state.value, ephemeral=state is SessionState.EPHEMERAL)
        await session.append("hello")
        ids[state] = session.id
        if state is SessionState.QUEUED:
            await session.checkpoint(force=True)
    await _fail(database, ids[SessionState.FAILED])
    learnt = ids[SessionState.LEARNED]
    await database.transact(
        lambda tx: tx.script(f"UPDATE sessions SET processed_until = 1 WHERE id = '{learnt}'"), space="mira"
    )

    for state in SessionState:
        found = await mira.sessions.list(state=state)
        assert {each.state for each in found} == {state}
        assert ids[state] in {each.session.id for each in found}
        assert {each.error for each in found} == ({"no"} if state is SessionState.FAILED else {None})
    assert (await memory.space("anna").sessions.list(state=SessionState.FAILED)) == []
    narrow = await mira.sessions.list(state=SessionState.FAILED, conversation="open")
    assert narrow == []


async def test_failed_sessions_are_found_without_reading_others(
    memory: Memory, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs: list[int] = []
    for space, count in (("few", 10), ("many", 300)):
        failed = (await memory.space(space).remember("hello", conversation="first")).session
        await _fail(database, failed.id, space=space)
        for number in range(count):
            await memory.space(space).remember("hello", conversation=f"c{number}")
        await analyze(database, "sessions", "jobs", "messages", "conversations", "agents", "session_summaries")
        cost = await cost_of(
            monkeypatch, lambda space=space: memory.space(space).sessions.list(state=SessionState.FAILED)
        )
        assert cost.statements == 1
        costs.append(cost.rows)

    assert costs[1] <= costs[0] * 1.5 + 5
