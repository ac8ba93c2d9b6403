"""Session summaries, the model answers behind them, and the progress of learning."""

from datetime import datetime
from typing import NamedTuple

from bethink.model.facts import Maker, SessionSummary
from bethink.model.jobs import JobKind, Lease, RecordedAnswer
from bethink.model.moments import FIRST, LAST, from_micros, from_micros_or_none, to_micros
from bethink.model.records import Agent, AgentKind, SessionInfo, Trigger
from bethink.model.refs import RefKind
from bethink.store import jobs, sessions, terms
from bethink.store.db import NO_LIMIT, Row, Tx

_MAX_CHECKED = 1_000
"""Maximum number of facts and sessions of a space that are checked for impossible states."""


class LearningProgress(NamedTuple):
    """State of a session after it was learned from: a later mark, or the time the session ended."""

    invalidated_at: int | None
    ended_at: datetime | None


def record_answer(
    tx: Tx, lease: Lease, *, run: str, content: str, agent_id: str, model: str, prompt: str, position: int = 0
) -> None:
    """Store the answer of a model before it is used. A second answer to the same question is not stored."""
    tx.run(
        "record_answer",
        space=lease.space, kind=lease.kind, key=lease.key, run=run, position=position, content=content,
        agent=agent_id, model=model, prompt=prompt, token=lease.token, now=tx.now,
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
    return [row["content"] for position, row in enumerate(rows) if row["position"] == position]


def has_answered(tx: Tx, *, space: str, session_id: str, number: int) -> bool:
    """Return whether a model has answered about a session as far as a message, or further."""
    runs = tx.all("list_runs", space=space, kind=JobKind.EXTRACT, key=session_id)
    last = [row["run"].rpartition("-")[2] for row in runs]
    return any(not last_number.isdecimal() or int(last_number) >= number for last_number in last)


def put_memory(tx: Tx, memory: SessionSummary, *, token: int) -> None:
    """Replace the summary of a session; the times of its messages are read from the log."""
    tx.run(
        "put_session_summary",
        space=memory.space, session=memory.session_id, raw_memory=memory.raw_memory, summary=memory.summary,
        slug=memory.slug, until=memory.until, source_updated_at=memory.source_updated_at, now=memory.generated_at,
        model=memory.created_by.model, prompt=memory.created_by.prompt, extractor=memory.created_by.extractor,
        token=token,
        first_day=FIRST, last_day=LAST,
    )  # fmt: skip
    words = terms.words_of(f"{memory.summary}\n{memory.raw_memory}")
    generated_at = to_micros(memory.generated_at)
    tx.run("drop_terms", space=memory.space, kind=RefKind.SESSION_SUMMARY, id=memory.session_id)
    terms.put(tx, [terms.Entry(RefKind.SESSION_SUMMARY, memory.session_id, 0, generated_at, words)], space=memory.space)
    jobs.queue(tx, space=memory.space, kind=JobKind.INDEX, key=jobs.SPACE_KEY, watermark=0)


def find_memory(tx: Tx, *, space: str, session_id: str) -> SessionSummary | None:
    """Return the summary of a session, if there is one."""
    row = tx.first("find_session_summary", space=space, session=session_id)
    return None if row is None else memory_of(row)


def drop_memory(tx: Tx, *, space: str, session_id: str) -> bool:
    """Remove the summary of a session. Returns False if there was none."""
    return tx.run("drop_session_summary", space=space, session=session_id) == 1


def retry(tx: Tx, session: SessionInfo, *, quoted: bool) -> bool:
    """Restart learning that failed, was abandoned, or with `quoted` only quoted. Returns False otherwise."""
    space, name = session.space, session.id
    if jobs.retry(tx, space=space, kind=JobKind.EXTRACT, key=name):
        return True
    return quoted and start_over(tx, space=space, session_id=name)


def start_over(tx: Tx, *, space: str, session_id: str) -> bool:
    """Mark a session that was only quoted, from its first quoted record; return whether there is such a session.

    The quotes are kept until a model has learned from the session.
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


def advance(
    tx: Tx, *, space: str, session_id: str, start: int, until: int, quoted: bool = False
) -> LearningProgress | None:
    """Move `processed_until` from `start` to `until` and clear a mark that is reached; None if it was not `start`.

    With `quoted`, this is recorded, so that a model can learn from the records later.
    """
    row = tx.first("advance_session", space=space, session=session_id, start=start, until=until)
    if row is not None and quoted:
        jobs.note_quoted(tx, space=space, session_id=session_id, start=start)
    return None if row is None else LearningProgress(row["invalidated_at"], from_micros_or_none(row["ended_at"]))


def note_failure(tx: Tx, *, space: str, session_id: str) -> None:
    """Record that the job of a session failed, so that a new message in the session restarts the job."""
    tx.run("rest_session", space=space, session=session_id)


def last_said(tx: Tx, *, space: str, session_id: str) -> datetime | None:
    """Return when the newest record of a session was stored."""
    row = tx.first("last_said", space=space, session=session_id)
    return None if row is None else from_micros_or_none(row["recorded_at"])


def writer_for(tx: Tx, *, space: str, agent_id: str) -> Agent:
    """Return the memory writer for an agent, creating it if needed."""
    return sessions.ensure_agent(tx, space=space, name=f"/memory-agent/{agent_id}", kind=AgentKind.MEMORY_WRITER)


def count_broken(tx: Tx, *, space: str) -> tuple[int, int]:
    """Count learned facts without a source, and sessions with an impossible mark or watermark, among the newest."""
    [unsupported] = tx.all("count_newest_unsupported", space=space, limit=_MAX_CHECKED)
    [wrong] = tx.all("broken_sessions", space=space, kind=JobKind.EXTRACT, limit=_MAX_CHECKED)
    return unsupported["count"], wrong["count"]


def memory_of(row: Row) -> SessionSummary:
    """Read a session summary from its row."""
    return SessionSummary(
        space=row["space_id"],
        session_id=row["session_id"],
        raw_memory=row["raw_memory"],
        summary=row["summary"],
        slug=row["slug"],
        until=row["until_number"],
        source_updated_at=from_micros(row["source_updated_at"]),
        generated_at=from_micros(row["generated_at"]),
        created_by=Maker(model=row["model"], prompt=row["prompt"], extractor=row["extractor"]),
        said_from=from_micros_or_none(row["said_from"]),
        said_until=from_micros_or_none(row["said_until"]),
    )
