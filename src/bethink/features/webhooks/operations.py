"""Operations on webhooks."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.features.webhooks.records import Delivery, NewWebhook, WebhookInfo
from bethink.model.access import Scope
from bethink.model.checks import Length, Printable
from bethink.model.operations.base import Empty, HandleClass, Limit, Name, Request, Retry, Verb, served_by

OPERATE = Scope.OPERATE


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

VERBS = served_by("bethink.features.webhooks.service", CREATE_WEBHOOK, LIST_WEBHOOKS, DELETE_WEBHOOK, DELIVERIES)
HANDLE = HandleClass(
    name="webhooks", class_name="Webhooks", parent="memory", summary="The webhooks that receive changes."
)
