"""Keys that belong to a deployment and are made once, by whoever opens its database first."""

import secrets

from bethink.store.db import Tx


def deployment_key(tx: Tx, name: str) -> bytes:
    """Return a random key of 256 bits that stays the same for as long as the database does."""
    found = tx.one("find_deployment_key", name=name)
    if found is None:
        tx.run("ensure_deployment_key", name=name, value=secrets.token_hex(32))
        found = tx.one("find_deployment_key", name=name)
        assert found is not None  # noqa: S101 - written in this transaction
    return bytes.fromhex(found["value"])
