"""Sees to it that forgotten words leave the full text at once, and not at some later merge."""

from bethink.store.db import Tx
from bethink.store.sql import Dialect


def forget(tx: Tx, *tables: str) -> None:
    """Merge the full text of some tables, so that nothing is left in it of what was deleted from them.

    PostgreSQL keeps words in their own rows. FTS5's secure-delete would do, but leaves words of long texts behind.
    """
    tx.erases = True
    if tx.dialect is Dialect.SQLITE:
        for table in tables:
            tx.script(f"INSERT INTO {table}_fts ({table}_fts) VALUES ('optimize')")
