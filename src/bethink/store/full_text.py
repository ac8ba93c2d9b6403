"""Removes forgotten words from the full-text index at once, and not at some later merge."""

from bethink.store.db import Tx
from bethink.store.sql import Dialect


def forget(tx: Tx, *tables: str) -> None:
    """Rebuild the full-text index of some tables, so that nothing remains of what was deleted from them.

    PostgreSQL keeps words in their own rows. In FTS5 neither of the cheaper ways removes every word: 'optimize' may end
    with one segment of delete marks, each with its word, and 'secure-delete' leaves words of long texts behind.
    """
    tx.forgets = True
    if tx.dialect is Dialect.SQLITE:
        for table in tables:
            tx.script(f"INSERT INTO {table}_fts ({table}_fts) VALUES ('rebuild')")
