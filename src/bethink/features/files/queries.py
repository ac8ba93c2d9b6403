"""Queries about the passages of files."""

from collections.abc import Iterable

from bethink.store.db import Tx


def count_passages(tx: Tx, session_ids: Iterable[str], *, space: str) -> tuple[int, int]:
    """Return the number of passages in the sessions of a file, and how many of them are retracted."""
    rows = [row for session_id in session_ids for row in tx.all("count_passages", space=space, session=session_id)]
    return sum(row["stored"] for row in rows), sum(row["retracted"] for row in rows)
