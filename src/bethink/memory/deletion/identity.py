"""What messages and versions of documents are known by in every copy of a space: a sync may number them anew.

Their names go from coarse to fine. What is forgotten is buried under the coarsest name that nothing has which stays:
mostly the moment alone. A digest that is made of a text could confirm a guess at it, to who has the key.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from bethink.store.db import Tx


def moment_of(row: Mapping[str, Any]) -> str:
    """Return the session of a message, and when it was recorded: those that were stored together have the same."""
    return f"{row['session_id']}@{row['recorded_at']}"


def names_of_message(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of a message."""
    moment = moment_of(row)
    plain = f"{moment} {row['role']} {row['said_at']}"
    return moment, plain, f"{plain} {_digest(row['content'])}"


def names_of_messages(tx: Tx, rows: Iterable[Mapping[str, Any]], *, space: str) -> list[str]:
    """Return what to bury for messages that are about to go."""
    going: dict[tuple[str, int], set[int]] = {}
    for row in rows:
        going.setdefault((row["session_id"], row["recorded_at"]), set()).add(row["number"])
    found: list[str] = []
    for (session_id, at), numbers in going.items():
        together = tx.all("list_messages_at", space=space, session=session_id, at=at)
        found += _own(
            (names_of_message(row) for row in together if row["number"] in numbers),
            (names_of_message(row) for row in together if row["number"] not in numbers),
        )
    return found


def names_of_version(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of a version of a document, which may be another document's in another copy."""
    moment = str(row["valid_from"])
    return moment, f"{moment} {row['slug']}"


def names_of_versions(tx: Tx, document_id: str, version: int | None = None, *, space: str) -> list[str]:
    """Return what to bury for a version of a document that is about to lose its text, or for all of them."""
    going: list[tuple[str, ...]] = []
    staying: list[tuple[str, ...]] = []
    for row in tx.all("list_versions_beside", space=space, id=document_id):
        goes = row["id"] == document_id and version in (None, row["version"])
        (going if goes else staying).append(names_of_version(row))
    return _own(going, staying)


def _own(going: Iterable[tuple[str, ...]], staying: Iterable[tuple[str, ...]]) -> list[str]:
    """Return for each that goes the coarsest name that none has which stays. One that is told twice has none."""
    taken = {name for names in staying for name in names}
    found = (next((name for name in names if name not in taken), None) for names in going)
    return [name for name in found if name is not None]


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
