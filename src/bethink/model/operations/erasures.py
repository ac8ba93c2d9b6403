"""Operations on erasures: completed deletions with receipts, and unconfirmed ones."""

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.erasures import Erasure, OpenErasure
from bethink.model.operations.base import Cursor, Empty, Limit, Operation, Request, Retry, served_by
from bethink.model.operations.merging import first, joined_page
from bethink.model.paging import Page

ERASE, OPERATE = Scope.ERASE, Scope.OPERATE


@frozen
class ListErasuresRequest(Request):
    """A page of erasures."""

    limit: Limit = 100
    """Maximum number of erasures (default 100)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""


LIST_ERASURES: Operation[ListErasuresRequest, Page[Erasure]] = Operation(
    "space.admin.erasures.list", ListErasuresRequest, Page[Erasure], "GET /spaces/{space}/erasures", ERASE, Retry.SAFE,
    "List deletions in the space with actor, confirmations and receipt. Newest first.",
    details="Entries have no text and remain after the space is deleted. Interrupted deletions are finished first.",
)  # fmt: skip
LIST_OPEN_ERASURES: Operation[Empty, Page[OpenErasure]] = Operation(
    "memory.admin.erasures.list", Empty, Page[OpenErasure], "GET /erasures", OPERATE, Retry.SAFE,
    "Finish interrupted deletions in all spaces, and list those that are not confirmed yet.",
    merge=joined_page,
)  # fmt: skip
GET_PUBLIC_KEY: Operation[Empty, str] = Operation(
    "memory.admin.erasures.public_key", Empty, str, "GET /erasures/public-key", OPERATE, Retry.SAFE,
    "Return the public key that verifies receipts of this installation.",
    details="Empty without the extra `receipts`.",
    merge=first,
)  # fmt: skip

OPERATIONS = served_by("bethink.memory.deletion.forget", LIST_ERASURES, LIST_OPEN_ERASURES, GET_PUBLIC_KEY)
