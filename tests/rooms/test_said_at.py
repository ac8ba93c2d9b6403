"""Message times: long before they were stored, or outside any calendar."""

import time
from datetime import datetime, timedelta

import pytest

from bethink import Memory, Message, Session
from bethink.errors import InvalidRequestError
from bethink.memory.documents.files import archive, export_files
from bethink.model.jobs import Outcome
from bethink.model.moments import EPOCH, FIRST, LAST, moment
from bethink.model.records import conversation_key
from bethink.model.refs import RefKind
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.db import Database
from tests.conftest import whole_tree
from tests.rooms.learn_kit import a_fact, a_note, answer, marked, worker
from tests.rooms.test_consolidate import Life

JANUARY, OCTOBER = (moment(f"2021-{month}-05T12:00:00") for month in ("01", "10"))


def told(text: str, when: datetime) -> Message:
    return Message(role="user", content=text, said_at=when)


@pytest.mark.parametrize("when", [time.time_ns(), 1_700_000_000, "10000-01-01", "0001-01-01T00:00:00+01:00", "noon"])
async def test_invalid_said_at_is_rejected(memory: Memory, session: Session, when: object) -> None:
    hello = {"role": "user", "content": "Hello.", "said_at": when}
    with pytest.raises(InvalidRequestError):
        await session.append([hello])
    with pytest.raises(InvalidRequestError):
        await memory.space("alice").remember([hello])

    assert await session.messages() == []


@pytest.mark.parametrize("when", [FIRST, EPOCH - timedelta(microseconds=1), EPOCH, LAST])
async def test_first_and_last_dates_are_learned_and_exported(
    memory: Memory, database: Database, session: Session, when: datetime
) -> None:
    await session.append([told("I like tea.", when)])
    await session.checkpoint(force=True)
    life = Life(database, memory)

    report = await worker(database, [answer(a_fact("User likes tea", 1))]).run_once()
    await life.consolidate()

    assert report.outcomes == {Outcome.SUCCEEDED: 1}
    assert archive(await life.docs.read_all())
    assert "likes tea" in (await whole_tree(life.docs))["~/memory/consolidated/memory_summary.md"].body


@pytest.mark.parametrize("with_model", [True, False])
async def test_invalid_stored_time_does_not_prevent_learning(
    memory: Memory, database: Database, session: Session, *, with_model: bool
) -> None:
    await marked(memory, session, "I like tea.")
    odd = 1_790_000_000_000_000_000
    await database.transact(lambda tx: tx.script(f"UPDATE messages SET said_at = {odd}"), space="alice")
    model = ScriptedModel([answer(a_fact("User likes tea", 1))]) if with_model else None

    report = await worker(database, model).run_once()
    await Life(database, memory).consolidate()

    assert report.outcomes == {Outcome.SUCCEEDED: 1}
    made = await session.summary()
    assert made is not None
    assert (made.said_from, made.said_until, made.last_said) == (None, None, made.source_updated_at)
    if model is not None:
        assert (
            f"{made.source_updated_at:%Y-%m-%d, %A}\n[1] {made.source_updated_at:%H:%M} owner: I like tea."
            in model.calls[0].prompt
        ), "when it was stored"
        [fact] = await memory.space("alice").facts.list()
        assert fact.created_at == made.source_updated_at
    assert await memory.space("alice").documents.read_all()


async def test_imported_history_is_dated_by_said_at(memory: Memory, database: Database) -> None:
    life = Life(database, memory)
    recent = await life.tell("I like snow.", title="Snow")
    key = conversation_key(channel="import", chat="1")
    session = await memory.space("alice").session(key)
    await session.append([told("I like tea.", JANUARY), told("I like rain.", OCTOBER)])
    await session.end()
    await worker(database, [answer(a_note("They talked about tea."), title="Tea")]).run_once()
    await life.consolidate()

    made = await session.summary()
    assert made is not None
    assert (made.said_from, made.said_until, made.last_said) == (JANUARY, OCTOBER, OCTOBER)
    assert made.source_updated_at > OCTOBER, "what jobs go by is when it was stored"
    tree = await whole_tree(life.docs)
    assert f"2021-10-05, {session.id}" in tree["~/memory/consolidated/MEMORY.md"].body
    summary = tree["~/memory/consolidated/memory_summary.md"].body
    assert summary.endswith("- 2023-11-14: snow\n- 2021-10-05: tea"), "the latest first, by what was said"
    files = await life.docs.read_all()
    assert [name[18:28] for name in sorted(files) if name.startswith("rollout")] == ["2021-10-05", "2023-11-14"]
    assert "updated_at: 2021-10-05T12:00:00+00:00" in files["raw_memories.md"]
    found = await memory.space("alice").recall("talked tea", kinds=[RefKind.SESSION_SUMMARY])
    assert (session.id, OCTOBER) in [(item.ref.id, item.said_at) for item in found.items]
    begun = {each.session.id: each.started_at for each in await memory.space("alice").sessions.list()}
    assert begun[session.id] == JANUARY
    assert (begun[recent.id] or EPOCH) > OCTOBER
    assert await database.transact(lambda tx: export_files(tx, space="alice"), space="alice", read_only=True) == files
