"""Operation on the context log."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.features.context_log.records import ContextLogEntry
from bethink.model.access import Scope
from bethink.model.checks import Between
from bethink.model.operations.base import Cursor, HandleClass, Name, Operation, Retry, served_by
from bethink.model.operations.viewing import ViewRequest
from bethink.model.paging import Page

READ = Scope.READ


@frozen
class ListContextLogRequest(ViewRequest):
    """A page of the context log, with texts."""

    session_id: Name | None = None
    """Id of the session (default: all sessions)."""
    entry_id: Name | None = None
    """Id of one entry (default: all entries)."""
    limit: Annotated[int, Between(1, 100)] = 20
    """Maximum number of entries (default 20)."""
    after: Cursor = ""
    """Cursor of the next page: the `next` of the previous page."""


LIST_CONTEXT_LOG: Operation[ListContextLogRequest, Page[ContextLogEntry]] = Operation(
    "space.admin.context_log.list", ListContextLogRequest, Page[ContextLogEntry], "GET /spaces/{space}/context-log",
    READ, Retry.SAFE,
    "List the memories shown to sessions, each with its text at that time. Newest first.",
    raises="NotFoundError: if the space has no such session.",
)  # fmt: skip

OPERATIONS = served_by("bethink.features.context_log.service", LIST_CONTEXT_LOG)
HANDLES = (
    HandleClass(
        path="space.admin.context_log", class_name="ContextLog", summary="The memories that were shown to sessions."
    ),
)
