"""Queues every change for the webhooks that follow its space."""

from bethink.store.db import Tx


class _Queues:
    def on_recorded(self, tx: Tx, *, space: str, first: int, last: int) -> None:
        tx.run("queue_deliveries", space=space, delivered=first - 1, number=last, now=tx.now)

    def on_space_deleted(self, tx: Tx, *, space: str) -> None:
        tx.run("forget_deliveries", space=space)

    def on_restored(self, tx: Tx, *, epoch: int) -> None:
        tx.run("fence_queues", epoch=epoch, now=tx.now)


LISTENER = _Queues()
