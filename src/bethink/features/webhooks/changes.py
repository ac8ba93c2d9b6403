"""Queues every change for the webhooks that follow its space."""

from bethink.store.db import Tx


class _Queues:
    def recorded(self, tx: Tx, *, space: str, number: int) -> None:
        tx.run("queue_deliveries", space=space, number=number, now=tx.now)

    def deleted(self, tx: Tx, *, space: str) -> None:
        tx.run("forget_deliveries", space=space)

    def restored(self, tx: Tx, *, epoch: int) -> None:
        tx.run("fence_queues", epoch=epoch, now=tx.now)


LISTENER = _Queues()
