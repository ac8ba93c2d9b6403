"""Handles webhook operations."""

import hmac
from base64 import b64encode
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from typing import Self

from bethink.base.installed import install_hint
from bethink.errors import ConfigurationError, NotFoundError
from bethink.features.webhooks import queries as webhooks
from bethink.features.webhooks.addresses import parse_url, resolve_url
from bethink.features.webhooks.operations import (
    CREATE_WEBHOOK,
    DELETE_WEBHOOK,
    LIST_DELIVERIES,
    LIST_WEBHOOKS,
    CreateWebhookRequest,
    ListDeliveriesRequest,
    WebhookRequest,
)
from bethink.features.webhooks.records import PREFIX, Delivery, NewWebhook, WebhookInfo
from bethink.memory.registry import Host, handles
from bethink.model.ids import new_id
from bethink.model.operations.base import Empty
from bethink.model.paging import Page
from bethink.store.db import Database, Tx
from bethink.store.keys import deployment_key


def secret_of(tx: Tx, webhook_id: str) -> str:
    """Return the secret of a webhook. It is derived from the id with a deployment key, and never stored."""
    digest = hmac.digest(deployment_key(tx, "webhooks"), webhook_id.encode(), sha256)
    return PREFIX + b64encode(digest).decode()


def require_client() -> None:
    """Raise `ConfigurationError` if the HTTP client package is not installed."""
    if find_spec("httpx2") is None:
        raise ConfigurationError("Webhooks require the extra `client`.", hint=install_hint("client"))


class WebhookService:
    """Manages the webhooks of one installation."""

    def __init__(self, database: Database, *, allow_private: bool = False) -> None:
        self._database = database
        self._allow_private = allow_private

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Build the service from an open memory."""
        return cls(host.database, allow_private=host.settings.webhooks.allow_private)

    @handles(CREATE_WEBHOOK)
    async def create(self, space: str, request: CreateWebhookRequest) -> NewWebhook:
        """Create a webhook."""
        del space
        require_client()
        parse_url(request.url)
        with suppress(OSError):  # the name may not resolve yet; it is resolved again before each request
            await resolve_url(request.url, allow_private=self._allow_private)

        def body(tx: Tx) -> NewWebhook:
            info = WebhookInfo(id=new_id("whk"), url=request.url, space=request.space, created_at=tx.now)
            webhooks.insert(tx, info)
            return NewWebhook(secret=secret_of(tx, info.id), info=info)

        return await self._database.transact(body)

    @handles(LIST_WEBHOOKS)
    async def list_all(self, space: str, request: Empty) -> Page[WebhookInfo]:
        """List all webhooks, oldest first."""
        del space, request
        return Page(items=tuple(await self._database.transact(webhooks.list_all, read_only=True)))

    @handles(DELETE_WEBHOOK)
    async def delete(self, space: str, request: WebhookRequest) -> None:
        """Delete a webhook."""
        del space

        def body(tx: Tx) -> None:
            if not webhooks.delete(tx, webhook_id=request.webhook_id):
                raise _not_found(request.webhook_id)

        await self._database.transact(body)

    @handles(LIST_DELIVERIES)
    async def deliveries(self, space: str, request: ListDeliveriesRequest) -> Page[Delivery]:
        """List the deliveries of a webhook."""
        del space

        def body(tx: Tx) -> Page[Delivery]:
            if webhooks.find(tx, webhook_id=request.webhook_id) is None:
                raise _not_found(request.webhook_id)
            listed = webhooks.deliveries(
                tx, webhook_id=request.webhook_id, space=request.space, limit=request.limit
            )  # fmt: skip
            return Page(items=tuple(listed))

        return await self._database.transact(body, read_only=True)


def _not_found(webhook_id: str) -> NotFoundError:
    return NotFoundError(f"No webhook {webhook_id[:40]!r}.", hint="List the webhooks to see their ids.")
