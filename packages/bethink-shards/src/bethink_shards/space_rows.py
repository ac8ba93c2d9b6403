"""Compares the rows of a space between two databases without reading all of them. For PostgreSQL only.

Changed rows are found by the number of the transaction that wrote them, compared with the horizon: the oldest
transaction still running at that time. Deleted rows are found by a digest of the keys, and by the keys if it differs.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cache, reduce

from bethink.extensions.base import frozen, shard_for
from bethink.extensions.storage import Dialect, Query, Row, Table, Tx, Values, archived, compile_query


@frozen
class SpaceRow:
    """The row of a space: its creation time, and the key of its index and seals."""

    created_at: int
    key: bytes


@frozen
class TableState:
    """State of a table of a space: number of rows, order-independent digest of the keys, and number of changes."""

    rows: int
    digest: int
    changed: int = 0

    def same_keys(self, other: "TableState") -> bool:
        """Return whether both have the same keys."""
        return (self.rows, self.digest) == (other.rows, other.digest)


_CHANGED = "age(xmin) <= age(CAST(CAST(CAST(:since AS bigint) AS text) AS xid))"
"""By age, because transaction numbers wrap around. Frozen rows count as older than all others."""
_HORIZON = compile_query(
    "horizon", "SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) AS horizon",
    Dialect.POSTGRES,
)  # fmt: skip
_SPACE = compile_query("space_row", "SELECT created_at, key FROM spaces WHERE id = :space", Dialect.POSTGRES)
_PUT_SPACE = compile_query(
    "put_space_row",
    """INSERT INTO spaces (id, shard, created_at, key) VALUES (:space, :shard, :created_at, :key)
    ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, key = excluded.key""",
    Dialect.POSTGRES,
)
JOB_COLUMNS = (
    "kind, key, queued_at, status, due_at, token, attempts, input_watermark, success_watermark, started_at, "
    "finished_at, outcome, last_error, calls, input_tokens, output_tokens, cost, quoted_from, said_at"
)
_PUT_JOBS = compile_query(
    "put_jobs",
    f"""INSERT INTO jobs (space_id, {JOB_COLUMNS})
    SELECT :space, {JOB_COLUMNS} FROM json_populate_recordset(CAST(NULL AS jobs), CAST(:rows AS json))
    ON CONFLICT (space_id, kind, key) DO UPDATE SET quoted_from = COALESCE(jobs.quoted_from, excluded.quoted_from)""",
    Dialect.POSTGRES,
)


_PUT_QUEUES = compile_query(
    "put_queues",
    """INSERT INTO webhook_queues (space_id, webhook_id, recorded, delivered, due_at)
    SELECT :space, w.id, CAST(:last AS bigint), CAST(:after AS bigint), CAST(:now AS bigint) FROM webhooks w
    WHERE w.disabled_at IS NULL AND (w.only_space IS NULL OR w.only_space = :space)
    ON CONFLICT (space_id, webhook_id) DO UPDATE SET due_at = COALESCE(webhook_queues.due_at, excluded.due_at),
    recorded = GREATEST(webhook_queues.recorded, excluded.recorded),
    delivered = LEAST(webhook_queues.delivered, excluded.delivered)""",
    Dialect.POSTGRES,
)


def horizon(tx: Tx) -> int:
    """Return the number of the oldest transaction that was running at the start of this one's snapshot."""
    return tx.all(_HORIZON)[0]["horizon"]


def space_row(tx: Tx, *, space: str) -> SpaceRow | None:
    """Return the row of a space."""
    rows = tx.all(_SPACE, space=space)
    return SpaceRow(created_at=rows[0]["created_at"], key=bytes(rows[0]["key"])) if rows else None


def put_space(tx: Tx, row: SpaceRow, *, space: str) -> None:
    """Create the row of a copied space. Nothing is queued for it yet, so workers ignore it."""
    tx.run(_PUT_SPACE, space=space, shard=shard_for(space), created_at=row.created_at, key=row.key)


def changed_rows(tx: Tx, table: Table, *, space: str, since: int) -> list[Row]:
    """Return the rows written since a horizon, and possibly some earlier ones."""
    return tx.all(_changed_query(table), space=space, since=since % 2**32)


def table_states(tx: Tx, *, space: str, since: int = 0) -> dict[str, TableState]:
    """Return the state of every table of a space, with a single query because writers may be waiting."""
    rows = tx.all(_states_query(), space=space, since=since % 2**32)
    return {
        row["name"]: TableState(rows=row["rows"], digest=row["digest"], changed=row["changed"] if since else 0)
        for row in rows
    }


