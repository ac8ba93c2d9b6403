"""Takes down, on purpose, one of the two walls between spaces, or both: what queries ask for, what rows allow."""

import re
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from enum import StrEnum
from unittest.mock import patch

from bethink.store.db import Tx
from bethink.store.engines import postgres
from bethink.store.sql import Dialect, queries
from faults.places import Place

_FILTER = re.compile(r"((?:\w+\.)?space_id) = ([$?]\d+)")
_NAMED = re.compile(r"((?:\w+\.)?space_id) = (:space)\b")
_JOBS = re.compile(r"\b(?:FROM|INTO|UPDATE|JOIN)\s+jobs\b", re.IGNORECASE)


class Wall(StrEnum):
    """What stands between one space and another. SQLite has the first wall only."""

    BOTH = "both"
    QUERIES = "queries"
    ROWS = "rows"
    NONE = "none"


def walls_of(database: str) -> tuple[Wall, ...]:
    """Say in which ways a database can be tried."""
    return tuple(Wall) if database == "postgres" else (Wall.BOTH, Wall.NONE)


@contextmanager
def standing(wall: Wall, where: Place) -> Generator[None]:
    """Leave these walls standing in this process and this database, and put the queries back afterwards.

    The schema must be there already. Row-level security stays off in the database: it is the campaign's own.
    """
    if wall in (Wall.QUERIES, Wall.NONE) and where.database == "postgres":
        _unguard(where)
    with without_filters() if wall in (Wall.ROWS, Wall.NONE) else nullcontext():
        if wall in (Wall.QUERIES, Wall.NONE):
            with patch.object(postgres, "_check_row_security", _trusting):
                yield
        else:
            yield


@contextmanager
def without_filters() -> Generator[int]:
    """Let every query see all spaces, as if its author had forgotten the space; say how many are changed.

    Queries about jobs keep theirs: that table is read across spaces by design, holds no content, and has one wall.
    """
    before = {dialect: dict(queries(dialect)) for dialect in Dialect}
    changed = 0
    try:
        for dialect in Dialect:
            known = queries(dialect)
            for name, query in before[dialect].items():
                if _JOBS.search(query.text):
                    continue
                # The parameter stays where it is: PostgreSQL wants to know its type.
                text = _FILTER.sub(r"(\1 = \2 OR 1 = 1)", query.text)
                if text != query.text:
                    # A filter is put into the source, so that has to forget its space, too.
                    known[name] = replace(query, text=text, source=_NAMED.sub(r"(\1 = \2 OR 1 = 1)", query.source))
                    changed += 1
        yield changed
    finally:
        for dialect in Dialect:
            queries(dialect).update(before[dialect])


def _trusting(tx: Tx) -> None:
    del tx


def _unguard(where: Place) -> None:
    import psycopg  # noqa: PLC0415 - only where there is a server
    from psycopg.sql import SQL, Identifier  # noqa: PLC0415

    with psycopg.connect(where.raw, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT c.relname FROM pg_class c WHERE c.relrowsecurity AND c.relnamespace = 'public'::regnamespace"
        ).fetchall()
        if not rows:
            raise ValueError("there is no row-level security to switch off: open the database first")
        for (name,) in rows:
            connection.execute(SQL("ALTER TABLE {} DISABLE ROW LEVEL SECURITY").format(Identifier(name)))
