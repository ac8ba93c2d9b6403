"""Every value in a database, bypassing row-level security."""

from typing import Any

import apsw
import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier

from tools import postgres

Rows = list[tuple[Any, ...]]


def tables(target: str, superuser: str) -> dict[str, Rows]:
    """Every row of every table, in an order that does not depend on where it lies."""
    if not target.startswith("postgresql:"):
        with apsw.Connection(target, flags=apsw.SQLITE_OPEN_READONLY) as connection:
            ask = connection.execute  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            names = [row[0] for row in ask("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return {name: sorted(ask(f'SELECT * FROM "{name}"'), key=repr) for name in names}
    database = str(conninfo_to_dict(target)["dbname"])
    with psycopg.connect(postgres.in_database(superuser, database)) as connection:
        names = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        return {
            name: sorted(connection.execute(SQL("SELECT * FROM {}").format(Identifier(name))).fetchall(), key=repr)
            for (name,) in names
        }


def stored(target: str, superuser: str, *, but: str = "") -> str:
    """Every value of every table, as one text; but for one table, if it is named."""
    return "".join(str(rows) for name, rows in tables(target, superuser).items() if name != but)
