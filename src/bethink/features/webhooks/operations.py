"""Operations on webhooks."""

from typing import Annotated

from bethink.base.frozen import frozen
from bethink.features.webhooks.records import Delivery, NewWebhook, WebhookInfo
from bethink.model.access import Scope
from bethink.model.checks import Length, Printable
from bethink.model.operations.base import Empty, HandleClass, Limit, Name, Operation, Request, Retry, served_by
from bethink.model.paging import Page

OPERATE = Scope.OPERATE


@frozen
class CreateWebhookRequest(Request):
    """A webhook to create."""

    url: Annotated[str, Length(1, 2_000), Printable()]
    """Address that receives changes: `https://…` or `http://…`."""
    space: Name | None = None
    """Name of the space whose changes are sent (default: all spaces)."""


@frozen
class WebhookRequest(Request):
    """One webhook."""

    webhook_id: Name
    """Id of the webhook."""


@frozen
class ListDeliveriesRequest(WebhookRequest):
    """A page of a webhook's deliveries."""

    space: Name | None = None
    """Name of the space (default: all spaces)."""
    limit: Limit = 100
    """Maximum number of deliveries (default 100)."""


_WEBHOOK = "/webhooks/{webhook_id}"
_NOT_FOUND = "NotFoundError: if the webhook does not exist."

CREATE_WEBHOOK: Operation[CreateWebhookRequest, NewWebhook] = Operation(
    "memory.admin.webhooks.create", CreateWebhookRequest, NewWebhook, "POST /webhooks", OPERATE, Retry.ONCE,
    "Create a webhook. Its secret is returned only once.",
    status=201,
    raises="InvalidRequestError: if the address is invalid or not allowed.",
    details="A worker sends changes from now on. Changes of one space arrive in order.",
)  # fmt: skip
LIST_WEBHOOKS: Operation[Empty, Page[WebhookInfo]] = Operation(
    "memory.admin.webhooks.list", Empty, Page[WebhookInfo], "GET /webhooks", OPERATE, Retry.SAFE,
    "List all webhooks, including disabled ones. Oldest first.",
)  # fmt: skip
DELETE_WEBHOOK: Operation[WebhookRequest, None] = Operation(
    "memory.admin.webhooks.delete", WebhookRequest, None, f"DELETE {_WEBHOOK}", OPERATE, Retry.IDEMPOTENT,
    "Delete a webhook and its deliveries. A request in progress still arrives.",
    status=204,
    raises=_NOT_FOUND,
)  # fmt: skip
LIST_DELIVERIES: Operation[ListDeliveriesRequest, Page[Delivery]] = Operation(
    "memory.admin.webhooks.deliveries", ListDeliveriesRequest, Page[Delivery], f"GET {_WEBHOOK}/deliveries", OPERATE,
    Retry.SAFE,
    "List deliveries to a webhook with attempts and responses. Most recent attempt first.",
    raises=_NOT_FOUND,
)  # fmt: skip

OPERATIONS = served_by(
    "bethink.features.webhooks.service", CREATE_WEBHOOK, LIST_WEBHOOKS, DELETE_WEBHOOK, LIST_DELIVERIES
)
HANDLES = (
    HandleClass(path="memory.admin.webhooks", class_name="Webhooks", summary="The webhooks that receive changes."),
)
