"""Operation on the access log."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.model.access import AccessEntry, Scope
from bethink.model.checks import Length, Printable
from bethink.model.moments import Moment, Since
from bethink.model.operations.base import Cursor, HandleClass, Limit, Name, Operation, Request, Retry, served_by
from bethink.model.paging import Page

_Ref = Annotated[str, Length(3, 300), Printable()]


@frozen
class ListAccessRequest(Request):
    """A page of the access log."""

    space: Name | None = None
    """Name of the space (default: all spaces)."""
    key: Name | None = None
    """Prefix of the API key (default: any)."""
    person: Name | None = None
    """Person who made the request, or for whom it was made (default: any)."""
    operation: Name | None = None
    """Name of the operation, such as `space.recall` (default: any)."""
    ref: _Ref | None = None
    """Ref that was read or changed, or `kind:id` for all versions of a fact or document (default: any)."""
    since: Since | None = None
    """Earliest time of entries (default: no limit). A date means the start of that day."""
    until: Moment | None = None
    """Latest time of entries (default: no limit). A date means the end of that day."""
    limit: Limit = 50
    """Maximum number of entries (default 50)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""


LIST_ACCESS: Operation[ListAccessRequest, Page[AccessEntry]] = Operation(
    "memory.admin.access.list", ListAccessRequest, Page[AccessEntry], "GET /access", Scope.OPERATE, Retry.SAFE,
    "List the access log: who read, wrote or deleted what, and who managed keys. Newest first.",
    details=(
        "A page scans up to 20,000 entries, so a page with filters can be short or empty and still have a `next`. "
        "The log contains no questions or texts. The setting `access_log_days` limits the age of entries."
    ),
)  # fmt: skip

OPERATIONS = served_by(
    "bethink.features.access.service",
    LIST_ACCESS,
)
HANDLES = (
    HandleClass(
        path="memory.admin.access", class_name="AccessLog", summary="The access log: who read or changed what."
    ),
)