def keys(tx: Tx, table: Table, *, space: str) -> set[Values]:
    """Return the keys of all rows."""
    return {table.key_of(row) for row in tx.all(_keys(table), space=space)}


def at_keys(tx: Tx, table: Table, row_keys: Iterable[Values], *, space: str) -> dict[Values, Row]:
    """Return the rows with these keys, by key."""
    key_objects = [dict(zip(table.key, key, strict=True)) for key in row_keys]
    rows = tx.all(_at_keys(table), space=space, keys=json.dumps(key_objects, ensure_ascii=False)) if key_objects else []
    return {table.key_of(row): row for row in rows}


def erase(tx: Tx, table: Table, *, space: str, limit: int) -> int:
    """Delete up to `limit` rows of a table without tombstones, and return their number."""
    return tx.run(_erase(table), space=space, limit=limit)


def has_rows(tx: Tx, *, space: str) -> bool:
    """Return whether this database has rows of a space."""
    return any(tx.all(_any(table), space=space) for table in archived.tables(include_moved=True))


def put_jobs(tx: Tx, rows: Sequence[Row], *, space: str) -> None:
    """Add jobs from another shard. Running jobs start over, and existing jobs stay.

    The attempts of a running job are reset, because the move interrupted it.
    """
    restarted = {"status": "queued", "attempts": 0}
    job_rows = [
        {**row, **restarted, "due_at": row["queued_at"], "token": row["token"] + 1}
        if row["status"] == "running"
        else dict(row)
        for row in rows
    ]
    if job_rows:
        tx.run(_PUT_JOBS, space=space, rows=json.dumps(job_rows, ensure_ascii=False))


def put_queues(tx: Tx, pending: tuple[int, int], *, space: str) -> None:
    """Queue the undelivered changes for all webhooks of this database. Some may be delivered twice."""
    after, last = pending
    tx.run(_PUT_QUEUES, space=space, after=after, last=last, now=tx.now)
    tx.has_changes = True


@cache
def _changed_query(table: Table) -> Query:
    text = (
        f"SELECT {', '.join(table.names)} FROM {table.name} WHERE space_id = :space AND {_CHANGED} "
        f"ORDER BY {', '.join(table.key)}"
    )
    return compile_query(f"changed_{table.name}", text, Dialect.POSTGRES)


def _hash(table: Table) -> str:
    # Each column seeds the next, which is twice as fast as hashing the joined text.
    kinds = {column.name: column.integer for column in table.columns}
    return reduce(lambda seed, name: f"hash{'int8' if kinds[name] else 'text'}extended({name}, {seed})", table.key, "0")


@cache
def _states_query() -> Query:
    selects = (
        f"SELECT '{table.name}' AS name, count(*) AS rows, "
        f"COALESCE(bit_xor({_hash(table)}), 0) AS digest, "
        f"count(*) FILTER (WHERE {_CHANGED}) AS changed FROM {table.name} WHERE space_id = :space"
        for table in archived.tables(include_moved=True)
    )
    return compile_query("stands", " UNION ALL ".join(selects), Dialect.POSTGRES)


@cache
def _keys(table: Table) -> Query:
    text = f"SELECT {', '.join(table.key)} FROM {table.name} WHERE space_id = :space"
    return compile_query(f"keys_{table.name}", text, Dialect.POSTGRES)


@cache
def _at_keys(table: Table) -> Query:
    kinds = {column.name: "bigint" if column.integer else "text" for column in table.columns}
    typed = ", ".join(f"{name} {kinds[name]}" for name in table.key)
    same = " AND ".join(f"t.{name} = k.{name}" for name in table.key)
    text = (
        f"SELECT {', '.join(f't.{name}' for name in table.names)} "
        f"FROM json_to_recordset(CAST(:keys AS json)) AS k({typed}) JOIN {table.name} t ON {same} "
        "WHERE t.space_id = :space"
    )
    return compile_query(f"at_keys_{table.name}", text, Dialect.POSTGRES)


@cache
def _erase(table: Table) -> Query:
    key = ", ".join(table.key)
    text = (
        f"DELETE FROM {table.name} WHERE space_id = :space AND ({key}) IN "
        f"(SELECT {key} FROM {table.name} WHERE space_id = :space LIMIT :limit)"
    )
    return compile_query(f"erase_{table.name}", text, Dialect.POSTGRES)


@cache
def _any(table: Table) -> Query:
    return compile_query(
        f"any_{table.name}", f"SELECT 1 AS found FROM {table.name} WHERE space_id = :space LIMIT 1", Dialect.POSTGRES
    )
