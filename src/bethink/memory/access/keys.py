"""Finds API keys. Only their digests are stored, and valid keys are cached for a few seconds."""

import hmac
import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b, sha256
from typing import NamedTuple

from bethink.errors import StoreError
from bethink.model.access import KeyInfo
from bethink.store import api_keys
from bethink.store.db import Database
from bethink.store.keys import deployment_key

REMEMBERED = 5.0
"""Seconds for which a valid key is cached: a revocation by another process takes effect within them."""

_MINUTE = timedelta(minutes=1)
_MOST_REMEMBERED = 10_000
_KEY = re.compile(r"bt_([0-9a-f]{12})\.([A-Za-z0-9_-]{43})")
_NO_DIGEST = "0" * 64


class _Seen(NamedTuple):
    info: KeyInfo
    until: float


class KeyRing:
    """The keys of one installation. Share one object: it caches for a few seconds which keys are valid."""

    def __init__(self, database: Database, *, timer: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._timer = timer
        self._pepper = b""
        self._salt = secrets.token_bytes(32)
        self._revocations = 0
        self._makings = 0
        self._seen: dict[bytes, _Seen] = {}
        self._unknown: dict[bytes | str, float] = {}

    async def find(self, key: str) -> KeyInfo | None:
        """Return what a key allows; None if it is unknown, expired or revoked.

        Either answer is cached for some seconds, so a revocation by another process takes that long.
        """
        parts = _KEY.fullmatch(key)
        if parts is None:
            return None
        # Not the stored digest: an HMAC releases the interpreter lock, and under load it takes long to get it back.
        mark = blake2b(key.encode(), key=self._salt, digest_size=32).digest()
        seen = self._seen.get(mark)
        if seen is not None and self._timer() < seen.until:
            return seen.info
        if self._was_unknown(parts[1]) or self._was_unknown(mark):
            return None
        await self.prepare()
        digest, revocations, makings = self.digest(key), self._revocations, self._makings
        now, kept = await self._database.transact(lambda tx: (tx.now, api_keys.find(tx, prefix=parts[1])), read=True)
        if not hmac.compare_digest(digest, kept.digest if kept else _NO_DIGEST) or kept is None or not kept.valid(now):
            self._seen.pop(mark, None)
            if makings == self._makings:  # otherwise the key may have been created meanwhile
                self._remember_unknown(parts[1] if kept is None else mark)
            return None
        info = await self._used(self._database, kept.info, now)
        # What was read before a revocation may be about the revoked key.
        return self._remember(mark, info, now) if revocations == self._revocations else info

    def was_valid(self, key: str) -> bool:
        """Return whether this process has let a key in before. It may have ended since."""
        return blake2b(key.encode(), key=self._salt, digest_size=32).digest() in self._seen

    def last_known(self, key: str, *, within: float) -> KeyInfo | None:
        """Return what a key allowed when it was last looked up, up to `within` seconds ago; None without that.

        For a time in which it cannot be looked up, and for what does not touch memory.
        """
        seen = self._seen.get(blake2b(key.encode(), key=self._salt, digest_size=32).digest())
        if seen is None or self._timer() > seen.until + within:
            return None
        ends = seen.info.expires_at
        return None if ends is not None and ends <= datetime.now(UTC) else seen.info

    async def prepare(self) -> Database:
        """Return the database, ready to compute digests."""
        # In a separate transaction: a key that was rolled back must not be cached.
        if not self._pepper:
            self._pepper = await self._database.transact(lambda tx: deployment_key(tx, "api_keys"), repeatable=True)
        return self._database

    async def _used(self, database: Database, info: KeyInfo, now: datetime) -> KeyInfo:
        before = now - _MINUTE
        if info.last_used_at is not None and info.last_used_at > before:
            return info
        # Best effort: a reader must not wait for a writer, or fail because the disk is full.
        with suppress(StoreError):
            await database.transact(lambda tx: api_keys.touch(tx, prefix=info.prefix, before=before), repeatable=True)
        return replace(info, last_used_at=now)

    def _remember(self, mark: bytes, info: KeyInfo, now: datetime) -> KeyInfo:
        left = REMEMBERED if info.expires_at is None else (info.expires_at - now).total_seconds()
        self._seen.pop(mark, None)
        self._seen[mark] = _Seen(info, self._timer() + min(REMEMBERED, left))
        if len(self._seen) > _MOST_REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return info

    def _remember_unknown(self, what: bytes | str) -> None:
        # An unknown prefix, or the mark of a text that is not, or no longer, a key: neither ever becomes valid.
        self._unknown.pop(what, None)
        self._unknown[what] = self._timer() + REMEMBERED
        if len(self._unknown) > _MOST_REMEMBERED:
            del self._unknown[next(iter(self._unknown))]

    def _was_unknown(self, what: bytes | str) -> bool:
        until = self._unknown.get(what)
        return until is not None and self._timer() < until

    def let_in(self, prefix: str) -> None:
        """Note that a key was created, so that it is no longer cached as unknown."""
        self._makings += 1
        self._unknown.pop(prefix, None)

    def forget(self, prefix: str) -> None:
        """Drop a key from the cache: it was revoked or rotated."""
        self._revocations += 1
        self._seen = {mark: seen for mark, seen in self._seen.items() if seen.info.prefix != prefix}

    def digest(self, key: str) -> str:
        """Return the digest under which a key is stored. Call `prepare` first."""
        return hmac.digest(self._pepper, key.encode(), sha256).hex()
