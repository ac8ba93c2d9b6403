"""Threads that are older than what says which conversation they hold text of."""

from functools import partial
from pathlib import Path

import pytest

from bethink import Memory
from bethink.store.db import Tx
from bethink.store.migrate import migrate
from tests.conftest import DATABASES, KEY, Quiet, database_at

_ROWS = """
INSERT INTO threads (space_id, id, session_id, mode, forked_from, created_at) VALUES
    ('alice', 'main', 'ses_1', 'auto', NULL, 10),
    ('alice', 'fork', NULL, 'auto', 'main', 20),
    ('alice', 'fork of fork', NULL, 'auto', 'fork', 30),
    ('alice', 'orphan', NULL, 'auto', 'gone', 30),
    ('alice', 'namesake', NULL, 'auto', 'main', 5),
    ('alice', 'free', NULL, 'auto', NULL, 30);
INSERT INTO chunks (space_id, thread_id, id, type, content, children, retention, mutable, priority, parents, custom,
                    tokens, created_at) VALUES
    ('alice', 'orphan', 'c1', 'WORKING_FLOW', '{}', '[]', 'COMPRESSIBLE', 1, 1, '[]', '{}', 1, 30),
    ('alice', 'orphan', 'c2', 'WORKING_FLOW', '{}', '[]', 'COMPRESSIBLE', 1, 1, '[]',
     '{"message_number": 1, "session_id": "ses_1"}', 1, 30);
INSERT INTO events (space_id, thread_id, number, id, type, payload, urgent, queued_at)
VALUES ('alice', 'free', 1, 'qevt_1', 'USER_MESSAGE', '{"text": "waits"}', 0, 30);
"""


def _old(tx: Tx) -> None:
    tx.run("ensure_space", space="alice", shard=0, now=tx.now)
    tx.run("ensure_agent", space="alice", id="agt_1", name="assistant", kind="primary", now=tx.now)
    tx.run("ensure_conversation", space="alice", id="cnv_1", agent="agt_1", key=str(KEY), now=tx.now)
    tx.run("insert_session", space="alice", id="ses_1", conversation="cnv_1", ordinal=1, learns=1, now=tx.now)
    tx.script(_ROWS)


@pytest.mark.parametrize("kind", DATABASES)
async def test_forks_made_before_are_forgotten_with_the_conversation_as_far_as_it_can_be_told(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    on_server = kind != "sqlite"
    database = database_at(request.getfixturevalue("fresh_dsn") if on_server else str(tmp_path / "old.db"))
    database._start()
    old = partial(database._transact, read=False, repeatable=False)
    await old(lambda tx: migrate(tx, upto=10), space=None)
    await old(_old, space="alice")
    await database._stop()
    await database.open()
    memory = Memory(database, redactor=Quiet())
    desk = memory.desk(space="alice")

    assert [queued.id for queued in await desk.queue("free")] == ["qevt_1"]
    assert (await memory.forget(space="alice", conversation=KEY)).threads == 4

    assert [thread.id for thread in await desk.threads()] == ["free", "namesake"]
    await database.close()
