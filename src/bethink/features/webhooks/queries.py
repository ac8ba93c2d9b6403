"""Queries of webhooks, their queues per space, and deliveries. None contains memory content."""

from datetime import datetime, timedelta
from typing import NamedTuple

from bethink.features.webhooks.records import Delivery, WebhookInfo
from bethink.model.changes import Change, ChangeKind
from bethink.model.moments import from_micros, from_micros_or_none
from bethink.store.db import Row, Tx


class LeasedQueue(NamedTuple):
    """A lease on the queue of one webhook and space. Every write under it carries its token."""

    space: str
    webhook_id: str
    token: int
    delivered: int
    attempts: int
    failing_since: datetime | None


def insert(tx: Tx, info: WebhookInfo) -> None:
    """Store a webhook."""
    tx.run("insert_webhook", id=info.id, url=info.url, only_space=info.space, now=info.created_at)


def list_all(tx: Tx) -> list[WebhookInfo]:
    """Return all webhooks, oldest first."""
    return [_webhook(row) for row in tx.all("list_webhooks")]


def find(tx: Tx, *, webhook_id: str) -> WebhookInfo | None:
    """Return a webhook, or None."""
    row = tx.first("find_webhook", id=webhook_id)
    return None if row is None else _webhook(row)


def delete(tx: Tx, *, webhook_id: str) -> bool:
    """Remove a webhook. Returns False if it does not exist."""
    return tx.run("delete_webhook", id=webhook_id) == 1


def disable(tx: Tx, *, webhook_id: str, reason: str) -> None:
    """Stop sending to a webhook."""
    tx.run("disable_webhook", id=webhook_id, reason=reason, now=tx.now)
    tx.run("stop_queues", id=webhook_id)


def lease_queues(tx: Tx, *, webhook_id: str, lease: timedelta, limit: int) -> list[LeasedQueue]:
    """Lease due queues of a webhook, in any space, for the duration of `lease`."""
    return [
        LeasedQueue(
            row["space_id"], row["webhook_id"], row["token"], row["delivered"], row["attempts"],
            from_micros_or_none(row["failing_since"]),
        )
        for row in tx.all("claim_queues", id=webhook_id, now=tx.now, lease=tx.now + lease, limit=limit)
    ]  # fmt: skip


def list_due(tx: Tx) -> list[str]:
    """Return the ids of webhooks with due changes, longest due first."""
    return [row["id"] for row in tx.all("list_due_webhooks", now=tx.now)]


def advance(tx: Tx, queue: LeasedQueue, change: Change, *, status: int, lease: timedelta) -> bool:
    """Record a delivery and renew the lease. Returns False if the lease is lost."""
    ours = tx.run("advance_queue", **_lease_params(queue), number=change.number, lease=tx.now + lease) == 1
    if ours:
        _note(tx, queue, change, status=status, error=None, delivered_at=tx.now)
    return ours


def delay(tx: Tx, queue: LeasedQueue, change: Change, *, status: int, error: str, seconds: float) -> None:
    """Record a failed delivery, and end the lease until the next attempt."""
    if tx.run("delay_queue", **_lease_params(queue), due=tx.now + timedelta(seconds=seconds), now=tx.now):
        _note(tx, queue, change, status=status, error=error, delivered_at=None)


def release(tx: Tx, queue: LeasedQueue, *, skip_pruned: bool = False) -> None:
    """End a lease. With `skip_pruned`, changes that are no longer stored are skipped."""
    if skip_pruned:
        tx.run("skip_lost", **_lease_params(queue))
    tx.run("release_queue", **_lease_params(queue), now=tx.now)
    tx.has_changes = True


def deliveries(tx: Tx, *, webhook_id: str, space: str | None, limit: int) -> list[Delivery]:
    """Return the deliveries of a webhook, last attempt first."""
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
    """Remove delivery entries from before a time."""
    return tx.run("prune_deliveries", before=before)


def _note(
    tx: Tx, queue: LeasedQueue, change: Change, *, status: int, error: str | None, delivered_at: datetime | None
) -> None:
    tx.run(
        "note_delivery",
        space=queue.space, webhook=queue.webhook_id, number=change.number, kind=change.kind, now=tx.now, status=status,
        error=error, delivered_at=delivered_at,
    )  # fmt: skip


def _lease_params(queue: LeasedQueue) -> dict[str, object]:
    return {"space": queue.space, "webhook": queue.webhook_id, "token": queue.token}


def _webhook(row: Row) -> WebhookInfo:
    return WebhookInfo(
        id=row["id"],
        url=row["url"],
        space=row["only_space"],
        created_at=from_micros(row["created_at"]),
        disabled_at=from_micros_or_none(row["disabled_at"]),
        disable_reason=row["disable_reason"],
    )
