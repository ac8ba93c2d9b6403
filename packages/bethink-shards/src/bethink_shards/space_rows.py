"""The rows of a space, compared between two databases without reading them all. For PostgreSQL only.

What changed since a moment is found by the transaction that wrote each row: one that had not ended at that moment has a
number from its horizon on. What is gone is found by a digest of the keys, and by the keys where digests differ.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cache, reduce

from bethink.extensions.base import frozen, shard_for
from bethink.extensions.storage import Dialect, Query, Row, Table, Tx, Values, archived, spelt


@frozen
class SpaceRow:
    """The row of a space itself: when it was made, and the key of its index and its seals."""

    created_at: int
    key: bytes


@frozen
class TableStand:
    """How a table of a space stands: how many rows, a digest of their keys in any order, and how many changed."""

    rows: int
    digest: int
    changed: int = 0

    def same_keys(self, other: "TableStand") -> bool:
        """Return whether both hold the same keys."""
        return (self.rows, self.digest) == (other.rows, other.digest)


_CHANGED = "age(xmin) <= age(CAST(CAST(CAST(:since AS bigint) AS text) AS xid))"
"""By age, as numbers of transactions wrap around. What is frozen counts as older than anything."""
_HORIZON = spelt(
    "horizon", "SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) AS horizon",
    Dialect.POSTGRES,
)  # fmt: skip
_SPACE = spelt("space_row", "SELECT created_at, key FROM spaces WHERE id = :space", Dialect.POSTGRES)
_PUT_SPACE = spelt(
    "put_space_row",
    """INSERT INTO spaces (id, shard, created_at, key) VALUES (:space, :shard, :created_at, :key)
    ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at, key = excluded.key""",
    Dialect.POSTGRES,
)
JOB_COLUMNS = (
    "kind, key, queued_at, status, due_at, token, attempts, input_watermark, success_watermark, started_at, "
    "finished_at, outcome, last_error, calls, input_tokens, output_tokens, cost, quoted_from"
)
_PUT_JOBS = spelt(
    "put_jobs",
    f"""INSERT INTO jobs (space_id, {JOB_COLUMNS})
    SELECT :space, {JOB_COLUMNS} FROM json_populate_recordset(CAST(NULL AS jobs), CAST(:rows AS json))
    ON CONFLICT (space_id, kind, key) DO UPDATE SET quoted_from = COALESCE(jobs.quoted_from, excluded.quoted_from)""",
    Dialect.POSTGRES,
)


_PUT_QUEUES = spelt(
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
    """Return the number of the oldest transaction that had not ended when this one first looked."""
    return tx.all(_HORIZON)[0]["horizon"]


def space_row(tx: Tx, *, space: str) -> SpaceRow | None:
    """Return the row of a space."""
    rows = tx.all(_SPACE, space=space)
    return SpaceRow(created_at=rows[0]["created_at"], key=bytes(rows[0]["key"])) if rows else None


def put_space(tx: Tx, row: SpaceRow, *, space: str) -> None:
    """Make a space as it is elsewhere. Nothing is queued for it yet, so no worker looks at it."""
    tx.run(_PUT_SPACE, space=space, shard=shard_for(space), created_at=row.created_at, key=row.key)


def changed(tx: Tx, table: Table, *, space: str, since: int) -> list[Row]:
    """Return the rows that were written since a horizon, and maybe some from before it."""
    return tx.all(_changed(table), space=space, since=since % 2**32)


def stands(tx: Tx, *, space: str, since: int = 0) -> dict[str, TableStand]:
    """Look at every table of a space with one query: writers may wait for it."""
    rows = tx.all(_stands(), space=space, since=since % 2**32)
    return {
        row["name"]: TableStand(rows=row["rows"], digest=row["digest"], changed=row["changed"] if since else 0)
        for row in rows
    }


def keys(tx: Tx, table: Table, *, space: str) -> set[Values]:
    """Return the key of every row."""
    return {table.key_of(row) for row in tx.all(_keys(table), space=space)}


def at_keys(tx: Tx, table: Table, wanted: Iterable[Values], *, space: str) -> dict[Values, Row]:
    """Return the rows with these keys, by their key."""
    given = [dict(zip(table.key, key, strict=True)) for key in wanted]
    rows = tx.all(_at_keys(table), space=space, keys=json.dumps(given, ensure_ascii=False)) if given else []
    return {table.key_of(row): row for row in rows}


def erase(tx: Tx, table: Table, *, space: str, limit: int) -> int:
    """Remove some rows of a table, and return how many went. They are elsewhere, so nothing is buried."""
    return tx.run(_erase(table), space=space, limit=limit)


def holds_any(tx: Tx, *, space: str) -> bool:
    """Return whether anything of a space is stored here."""
    return any(tx.all(_any(table), space=space) for table in archived.tables(whole=True))


def put_jobs(tx: Tx, rows: Sequence[Row], *, space: str) -> None:
    """Add jobs as they were elsewhere; one that was running there starts over, and one that is here stays.

    Its attempts are forgotten: the move ended one of them, and a worker there may have begun more and ended none.
    """
    again = {"status": "queued", "attempts": 0}
    given = [
        {**row, **again, "due_at": row["queued_at"], "token": row["token"] + 1}
        if row["status"] == "running"
        else dict(row)
        for row in rows
    ]
    if given:
        tx.run(_PUT_JOBS, space=space, rows=json.dumps(given, ensure_ascii=False))


def put_queues(tx: Tx, pending: tuple[int, int], *, space: str) -> None:
    """Let every webhook of this database be told of changes that those elsewhere were not told of, or some twice."""
    after, last = pending
    tx.run(_PUT_QUEUES, space=space, after=after, last=last, now=tx.now)
    tx.tells = True


@cache
def _changed(table: Table) -> Query:
    text = (
        f"SELECT {', '.join(table.names)} FROM {table.name} WHERE space_id = :space AND {_CHANGED} "
        f"ORDER BY {', '.join(table.key)}"
    )
    return spelt(f"changed_{table.name}", text, Dialect.POSTGRES)


def _hash(table: Table) -> str:
    # Each column seeds the next: to join them into one text takes twice as long.
    kinds = {column.name: column.integer for column in table.columns}
    return reduce(lambda seed, name: f"hash{'int8' if kinds[name] else 'text'}extended({name}, {seed})", table.key, "0")


@cache
def _stands() -> Query:
    each = (
        f"SELECT '{table.name}' AS name, count(*) AS rows, "
        f"COALESCE(bit_xor({_hash(table)}), 0) AS digest, "
        f"count(*) FILTER (WHERE {_CHANGED}) AS changed FROM {table.name} WHERE space_id = :space"
        for table in archived.tables(whole=True)
    )
    return spelt("stands", " UNION ALL ".join(each), Dialect.POSTGRES)


@cache
def _keys(table: Table) -> Query:
    text = f"SELECT {', '.join(table.key)} FROM {table.name} WHERE space_id = :space"
    return spelt(f"keys_{table.name}", text, Dialect.POSTGRES)


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
    return spelt(f"at_keys_{table.name}", text, Dialect.POSTGRES)


@cache
def _erase(table: Table) -> Query:
    key = ", ".join(table.key)
    text = (
        f"DELETE FROM {table.name} WHERE space_id = :space AND ({key}) IN "
        f"(SELECT {key} FROM {table.name} WHERE space_id = :space LIMIT :limit)"
    )
    return spelt(f"erase_{table.name}", text, Dialect.POSTGRES)


@cache
def _any(table: Table) -> Query:
    return spelt(
        f"any_{table.name}", f"SELECT 1 AS found FROM {table.name} WHERE space_id = :space LIMIT 1", Dialect.POSTGRES
    )
