"""Records of webhooks and deliveries, and the signature of messages."""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from hashlib import sha256

from bethink.base.frozen import frozen
from bethink.errors import PermissionDeniedError
from bethink.model.changes import ChangeKind

PREFIX = "whsec_"
TOLERANCE = 300.0
"""Maximum age of a message, in seconds. Older messages may be replays."""


@frozen
class WebhookInfo:
    """A webhook without its secret. With `space`, only changes of that space are sent."""

    id: str
    url: str
    space: str | None
    created_at: datetime
    disabled_at: datetime | None = None
    disable_reason: str | None = None


@frozen
class NewWebhook:
    """A new webhook with its secret, which is returned only once."""

    secret: str = field(repr=False)
    info: WebhookInfo


@frozen
class Delivery:
    """The delivery status of one change."""

    space: str
    number: int
    kind: ChangeKind
    at: datetime
    """Time of the last attempt."""
    attempts: int
    status: int
    """HTTP status of the response; 0 without a response."""
    error: str | None
    """Reason if the last attempt failed."""
    delivered_at: datetime | None


def sign_message(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message, as Standard Webhooks defines it."""
    content = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + b64encode(hmac.digest(b64decode(secret.removeprefix(PREFIX)), content, sha256)).decode()


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes, *, now: float) -> None:
    """Verify the signature and the timestamp of a webhook message.

    Args:
        secret: The secret of the webhook, `whsec_…`.
        headers: The headers of the request, with lowercase names.
        body: The raw body of the request.
        now: The current time in seconds, as `time.time()` returns it.

    Raises:
        PermissionDeniedError: if the signature or the timestamp is invalid. Reject the request.
    """
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if (
        not message_id
        or not (timestamp.isascii() and timestamp.isdigit())
        or abs(int(timestamp[:20]) - now) > TOLERANCE
    ):
        raise PermissionDeniedError("The `webhook-timestamp` header is missing or too old.", hint="Respond with 401.")
    expected = sign_message(secret, message_id, int(timestamp), body)
    signatures = (signature.encode() for signature in headers.get("webhook-signature", "").split(" "))
    if not any(hmac.compare_digest(signature, expected.encode()) for signature in signatures):
        raise PermissionDeniedError("Invalid webhook signature.", hint="Respond with 401. Check the secret.")
