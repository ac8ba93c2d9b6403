"""The last session of a space: what the user said first, and what the assistant said last."""

from bethink.model.filters import Filter
from bethink.model.records import Role
from bethink.model.refs import Ref, RefKind
from bethink.model.views import TimeView
from bethink.store import search
from bethink.store.db import Tx
from bethink.store.search import Text

_RECENT = 8
"""Number of sessions that are compared: the one that was begun last need not be the one with the last message."""
_LEAST = 12
"""Minimum characters of a message that says what a session is about."""


def ends_of_last_session(
    tx: Tx, *, space: str, view: TimeView, only: Filter | None, requesting: str
) -> list[Text]:  # fmt: skip
    """Return the first text of the user and the last of the assistant, without those of the `requesting` session."""
    for row in tx.all("last_sessions", space=space, known=view.known_until, limit=_RECENT):
        if row["id"] == requesting:
            continue
        ends = tx.all("ends_of_session", space=space, session=row["id"], least=_LEAST)
        refs = [Ref(RefKind.MESSAGE, end["id"], end["number"]) for end in ends]
        texts = search.texts(tx, space=space, refs=refs, view=view, only=only) if refs else {}
        if any(text.role == Role.USER for text in texts.values()):
            return [texts[ref] for ref in refs if ref in texts]
    return []
