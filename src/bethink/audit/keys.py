"""The API keys of an installation: created, found, rotated and revoked. Only their digests are stored."""

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

from bethink.errors import Conflict, Invalid, NotFound, StoreError
from bethink.model.access import EVERYWHERE, KeyInfo, NewKey, Scope, caller
from bethink.model.moments import from_micros, to_micros
from bethink.model.verbs.base import Empty
from bethink.model.verbs.service import (
    CREATE_KEY,
    LIST_KEYS,
    REVOKE_KEY,
    ROTATE_KEY,
    CreateKeyRequest,
    KeyRequest,
    RotateKeyRequest,
)
from bethink.registry import Host, handles
from bethink.store import api_keys
from bethink.store.db import Database, Tx
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


class KeyService:
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

    @classmethod
    def of(cls, host: Host) -> "KeyService":
        """Return the one of an open memory, which caches which keys are valid."""
        return host.keys()

    @handles(CREATE_KEY)
    async def create(self, space: str, request: CreateKeyRequest) -> NewKey:
        """Create a key. Its text is returned here and can never be read again."""
        del space
        spaces = None if request.spaces is None else frozenset(request.spaces)
        scopes = frozenset(request.scopes)
        if scopes & EVERYWHERE and spaces is not None:
            word = min(scopes & EVERYWHERE)
            raise Invalid(f"a key for some spaces cannot have the scope {word}.", hint="Omit one of the two.")
        own = caller.get().key
        _check_grant(own, scopes, spaces)
        last = None if own is None else own.expires_at
        if last is not None and (request.expires_at is None or request.expires_at > last):
            hint = f"Set expires_at to {last:%Y-%m-%dT%H:%M:%SZ} at the latest."
            raise Invalid("a key cannot make one that outlives it.", hint=hint)

        def body(tx: Tx) -> NewKey:
            lifetime = None if request.expires_at is None else to_micros(request.expires_at) - to_micros(tx.now)
            if lifetime is not None and lifetime <= 0:
                raise Invalid("expires_at is in the past.", hint="Pass a time in the future.")
            return self._made(tx, name=request.name, scopes=scopes, spaces=spaces, lifetime=lifetime)

        made = await (await self._prepare()).transact(body)
        self._let_in(made.info.prefix)
        return made

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
        await self._prepare()
        digest, revocations, makings = self._digest(key), self._revocations, self._makings
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

    @handles(LIST_KEYS)
    async def all(self, space: str, request: Empty) -> list[KeyInfo]:
        """List all keys, the oldest first, with those that are no longer valid."""
        del space, request
        return await self._database.transact(api_keys.everything, read=True)

    @handles(ROTATE_KEY)
    async def rotate(self, space: str, request: RotateKeyRequest) -> NewKey:
        """Replace a key with one that allows the same."""
        del space
        prefix, own = request.prefix, caller.get().key  # a transaction runs on another thread, where no one calls

        def body(tx: Tx) -> NewKey:
            kept = api_keys.find(tx, prefix=prefix)
            if kept is None:
                raise _unknown(prefix)
            if not kept.valid(tx.now):
                raise Conflict(f"the key {prefix} is no longer valid.", hint="Create a new one.")
            _check_grant(own, kept.info.scopes, kept.info.spaces)  # who rotates a key gets to know the new one
            api_keys.shorten(tx, prefix=prefix, expires_at=tx.now + timedelta(seconds=request.overlap))
            info = kept.info
            return self._made(tx, name=info.name, scopes=info.scopes, spaces=info.spaces, lifetime=kept.lifetime)

        made = await (await self._prepare()).transact(body)
        self._forget(prefix)
        self._let_in(made.info.prefix)
        return made

    @handles(REVOKE_KEY)
    async def revoke(self, space: str, request: KeyRequest) -> None:
        """Revoke a key, here at once and in other processes within seconds."""
        del space

        def body(tx: Tx) -> None:
            if not api_keys.revoke(tx, prefix=request.prefix):
                raise _unknown(request.prefix)

        await self._database.transact(body, repeatable=True)
        self._forget(request.prefix)

    def _made(
        self,
        tx: Tx,
        *,
        name: str,
        scopes: frozenset[Scope],
        spaces: frozenset[str] | None,
        lifetime: int | None,
    ) -> NewKey:
        prefix = secrets.token_hex(6)
        text = f"bt_{prefix}.{secrets.token_urlsafe(32)}"
        info = KeyInfo(
            prefix=prefix,
            name=name,
            scopes=scopes,
            spaces=spaces,
            created_at=tx.now,
            expires_at=None if lifetime is None else from_micros(to_micros(tx.now) + lifetime),
        )
        api_keys.insert(tx, info, digest=self._digest(text), lifetime=lifetime)
        return NewKey(key=text, info=info)

    async def _prepare(self) -> Database:
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

    def _let_in(self, prefix: str) -> None:
        self._makings += 1
        self._unknown.pop(prefix, None)

    def _forget(self, prefix: str) -> None:
        self._revocations += 1
        self._seen = {mark: seen for mark, seen in self._seen.items() if seen.info.prefix != prefix}

    def _digest(self, key: str) -> str:
        return hmac.digest(self._pepper, key.encode(), sha256).hex()


def _check_grant(own: KeyInfo | None, scopes: frozenset[Scope], spaces: frozenset[str] | None) -> None:
    """Refuse to give away a scope or a space that the key of the caller does not have."""
    if own is None:  # somebody on this machine, who could write to the database as well
        return
    lacks = [scope for scope in sorted(scopes) if not own.allows(scope)]
    if lacks:
        hint = "Use a key that has it, or create this one where the server runs: bethink keys create."
        raise Invalid(f"a key cannot give the scope {lacks[0]}, which it does not have.", hint=hint)
    if own.spaces is not None and (spaces is None or not spaces <= own.spaces):
        raise Invalid("a key cannot give spaces that it does not open.", hint="Name only spaces that it opens.")


def _unknown(prefix: str) -> NotFound:
    return NotFound(f"no key {prefix[:20]!r}.", hint="List the keys to see their prefixes.")
