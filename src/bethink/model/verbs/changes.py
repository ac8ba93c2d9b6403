"""The verbs of changes: read them, wait for what is learnt, and have them sent to webhooks."""

from typing import Annotated

from bethink.frozen import frozen
from bethink.model.access import Scope
from bethink.model.changes import MemoryChange, SessionLearnt
from bethink.model.checks import Between, Length, Printable
from bethink.model.verbs.base import Empty, Limit, Name, Number, Request, Retry, Verb, served_by
from bethink.model.verbs.sessions import SessionRequest
from bethink.model.webhooks import Delivery, NewWebhook, WebhookInfo

READ, WRITE, OPERATE = Scope.READ, Scope.WRITE, Scope.OPERATE

LONGEST_WAIT = 60
"""Seconds that one request may wait."""

Wait = Annotated[float, Between(0, LONGEST_WAIT)]


@frozen
class ChangesRequest(Request):
    """A page of changes."""

    after: Number | None = None
    """Only changes with a higher number; 0 for the oldest that is kept. Without it, the newest ones."""
    limit: Limit = 100
    """How many changes to return at most."""
    wait: Wait = 0.0
    """For how many seconds to wait for a change if there is none."""


@frozen
class LearntRequest(SessionRequest):
    """A session to wait for."""

    wait: Wait = 30.0
    """For how many seconds to wait at most."""


@frozen
class CreateWebhookRequest(Request):
    """A webhook to make."""

    url: Annotated[str, Length(1, 2_000), Printable()]
    """The address that changes are sent to: `https://…`, or `http://…`."""
    space: Name | None = None
    """The space whose changes are sent; those of all spaces, if left out."""


@frozen
class WebhookRequest(Request):
    """One webhook."""

    webhook_id: Name
    """The webhook."""


@frozen
class DeliveriesRequest(WebhookRequest):
    """A page of a webhook's deliveries."""

    space: Name | None = None
    """Only those of this space."""
    limit: Limit = 100
    """How many deliveries to return at most."""


_WEBHOOK = "/webhooks/{webhook_id}"
_MISSING = "NotFound: if the webhook does not exist."

CHANGES: Verb[ChangesRequest, list[MemoryChange]] = Verb(
    "space.changes", ChangesRequest, list[MemoryChange], "GET /spaces/{space}/changes", READ, Retry.SAFE,
    "List what changed in the space, in order: kinds and refs, never a text.",
    raises="Stale: if changes after this number are no longer kept.",
    details="Go on with the number of the last one as `after`. With `wait`, it returns as soon as something changes.",
)  # fmt: skip
LEARNT: Verb[LearntRequest, SessionLearnt] = Verb(
    "session.learnt", LearntRequest, SessionLearnt, "POST /spaces/{space}/sessions/{session_id}/learnt", WRITE,
    Retry.IDEMPOTENT,
    "Wait until all that was said in the session so far has been learnt from, and return what came of it.",
    also_reads=True,
    raises="NotFound: if the space has no such session.",
    details="It marks the session if need be, as `idle` does, and returns early if learning was given up. "
    "`done` says whether it was worth the wait.",
)  # fmt: skip
CREATE_WEBHOOK: Verb[CreateWebhookRequest, NewWebhook] = Verb(
    "webhooks.create", CreateWebhookRequest, NewWebhook, "POST /webhooks", OPERATE, Retry.ONCE,
    "Create a webhook. Its secret is returned here and can never be read again.",
    status=201,
    raises="Invalid: if the address is none that may be called.",
    details="It is told of what changes from now on. A worker sends the changes; those of a space arrive in order.",
)  # fmt: skip
LIST_WEBHOOKS: Verb[Empty, list[WebhookInfo]] = Verb(
    "webhooks.all", Empty, list[WebhookInfo], "GET /webhooks", OPERATE, Retry.SAFE,
    "List all webhooks, the oldest first, with those that were disabled.",
)  # fmt: skip
DELETE_WEBHOOK: Verb[WebhookRequest, None] = Verb(
    "webhooks.delete", WebhookRequest, None, f"DELETE {_WEBHOOK}", OPERATE, Retry.IDEMPOTENT,
    "Delete a webhook with its deliveries. A request that is on its way still arrives.",
    status=204,
    raises=_MISSING,
)  # fmt: skip
DELIVERIES: Verb[DeliveriesRequest, list[Delivery]] = Verb(
    "webhooks.deliveries", DeliveriesRequest, list[Delivery], f"GET {_WEBHOOK}/deliveries", OPERATE, Retry.SAFE,
    "List what was sent to a webhook, the last tried first: when, how often, and what it answered.",
    raises=_MISSING,
)  # fmt: skip

VERBS = (CHANGES, LEARNT, CREATE_WEBHOOK, LIST_WEBHOOKS, DELETE_WEBHOOK, DELIVERIES)
served_by("bethink.telling.changes", CHANGES, LEARNT)
served_by("bethink.telling.webhooks", CREATE_WEBHOOK, LIST_WEBHOOKS, DELETE_WEBHOOK, DELIVERIES)
