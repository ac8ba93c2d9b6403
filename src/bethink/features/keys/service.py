"""Creates, lists, rotates and revokes API keys."""

import secrets
from datetime import timedelta
from typing import Self

from bethink.errors import Conflict, Invalid, NotFound
from bethink.features.keys.operations import (
    CREATE_KEY,
    LIST_KEYS,
    REVOKE_KEY,
    ROTATE_KEY,
    CreateKeyRequest,
    KeyRequest,
    RotateKeyRequest,
)
from bethink.memory.access.keys import KeyRing
from bethink.memory.registry import Host, handles
from bethink.model.access import EVERYWHERE, KeyInfo, NewKey, Scope, caller
from bethink.model.moments import from_micros, to_micros
from bethink.model.operations.base import Empty
from bethink.store import api_keys
from bethink.store.db import Database, Tx


class KeyService:
    """The API keys of one installation."""

    def __init__(self, database: Database, ring: KeyRing) -> None:
        self._database = database
        self._ring = ring

    @classmethod
    def of(cls, host: Host) -> Self:
        """Make it from the parts of an open memory."""
        return cls(host.database, host.keys())

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

        made = await (await self._ring.prepare()).transact(body)
        self._ring.let_in(made.info.prefix)
        return made

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

        made = await (await self._ring.prepare()).transact(body)
        self._ring.forget(prefix)
        self._ring.let_in(made.info.prefix)
        return made

    @handles(REVOKE_KEY)
    async def revoke(self, space: str, request: KeyRequest) -> None:
        """Revoke a key, here at once and in other processes within seconds."""
        del space

        def body(tx: Tx) -> None:
            if not api_keys.revoke(tx, prefix=request.prefix):
                raise _unknown(request.prefix)

        await self._database.transact(body, repeatable=True)
        self._ring.forget(request.prefix)

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
        api_keys.insert(tx, info, digest=self._ring.digest(text), lifetime=lifetime)
        return NewKey(key=text, info=info)


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
