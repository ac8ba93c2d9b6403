"""What was learnt from a session, the model answers behind it, and how far learning has come."""

from datetime import datetime
from typing import NamedTuple

from bethink.model.facts import Maker, SessionMemory
from bethink.model.jobs import Claim, JobKind, RecordedAnswer
from bethink.model.moments import FIRST, LAST, from_micros, from_micros_or_none, to_micros
from bethink.model.recall import RefKind
from bethink.model.records import Agent, AgentKind, SessionInfo, Trigger
from bethink.store import jobs, sessions, terms
from bethink.store.db import NO_LIMIT, Row, Tx

_CHECKED = 1_000
"""How many facts and sessions of a space are looked into for what must never be: a space may hold any number."""


class Advanced(NamedTuple):
    """What remains after a session was learnt from: a later mark, or the time the session ended."""

    invalidated_at: int | None
    ended_at: datetime | None


def record_answer(
    tx: Tx, held: Claim, *, run: str, content: str, agent_id: str, model: str, prompt: str, position: int = 0
) -> None:
    """Store the answer of a model before it is used. A second answer to the same question is not stored."""
    tx.run(
        "record_answer",
        space=held.space, kind=held.kind, key=held.key, run=run, position=position, content=content,
        agent=agent_id, model=model, prompt=prompt, token=held.token, now=tx.now,
    )  # fmt: skip


def answers(tx: Tx, *, space: str, kind: JobKind, key: str, limit: int = NO_LIMIT) -> list[RecordedAnswer]:
    """Return the answers of models for a job, the newest run first."""
    return [
        RecordedAnswer(
            run=row["run"],
            position=row["position"],
            content=row["content"],
            agent_id=row["agent_id"],
            model=row["model"],
            prompt=row["prompt"],
            recorded_at=from_micros(row["recorded_at"]),
        )
        for row in tx.all("list_answers", space=space, kind=kind, key=key, limit=limit)
    ]


def answers_of(tx: Tx, *, space: str, kind: JobKind, key: str, run: str) -> list[str]:
    """Return the answers of one run, in order."""
    rows = tx.all("list_run_answers", space=space, kind=kind, key=key, run=run)
    return [row["content"] for place, row in enumerate(rows) if row["position"] == place]


def has_answered(tx: Tx, *, space: str, session_id: str, number: int) -> bool:
    """Return whether a model has answered about a session as far as a message, or further."""
    runs = tx.all("list_runs", space=space, kind=JobKind.EXTRACT, key=session_id)
    last = [row["run"].rpartition("-")[2] for row in runs]
    return any(not each.isdecimal() or int(each) >= number for each in last)


def put_memory(tx: Tx, memory: SessionMemory, *, token: int) -> None:
    """Replace the memory of a session; the times of its messages are read from the log."""
    tx.run(
        "put_session_memory",
        space=memory.space, session=memory.session_id, raw_memory=memory.raw_memory, summary=memory.summary,
        slug=memory.slug, until=memory.until, source_updated_at=memory.source_updated_at, now=memory.generated_at,
        model=memory.made_by.model, prompt=memory.made_by.prompt, extractor=memory.made_by.extractor, token=token,
        first_day=FIRST, last_day=LAST,
    )  # fmt: skip
    said = terms.words_of(f"{memory.summary}\n{memory.raw_memory}")
    made = to_micros(memory.generated_at)
    tx.run("drop_terms", space=memory.space, kind=RefKind.SESSION_MEMORY, id=memory.session_id)
    terms.put(tx, [terms.Entry(RefKind.SESSION_MEMORY, memory.session_id, 0, made, said)], space=memory.space)
    jobs.queue(tx, space=memory.space, kind=JobKind.INDEX, key=jobs.SPACE_KEY, watermark=0)


def find_memory(tx: Tx, *, space: str, session_id: str) -> SessionMemory | None:
    """Return the memory of a session, if there is one."""
    row = tx.one("find_session_memory", space=space, session=session_id)
    return None if row is None else memory_of(row)


