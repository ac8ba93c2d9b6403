"""The webhooks that are told of changes.

Written by tools/make_api.py from the table of verbs; change a request there and run it again.
"""

from bethink.handles import Handle
from bethink.model.verbs.base import Empty
from bethink.model.webhooks import Delivery, NewWebhook, WebhookInfo


class Webhooks(Handle):
    """The webhooks that are told of changes."""

    async def create(self, url: str, *, space: str | None = None) -> NewWebhook:
        """Create a webhook. Its secret is returned here and can never be read again.

        It is told of what changes from now on. A worker sends the changes; those of a space arrive in order.

        Args:
            url: The address that changes are sent to: `https://…`, or `http://…`.
            space: The space whose changes are sent; those of all spaces, if left out.

        Raises:
            Invalid: if the address is none that may be called.
        """
        from bethink.model.verbs.changes import CREATE_WEBHOOK, CreateWebhookRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(CREATE_WEBHOOK, CreateWebhookRequest(url=url, space=space))

    async def all(self) -> list[WebhookInfo]:
        """List all webhooks, the oldest first, with those that were disabled."""
        from bethink.model.verbs.changes import LIST_WEBHOOKS  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(LIST_WEBHOOKS, Empty())

    async def delete(self, webhook_id: str) -> None:
        """Delete a webhook with its deliveries. A request that is on its way still arrives.

        Args:
            webhook_id: The webhook.

        Raises:
            NotFound: if the webhook does not exist.
        """
        from bethink.model.verbs.changes import DELETE_WEBHOOK, WebhookRequest  # noqa: PLC0415 - see tools/make_api.py

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
        from bethink.model.verbs.changes import DELIVERIES, DeliveriesRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(DELIVERIES, DeliveriesRequest(webhook_id=webhook_id, space=space, limit=limit))
