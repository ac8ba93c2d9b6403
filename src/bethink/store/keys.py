"""Keys of a deployment, created once by the first process that opens its database."""

import secrets

from bethink.store.db import Tx


def deployment_key(tx: Tx, name: str) -> bytes:
    """Return a random 256-bit key that stays the same for the lifetime of the database."""
    found = tx.one("find_deployment_key", name=name)
    if found is None:
        tx.run("ensure_deployment_key", name=name, value=secrets.token_hex(32))
        found = tx.one("find_deployment_key", name=name)
        assert found is not None  # noqa: S101 - written in this transaction
    return bytes.fromhex(found["value"])
