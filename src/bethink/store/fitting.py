"""What fits a filter, by its id: for forgetting and for exporting, where no question ranks it."""

from bethink.model.filters import Filter
from bethink.model.recall import RefKind
from bethink.store.db import Tx

_IDS = {
    RefKind.FACT: "fitting_facts",
    RefKind.SESSION_MEMORY: "fitting_session_memories",
    RefKind.DOCUMENT: "fitting_documents",
}


def messages(tx: Tx, only: Filter, *, space: str) -> dict[str, list[int]]:
    """Return the numbers of the messages that fit a filter, by the ids of their sessions."""
    found: dict[str, list[int]] = {}
    for row in tx.all("fitting_messages", only, space=space):
        found.setdefault(row["id"], []).append(row["number"])
    return found


def ids(tx: Tx, kind: RefKind, only: Filter, *, space: str) -> list[str]:
    """Return the ids of the facts, session memories or documents of which any version fits a filter."""
    return [row["id"] for row in tx.all(_IDS[kind], only, space=space)]
