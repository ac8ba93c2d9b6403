"""The verb of the access record: who did what to which memories."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.model.access import AccessPage, Scope
from bethink.model.checks import Length, Printable
from bethink.model.moments import Moment, Since
from bethink.model.operations.base import Cursor, Limit, Name, Request, Retry, Verb, served_by

_Ref = Annotated[str, Length(3, 300), Printable()]


@frozen
class AccessRequest(Request):
    """A page of the access record."""

    space: Name | None = None
    """Only what was done in this space."""
    key: Name | None = None
    """Only what was done with the key of this prefix."""
    person: Name | None = None
    """Only what was done by this person, or for them."""
    verb: Name | None = None
    """Only calls of this verb, such as `space.recall`."""
    ref: _Ref | None = None
    """Only what read or changed this: a ref, or `kind:id` for every version of a fact or a document."""
    since: Since | None = None
    """Only what was done from this time on."""
    until: Moment | None = None
    """Only what was done up to this time. A day means its end."""
    limit: Limit = 50
    """How many entries to return at most."""
    after: Cursor = ""
    """Only what follows: the `next` of the previous page."""


ACCESS: Verb[AccessRequest, AccessPage] = Verb(
    "memory.access", AccessRequest, AccessPage, "GET /access", Scope.OPERATE, Retry.SAFE,
    "List who read, wrote, erased or made keys, the newest first: the access record.",
    details=(
        "A page looks at 20,000 entries at most, so a narrow one may be short, even empty, and still have a `next`. "
        "Questions and texts are never recorded. An entry goes after as many days as `access_keep_days` says."
    ),
)  # fmt: skip

VERBS = served_by(
    "bethink.features.access.service",
    ACCESS,
)