def drop_memory(tx: Tx, *, space: str, session_id: str) -> bool:
    """Remove the memory of a session. Returns False if there was none."""
    return tx.run("drop_session_memory", space=space, session=session_id) == 1


def retry(tx: Tx, session: SessionInfo, *, quoted: bool) -> bool:
    """Let learning start over that failed or is dead, or, with `quoted`, that only quoted. Returns False otherwise."""
    space, name = session.space, session.id
    if jobs.retry(tx, space=space, kind=JobKind.EXTRACT, key=name):
        return True
    return quoted and start_over(tx, space=space, session_id=name)


def start_over(tx: Tx, *, space: str, session_id: str) -> bool:
    """Mark a session that was only quoted, from the first record that was; return whether there is such a session.

    What was quoted stays until a model has learnt from it.
    """
    session = sessions.find(tx, space=space, session_id=session_id, lock=True)
    start = jobs.take_quoted(tx, space=space, session_id=session_id)
    if start is None or session is None or not tx.run("start_over", space=space, session=session_id, start=start):
        return False
    return sessions.mark(tx, space=space, session_id=session_id, number=session.last_number, trigger=Trigger.IDLE)


def existing(tx: Tx, *, space: str, session_id: str, numbers: list[int]) -> set[int]:
    """Return which of these records exist in a session."""
    if not numbers:
        return set()
    return {row["number"] for row in tx.all("existing_numbers", space=space, session=session_id, numbers=numbers)}


def advance(tx: Tx, *, space: str, session_id: str, start: int, until: int, quoted: bool = False) -> Advanced | None:
    """Move `processed_until` from `start` to `until` and clear a mark that is reached; None if it was not `start`.

    What was only `quoted` is noted: a model, once there is one, learns from it.
    """
    row = tx.one("advance_session", space=space, session=session_id, start=start, until=until)
    if row is not None and quoted:
        jobs.note_quoted(tx, space=space, session_id=session_id, start=start)
    return None if row is None else Advanced(row["invalidated_at"], from_micros_or_none(row["ended_at"]))


def rest(tx: Tx, *, space: str, session_id: str) -> None:
    """Record that the job of a session failed, so that anything new in the session wakes the job."""
    tx.run("rest_session", space=space, session=session_id)


def last_said(tx: Tx, *, space: str, session_id: str) -> datetime | None:
    """Return when the newest record of a session was stored."""
    row = tx.one("last_said", space=space, session=session_id)
    return None if row is None else from_micros_or_none(row["recorded_at"])


def writer_for(tx: Tx, *, space: str, agent_id: str) -> Agent:
    """Return the memory writer for an agent, creating it if needed."""
    return sessions.ensure_agent(tx, space=space, name=f"/memory-agent/{agent_id}", kind=AgentKind.MEMORY_WRITER)


def broken(tx: Tx, *, space: str) -> tuple[int, int]:
    """Count learnt facts without a source, and sessions with an impossible mark or watermark, among the newest ones."""
    [unsupported] = tx.all("count_newest_unsupported", space=space, limit=_CHECKED)
    [wrong] = tx.all("broken_sessions", space=space, kind=JobKind.EXTRACT, limit=_CHECKED)
    return unsupported["count"], wrong["count"]


def memory_of(row: Row) -> SessionMemory:
    """Read a session memory."""
    return SessionMemory(
        space=row["space_id"],
        session_id=row["session_id"],
        raw_memory=row["raw_memory"],
        summary=row["summary"],
        slug=row["slug"],
        until=row["until_number"],
        source_updated_at=from_micros(row["source_updated_at"]),
        generated_at=from_micros(row["generated_at"]),
        made_by=Maker(model=row["model"], prompt=row["prompt"], extractor=row["extractor"]),
        said_from=from_micros_or_none(row["said_from"]),
        said_until=from_micros_or_none(row["said_until"]),
    )
