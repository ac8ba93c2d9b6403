"""Webhooks: where changes are sent, what became of each, and the signature that proves who sent it."""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from hashlib import sha256

from bethink.base.frozen import frozen
from bethink.errors import Denied
from bethink.model.changes import ChangeKind

PREFIX = "whsec_"
TOLERANCE = 300.0
"""Seconds that the time of a message may be away from now: an older one may have been recorded and sent again."""


@frozen
class WebhookInfo:
    """A webhook without its secret. One with a `space` is told only of that space."""

    id: str
    url: str
    space: str | None
    created_at: datetime
    disabled_at: datetime | None = None
    disabled_because: str | None = None


@frozen
class NewWebhook:
    """A new webhook. Its secret can only be read here."""

    secret: str = field(repr=False)
    info: WebhookInfo


@frozen
class Delivery:
    """What became of one change that was sent to a webhook."""

    space: str
    number: int
    kind: ChangeKind
    at: datetime
    """When it was last tried."""
    attempts: int
    status: int
    """What the receiver answered; 0 if it did not."""
    error: str | None
    """Why the last attempt failed, if it did."""
    delivered_at: datetime | None


def signed(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message, as Standard Webhooks defines it."""
    content = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + b64encode(hmac.digest(b64decode(secret.removeprefix(PREFIX)), content, sha256)).decode()


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes, *, now: float) -> None:
    """Check that a message was sent by the holder of a secret, and lately.

    Args:
        secret: The secret of the webhook, `whsec_…`.
        headers: The headers of the request, with names in small letters.
        body: The body of the request, byte for byte.
        now: The current time in seconds, as `time.time()` returns it.

    Raises:
        Denied: if it was not; drop the request.
    """
    message_id, given = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not message_id or not (given.isascii() and given.isdigit()) or abs(int(given[:20]) - now) > TOLERANCE:
        raise Denied("the request carries no time, or not a recent one.", hint="Answer with 401, and do nothing.")
    wanted = signed(secret, message_id, int(given), body)
    found = (each.encode() for each in headers.get("webhook-signature", "").split(" "))
    if not any(hmac.compare_digest(each, wanted.encode()) for each in found):
        raise Denied("the signature is not that of this webhook.", hint="Answer with 401, and do nothing.")
