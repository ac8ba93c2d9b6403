"""Carries out the verbs of webhooks."""

import hmac
from base64 import b64encode
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from typing import Self

from bethink.errors import Misconfigured, NotFound
from bethink.features.webhooks import queries as webhooks
from bethink.features.webhooks.addresses import checked_url, destination
from bethink.features.webhooks.operations import (
    CREATE_WEBHOOK,
    DELETE_WEBHOOK,
    DELIVERIES,
    LIST_WEBHOOKS,
    CreateWebhookRequest,
    DeliveriesRequest,
    WebhookRequest,
)
from bethink.features.webhooks.records import PREFIX, Delivery, NewWebhook, WebhookInfo
from bethink.memory.registry import Host, handles
from bethink.model.ids import new_id
from bethink.model.operations.base import Empty
from bethink.store.db import Database, Tx
from bethink.store.keys import deployment_key


def secret_of(tx: Tx, webhook_id: str) -> str:
    """Return the secret of a webhook. It is stored nowhere: a key of the deployment makes it from the id."""
    made = hmac.digest(deployment_key(tx, "webhooks"), webhook_id.encode(), sha256)
    return PREFIX + b64encode(made).decode()


def need_client() -> None:
    """Raise `Misconfigured` if the package that sends is not installed."""
    if find_spec("httpx2") is None:
        hint = "Run pip install 'bethink[client]', or '.[client]' from a clone."
        raise Misconfigured("webhooks need a package more.", hint=hint)


class WebhookService:
    """The webhooks of one installation."""

    def __init__(self, database: Database, *, allow_private: bool = False) -> None:
        self._database = database
        self._allow_private = allow_private

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database, allow_private=host.settings.webhooks.allow_private)

    @handles(CREATE_WEBHOOK)
    async def create(self, space: str, request: CreateWebhookRequest) -> NewWebhook:
        """Create a webhook."""
        del space
        need_client()
        checked_url(request.url)
        with suppress(OSError):  # a name may not be known yet; it is looked up again before each request
            await destination(request.url, allow_private=self._allow_private)

        def body(tx: Tx) -> NewWebhook:
            info = WebhookInfo(id=new_id("whk"), url=request.url, space=request.space, created_at=tx.now)
            webhooks.insert(tx, info)
            return NewWebhook(secret=secret_of(tx, info.id), info=info)

        return await self._database.transact(body)

    @handles(LIST_WEBHOOKS)
    async def all(self, space: str, request: Empty) -> list[WebhookInfo]:
        """List all webhooks, the oldest first."""
        del space, request
        return await self._database.transact(webhooks.everything, read=True)

    @handles(DELETE_WEBHOOK)
    async def delete(self, space: str, request: WebhookRequest) -> None:
        """Delete a webhook."""
        del space

        def body(tx: Tx) -> None:
            if not webhooks.delete(tx, webhook_id=request.webhook_id):
                raise _unknown(request.webhook_id)

        await self._database.transact(body)

    @handles(DELIVERIES)
    async def deliveries(self, space: str, request: DeliveriesRequest) -> list[Delivery]:
        """List what was sent to a webhook."""
        del space

        def body(tx: Tx) -> list[Delivery]:
            if webhooks.find(tx, webhook_id=request.webhook_id) is None:
                raise _unknown(request.webhook_id)
            return webhooks.deliveries(
                tx, webhook_id=request.webhook_id, space=request.space, limit=request.limit
            )  # fmt: skip

        return await self._database.transact(body, read=True)


def _unknown(webhook_id: str) -> NotFound:
    return NotFound(f"no webhook {webhook_id[:40]!r}.", hint="List the webhooks to see their ids.")
