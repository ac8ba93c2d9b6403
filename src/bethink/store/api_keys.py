"""API keys: stored as a keyed digest, found by their public prefix. They do not belong to a space."""

import json
from datetime import datetime
from typing import NamedTuple

from bethink.model.access import KeyInfo, Scope
from bethink.model.moments import from_micros, from_micros_or_none
from bethink.store.db import Row, Tx


class StoredKey(NamedTuple):
    """A stored key: its public record, the digest of its text, and the lifetime of its replacement.

    The lifetime is in microseconds.
    """

    info: KeyInfo
    digest: str
    lifetime: int | None

    def is_valid(self, now: datetime) -> bool:
        """Return whether the key has neither expired nor been revoked."""
        expires = self.info.expires_at
        return self.info.revoked_at is None and (expires is None or expires > now)


def insert(tx: Tx, info: KeyInfo, *, digest: str, lifetime: int | None) -> None:
    """Store a new key. Raises `DuplicateError` if its prefix is taken."""
    tx.run(
        "insert_api_key",
        prefix=info.prefix,
        name=info.name,
        digest=digest,
        scopes=json.dumps(sorted(info.scopes)),
        spaces=None if info.spaces is None else json.dumps(sorted(info.spaces), ensure_ascii=False),
        now=info.created_at,
        lifetime=lifetime,
        expires_at=info.expires_at,
    )


def find(tx: Tx, *, prefix: str) -> StoredKey | None:
    """Return a key by its prefix, whether it is still valid or not."""
    row = tx.first("find_api_key", prefix=prefix)
    return None if row is None else _stored_key(row)


def list_all(tx: Tx) -> list[KeyInfo]:
    """Return every key that was ever created, the oldest first."""
    return [_stored_key(row).info for row in tx.all("list_api_keys")]


def touch(tx: Tx, *, prefix: str, before: datetime) -> None:
    """Record that a key was used, unless that was recorded after `before`."""
    tx.run("touch_api_key", prefix=prefix, now=tx.now, before=before)


def shorten(tx: Tx, *, prefix: str, expires_at: datetime) -> None:
    """Make a key expire at a time, unless it expires earlier."""
    tx.run("shorten_api_key", prefix=prefix, expires_at=expires_at)


def revoke(tx: Tx, *, prefix: str) -> bool:
    """Revoke a key. Returns False if there is no key with that prefix."""
    return tx.run("revoke_api_key", prefix=prefix, now=tx.now) == 1


def _stored_key(row: Row) -> StoredKey:
    return StoredKey(
        info=KeyInfo(
            prefix=row["prefix"],
            name=row["name"],
            scopes=frozenset(map(Scope, json.loads(row["scopes"]))),
            spaces=None if row["spaces"] is None else frozenset(json.loads(row["spaces"])),
            created_at=from_micros(row["created_at"]),
            expires_at=from_micros_or_none(row["expires_at"]),
            last_used_at=from_micros_or_none(row["last_used_at"]),
            revoked_at=from_micros_or_none(row["revoked_at"]),
        ),
        digest=row["digest"],
        lifetime=row["lifetime"],
    )
