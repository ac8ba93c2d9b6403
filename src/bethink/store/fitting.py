"""Ids of the items that match a filter, for deletion and export, where nothing is ranked."""

from bethink.model.filters import Filter
from bethink.model.refs import RefKind
from bethink.store.db import Tx

_IDS = {
    RefKind.FACT: "fitting_facts",
    RefKind.SESSION_SUMMARY: "fitting_session_summaries",
    RefKind.DOCUMENT: "fitting_documents",
}


def messages(tx: Tx, only: Filter, *, space: str) -> dict[str, list[int]]:
    """Return the numbers of the messages that match a filter, by the ids of their sessions."""
    numbers: dict[str, list[int]] = {}
    for row in tx.all("fitting_messages", only, space=space):
        numbers.setdefault(row["id"], []).append(row["number"])
    return numbers


def ids(tx: Tx, kind: RefKind, only: Filter, *, space: str) -> list[str]:
    """Return the ids of facts, session summaries or documents with a version that matches a filter."""
    return [row["id"] for row in tx.all(_IDS[kind], only, space=space)]
