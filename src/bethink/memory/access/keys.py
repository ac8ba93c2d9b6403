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

from bethink.errors import DatabaseError
from bethink.model.access import KeyInfo
from bethink.store import api_keys
from bethink.store.db import Database
from bethink.store.keys import deployment_key

CACHE_SECONDS = 5.0
"""Seconds for which a valid key is cached. A revocation by another process takes effect within this time."""

_MINUTE = timedelta(minutes=1)
_MAX_CACHED = 10_000
_KEY = re.compile(r"bt_([0-9a-f]{12})\.([A-Za-z0-9_-]{43})")
_NO_DIGEST = "0" * 64


class _CachedKey(NamedTuple):
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
        self._creations = 0
        self._cached: dict[bytes, _CachedKey] = {}
        self._unknown: dict[bytes | str, float] = {}

    async def find(self, key: str) -> KeyInfo | None:
        """Return the permissions of a key, or None if it is unknown, expired or revoked.

        Either answer is cached for a few seconds, so a revocation by another process takes that long.
        """
        parts = _KEY.fullmatch(key)
        if parts is None:
            return None
        # Not the stored digest: an HMAC releases the interpreter lock, and under load it takes long to get it back.
        mark = blake2b(key.encode(), key=self._salt, digest_size=32).digest()
        cached = self._cached.get(mark)
        if cached is not None and self._timer() < cached.until:
            return cached.info
        if self._was_unknown(parts[1]) or self._was_unknown(mark):
            return None
        await self.prepare()
        digest, revocations, creations = self.digest(key), self._revocations, self._creations
        now, stored = await self._database.transact(
            lambda tx: (tx.now, api_keys.find(tx, prefix=parts[1])), read_only=True
        )
        if (
            not hmac.compare_digest(digest, stored.digest if stored else _NO_DIGEST)
            or stored is None
            or not stored.is_valid(now)
        ):
            self._cached.pop(mark, None)
            if creations == self._creations:  # otherwise the key may have been created in the meantime
                self._cache_unknown(parts[1] if stored is None else mark)
            return None
        info = await self._touch(self._database, stored.info, now)
        # A result that was read before a revocation may be that of the revoked key.
        return self._cache(mark, info, now) if revocations == self._revocations else info

    def was_valid(self, key: str) -> bool:
        """Return whether this process has accepted a key before. It may have expired since."""
        return blake2b(key.encode(), key=self._salt, digest_size=32).digest() in self._cached

    def find_cached(self, key: str, *, within: float) -> KeyInfo | None:
        """Return the last cached permissions of a key, at most `within` seconds after they expired, or None.

        Use it while the database is unavailable, and for requests that do not read memory.
        """
        cached = self._cached.get(blake2b(key.encode(), key=self._salt, digest_size=32).digest())
        if cached is None or self._timer() > cached.until + within:
            return None
        ends = cached.info.expires_at
        return None if ends is not None and ends <= datetime.now(UTC) else cached.info

    async def prepare(self) -> Database:
        """Return the database, ready to compute digests."""
        # In a separate transaction: a key that was rolled back must not be cached.
        if not self._pepper:
            self._pepper = await self._database.transact(lambda tx: deployment_key(tx, "api_keys"), repeatable=True)
        return self._database

    async def _touch(self, database: Database, info: KeyInfo, now: datetime) -> KeyInfo:
        before = now - _MINUTE
        if info.last_used_at is not None and info.last_used_at > before:
            return info
        # Best effort: a read must not wait for a writer, or fail because the disk is full.
        with suppress(DatabaseError):
            await database.transact(lambda tx: api_keys.touch(tx, prefix=info.prefix, before=before), repeatable=True)
        return replace(info, last_used_at=now)

    def _cache(self, mark: bytes, info: KeyInfo, now: datetime) -> KeyInfo:
        lifetime = CACHE_SECONDS if info.expires_at is None else (info.expires_at - now).total_seconds()
        self._cached.pop(mark, None)
        self._cached[mark] = _CachedKey(info, self._timer() + min(CACHE_SECONDS, lifetime))
        if len(self._cached) > _MAX_CACHED:
            del self._cached[next(iter(self._cached))]
        return info

    def _cache_unknown(self, mark: bytes | str) -> None:
        # An unknown prefix, or the mark of a text that is not a valid key. Neither becomes valid later.
        self._unknown.pop(mark, None)
        self._unknown[mark] = self._timer() + CACHE_SECONDS
        if len(self._unknown) > _MAX_CACHED:
            del self._unknown[next(iter(self._unknown))]

    def _was_unknown(self, mark: bytes | str) -> bool:
        until = self._unknown.get(mark)
        return until is not None and self._timer() < until

    def note_created(self, prefix: str) -> None:
        """Note that a key was created, so that it is no longer cached as unknown."""
        self._creations += 1
        self._unknown.pop(prefix, None)

    def drop(self, prefix: str) -> None:
        """Drop a key from the cache: it was revoked or rotated."""
        self._revocations += 1
        self._cached = {mark: cached for mark, cached in self._cached.items() if cached.info.prefix != prefix}

    def digest(self, key: str) -> str:
        """Return the digest under which a key is stored. Call `prepare` first."""
        return hmac.digest(self._pepper, key.encode(), sha256).hex()
