# pyright: reportUnknownMemberType=false
"""Reads tables with the driver alone, past our own code and past row-level security."""

import os
import time
from types import TracebackType
from typing import Any, cast

import apsw
import psycopg

from bethink.base.language import count_terms

_POSTGRES_TABLES = """SELECT relname FROM pg_class
WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace"""

Row = tuple[Any, ...]


_INDEXED = {
    "messages": (
        "message", "session_id, number",
        "CASE WHEN role = 'system' OR origin = 'memory' THEN '' ELSE coalesce(name, '') || ' ' || content END",
    ),
    "facts": ("fact", "id, version", "content"),
    "session_summaries": ("session_summary", "session_id, 0", "summary || ' ' || raw_memory"),
    "documents": (
        "document", "id, version", "CASE WHEN redacted = 1 THEN '' ELSE title || ' ' || description || ' ' || body END",
    ),
}  # fmt: skip


class Raw:
    """A connection that only reads; on PostgreSQL it has to be a superuser's to see every space."""

    def __init__(self, target: str) -> None:
        self._postgres = target.startswith("postgresql:")
        self._connection: Any
        if self._postgres:
            self._connection = psycopg.connect(target, autocommit=True)
        else:
            self._connection = apsw.Connection(target)
            self._connection.set_busy_timeout(10_000)

    def __enter__(self) -> "Raw":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def rows(self, query: str) -> list[Row]:
        """Return what a query finds."""
        return cast("list[Row]", list(self._connection.execute(query)))

    def run(self, statement: str) -> None:
        """Change something, as only a campaign may."""
        self._connection.execute(statement)

    def unsound(self) -> list[str]:
        """Ask the database, and its index of words, whether they are whole; return what they complain of."""
        if self._postgres:
            return []
        found = [str(row[0]) for row in self.rows("PRAGMA integrity_check")]
        problems = [] if found == ["ok"] else [f"the database's own check says: {found}"]
        try:
            self._connection.execute("INSERT INTO terms_fts (terms_fts, rank) VALUES ('integrity-check', 1)")
        except apsw.Error as error:
            problems.append(f"the index of words is broken: {error}")
        if set(self.rows("SELECT doc FROM terms")) != set(self.rows("SELECT rowid FROM terms_fts")):
            problems.append("the index of words does not agree with its own table")
        for table, (kind, key, texts) in _INDEXED.items():
            own = {tuple(row) for row in self.rows(f"SELECT id, number FROM terms WHERE kind = '{kind}'")}
            said = {
                (row[0], row[1]) for row in self.rows(f"SELECT {key}, {texts} FROM {table}") if count_terms(str(row[2]))
            }
            if own != said:
                problems.append(f"the index of words does not agree with the {table}: {sorted(own ^ said)[:3]}")
        return problems

    def tables(self) -> dict[str, list[Row]]:
        """Return every row of every table."""
        return {name: self.rows(f'SELECT * FROM "{name}"') for name in self._names()}

    def _names(self) -> list[str]:
        if self._postgres:
            # Without the parts of partitioned tables, whose rows the whole shows.
            return [row[0] for row in self.rows(_POSTGRES_TABLES)]
        return [row[0] for row in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]


def drain(target: str, left: str, patience: float) -> None:
    """Return once a query counts nothing that is left to do; end this process with a failure if that takes too long."""
    deadline = time.monotonic() + patience
    with Raw(target) as raw:
        while raw.rows(left)[0][0]:
            if time.monotonic() > deadline:
                os._exit(1)
            time.sleep(0.02)
