"""The verbs of erasures: what was forgotten, who asked, and which places have still to confirm."""

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.erasures import Erasure, OpenErasures
from bethink.model.operations.base import Empty, Limit, Request, Retry, Verb, served_by
from bethink.model.operations.merging import merge_open_erasures

ERASE, OPERATE = Scope.ERASE, Scope.OPERATE


@frozen
class ErasuresRequest(Request):
    """A page of erasures."""

    limit: Limit = 100
    """How many erasures to return at most."""


ERASURES: Verb[ErasuresRequest, list[Erasure]] = Verb(
    "space.erasures", ErasuresRequest, list[Erasure], "GET /spaces/{space}/erasures", ERASE, Retry.SAFE,
    "List what was forgotten in the space, the newest first: who asked, which places confirmed, and the receipt.",
    details="It holds no text. It stays when the whole space is forgotten. What was interrupted is finished first.",
)  # fmt: skip
OPEN_ERASURES: Verb[Empty, OpenErasures] = Verb(
    "memory.open_erasures", Empty, OpenErasures, "GET /erasures", OPERATE, Retry.SAFE,
    "Finish erasures that were interrupted in any space, and list what some place has still to confirm.",
    merge=merge_open_erasures,
)  # fmt: skip

VERBS = served_by("bethink.memory.deletion.forget", ERASURES, OPEN_ERASURES)
