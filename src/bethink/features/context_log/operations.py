"""Operations on the context log."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.features.context_log.records import ShownPage
from bethink.model.access import Scope
from bethink.model.checks import Between
from bethink.model.moments import Moment
from bethink.model.operations.base import Cursor, Name, Request, Retry, Verb, served_by

READ = Scope.READ


@frozen
class PageShownRequest(Request):
    """A page of the ledger, with texts."""

    session_id: Name | None = None
    """Only what this session was shown."""
    showing_id: Name | None = None
    """Only this entry."""
    as_of: Moment | None = None
    """Only what had been shown by this time. A day means its end."""
    limit: Annotated[int, Between(1, 100)] = 20
    """How many entries to return at most."""
    after: Cursor = ""
    """Only what follows: the `next` of the previous page."""


PAGE_SHOWN: Verb[PageShownRequest, ShownPage] = Verb(
    "space.page_shown", PageShownRequest, ShownPage, "GET /spaces/{space}/shown_page", READ, Retry.SAFE,
    "List what was shown to whom, the newest first, each memory with its text in the version that was shown.",
    raises="NotFound: if the space has no such session.",
)  # fmt: skip

VERBS = served_by("bethink.features.context_log.service", PAGE_SHOWN)
