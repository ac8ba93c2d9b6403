"""Sessions of the web interface: digests of random ids. They do not belong to a space."""

from datetime import datetime
from typing import NamedTuple

from bethink.model.moments import from_micros
from bethink.store.db import Row, Tx


class WebSession(NamedTuple):
    """A sign-in: its key, when it began, and when it was last seen."""

    key_prefix: str
    created_at: datetime
    seen_at: datetime


def insert(tx: Tx, *, digest: str, prefix: str, expires_at: datetime, once: bool) -> None:
    """Store a session, or with `once` a link for signing in a single time, and delete expired ones."""
    tx.run("delete_old_web_sessions", now=tx.now)
    tx.run("insert_web_session", digest=digest, prefix=prefix, once=int(once), now=tx.now, expires_at=expires_at)


def find(tx: Tx, *, digest: str, idle: datetime) -> WebSession | None:
    """Return a session, unless it has ended or was not seen since `idle`."""
    row = tx.first("find_web_session", digest=digest, now=tx.now, idle=idle)
    return None if row is None else _session(row)


def touch(tx: Tx, *, digest: str) -> None:
    """Record that a session was seen."""
    tx.run("touch_web_session", digest=digest, now=tx.now)


def take_link(tx: Tx, *, digest: str) -> str | None:
    """Use up a link and return the prefix of its key; None if it is unknown, used or too old."""
    row = tx.first("find_web_link", digest=digest, now=tx.now)
    if row is None or not end(tx, digest=digest):
        return None
    return row["key_prefix"]


def end(tx: Tx, *, digest: str) -> bool:
    """Remove a session or a link. Returns False if there was none."""
    return tx.run("delete_web_session", digest=digest) == 1


def list_active(tx: Tx, *, idle: datetime, limit: int) -> list[WebSession]:
    """Return the active sessions, the last seen first."""
    return [_session(row) for row in tx.all("list_web_sessions", now=tx.now, idle=idle, limit=limit)]


def _session(row: Row) -> WebSession:
    return WebSession(row["key_prefix"], from_micros(row["created_at"]), from_micros(row["seen_at"]))
