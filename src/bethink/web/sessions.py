"""Sessions of the web UI. A key is sent once; afterward a random ID identifies the browser."""

import re
import secrets
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256

from bethink.errors import DatabaseError
from bethink.model.access import KeyInfo
from bethink.store import api_keys, web_sessions
from bethink.store.db import Database, Tx
from bethink.store.web_sessions import WebSession

MAX_IDLE = timedelta(hours=12)
"""A session ends after this time without a request."""
MAX_AGE = timedelta(days=7)
LINK_LIFETIME = timedelta(seconds=60)
"""Time in which a sign-in link must be opened."""

_MINUTE = timedelta(minutes=1)
_ID = re.compile(r"[A-Za-z0-9_-]{43}")
_MAX_LISTED = 100


class WebSessions:
    """Web sessions of one installation. Only digests of their IDs are stored; a session ends with its key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, prefix: str) -> str:
        """Start a session for a verified key and return its ID."""
        return await self._create(prefix, lifetime=MAX_AGE, once=False)

    async def find(self, session_id: str) -> KeyInfo | None:
        """Return the key of a session, or None if the session or its key has ended."""
        if not _ID.fullmatch(session_id):
            return None
        digest = _digest(session_id)

        def body(tx: Tx) -> tuple[KeyInfo | None, bool]:
            session = web_sessions.find(tx, digest=digest, idle=tx.now - MAX_IDLE)
            key = None if session is None else _find_valid_key(tx, session.key_prefix)
            return key, session is not None and session.seen_at < tx.now - _MINUTE

        key, stale = await self._database.transact(body, read_only=True)
        if key is not None and stale:
            with suppress(DatabaseError):  # best effort, as with keys: a read must not wait for a write
                await self._database.transact(lambda tx: web_sessions.touch(tx, digest=digest), repeatable=True)
        return key

    async def end(self, session_id: str) -> None:
        """Sign out."""
        await self._database.transact(lambda tx: web_sessions.end(tx, digest=_digest(session_id)), repeatable=True)

    async def link(self, prefix: str) -> str:
        """Return a sign-in token that works once, within a minute."""
        return await self._create(prefix, lifetime=LINK_LIFETIME, once=True)

    async def enter(self, token: str) -> str | None:
        """Redeem a sign-in token for a new session ID; None if it is used or too old, or its key has ended."""
        if not _ID.fullmatch(token):
            return None
        session_id = secrets.token_urlsafe(32)

        def body(tx: Tx) -> bool:
            prefix = web_sessions.take_link(tx, digest=_digest(token))
            if prefix is None or _find_valid_key(tx, prefix) is None:
                return False
            web_sessions.insert(tx, digest=_digest(session_id), prefix=prefix, expires_at=tx.now + MAX_AGE, once=False)
            return True

        return session_id if await self._database.transact(body) else None

    async def list_active(self) -> list[WebSession]:
        """List active sessions, most recently seen first."""
        return await self._database.transact(
            lambda tx: web_sessions.list_active(tx, idle=tx.now - MAX_IDLE, limit=_MAX_LISTED), read_only=True
        )

    async def _create(self, prefix: str, *, lifetime: timedelta, once: bool) -> str:
        token = secrets.token_urlsafe(32)

        def body(tx: Tx) -> None:
            web_sessions.insert(tx, digest=_digest(token), prefix=prefix, expires_at=tx.now + lifetime, once=once)

        await self._database.transact(body)
        return token


def _find_valid_key(tx: Tx, prefix: str) -> KeyInfo | None:
    stored = api_keys.find(tx, prefix=prefix)
    return stored.info if stored is not None and stored.is_valid(tx.now) else None


def _digest(text: str) -> str:
    # A plain hash is enough: the input is 256 random bits.
    return sha256(text.encode()).hexdigest()
