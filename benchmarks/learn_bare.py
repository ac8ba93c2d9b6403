"""The statements of one extraction, issued with nothing around them: what a drain is measured against."""

import threading
from typing import Any

import psycopg
from psycopg.raw_cursor import RawCursor
from psycopg.rows import dict_row

from bethink.model.moments import FIRST, LAST, to_micros
from bethink.store.sql import Dialect, queries
from faults import scripted
from faults.scripted import claim, quote

THREADS = 8
_BATCH = 10
_LEASE = 60_000_000
_NOW = 1_800_000_000_000_000
_QUERIES = queries(Dialect.POSTGRES)

STATEMENTS = [
    "find_session", "read_messages", "list_answers", "conversation_key", "list_wishes",
    "spend", "charge_job", "find_agent", "record_answer",
    "spend", "charge_job", "find_agent", "record_answer",
    "lock_space", "advance_session", "existing_numbers", "facts_saying", "facts_saying", "insert_fact",
    "queue_job", "insert_fact_source", "insert_fact_quote", "record_changes", "queue_deliveries",
    "put_session_summary", "record_changes", "queue_deliveries", "queue_job", "queue_job", "finish_job",
]  # fmt: skip
"""What every session takes; claims, spend checks and a space's first writer come on top, in both."""


def answer(said: str) -> str:
    """What the model says about a session of one message."""
    return scripted.answer([claim(said, quote(1, said), about="harbour", kind="knowledge")])


VERDICTS = scripted.verdicts(["c1"])
"""What the second reading says about it."""


def drain(dsn: str) -> None:
    """Work off the backlog on as many connections as a worker has jobs at once."""
    threads = [threading.Thread(target=_work, args=(dsn,)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _work(dsn: str) -> None:
    connect = psycopg.Connection[dict[str, Any]].connect
    with connect(dsn, autocommit=True, row_factory=dict_row, cursor_factory=RawCursor[dict[str, Any]]) as connection:
        issue = _Issue(connection)
        asked = {"worker": "bare", "now": _NOW, "lease": _NOW + _LEASE, "limit": _BATCH}
        while claims := issue("claim_extractions", **asked):
            issue("spent", day=_NOW // 86_400_000_000)
            for claim in claims:
                _session(issue, claim["space_id"], claim["key"], claim["token"])


class _Issue:
    def __init__(self, connection: psycopg.Connection[dict[str, Any]]) -> None:
        self.connection = connection
        self.cursor = connection.cursor()

    def __call__(self, name: str, /, **values: object) -> list[dict[str, Any]]:
        query = _QUERIES[name]
        self.cursor.execute(query.text.encode(), [values[each] for each in query.parameters])
        return self.cursor.fetchall() if self.cursor.description else []

    def begin(self, space: str) -> None:
        self.connection.execute(f"BEGIN; SELECT set_config('bethink.space', '{space}', true)".encode())

    def commit(self) -> None:
        self.connection.execute(b"COMMIT")


def _session(issue: _Issue, space: str, session: str, token: int) -> None:
    job: dict[str, object] = {"space": space, "kind": "extract", "key": session, "token": token}
    issue.begin(space)
    issue("find_session", space=space, id=session)
    said = issue("read_messages", space=space, session=session, after=0, limit=500)[0]["content"]
    issue("list_answers", space=space, kind="extract", key=session, limit=2)
    issue("conversation_key", space=space, id=session.replace("ses", "cnv"))
    issue("list_wishes", space=space, kinds=["instruction"], now=_NOW, limit=15)
    issue.commit()

    for position, content in enumerate((answer(said), VERDICTS)):
        _record(issue, job, position, content)

    issue.begin(space)
    issue("lock_space", space=space)
    issue("advance_session", space=space, session=session, start=0, until=1)
    issue("existing_numbers", space=space, session=session, numbers=[1])
    issue("facts_saying", space=space, digest=session)  # with the words of an earlier decision
    issue("facts_saying", space=space, digest=session)
    _learn(issue, space, session, said, token)
    issue(
        "put_session_summary", space=space, session=session, raw_memory=said, summary=said, slug="note", until=1,
        source_updated_at=1, now=_NOW, model="bare", prompt="extract-4", extractor="4", token=token,
        first_day=to_micros(FIRST), last_day=to_micros(LAST),
    )  # fmt: skip
    _tell(issue, space, "session.learned", f"session_summary:{session}:0", session)
    issue("queue_job", space=space, kind="index", key="space", watermark=0, now=_NOW)
    issue("queue_job", space=space, kind="consolidate", key="space", watermark=1, now=_NOW)
    issue(
        "finish_job", **job, status="waiting", outcome="succeeded", due=_NOW * 2, error=None, attempts=0, watermark=1,
        now=_NOW,
    )  # fmt: skip
    issue.commit()


def _record(issue: _Issue, job: dict[str, object], position: int, content: str) -> None:
    space = str(job["space"])
    taken = {"calls": 1, "input_tokens": 500, "output_tokens": 50, "cost": 0}
    issue.begin(space)
    issue("spend", day=1, slot=threading.get_native_id() % 64, **taken)
    issue("charge_job", **job, **taken)
    writer = issue("find_agent", space=space, name="/memory-agent/agt")
    if not writer:
        issue("ensure_agent", space=space, id=f"agt_{space}", name="/memory-agent/agt", kind="memory_writer", now=1)
    issue(
        "record_answer", **job, run="4/extract-4:0-1", position=position, content=content, agent="agt_x", model="bare",
        prompt="extract-4", now=_NOW,
    )  # fmt: skip
    issue.commit()


def _learn(issue: _Issue, space: str, session: str, said: str, token: int) -> None:
    issue(
        "insert_fact", space=space, id=f"fct_{session}", version=1, content=said, kind="knowledge", origin="user",
        source=session, tags="[]", metadata="{}", entities="[]", subject="note", slot=None, valid_from=None,
        valid_to=None, created_at=1, now=_NOW, digest=session, effect=f"{session}:1:2:0", token=token, model="bare",
        prompt="extract-4", extractor="4", evidence="confirmed", speaker="owner", scope=None, happened_from=None,
        happened_to=None, flags="[]", ended_by=None, expires_at=None, pinned_at=None,
    )  # fmt: skip
    issue("queue_job", space=space, kind="index", key="space", watermark=0, now=_NOW)
    issue("insert_fact_source", space=space, fact=f"fct_{session}", session=session, number=1)
    issue(
        "insert_fact_quote", space=space, fact=f"fct_{session}", support=f"{session}:1:2:0", place=0, session=session,
        number=1, text=said, context=0, statement=said, parts=1,
    )  # fmt: skip
    _tell(issue, space, "fact.added", f"fact:fct_{session}:1", session)


def _tell(issue: _Issue, space: str, kind: str, ref: str, session: str) -> None:
    [row] = issue("record_changes", space=space, kind=kind, refs=[ref], order=[1], session=session, now=_NOW)
    number = row["number"]
    issue("queue_deliveries", space=space, number=number, delivered=number - 1, now=_NOW)
