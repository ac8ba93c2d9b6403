"""Webhooks, how far each has come with each space, and what became of each change. None of it holds content."""

from datetime import datetime, timedelta
from typing import NamedTuple

from bethink.features.webhooks.records import Delivery, WebhookInfo
from bethink.model.changes import ChangeKind, MemoryChange
from bethink.model.moments import from_micros, from_micros_or_none
from bethink.store.db import Row, Tx


class ClaimedQueue(NamedTuple):
    """A lease on what one webhook is to be told of one space. Every write under it carries its token."""

    space: str
    webhook_id: str
    token: int
    delivered: int
    attempts: int
    failing_since: datetime | None


def insert(tx: Tx, info: WebhookInfo) -> None:
    """Store a webhook."""
    tx.run("insert_webhook", id=info.id, url=info.url, only_space=info.space, now=info.created_at)


def everything(tx: Tx) -> list[WebhookInfo]:
    """Return every webhook, the oldest first."""
    return [_webhook(row) for row in tx.all("list_webhooks")]


def find(tx: Tx, *, webhook_id: str) -> WebhookInfo | None:
    """Return a webhook, if there is one."""
    row = tx.one("find_webhook", id=webhook_id)
    return None if row is None else _webhook(row)


def delete(tx: Tx, *, webhook_id: str) -> bool:
    """Remove a webhook. Returns False if there is none."""
    return tx.run("delete_webhook", id=webhook_id) == 1


def disable(tx: Tx, *, webhook_id: str, reason: str) -> None:
    """Send nothing more to a webhook."""
    tx.run("disable_webhook", id=webhook_id, reason=reason, now=tx.now)
    tx.run("stop_queues", id=webhook_id)


def claim(tx: Tx, *, webhook_id: str, lease: timedelta, limit: int) -> list[ClaimedQueue]:
    """Claim queues of a webhook that are due, in any space, for the duration of `lease`."""
    return [
        ClaimedQueue(
            row["space_id"], row["webhook_id"], row["token"], row["delivered"], row["attempts"],
            from_micros_or_none(row["failing_since"]),
        )
        for row in tx.all("claim_queues", id=webhook_id, now=tx.now, lease=tx.now + lease, limit=limit)
    ]  # fmt: skip


def due(tx: Tx) -> list[str]:
    """Return the ids of webhooks that have something to send, the longest due first."""
    return [row["id"] for row in tx.all("list_due_webhooks", now=tx.now)]


def advance(tx: Tx, held: ClaimedQueue, change: MemoryChange, *, status: int, lease: timedelta) -> bool:
    """Note that a change was delivered, and renew the claim. Returns False if the claim is lost."""
    ours = tx.run("advance_queue", **_held(held), number=change.number, lease=tx.now + lease) == 1
    if ours:
        _note(tx, held, change, status=status, error=None, delivered_at=tx.now)
    return ours


def delay(tx: Tx, held: ClaimedQueue, change: MemoryChange, *, status: int, error: str, seconds: float) -> None:
    """Note that a change could not be delivered, and end the claim until the next attempt."""
    if tx.run("delay_queue", **_held(held), due=tx.now + timedelta(seconds=seconds), now=tx.now):
        _note(tx, held, change, status=status, error=error, delivered_at=None)


def release(tx: Tx, held: ClaimedQueue, *, lost: bool = False) -> None:
    """End a claim. With `lost`, what is recorded and not kept any more is passed over."""
    if lost:
        tx.run("skip_lost", **_held(held))
    tx.run("release_queue", **_held(held), now=tx.now)
    tx.tells = True


def deliveries(tx: Tx, *, webhook_id: str, space: str | None, limit: int) -> list[Delivery]:
    """Return what was sent to a webhook, the last tried first."""
    return [
        Delivery(
            space=row["space_id"],
            number=row["number"],
            kind=ChangeKind(row["kind"]),
            at=from_micros(row["at"]),
            attempts=row["attempts"],
            status=row["status"],
            error=row["error"],
            delivered_at=from_micros_or_none(row["delivered_at"]),
        )
        for row in tx.all("list_deliveries", webhook=webhook_id, space=space, limit=limit)
    ]


def prune(tx: Tx, *, before: datetime) -> int:
    """Remove what was noted of deliveries before a time."""
    return tx.run("prune_deliveries", before=before)


def _note(
    tx: Tx, held: ClaimedQueue, change: MemoryChange, *, status: int, error: str | None, delivered_at: datetime | None
) -> None:
    tx.run(
        "note_delivery",
        space=held.space, webhook=held.webhook_id, number=change.number, kind=change.kind, now=tx.now, status=status,
        error=error, delivered_at=delivered_at,
    )  # fmt: skip


def _held(held: ClaimedQueue) -> dict[str, object]:
    return {"space": held.space, "webhook": held.webhook_id, "token": held.token}


def _webhook(row: Row) -> WebhookInfo:
    return WebhookInfo(
        id=row["id"],
        url=row["url"],
        space=row["only_space"],
        created_at=from_micros(row["created_at"]),
        disabled_at=from_micros_or_none(row["disabled_at"]),
        disabled_because=row["disabled_because"],
    )
