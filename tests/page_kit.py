"""The cost of a page: its statements and the rows they read, counted by the database."""

import json
import re
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck

from bethink.store.db import Database
from bethink.store.engines.postgres import PostgresTx
from bethink.store.engines.sqlite import SqliteTx
from bethink.store.sql import Dialect, Query

EVERY_CHECK = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
"""A property that asks a database is slower than Hypothesis expects."""

_WHOLE = re.compile(r"^(SCAN (?!json_each|pairs|\(|CONSTANT|\d+ CONSTANT)\S+(?! USING (?:COVERING )?INDEX).*)$")


@dataclass
class Cost:
    """What a page took."""

    statements: int = 0
    rows: int = 0
    """PostgreSQL: the rows that its scans read, also those it threw away. SQLite: the steps it took, by the score."""
    scans: list[str] = field(default_factory=list[str])
    """SQLite: tables that it read from one end to the other, and orders that it had to sort for."""
    texts: list[str] = field(default_factory=list[str])


@contextmanager
def counting(patch: pytest.MonkeyPatch) -> Generator[Cost]:
    """Count what runs meanwhile."""
    cost = Cost()

    def counted(method: Callable[[Any, Query, list[object]], Any]) -> Callable[[Any, Query, list[object]], Any]:
        def fetch(tx: Any, query: Query, values: list[object]) -> Any:
            cost.statements += 1
            cost.texts.append(query.text)
            _explain(method, tx, query, values, cost)
            if isinstance(tx, SqliteTx):
                return _stepped(method, tx, query, values, cost)
            return method(tx, query, values)

        return fetch

    with patch.context() as inner:
        for engine in (SqliteTx, PostgresTx):
            inner.setattr(engine, "_fetch", counted(engine._fetch))
        yield cost


async def cost_of(patch: pytest.MonkeyPatch, page: Callable[[], Awaitable[object]]) -> Cost:
    """Read a page and return what it took."""
    with counting(patch) as cost:
        await page()
    return cost


async def analyze(database: Database, *tables: str) -> None:
    """Let the planner of PostgreSQL know how large some tables are; SQLite plans by its rules."""
    if database.dialect is Dialect.POSTGRES:
        await database.transact(lambda tx: tx.script("; ".join(f"ANALYZE {each}" for each in tables)))


def _stepped(method: Callable[..., Any], tx: Any, query: Query, values: list[object], cost: Cost) -> Any:
    def step() -> bool:
        cost.rows += 1
        return False

    tx._connection.set_progress_handler(step, 20)
    try:
        return method(tx, query, values)
    finally:
        tx._connection.set_progress_handler(None)


def _explain(method: Callable[..., Any], tx: Any, query: Query, values: list[object], cost: Cost) -> None:
    if query.text.upper().startswith(("INSERT", "UPDATE", "DELETE")) or "FOR NO KEY UPDATE" in query.text:
        return
    if isinstance(tx, SqliteTx):
        asked = Query(name="explain", text=f"EXPLAIN QUERY PLAN {query.text}", parameters=query.parameters)
        for row in method(tx, asked, values):
            line = row["detail"]
            if _WHOLE.match(line) or "TEMP B-TREE FOR ORDER BY" in line:
                cost.scans.append(f"{query.name}: {line}")
        return
    text = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {query.text}"
    [row] = method(tx, Query(name=query.name, text=text, parameters=query.parameters), values)
    cost.rows += _read(json.loads(row["QUERY PLAN"])[0]["Plan"])


def _read(plan: dict[str, Any]) -> int:
    """Count the rows that the scans of a plan read, with those that a filter threw away."""
    own = 0
    if "Scan" in plan["Node Type"] and "Relation Name" in plan:
        gone = plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Index Recheck", 0)
        own = round((plan["Actual Rows"] + gone) * plan["Actual Loops"])
    return own + sum(_read(each) for each in plan.get("Plans", ()))


async def every(page: Callable[[str], Awaitable[Any]]) -> list[Any]:
    """Read all pages of a list, one after the other."""
    current = await page("")
    items: list[Any] = list(current)
    while current.next:
        current = await page(current.next)
        items.extend(current)
    return items
