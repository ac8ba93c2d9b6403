"""Names of messages and document versions that are the same in every copy of a space: a sync may renumber them.

Names go from coarse to fine. A tombstone has the coarsest name that no remaining item has, mostly the moment alone. A
digest of the text could confirm a guess at it for anyone with the key.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from bethink.store.db import Tx


def moment_of(row: Mapping[str, Any]) -> str:
    """Return the session of a message and the time it was recorded. Messages stored together share both."""
    return f"{row['session_id']}@{row['recorded_at']}"


def names_of_message(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of a message."""
    moment = moment_of(row)
    plain = f"{moment} {row['role']} {row['said_at']}"
    return moment, plain, f"{plain} {_digest(row['content'])}"


def names_of_messages(tx: Tx, rows: Iterable[Mapping[str, Any]], *, space: str) -> list[str]:
    """Return the tombstone names of messages that are about to be deleted."""
    deleted: dict[tuple[str, int], set[int]] = {}
    for row in rows:
        deleted.setdefault((row["session_id"], row["recorded_at"]), set()).add(row["number"])
    names: list[str] = []
    for (session_id, at), numbers in deleted.items():
        together = tx.all("list_messages_at", space=space, session=session_id, at=at)
        names += _unique_names(
            (names_of_message(row) for row in together if row["number"] in numbers),
            (names_of_message(row) for row in together if row["number"] not in numbers),
        )
    return names


def names_of_version(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of a document version. In another copy it may belong to another document."""
    moment = str(row["valid_from"])
    return moment, f"{moment} {row['slug']}"


def names_of_versions(tx: Tx, document_id: str, version: int | None = None, *, space: str) -> list[str]:
    """Return the tombstone names of a document version that is about to lose its text, or of all versions."""
    deleted: list[tuple[str, ...]] = []
    remaining: list[tuple[str, ...]] = []
    for row in tx.all("list_versions_beside", space=space, id=document_id):
        is_deleted = row["id"] == document_id and version in (None, row["version"])
        (deleted if is_deleted else remaining).append(names_of_version(row))
    return _unique_names(deleted, remaining)


def _unique_names(deleted: Iterable[tuple[str, ...]], remaining: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the coarsest name of each deleted item that no remaining item has. An exact duplicate has none."""
    remaining_names = {name for names in remaining for name in names}
    candidates = (next((name for name in names if name not in remaining_names), None) for names in deleted)
    return [name for name in candidates if name is not None]


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
