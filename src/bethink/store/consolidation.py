"""What consolidations select, what they have seen, and what they changed."""

import json

from bethink.model.consolidation import Candidate, Change, ChangeSet, ChangeStatus, Selection
from bethink.model.records import DAY, Micros
from bethink.model.text import canonical_json
from bethink.store.db import NO_LIMIT, Row, Tx
from bethink.store.learning import memory_of


def select(tx: Tx, *, space: str, max_unused_days: int, limit: int) -> Selection:
    """Return what a consolidation is to look at, beside what the last one that succeeded has seen."""
    since = tx.now - max_unused_days * DAY
    current = tx.all("select_memories", space=space, since=since, limit=limit)
    previous = tx.all("previous_memories", space=space)
    return Selection(current=tuple(map(_candidate, current)), previous=tuple(map(_candidate, previous)))


def seen(tx: Tx, *, space: str) -> Selection:
    """Return what the last consolidation that succeeded has seen."""
    previous = tx.all("previous_memories", space=space)
    return Selection(current=tuple(map(_candidate, previous)), previous=())


def mark_seen(tx: Tx, *, space: str, snapshot: list[tuple[str, int]]) -> None:
    """Note exactly what was looked at; a memory that was refreshed meanwhile is not among it."""
    tx.run("clear_selection", space=space)
    for session_id, source_updated_at in snapshot:
        tx.run("set_selection", space=space, session=session_id, source_updated_at=source_updated_at)


def has_expired(tx: Tx, *, space: str, max_unused_days: int) -> bool:
    """Say whether a space holds on to something that is too long unused to be selected again."""
    return tx.one("expired_spaces", space=space, since=tx.now - max_unused_days * DAY) is not None


def use(tx: Tx, *, space: str, session_ids: list[str]) -> int:
    """Count that session memories were of use, each once; say how many are known."""
    return sum(tx.run("use_memory", space=space, session=each, now=tx.now) for each in dict.fromkeys(session_ids))


def put_change_set(
    tx: Tx, *, space: str, run: str, token: int, status: ChangeStatus, changes: tuple[Change, ...],
    snapshot: list[tuple[str, int]],
) -> None:  # fmt: skip
    """Keep what a run changed, or wants to change; what was held before it is superseded."""
    tx.run("supersede_change_sets", space=space, now=tx.now)
    tx.run(
        "put_change_set",
        space=space, run=run, token=token, status=status,
        changes=canonical_json([each.to_json() for each in changes]), selection=canonical_json(snapshot),
        now=tx.now, settled_at=None if status is ChangeStatus.HELD else tx.now,
    )  # fmt: skip


def find_change_set(tx: Tx, *, space: str, run: str) -> ChangeSet | None:
    """Return a change set, if there is one."""
    row = tx.one("find_change_set", space=space, run=run)
    return None if row is None else _change_set(row)


def snapshot_of(tx: Tx, *, space: str, run: str) -> list[tuple[str, int]]:
    """Return what exactly a run had looked at."""
    row = tx.one("find_change_set", space=space, run=run)
    return [] if row is None else [(name, moment) for name, moment in json.loads(row["selection"])]


def was_rejected(tx: Tx, *, space: str, run: str) -> bool:
    """Say whether what a run on these inputs wanted was rejected before."""
    return tx.one("rejected_run", space=space, run=f"{run}.") is not None


def change_sets(tx: Tx, *, space: str, limit: int = NO_LIMIT) -> list[ChangeSet]:
    """Return the change sets of a space, newest first."""
    return [_change_set(row) for row in tx.all("list_change_sets", space=space, limit=limit)]


def settle_change_set(tx: Tx, *, space: str, run: str, was: ChangeStatus, status: ChangeStatus) -> bool:
    """Say what became of a change set. False if something else became of it before."""
    return tx.run("settle_change_set", space=space, run=run, was=was, status=status, now=tx.now) == 1


def _candidate(row: Row) -> Candidate:
    return Candidate(
        memory=memory_of(row),
        usage_count=row["usage_count"],
        last_usage=row["last_usage"],
        selected=bool(row["selected"]),
        seen_at=row["selected_source_updated_at"],
    )


def _change_set(row: Row) -> ChangeSet:
    return ChangeSet(
        run=row["run"],
        status=ChangeStatus(row["status"]),
        changes=tuple(Change.from_json(each) for each in json.loads(row["changes"])),
        created_at=row["created_at"],
        settled_at=None if row["settled_at"] is None else Micros(row["settled_at"]),
    )
