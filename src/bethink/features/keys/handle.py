"""The API keys that give callers of a server access to this memory.

Written by tools/make_api.py from the table of operations; change a request there and run it again.
"""

from collections.abc import Iterable

from bethink.api.handles import Handle, tuple_of
from bethink.features.keys.operations import (
    CREATE_KEY,
    LIST_KEYS,
    REVOKE_KEY,
    ROTATE_KEY,
    CreateKeyRequest,
    KeyRequest,
    RotateKeyRequest,
)
from bethink.model.access import KeyInfo, NewKey, Scope
from bethink.model.moments import When, moment
from bethink.model.operations.base import Empty


class Keys(Handle):
    """The API keys that give callers of a server access to this memory."""

    async def create(
        self, name: str, scopes: Iterable[Scope], *, spaces: Iterable[str] | None = None, expires_at: When | None = None
    ) -> NewKey:
        """Create a key. Its text is returned here and can never be read again.

        Args:
            name: What it is for.
            scopes: What it allows.
            spaces: The spaces that it opens; all of them, if left out.
            expires_at: When it stops working; never, if left out.

        Raises:
            Invalid: for more than the key of the caller allows: a scope, a space, or a later end.
        """
        return await self._run(
            CREATE_KEY,
            CreateKeyRequest(
                name=name,
                scopes=tuple_of(scopes),
                spaces=None if spaces is None else tuple_of(spaces),
                expires_at=None if expires_at is None else moment(expires_at),
            ),
        )

    async def all(self) -> list[KeyInfo]:
        """List all keys, the oldest first, with those that expired or were revoked."""
        return await self._run(LIST_KEYS, Empty())

    async def rotate(self, prefix: str, *, overlap: float = 86400.0) -> NewKey:
        """Replace a key with one that allows the same. The old one expires after an overlap.

        Args:
            prefix: The key's prefix, which is not secret.
            overlap: For how many seconds the old key still works.

        Raises:
            NotFound: if no key has this prefix.
            Conflict: if it is no longer valid.
            Invalid: if it allows more than the key of the caller.
        """
        return await self._run(ROTATE_KEY, RotateKeyRequest(prefix=prefix, overlap=overlap))

    async def revoke(self, prefix: str) -> None:
        """Revoke a key, in this process at once and in others within seconds.

        Args:
            prefix: The key's prefix, which is not secret.

        Raises:
            NotFound: if no key has this prefix.
        """
        return await self._run(REVOKE_KEY, KeyRequest(prefix=prefix))
