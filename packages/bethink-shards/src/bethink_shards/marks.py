"""Marks of moving spaces in a shard: arriving, leaving or gone. Shards are PostgreSQL databases.

A transaction reads the mark of its space in its first statement, after taking a shared lock on `schema_now`. A move
that has set its fence waits for the holders of this lock: writers that start later see the fence, and earlier ones have
ended.
"""

import json
from enum import StrEnum

from bethink.extensions.base import frozen
from bethink.extensions.storage import Dialect, Query, Row, Tx, compile_query
from bethink_shards.space_rows import JOB_COLUMNS

_NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"
"""Clock of the database, which all processes that set and lift a fence share."""


class MoveState(StrEnum):
    """State of a moving space in a shard."""

    ARRIVING = "arriving"
    LEAVING = "leaving"
    GONE = "gone"


@frozen
class MoveMark:
    """Mark of a space that moves or has left. `version` is that of its placement after the move."""

    state: MoveState
    token: str
    shard: str
    version: int


@frozen
class SpaceQueues:
    """Queues of a space that moves: its jobs, and the range of changes that webhooks have not received yet."""

    jobs: tuple[Row, ...] = ()
    pending: tuple[int, int] | None = None


def _query(name: str, text: str) -> Query:
    return compile_query(name, text, Dialect.POSTGRES)


_FIND = _query("find_move", "SELECT state, token, shard, version FROM moves WHERE space_id = :space")
_MARK = _query(
    "mark_move",
    f"""INSERT INTO moves (space_id, state, token, shard, version, until)
    VALUES (:space, :state, :token, :shard, :version, {_NOW} + :micros)
    ON CONFLICT (space_id) DO UPDATE SET state = excluded.state, token = excluded.token, shard = excluded.shard,
    version = excluded.version, until = excluded.until, queues = NULL""",
)
_FENCE = _query(
    "fence_move",
    f"""{_MARK.source} WHERE moves.state = 'leaving' AND (moves.token = excluded.token OR moves.until < {_NOW})""",
)
_HOLD = _query(
    "hold_move",
    "SELECT token FROM moves WHERE space_id = :space AND token = :token AND state = :state FOR SHARE",
)
_LEAVE = _query(
    "leave",
    "UPDATE moves SET state = 'gone', version = :version "
    "WHERE space_id = :space AND token = :token AND state = 'leaving'",
)
_TAKE_QUEUES = _query(
    "take_queues",
    f"""WITH taken AS (DELETE FROM jobs WHERE space_id = :space RETURNING {JOB_COLUMNS}),
    pending AS (DELETE FROM webhook_queues WHERE space_id = :space RETURNING delivered, recorded, due_at)
    UPDATE moves SET queues = json_build_object(
        'jobs', (SELECT COALESCE(json_agg(taken), '[]') FROM taken),
        'after', (SELECT MIN(delivered) FROM pending WHERE due_at IS NOT NULL),
        'last', (SELECT MAX(recorded) FROM pending WHERE due_at IS NOT NULL)
    ) WHERE space_id = :space""",
)
_QUEUES = _query("list_queues", "SELECT queues FROM moves WHERE space_id = :space")
_DROP_QUEUES = _query("drop_queues", "UPDATE moves SET queues = NULL WHERE space_id = :space")
_SETTLE = _query("settle", "DELETE FROM moves WHERE space_id = :space AND token = :token AND state = 'arriving'")
_LIFT = _query("lift_fence", "DELETE FROM moves WHERE space_id = :space AND state = 'leaving'")
_LIFT_OVERDUE = _query(
    "lift_overdue_fence", f"DELETE FROM moves WHERE space_id = :space AND state = 'leaving' AND until < {_NOW}"
)
_WRITERS = _query(
    "list_writers",
    """SELECT DISTINCT virtualtransaction AS name FROM pg_locks
    WHERE locktype = 'relation' AND relation = CAST('schema_now' AS regclass) AND granted AND pid <> pg_backend_pid()
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())""",
)


def find(tx: Tx, *, space: str) -> MoveMark | None:
    """Return the mark of a space, or None if it does not move."""
    rows = tx.all(_FIND, space=space)
    if not rows:
        return None
    row = rows[0]
    return MoveMark(state=MoveState(row["state"]), token=row["token"], shard=row["shard"], version=row["version"])


def mark(tx: Tx, move_mark: MoveMark, *, space: str, seconds: float = 0) -> None:
    """Set the mark of a space. After `seconds`, any process may lift a fence."""
    tx.run(_MARK, **_values(move_mark, space=space, seconds=seconds))


def fence(tx: Tx, move_mark: MoveMark, *, space: str, seconds: float) -> bool:
    """Block writers from now on. Returns False without a change if another move has marked the space."""
    return tx.run(_FENCE, **_values(move_mark, space=space, seconds=seconds)) == 1


def has_mark(tx: Tx, *, space: str, token: str, state: MoveState) -> bool:
    """Return whether a space has the mark of a move, and lock the mark until the transaction ends."""
    return bool(tx.all(_HOLD, space=space, token=token, state=state))


def leave(tx: Tx, *, space: str, token: str, version: int) -> bool:
    """Make a fence final: the space has left. Returns False if the fence was lifted.

    The same transaction removes its jobs and pending changes from the shared tables, so that no worker sees them.
    """
    if tx.run(_LEAVE, space=space, token=token, version=version) != 1:
        return False
    tx.run(_TAKE_QUEUES, space=space)
    return True


def queues(tx: Tx, *, space: str) -> SpaceQueues:
    """Return the saved queues of a space that has left."""
    rows = tx.all(_QUEUES, space=space)
    if not rows or rows[0]["queues"] is None:
        return SpaceQueues()
    values = json.loads(rows[0]["queues"])
    pending = None if values["after"] is None else (values["after"], values["last"])
    return SpaceQueues(jobs=tuple(values["jobs"]), pending=pending)


def drop_queues(tx: Tx, *, space: str) -> None:
    """Remove the saved queues of a space that has left, after they were copied."""
    tx.run(_DROP_QUEUES, space=space)


def settle(tx: Tx, *, space: str, token: str) -> None:
    """Open a space that has arrived."""
    tx.run(_SETTLE, space=space, token=token)


def lift(tx: Tx, *, space: str, overdue: bool = False) -> bool:
    """Lift a fence, or with `overdue` only an expired one. Returns whether there was one."""
    return tx.run(_LIFT_OVERDUE if overdue else _LIFT, space=space) == 1


def _values(move_mark: MoveMark, *, space: str, seconds: float) -> dict[str, object]:
    micros = int(seconds * 1_000_000)
    return {
        "space": space, "state": move_mark.state, "token": move_mark.token, "shard": move_mark.shard,
        "version": move_mark.version,
        "micros": micros,
    }  # fmt: skip


def writers(tx: Tx) -> set[str]:
    """Return the running write transactions of this database."""
    return {row["name"] for row in tx.all(_WRITERS)}
