"""The outbox: each change of memory is one row, written in the same transaction. Rows contain no text."""

from collections.abc import Sequence
from datetime import datetime

from bethink.errors import VersionConflictError
from bethink.model.changes import Change, ChangeKind
from bethink.model.moments import from_micros
from bethink.model.refs import Ref, RefKind
from bethink.store import restores
from bethink.store.db import Row, Tx
from bethink.store.listeners import listeners


def record(tx: Tx, *, space: str, kind: ChangeKind, ref: str, session_id: str | None = None) -> None:
    """Record a change, and notify followers of the change feed after the commit.

    The space is locked, so that numbers are committed in order and no reader misses one.
    """
    record_all(tx, [ref], space=space, kind=kind, session_id=session_id)


def record_all(tx: Tx, refs: Sequence[str], *, space: str, kind: ChangeKind, session_id: str | None = None) -> None:
    """Record changes of one kind, in their order."""
    if not refs:
        return
    tx.lock_space(space)
    order = list(range(1, len(refs) + 1))
    numbers = [
        row["number"]
        for row in tx.all(
            "record_changes", space=space, kind=kind, refs=list(refs), order=order, session=session_id, now=tx.now
        )
    ]
    for listener in listeners():
        listener.on_recorded(tx, space=space, first=min(numbers), last=max(numbers))
    tx.has_changes = True


def record_retired(tx: Tx, *, space: str, fact_id: str, successor_id: str) -> None:
    """Record that a fact was replaced by another one or ended. A new version of itself is recorded separately."""
    if successor_id == fact_id:
        return
    last = tx.first("last_fact_version", space=space, id=fact_id)
    ref = Ref(RefKind.FACT, fact_id, 0 if last is None else last["version"])
    record(tx, space=space, kind=ChangeKind.FACT_REPLACED if successor_id else ChangeKind.FACT_ENDED, ref=ref)


def record_learned(tx: Tx, *, space: str, session_id: str) -> None:
    """Record that a session was learned from."""
    ref = Ref(RefKind.SESSION_SUMMARY, session_id)
    record(tx, space=space, kind=ChangeKind.SESSION_LEARNED, ref=ref, session_id=session_id)


def record_forgotten(tx: Tx, kind: RefKind, *, space: str, ids: list[str]) -> None:
    """Record that all versions of sessions, facts or documents were deleted."""
    kinds = {RefKind.FACT: ChangeKind.FACT_FORGOTTEN, RefKind.DOCUMENT: ChangeKind.DOCUMENT_FORGOTTEN}
    if kind in kinds:
        record_all(tx, [Ref(kind, item_id) for item_id in ids], space=space, kind=kinds[kind])
        return
    for session_id in ids:
        record(tx, space=space, kind=ChangeKind.SESSION_FORGOTTEN, ref=Ref(kind, session_id), session_id=session_id)


def forget(tx: Tx, *, space: str) -> None:
    """Delete every change of a deleted space, and record the deletion under the next number."""
    record(tx, space=space, kind=ChangeKind.SPACE_FORGOTTEN, ref="")
    [last] = newest(tx, space=space, limit=1)
    tx.run("forget_changes", space=space, number=last.number)
    for listener in listeners():
        listener.on_space_deleted(tx, space=space)


def after(tx: Tx, *, space: str, number: int, limit: int) -> list[Change]:
    """Return the changes that follow a number, in order.

    Raises `VersionConflictError` if some of them are no longer stored. Number 0 means the oldest one that is.
    """
    changes = [_change(row) for row in tx.all("changes_after", space=space, after=number, limit=limit)]
    if not number or (changes and changes[0].number == number + 1):
        return changes
    if changes and tx.first("restored_past", space=space, number=number) is not None:
        raise VersionConflictError(
            f"Change {number} of space {space!r} does not exist. {restores.last(tx)}",
            current=newest(tx, space=space, limit=1)[0].number,
            hint="Read the current state of the space, then continue with after=0.",
        )
    oldest = tx.first("oldest_change", space=space)
    last = newest(tx, space=space, limit=1)
    has_gap = oldest is not None and oldest["number"] > number + 1 and oldest["kind"] != ChangeKind.SPACE_FORGOTTEN
    if has_gap or number > (last[0].number if last else 0):
        raise VersionConflictError(
            f"The changes of space {space!r} after number {number} are no longer stored.",
            current=last[0].number if last else None,
            hint="Read the current state of the space, then continue with after=0.",
        )
    return changes


def stored_after(tx: Tx, *, space: str, number: int, limit: int) -> list[Change]:
    """Return the changes that follow a number, in order, as far as they are stored."""
    return [_change(row) for row in tx.all("changes_after", space=space, after=number, limit=limit)]


def newest(tx: Tx, *, space: str, limit: int) -> list[Change]:
    """Return the newest changes of a space, in order."""
    return [_change(row) for row in reversed(tx.all("newest_changes", space=space, limit=limit))]


def of_session(tx: Tx, *, space: str, session_id: str) -> list[Change]:
    """Return the changes that were learned from a session, in order."""
    return [_change(row) for row in tx.all("changes_of_session", space=space, session=session_id)]


def still_stored(tx: Tx, refs: tuple[str, ...], *, space: str) -> tuple[str, ...]:
    """Return the refs whose facts are still stored."""
    ids = {ref: Ref.parse(ref).id for ref in refs}
    rows = tx.all("facts_not_forgotten", space=space, ids=sorted(ids.values())) if ids else []
    stored_ids = {row["id"] for row in rows}
    return tuple(ref for ref in refs if ids[ref] in stored_ids)


def prune(tx: Tx, *, space: str, before: datetime) -> int:
    """Delete the changes of a space before a time, except its last one. Returns how many were deleted."""
    return tx.run("prune_changes", space=space, before=before)


def _change(row: Row) -> Change:
    return Change(
        space=row["space_id"],
        number=row["number"],
        at=from_micros(row["at"]),
        kind=ChangeKind(row["kind"]),
        ref=row["ref"],
        session_id=row["session_id"],
    )
