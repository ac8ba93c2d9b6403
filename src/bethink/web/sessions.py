"""Who is signed in to the web window. A key is shown once; from then on a random id stands for it."""

import re
import secrets
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256

from bethink.errors import StoreError
from bethink.model.access import KeyInfo
from bethink.store import api_keys, web_sessions
from bethink.store.db import Database, Tx
from bethink.store.web_sessions import WebSession

IDLE = timedelta(hours=12)
"""A session that was not seen for so long is over."""
LONGEST = timedelta(days=7)
LINK = timedelta(seconds=60)
"""How long a link for signing in may wait to be opened."""

_MINUTE = timedelta(minutes=1)
_ID = re.compile(r"[A-Za-z0-9_-]{43}")
_MOST = 100


class WebSessions:
    """The sessions of one installation. Only digests of their ids are stored; an ended key ends its sessions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, prefix: str) -> str:
        """Sign in with a key that was checked, and return the id of the session."""
        return await self._made(prefix, lasts=LONGEST, once=False)

    async def find(self, session_id: str) -> KeyInfo | None:
        """Return what the key of a session allows; None if the session or its key has ended."""
        if not _ID.fullmatch(session_id):
            return None
        digest = _digest(session_id)

        def body(tx: Tx) -> tuple[KeyInfo | None, bool]:
            found = web_sessions.find(tx, digest=digest, idle=tx.now - IDLE)
            key = None if found is None else _valid(tx, found.key_prefix)
            return key, found is not None and found.seen_at < tx.now - _MINUTE

        key, stale = await self._database.transact(body, read=True)
        if key is not None and stale:
            with suppress(StoreError):  # best effort, as with keys: a reader must not wait for a writer
                await self._database.transact(lambda tx: web_sessions.touch(tx, digest=digest), repeatable=True)
        return key

    async def end(self, session_id: str) -> None:
        """Sign out."""
        await self._database.transact(lambda tx: web_sessions.end(tx, digest=_digest(session_id)), repeatable=True)

    async def link(self, prefix: str) -> str:
        """Return a token for signing in with a key, once and within a minute."""
        return await self._made(prefix, lasts=LINK, once=True)

    async def enter(self, token: str) -> str | None:
        """Use up a token and return the id of a new session; None if it was used, is too old, or its key has ended."""
        if not _ID.fullmatch(token):
            return None
        made = secrets.token_urlsafe(32)

        def body(tx: Tx) -> bool:
            prefix = web_sessions.take_link(tx, digest=_digest(token))
            if prefix is None or _valid(tx, prefix) is None:
                return False
            web_sessions.insert(tx, digest=_digest(made), prefix=prefix, expires_at=tx.now + LONGEST, once=False)
            return True

        return made if await self._database.transact(body) else None

    async def all(self) -> list[WebSession]:
        """List who is signed in, the last seen first."""
        return await self._database.transact(
            lambda tx: web_sessions.listed(tx, idle=tx.now - IDLE, limit=_MOST), read=True
        )

    async def _made(self, prefix: str, *, lasts: timedelta, once: bool) -> str:
        made = secrets.token_urlsafe(32)

        def body(tx: Tx) -> None:
            web_sessions.insert(tx, digest=_digest(made), prefix=prefix, expires_at=tx.now + lasts, once=once)

        await self._database.transact(body)
        return made


def _valid(tx: Tx, prefix: str) -> KeyInfo | None:
    kept = api_keys.find(tx, prefix=prefix)
    return kept.info if kept is not None and kept.valid(tx.now) else None


def _digest(text: str) -> str:
    # Without a key: what is digested is 256 random bits, which cannot be guessed.
    return sha256(text.encode()).hexdigest()
