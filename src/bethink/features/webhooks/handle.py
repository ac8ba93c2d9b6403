"""The webhooks that receive changes.

Written by tools/make_api.py from the table of operations; change a request there and run it again.
"""

from bethink.api.handles import Handle
from bethink.features.webhooks.operations import (
    CREATE_WEBHOOK,
    DELETE_WEBHOOK,
    DELIVERIES,
    LIST_WEBHOOKS,
    CreateWebhookRequest,
    DeliveriesRequest,
    WebhookRequest,
)
from bethink.features.webhooks.records import Delivery, NewWebhook, WebhookInfo
from bethink.model.operations.base import Empty


class Webhooks(Handle):
    """The webhooks that receive changes."""

    async def create(self, url: str, *, space: str | None = None) -> NewWebhook:
        """Create a webhook. Its secret is returned here and can never be read again.

        It is told of what changes from now on. A worker sends the changes; those of a space arrive in order.

        Args:
            url: The address that changes are sent to: `https://…`, or `http://…`.
            space: The space whose changes are sent; those of all spaces, if left out.

        Raises:
            Invalid: if the address is none that may be called.
        """
        return await self._run(CREATE_WEBHOOK, CreateWebhookRequest(url=url, space=space))

    async def all(self) -> list[WebhookInfo]:
        """List all webhooks, the oldest first, with those that were disabled."""
        return await self._run(LIST_WEBHOOKS, Empty())

    async def delete(self, webhook_id: str) -> None:
        """Delete a webhook with its deliveries. A request that is on its way still arrives.

        Args:
            webhook_id: The webhook.

        Raises:
            NotFound: if the webhook does not exist.
        """
        return await self._run(DELETE_WEBHOOK, WebhookRequest(webhook_id=webhook_id))

    async def deliveries(self, webhook_id: str, *, space: str | None = None, limit: int = 100) -> list[Delivery]:
        """List what was sent to a webhook, the last tried first: when, how often, and what it answered.

        Args:
            webhook_id: The webhook.
            space: Only those of this space.
            limit: How many deliveries to return at most.

        Raises:
            NotFound: if the webhook does not exist.
        """
        return await self._run(DELIVERIES, DeliveriesRequest(webhook_id=webhook_id, space=space, limit=limit))
