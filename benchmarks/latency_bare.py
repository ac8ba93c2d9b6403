"""The statements of a recall: noted as it issues them, then issued again with nothing around them."""

# pyright: reportUnknownMemberType=false

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import apsw
import psycopg
from psycopg.raw_cursor import RawCursor
from psycopg.types.string import TextLoader

from bethink.store.engines.postgres import PostgresOptions, PostgresTx
from bethink.store.engines.sqlite import SqliteTx
from bethink.store.sql import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement, the values it was issued with, and how many rows came back."""

    name: str
    text: str
    values: Sequence[object]
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """How a transaction began, and its statements in order."""

    begin: Any
    statements: list[Statement] = field(default_factory=list[Statement])


class BarePostgres:
    """Rows are tuples; statements are prepared by psycopg itself, as they are for us."""

    def __init__(self, dsn: str) -> None:
        parameters = PostgresOptions(dsn=dsn).parameters()
        self._connection = psycopg.connect(dsn, autocommit=True, cursor_factory=RawCursor, **parameters)
        self._connection.adapters.register_loader("json", TextLoader)
        self.backend = self._connection.info.backend_pid

    def issue(self, transactions: Sequence[Transaction]) -> int:
        """Issue statements again, read every row, and return how many there were."""
        cursor, rows = self._connection.cursor(), 0
        for transaction in transactions:
            cursor.execute(transaction.begin)
            for statement in transaction.statements:
                rows += len(cursor.execute(statement.text.encode(), statement.values).fetchall())
            cursor.execute(b"COMMIT")
        return rows

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()


class BareSqlite:
    """A reader of the file."""

    backend = None

    def __init__(self, path: str) -> None:
        self._connection: Any = apsw.Connection(path)
        self._connection.execute("PRAGMA query_only = ON; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000")

    def issue(self, transactions: Sequence[Transaction]) -> int:
        """Issue statements again, read every row, and return how many there were."""
        execute, rows = self._connection.execute, 0
        for transaction in transactions:
            execute(transaction.begin)
            for statement in transaction.statements:
                rows += len(execute(statement.text, statement.values).fetchall())
            execute("COMMIT")
        return rows

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()


@contextmanager
def noted(of: type[PostgresTx] | type[SqliteTx]) -> Generator[list[Transaction]]:
    """Note what every transaction of this process issues until the end of the block, but for the access record's."""
    seen: list[Transaction] = []
    kind: Any = of
    kept = begin, fetch, run = kind._open, kind._fetch, kind._run

    def opened(self: Any) -> None:
        seen.append(Transaction(begin=self._opening))
        begin(self)

    def noting(original: Callable[..., Any], counted: Callable[[Any], int]) -> Callable[..., Any]:
        def call(self: Any, query: Query, values: list[object]) -> Any:
            result = original(self, query, values)
            bound = values if of is PostgresTx else _bound(values)
            statement = Statement(name=query.name, text=query.text, values=bound, rows=counted(result))
            if "access" not in query.name:
                seen[-1].statements.append(statement)
            return result

        return call

    kind._open, kind._fetch, kind._run = opened, noting(fetch, len), noting(run, lambda _: 0)
    try:
        yield seen
    finally:
        kind._open, kind._fetch, kind._run = kept
        seen[:] = [each for each in seen if each.statements]


def _bound(values: Sequence[object]) -> tuple[object, ...]:
    return tuple(json.dumps(value) if isinstance(value, list) else value for value in values)
