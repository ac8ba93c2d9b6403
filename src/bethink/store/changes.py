"""The outbox: each change of memory is one row, written by the transaction that makes it. It never holds a text."""

from datetime import datetime

from bethink.errors import Stale
from bethink.model.changes import ChangeKind, MemoryChange
from bethink.model.moments import from_micros
from bethink.model.recall import Ref, RefKind
from bethink.store import restores
from bethink.store.db import Row, Tx
from bethink.store.listeners import listeners


def record(tx: Tx, *, space: str, kind: ChangeKind, ref: str, session_id: str | None = None) -> None:
    """Record a change, and let those who follow changes know of it once it is committed.

    It locks the space: numbers are then committed in the order in which they are taken, and no reader misses one.
    """
    tx.one("lock_space", space=space)
    row = tx.one("record_change", space=space, kind=kind, ref=ref, session=session_id, now=tx.now)
    assert row is not None  # noqa: S101 - the insert returns it
    for listener in listeners():
        listener.recorded(tx, space=space, number=row["number"])
    tx.tells = True


def record_retired(tx: Tx, *, space: str, fact_id: str, by: str) -> None:
    """Record that a fact was retired: by another, or by none. A new version of itself is recorded as that."""
    if by == fact_id:
        return
    last = tx.one("last_fact_version", space=space, id=fact_id)
    ref = Ref(RefKind.FACT, fact_id, 0 if last is None else last["version"])
    record(tx, space=space, kind=ChangeKind.FACT_REPLACED if by else ChangeKind.FACT_ENDED, ref=ref)


def record_learnt(tx: Tx, *, space: str, session_id: str) -> None:
    """Record that a session was learnt from."""
    ref = Ref(RefKind.SESSION_MEMORY, session_id)
    record(tx, space=space, kind=ChangeKind.SESSION_LEARNT, ref=ref, session_id=session_id)


def record_forgotten(tx: Tx, kind: RefKind, *, space: str, ids: list[str]) -> None:
    """Record that sessions, facts or documents were forgotten, in all their versions."""
    said = {RefKind.FACT: ChangeKind.FACT_FORGOTTEN, RefKind.DOCUMENT: ChangeKind.DOCUMENT_FORGOTTEN}
    for each in ids:
        session_id = each if kind is RefKind.SESSION_MEMORY else None
        change = said.get(kind, ChangeKind.SESSION_FORGOTTEN)
        record(tx, space=space, kind=change, ref=Ref(kind, each), session_id=session_id)


def forget(tx: Tx, *, space: str) -> None:
    """Remove every change of a space that is gone, and leave one that says so. Its number follows theirs."""
    record(tx, space=space, kind=ChangeKind.SPACE_FORGOTTEN, ref="")
    [last] = newest(tx, space=space, limit=1)
    tx.run("forget_changes", space=space, number=last.number)
    for listener in listeners():
        listener.deleted(tx, space=space)


def after(tx: Tx, *, space: str, number: int, limit: int) -> list[MemoryChange]:
    """Return the changes that follow a number, in order.

    Raises `Stale` if some of them are no longer kept. Number 0 stands for the oldest that is.
    """
    found = [_change(row) for row in tx.all("changes_after", space=space, after=number, limit=limit)]
    if not number or (found and found[0].number == number + 1):
        return found
    if found and tx.one("restored_past", space=space, number=number) is not None:
        raise Stale(
            f"the change {number} of space {space!r} is not known. {restores.last(tx)}",
            current=newest(tx, space=space, limit=1)[0].number,
            hint="Read the space as it stands now, and go on with after=0.",
        )
    oldest = tx.one("oldest_change", space=space)
    last = newest(tx, space=space, limit=1)
    lost = oldest is not None and oldest["number"] > number + 1 and oldest["kind"] != ChangeKind.SPACE_FORGOTTEN
    if lost or number > (last[0].number if last else 0):
        raise Stale(
            f"the changes of space {space!r} after number {number} are not kept.",
            current=last[0].number if last else None,
            hint="Read the space as it stands now, and go on with after=0.",
        )
    return found


def kept_after(tx: Tx, *, space: str, number: int, limit: int) -> list[MemoryChange]:
    """Return the changes that follow a number, in order, as far as they are kept."""
    return [_change(row) for row in tx.all("changes_after", space=space, after=number, limit=limit)]


def newest(tx: Tx, *, space: str, limit: int) -> list[MemoryChange]:
    """Return the newest changes of a space, in order."""
    return [_change(row) for row in reversed(tx.all("newest_changes", space=space, limit=limit))]


def of_session(tx: Tx, *, space: str, session_id: str) -> list[MemoryChange]:
    """Return what was learnt from a session, in order."""
    return [_change(row) for row in tx.all("changes_of_session", space=space, session=session_id)]


def not_forgotten(tx: Tx, refs: tuple[str, ...], *, space: str) -> tuple[str, ...]:
    """Return those refs of facts whose facts are stored."""
    ids = {ref: Ref.parse(ref).id for ref in refs}
    rows = tx.all("facts_not_forgotten", space=space, ids=sorted(ids.values())) if ids else []
    kept = {row["id"] for row in rows}
    return tuple(ref for ref in refs if ids[ref] in kept)


def prune(tx: Tx, *, space: str, before: datetime) -> int:
    """Remove the changes of a space that are older than a time, except for its last. Returns how many went."""
    return tx.run("prune_changes", space=space, before=before)


def _change(row: Row) -> MemoryChange:
    return MemoryChange(
        space=row["space_id"],
        number=row["number"],
        at=from_micros(row["at"]),
        kind=ChangeKind(row["kind"]),
        ref=row["ref"],
        session_id=row["session_id"],
    )
