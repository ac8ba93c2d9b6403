"""The messages in which users state a lasting preference, and from which no model has learned."""

from bethink.base.language import PREFERENCE_TERM
from bethink.model.filters import Filter
from bethink.model.refs import Ref, RefKind
from bethink.model.views import TimeView
from bethink.store import search
from bethink.store.db import Tx
from bethink.store.search import Text


def find_stated(
    tx: Tx, *, space: str, view: TimeView, limit: int, only: Filter | None = None
) -> list[Text]:  # fmt: skip
    """Return messages in which users state a lasting preference, the newest first, except those learned from."""
    stated = search.matches(
        tx, space=space, terms={PREFERENCE_TERM: 1.0}, view=view, kinds=[RefKind.MESSAGE], only=only
    )
    newest = sorted(stated, key=lambda match: (match.at, match.ref.parts), reverse=True)[:limit]
    if not newest:
        return []
    ids, numbers = [match.ref.id for match in newest], [match.ref.number for match in newest]
    rows = tx.all("unlearned_messages", space=space, ids=ids, numbers=numbers, at=view.written_until)
    unlearned = {Ref(RefKind.MESSAGE, row["id"], row["number"]) for row in rows}
    texts = search.texts(tx, space=space, refs=unlearned, view=view, only=only)
    return [texts[match.ref] for match in newest if match.ref in texts]
