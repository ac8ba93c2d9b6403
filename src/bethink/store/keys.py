"""Values of a deployment: its keys, created by the first process that opens its database, and its learner."""

import secrets

from bethink.store.db import Tx

_LEARNER = "learner"


def deployment_key(tx: Tx, name: str) -> bytes:
    """Return a random 256-bit key that stays the same for the lifetime of the database."""
    row = tx.first("find_deployment_key", name=name)
    if row is None:
        tx.run("ensure_deployment_key", name=name, value=secrets.token_hex(32))
        row = tx.first("find_deployment_key", name=name)
        assert row is not None  # noqa: S101 - written in this transaction
    return bytes.fromhex(row["value"])


def learner(tx: Tx) -> str:
    """Return the name of the model that learns from this database; `none` or empty if none does."""
    row = tx.first("find_deployment_key", name=_LEARNER)
    return "" if row is None else row["value"]


def set_learner(tx: Tx, name: str) -> None:
    """Record which model learns from this database."""
    tx.run("set_deployment_value", name=_LEARNER, value=name)
