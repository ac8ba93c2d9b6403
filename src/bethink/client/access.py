"""The keys of a server, for whoever may make them."""

from collections.abc import Collection

from bethink.client.place import AGAIN, Place
from bethink.model.access import KeyInfo, NewKey, Scope
from bethink.model.moments import When, moment_or_none


class RemoteAccess:
    """The keys of one server; asking for them needs a key with the scope admin."""

    def __init__(self, place: Place) -> None:
        self._place = place

    async def create(
        self,
        *,
        name: str,
        scopes: Collection[Scope | str],
        spaces: Collection[str] | None = None,
        expires_at: When | None = None,
    ) -> NewKey:
        """Make a key for some spaces, or for all with None. Its text is returned here and can never be read again.

        With a bare day as `expires_at`, that is the last day it is good for.
        """
        return await self._place.send(
            NewKey, "keys", name=name, scopes=scopes, spaces=spaces, expires_at=moment_or_none(expires_at)
        )

    async def list(self) -> list[KeyInfo]:
        """Return every key there ever was, the oldest first, those that are no longer good included."""
        return await self._place.items(KeyInfo, "keys")

    async def rotate(self, prefix: str, *, overlap: float = 86_400.0) -> NewKey:
        """Make a key that may do the same, for as long; the old one expires after `overlap` seconds."""
        return await self._place.send(NewKey, "keys", prefix, "rotate", overlap=overlap)

    async def revoke(self, prefix: str) -> None:
        """Let a key in no more, there at once and in other processes within seconds. Raises `NotFound`."""
        await self._place.remove("keys", prefix, how=AGAIN)
