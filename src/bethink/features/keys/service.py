"""Creates, lists, rotates and revokes API keys."""

import secrets
from datetime import timedelta
from typing import Self

from bethink.errors import ConflictError, InvalidRequestError, NotFoundError
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
from bethink.model.paging import Page
from bethink.store import api_keys
from bethink.store.db import Database, Tx


class KeyService:
    """Manages the API keys of one installation."""

    def __init__(self, database: Database, ring: KeyRing) -> None:
        self._database = database
        self._ring = ring

    @classmethod
    def from_host(cls, host: Host) -> Self:
        """Build the service from an open memory."""
        return cls(host.database, host.keys())

    @handles(CREATE_KEY)
    async def create(self, space: str, request: CreateKeyRequest) -> NewKey:
        """Create a key. Its text is returned only once."""
        del space
        spaces = None if request.spaces is None else frozenset(request.spaces)
        scopes = frozenset(request.scopes)
        if scopes & EVERYWHERE and spaces is not None:
            word = min(scopes & EVERYWHERE)
            raise InvalidRequestError(
                f"A key limited to certain spaces cannot have the scope `{word}`.",
                hint="Leave out the scope, or create the key for all spaces.",
            )
        own = caller.get().key
        _check_grant(own, scopes, spaces)
        last = None if own is None else own.expires_at
        if last is not None and (request.expires_at is None or request.expires_at > last):
            hint = f"Set `expires_at` to {last:%Y-%m-%dT%H:%M:%SZ} at the latest."
            raise InvalidRequestError("A key cannot create a key that expires after itself.", hint=hint)

        def body(tx: Tx) -> NewKey:
            lifetime = None if request.expires_at is None else to_micros(request.expires_at) - to_micros(tx.now)
            if lifetime is not None and lifetime <= 0:
                raise InvalidRequestError("`expires_at` is in the past.", hint="Pass a time in the future.")
            return self._insert_key(tx, name=request.name, scopes=scopes, spaces=spaces, lifetime=lifetime)

        new_key = await (await self._ring.prepare()).transact(body)
        self._ring.note_created(new_key.info.prefix)
        return new_key

    @handles(LIST_KEYS)
    async def list_all(self, space: str, request: Empty) -> Page[KeyInfo]:
        """List all keys, oldest first, including invalid ones."""
        del space, request
        return Page(items=tuple(await self._database.transact(api_keys.list_all, read_only=True)))

    @handles(ROTATE_KEY)
    async def rotate(self, space: str, request: RotateKeyRequest) -> NewKey:
        """Replace a key with a new one of the same scopes and spaces."""
        del space
        prefix, own = request.prefix, caller.get().key  # a transaction has no caller: it runs on another thread

        def body(tx: Tx) -> NewKey:
            existing = api_keys.find(tx, prefix=prefix)
            if existing is None:
                raise _not_found(prefix)
            if not existing.is_valid(tx.now):
                raise ConflictError(f"Key {prefix} is no longer valid.", hint="Create a new key.")
            _check_grant(own, existing.info.scopes, existing.info.spaces)  # the caller receives the new key
            api_keys.shorten(tx, prefix=prefix, expires_at=tx.now + timedelta(seconds=request.overlap))
            info = existing.info
            return self._insert_key(
                tx, name=info.name, scopes=info.scopes, spaces=info.spaces, lifetime=existing.lifetime
            )

        new_key = await (await self._ring.prepare()).transact(body)
        self._ring.drop(prefix)
        self._ring.note_created(new_key.info.prefix)
        return new_key

    @handles(REVOKE_KEY)
    async def revoke(self, space: str, request: KeyRequest) -> None:
        """Revoke a key: immediately in this process, within seconds in others."""
        del space

        def body(tx: Tx) -> None:
            if not api_keys.revoke(tx, prefix=request.prefix):
                raise _not_found(request.prefix)

        await self._database.transact(body, repeatable=True)
        self._ring.drop(request.prefix)

    def _insert_key(
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
    """Raise if the caller's key lacks a scope or a space that it would grant."""
    if own is None:  # a local caller, who can write to the database anyway
        return
    lacks = [scope for scope in sorted(scopes) if not own.allows_scope(scope)]
    if lacks:
        hint = "Use a key that has the scope, or run 'bethink admin keys create' on the server."
        raise InvalidRequestError(f"A key cannot grant the scope `{lacks[0]}` that it lacks.", hint=hint)
    if own.spaces is not None and (spaces is None or not spaces <= own.spaces):
        raise InvalidRequestError("A key cannot grant spaces that it cannot access.", hint="Pass only its own spaces.")


def _not_found(prefix: str) -> NotFoundError:
    return NotFoundError(f"No key {prefix[:20]!r}.", hint="List the keys to see their prefixes.")
